"""Promise: The linter.
Attacker: whoever names the files of the repository, and writes its lines.

Means: names and lines with line ends, control bytes, bytes that are not UTF-8, characters that
change the direction of text, and the commands of a CI service.

Expected: in each form they stay inside of their own value; a terminal obeys none of them.
"""
import json
import os
import urllib.parse

import pytest
from linter import SHELL_RULE, Tree

NAMES = [
    b"a\nb.py", b"a\r\n::error file=x::y.py", b"\x1b[2J\x1b]0;x\x07.py", b"a\xffb.py", b"a\xc2\x9bb.py",
    "a\u202eyp.b.py".encode(), "a\u2066b.py".encode(), b"a'\"`$(x) .py", b"-n.py", b"a:1:1: note: b.py", b"%0A%25.py",
    b"a,line=1.py", "ä".encode() + b".py", b"a\\x41.py", b"%s%n.py",
]
LINE = "os.system('\x1b[31m\x07\x9b\u202e\u2066 ::set-output name=x::y')"


@pytest.fixture
def tree(user_box):
    return Tree(user_box)


def plant(tree, name):
    path = os.fsencode(tree.top) + b"/" + name
    with open(path, "wb") as stream:
        stream.write(f"import os\n{LINE}\n".encode())
    tree.box.own(path)


@pytest.mark.parametrize("name", NAMES, ids=map(ascii, NAMES))
def test_a_name_stays_a_name(tree, name):
    plant(tree, name)
    text = tree.call("--verbose").out.decode()
    assert len(text.splitlines()) == 5, text
    assert all(c == "\n" or c.isprintable() for c in text), ascii(text)

    annotation = tree.call("--format", "github").out.decode()
    assert annotation.count("\n") == 1 and annotation.startswith("::error file=") and annotation.count("::") == 2
    assert annotation.split("::")[1].count(",") == 5 and all(c == "\n" or c.isprintable() for c in annotation)

    document = tree.lint(status=1)
    path = document["findings"][0]["path"]
    assert (path if isinstance(path, str) else None) in (None, os.fsdecode(name))

    sarif = json.loads(tree.call("--format", "sarif").out)
    location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert urllib.parse.unquote_to_bytes(location["uri"]) == name


def test_a_name_with_control_bytes_can_be_given(tree):
    for name in NAMES:
        plant(tree, name)
    assert len(tree.found("--", *(os.fsdecode(name) for name in NAMES))) == len(NAMES)


@pytest.mark.parametrize("name", [b"a\nb", b"\x1b[2J", b"a\xffb"])
def test_a_name_in_a_failure_is_escaped(tree, name):
    answer = tree.call(os.fsdecode(name))
    assert answer.status == 125 and answer.err.count(b"\n") == 1
    assert all(c == "\n" or c.isprintable() for c in answer.err.decode())


def test_a_waiver_is_reported_without_its_bytes(tree):
    tree.write("a.py", "x = 1  # chokepoint-lint: allow \x1b[2J\u202e ADR-0001\n")
    for form in ("text", "github"):
        said = tree.call("--format", form).out.decode()
        assert "waiver-unfounded" in said and all(c == "\n" or c.isprintable() for c in said)


def test_a_name_that_is_called_is_escaped(tree):
    """Identifiers may have characters that look like others; none of them is obeyed."""
    tree.write("a.py", "import os as ｏs\nｏs.system('x')\nimport os\nos.system('\u2066')\n")
    said = tree.call().out.decode()
    assert SHELL_RULE in said and all(c == "\n" or c.isprintable() for c in said)
