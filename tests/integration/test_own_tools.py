"""R80: tools of an interpreter work with an entry of four keys, in every jail, for root and for a
user. Their extension modules and the libraries that these need are loaded without a line in the entry.
"""
import pathlib
import shutil
import subprocess

import pytest

from feature import skip

PYTHON = 'def double(number: int) -> int:\n    """Twice the number."""\n    return 2 * number\n'

# The tool, its arguments, its status, and what it must print.
TOOLS = {
    "flake8": (["flake8", "wrong.py"], 1, b"wrong.py:1:1: F401"),
    "pylint": (["pylint", "--disable=all", "--enable=unused-import", "wrong.py"], 4, b"Unused import os"),
    "pytest": (["pytest", "-p", "no:cacheprovider", "-q", "test_good.py"], 0, b"1 passed"),
    "black": (["black", "--check", "-q", "wrong.py"], 1, b""),
    "mypy": (["mypy", "--cache-dir=/tmp/probe", "typed.py"], 1, b"Incompatible return value type"),
    "yamllint": (["yamllint", "wrong.yaml"], 1, b"duplication of key"),
    "codespell": (["codespell", "words.txt"], 65, b"teh ==> the"),
    "ruby": (["ruby", "-ropenssl", "-rjson", "-e", "puts JSON.generate(OpenSSL::Digest::SHA256.hexdigest(''))"], 0,
             b'"e3b0c442'),
    "perl": (["perl", "-MPOSIX", "-MList::Util=sum", "-MSocket", "-e", "print floor(2.5) + sum(1, 2)"], 0, b"5"),
    "php": (["php", "-r", "$x = new DOMDocument(); $x->loadXML('<a b=\"c\"/>'); echo $x->documentElement->getAttribute('b');"],
            0, b"c"),
    "python3": (["python3", "-c", "import ssl, sqlite3, ctypes, lxml.etree, decimal, multiprocessing; "
                 "print(sqlite3.connect(':memory:').execute('select 6 * 7').fetchone()[0], lxml.etree.fromstring('<a/>').tag)"],
                0, b"42 a"),
    "node": (["node", "-p", "require('crypto').createHash('sha256').digest('hex').slice(0, 4)"], 0, b"e3b0"),
    "lua5.4": (["lua5.4", "-e", "print(string.format('%d', 6 * 7))"], 0, b"42"),
}


@pytest.fixture
def project(cell):
    files = {"wrong.py": "import os,sys\nprint( sys.argv)\n", "good.py": PYTHON, "wrong.yaml": "a: 1\na: 2\n",
             "test_good.py": "import good\n\n\ndef test_double():\n    assert good.double(2) == 4\n",
             "typed.py": "def one() -> int:\n    return 'one'\n", "words.txt": "teh word\n"}
    for name, text in files.items():
        cell.box.file("root/" + name, text)
    return cell


@pytest.mark.parametrize("name", TOOLS)
def test_tool_does_its_work(project, name):
    argv, status, said = TOOLS[name]
    if not shutil.which(name, path="/usr/bin:/bin"):
        skip(name, f"{name} is not installed")
    policy = project.write_policy(more=[project.box.entry(name, route="external")], search_path=["/usr/bin"])
    answer = project.inside(*argv, policy=policy, timeout=60)
    output = answer.stream("stdout") + answer.stream("stderr")
    assert (answer.outcome, answer.status) == ("exited", status) and said in output, answer.document


def test_settings_of_interpreters_can_be_read(project):
    """php finds its modules by /etc/php, and Debian's python has a file of its site in /etc."""
    policy = project.write_policy(more=[project.box.entry("php", route="external")], search_path=["/usr/bin"])
    outside = project.box.call(["php", "-m"]).out
    assert project.succeeds_inside("php", "-m", policy=policy).stream("stdout") == outside


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_stub_assembles(machine, tmp_path):
    """One machine runs it in the tests above; for the other, at least it is code, and small enough for its place."""
    source = pathlib.Path(__file__).parents[2] / "src/jail/stub_code.S"
    made = tmp_path / "stub.o"
    subprocess.run(["clang", f"--target={machine}-linux-gnu", "-c", source, "-o", made], check=True)
    table = subprocess.run(["readelf", "-SW", made], check=True, capture_output=True, text=True).stdout
    line = next(line for line in table.splitlines() if "ck_stub_code" in line).split("PROGBITS")[1]
    assert 40 < int(line.split()[2], 16) <= 128, line


def test_explain_shows_the_directories_and_the_loader(project):
    answer = project.box.call([project.box.command, "policy", "explain", "--policy", project.policy, "--root",
                               project.box.root, "--jail", "native", "--", "say_args"])
    lines = [line.strip() for line in answer.out.decode().splitlines()]
    assert any(line.endswith("code /usr/lib") for line in lines), lines
    assert any("loader /" in line and "/ld-" in line for line in lines), lines
