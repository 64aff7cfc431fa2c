"""R80 where library directories cannot be code: an interpreter still loads its plug-ins and what these
need, file by file. That is so with `workspace_code`, and where the copy of the loader does not fit.

tests/adversarial/jail/test_plugin_escape.py attacks it.
"""
import shutil
import subprocess

import pytest

from feature import full, skip
from jails import OPENED, Cell
from plugins import Python, a_plugin, over, small_files

# The tool, its arguments, and what it must print.
TOOLS = {
    "python3": (["-c", "import ssl, sqlite3, ctypes, lxml.etree, decimal; "
                 "print(sqlite3.connect(':memory:').execute('select 6 * 7').fetchone()[0], lxml.etree.fromstring('<a/>').tag)"],
                b"42 a"),
    "ruby": (["-ropenssl", "-rjson", "-e", "puts JSON.generate(OpenSSL::Digest::SHA256.hexdigest(''))"], b'"e3b0c442'),
    "perl": (["-MPOSIX", "-MSocket", "-e", "print floor(2.5)"], b"2"),
    "php": (["-r", "$x = new DOMDocument(); $x->loadXML('<a b=\"c\"/>'); echo $x->documentElement->getAttribute('b');"], b"c"),
    "lua5.4": (["-e", "print(string.format('%d', 6 * 7))"], b"42"),
    "flake8": (["wrong.py"], b"wrong.py:1:1: F401"),
}


@pytest.mark.parametrize("name, reason", [
    *((name, "workspace_code") for name in TOOLS),
    *((name, "small_files") for name in TOOLS if name == "python3" or full())])  # it does not change what is found
def test_interpreter_loads_its_plugins(cell, name, reason):
    argv, said = TOOLS[name]
    if not shutil.which(name, path="/usr/bin"):
        skip(name, f"{name} is not installed")
    cell.box.file("root/wrong.py", "import os\n")
    keys = OPENED if reason == "workspace_code" else {}
    policy = cell.box.write_policy([cell.box.entry(name, route="external", **keys), cell.box.entry("bwrap", route="jail")],
                                   search_path=["/usr/bin"], name="policy/interpreter.yaml")
    popen = small_files() if reason == "small_files" else {}
    for _ in ("searched", "remembered") if name == "python3" or full() else ("searched",):
        answer = cell.box.run(name, *argv, options=["--jail", cell.jail], policy=policy, popen=popen, timeout=60)
        assert answer.outcome == "exited" and said in answer.stream("stdout"), answer.document


def test_pytest_of_a_virtual_environment(cell):
    """Its script names the interpreter by a link in the root. No line of the entry says that it is Python's."""
    box = cell.box
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", box.root / ".venv"],
                   check=True)
    box.file("root/.venv/bin/pytest", f"#!{box.root}/.venv/bin/python3\nimport sys\nimport pytest\n"
                                      "sys.exit(pytest.console_main())\n", 0o755)
    box.file("root/test_one.py", "import ssl\nimport sqlite3\n\n\ndef test_one():\n    assert ssl.OPENSSL_VERSION\n")
    policy = box.write_policy([box.entry("pytest", route="external", path="./.venv/bin/pytest", **OPENED),
                               box.entry("bwrap", route="jail")], name="policy/venv.yaml")
    answer = box.run("pytest", "-q", "-p", "no:cacheprovider", options=["--jail", cell.jail], policy=policy, timeout=60)
    assert answer.status == 0 and b"1 passed" in answer.stream("stdout"), answer.document


def test_helper_that_is_an_interpreter(cell):
    """A member of a set loads its plug-ins, too."""
    box = cell.box
    policy = box.write_policy([box.entry("sh", route="external", uses=["python-tools"], **OPENED),
                               box.entry("bwrap", route="jail")], name="policy/helper.yaml")
    answer = box.run("sh", "-c", "python3 -c 'import ssl; print(ssl.OPENSSL_VERSION)'", options=["--jail", cell.jail],
                     policy=policy)
    assert answer.status == 0 and answer.stream("stdout").startswith(b"OpenSSL"), answer.document


def test_nothing_is_searched_where_libraries_are_code(cell):
    python = Python(cell, workspace_code=False)
    answer = python.run("-c", "import ssl")
    assert answer.status == 0, answer.document
    assert not list(python.box.home.glob(".cache/chokepoint/plugins-*"))


def test_remembered_list_is_used(cell):
    """A list that leaves a plug-in out costs that plug-in, so it was read."""
    python = Python(cell)
    python.remembered()
    lines = python.cache.read_text().splitlines(keepends=True)
    python.cache.write_text("".join(line for line in lines if "/_ssl." not in line))
    answer = python.run("-c", "import ssl")
    assert answer.status == 1 and b"failed to map segment" in answer.stream("stderr"), answer.document
    python.cache.unlink()
    assert python.run("-c", "import ssl").status == 0


def test_explain_shows_the_plugins(box):
    python = Python(Cell(box, "native"))
    assert f"code {a_plugin()}\n" in python.explained()


@pytest.fixture(params=["native", "bwrap"])
def root_cell(request, root_box):
    return Cell(root_box, request.param)


def test_later_package_is_found(root_cell):
    """The directory has changed, so the remembered list is not used."""
    python = Python(root_cell)
    tree = root_cell.box.directory("tree", 0o755)
    place = "/usr/lib/python3/dist-packages"
    said = python.remembered(lambda: python.maps_over(tree, place, f"{place}/late.so"))
    assert said == {f"{place}/late.so": "missing"} and place in python.cache.read_text()
    shutil.copyfile(a_plugin(), tree / "late.so")
    assert python.maps_over(tree, place, f"{place}/late.so") == {f"{place}/late.so": "mapped"}


def test_later_package_is_found_by_an_open_context(root_cell):
    python = Python(root_cell)
    tree = root_cell.box.directory("tree", 0o755)
    place = "/usr/lib/python3/dist-packages"
    host = [root_cell.box.stage / "tests/helpers/host_plugins", python.policy, root_cell.box.root, root_cell.jail, a_plugin(),
            f"{place}/late.so"]
    answer = root_cell.box.call(over(tree, place, *host))
    assert (answer.status, answer.out) == (0, b"ok\n"), answer.err
