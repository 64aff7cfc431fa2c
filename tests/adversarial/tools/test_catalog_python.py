"""Promise: Tools in a hostile repository.
Attacker: who calls Python, its test runner or a checker of the catalogue, and the repository that they read. Means: options that
import a module, name an interpreter, an index or a file to write; configuration of the repository that is code
(`init-hook`, plug-ins, conftest.py, setup.py); a script that writes outside, reads a secret or starts a program.

Expected: the ordinary call does its work in every jail. The options are refused before anything runs. What the repository
runs stays in the jail, and a checker does not change the repository.
"""
import pytest

import catalog
from catalog import Case
from feature import full

WRITES = "open('CANARY', 'w').close()\n"
READS = "import sys\nsys.stderr.write(open('SECRET').read())\n"
RUNS = "import subprocess\nsubprocess.run(['perl', '-e', 'open F, q(>CANARY)'])\n"
CLEAN = '"""A module."""\n\n\ndef add(one: int, two: int) -> int:\n    """Add two numbers."""\n    return one + two\n'
TEST = """import socket
import subprocess


def test_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


def test_script():
    assert subprocess.run(["./script.sh"], check=True, capture_output=True).stdout == b"said\\n"
"""
SETUP = 'from setuptools import setup\nsetup(name="one", version="1.0", py_modules=["one"])\n'

TABLE = {
    "python3": Case("python3 -c 'import ctypes, json, sqlite3, ssl, one; print(one.add(40, 2))'", {"one.py": CLEAN}, "42",
                    sample=True, attacks={
        "writes outside": ("python3 evil.py", {"evil.py": WRITES}),
        "reads a file outside": ("python3 evil.py", {"evil.py": READS}),
        "starts a program": ("python3 evil.py", {"evil.py": RUNS})}),
    "pytest": Case("pytest -q -p no:cacheprovider test_one.py", {"test_one.py": TEST, "script.sh": "#!/bin/sh\necho said\n"},
                   "2 passed", sample=True, then=("pytest -n 2 --junitxml=made.xml", "pytest --co -q test_one.py::test_script -k script"),
                   refused=(
        "pytest -p evil", "pytest -pevil", "pytest --basetemp=.", "pytest --basetemp .", "pytest --rootdir=/etc", "pytest -c /etc/x",
        "pytest --pastebin=all", "pytest --junitxml=/tmp/x", "pytest -o log_file=/tmp/x", "pytest --override-ini=x=y",
        "pytest --log-file=x", "pytest --pyargs os", "pytest --pdbcls=evil:Evil", "pytest --confcutdir=/", "pytest /etc",
        "pytest ../x", "pytest --debug=x", "pytest --tx ssh=x", "pytest --cov-config=/etc/x", "pytest --junit-x=/tmp/x",
        "pytest -- -p evil", "pytest -qpevil"),
        attacks={"conftest writes outside": ("pytest", {"conftest.py": WRITES}),
                 "conftest reads a file outside": ("pytest -s", {"conftest.py": READS})}),
    "pip": Case("pip install --no-build-isolation --no-deps --target=out ./one", {"one/setup.py": SETUP, "one/one.py": CLEAN},
                "Successfully installed one-1.0",
                then=("pip list --path=out", "pip freeze", "pip show pytest"), refused=(
        "pip install --index-url=https://example.org x", "pip install -i https://example.org x",
        "pip install --extra-index-url https://example.org x", "pip install https://example.org/x.whl",
        "pip install git+https://example.org/x", "pip install --target=/tmp/x x", "pip install --prefix=/usr x",
        "pip install --root=/ x", "pip install --user x", "pip install --break-system-packages x", "pip install -e .",
        "pip install --trusted-host x y", "pip install --proxy x y", "pip --python ./x list", "pip --log /tmp/x list",
        "pip install --cert x y", "pip install -r /etc/passwd", "pip install --report /tmp/x y", "pip config set x y",
        "pip uninstall -y x", "pip wheel x", "pip download --no-binary=:all: x", "pip download -d /tmp x", "pip cache purge",
        "pip install --global-option=x y", "pip install --config-settings=x=y z", "pip install --find-links=https://example.org x"),
        attacks={"a setup writes outside": ("pip install --no-build-isolation --no-deps --target=out ./one",
                                            {"one/setup.py": WRITES + SETUP})}),
    "pylint": Case("pylint -j 2 --disable=R one.py", {"one.py": CLEAN}, "10.00/10", refused=(
        "pylint --init-hook=x one.py", "pylint --init-hook 'import os' one.py", "pylint --load-plugins=evil one.py",
        "pylint --rcfile=evil one.py", "pylint --output=/tmp/x one.py", "pylint -f evil.Evil one.py",
        "pylint --output-format=evil.Evil one.py", "pylint --extension-pkg-allow-list=x one.py", "pylint --init-h=x one.py",
        "pylint --import-graph=/tmp/x one.py", "pylint --from-stdin one.py", "pylint /etc/x.py",
        "pylint -- --init-hook=x", "pylint one.py -- --load-plugins=evil"),
        attacks={"a hook writes outside": ("pylint one.py", {".pylintrc": "[MAIN]\ninit-hook=open('CANARY', 'w')\n"}),
                 "a plug-in starts a program": ("pylint one.py", {
                     ".pylintrc": "[MAIN]\ninit-hook=import sys; sys.path.append('.')\nload-plugins=evil\n",
                     "evil.py": RUNS + "def register(linter):\n    pass\n"})}),
    "flake8": Case("flake8 --max-line-length=100 one.py two.py", {"one.py": CLEAN, "two.py": "import os\n"}, "F401", 1, refused=(
        "flake8 --config=evil one.py", "flake8 --append-config=evil one.py", "flake8 --output-file=/tmp/x one.py",
        "flake8 --tee one.py", "flake8 --enable-extensions=x one.py", "flake8 --require-plugins=x one.py", "flake8 /etc",
        "flake8 --bug-report"),
        attacks={"a local plug-in writes outside": ("flake8 one.py", {
            ".flake8": "[flake8:local-plugins]\nextension =\n    X = evil:Evil\npaths = .\n",
            "evil.py": WRITES + "class Evil:\n    name = version = 'x'\n    def __init__(self, tree):\n        pass\n"
                                "    def run(self):\n        return []\n"})}),
    "black": Case("black one.py two.py", {"one.py": "x = 'a'\n", "two.py": "y=1\n"}, "2 files reformatted",
                  then=("black --check .", "black --diff -l 100 one.py", "black -q -c 'x=1'"), refused=(
        "black /etc", "black ../x", "black --config=/etc/x one.py", "black --stdin-filename=/etc/x -", "black --src=/etc")),
    "mypy": Case("mypy --strict one.py", {"one.py": CLEAN}, "Success", then=("mypy -c 'x: int = 1'", "mypy ."), refused=(
        "mypy --python-executable=./x one.py", "mypy --config-file=evil one.py", "mypy --install-types one.py",
        "mypy --cache-dir=/tmp/x one.py", "mypy --html-report=/tmp/x one.py", "mypy --junit-xml=/tmp/x one.py",
        "mypy --shadow-file one.py /etc/passwd one.py", "mypy --custom-typeshed-dir=. one.py", "mypy --pdb one.py", "mypy @own", "mypy -- @own",
        "mypy /etc"),
        attacks={"a plug-in writes outside": ("mypy one.py", {
            "mypy.ini": "[mypy]\nplugins = ./evil.py\n", "evil.py": WRITES + RUNS})}),
    "ruff": Case(refused=(
        "ruff check --output-file=/tmp/x .", "ruff check -o /tmp/x .", "ruff check --cache-dir=/tmp/x .", "ruff check --add-noqa .",
        "ruff check --watch .", "ruff check --config=/etc/x .", "ruff check /etc", "ruff format ../x", "ruff server", "ruff clean",
        "ruff analyze graph", "ruff check --config 'lint.select=[]'")),
    "bandit": Case("bandit -r -f json .", {"one.py": "import pickle\npickle.loads(b'')\n"}, "B301", 1, refused=(
        "bandit -o /tmp/x one.py", "bandit --output=/tmp/x one.py", "bandit --ini /etc/x .", "bandit -c /etc/x .", "bandit -d .",
        "bandit -r /etc", "bandit -f custom .", "bandit -p x .")),
    "yamllint": Case("yamllint -f parsable a.yaml", {"a.yaml": "---\na: 1\nb:  2\n"}, "too many spaces", 1, refused=(
        "yamllint -c /etc/x a.yaml", "yamllint --config-file=/etc/x a.yaml", "yamllint /etc", "yamllint ../x")),
    "shellcheck": Case("shellcheck -s sh a.sh", {"a.sh": "echo $1\n"}, "SC2086", 1, refused=(
        "shellcheck -x a.sh", "shellcheck --external-sources a.sh", "shellcheck -P /etc a.sh", "shellcheck --source-path=/etc a.sh",
        "shellcheck --rcfile=/etc/x a.sh", "shellcheck /etc/passwd", "shellcheck -ax a.sh")),
}


def test_table_has_every_entry():
    assert set(TABLE) == set(catalog.family("python"))


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_ordinary_work(cell, name):
    catalog.check_work(cell, name, TABLE[name])


if full():
    def test_checker_does_not_change_the_repository(cell):
        catalog.plant(cell.box, {"one.py": CLEAN, ".pylintrc": "[MAIN]\ninit-hook=open('made', 'w')\n"})
        answer = cell.run("pylint", "one.py", policy=catalog.policy(cell.box, "pylint"), timeout=60)
        said = catalog.output(answer)
        assert "Read-only file system" in said and not (cell.box.root / "made").exists(), said


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_refused(user_box, name):
    catalog.check_refused(user_box, name, TABLE[name])


@pytest.mark.parametrize("name, attack", catalog.chosen_attacks(TABLE))
def test_attack_stays_in_the_jail(cell, name, attack):
    catalog.check_attack(cell, name, TABLE[name], attack)


def test_python_runs_nothing_without_a_jail(user_box):
    answer = user_box.run("python3", "-c", "1", policy=catalog.policy(user_box, "python3"), options=["--jail", "none"])
    assert answer.outcome == "jail_unavailable", answer.document
