"""Promise: The linter.
Attacker: whoever writes the sources that are linted.

Means: files that are not text, never end, are nested without end, or are broken everywhere, so
that the linter crashes, hangs, fills the memory or lets the file pass unseen.

Expected: it ends in time and in little memory, with a report; and what it did not read in full is
a finding.
"""
import os
import resource
import subprocess

import pytest
from feature import sanitized, scaled
from linter import SHELL_RULE, Tree

MEMORY = 1 << 30
DEPTH = scaled(100000, 70000)

NESTED = {
    "a.py": "import os\nx = " + "(" * DEPTH + "os.system('ls')" + ")" * DEPTH + "\n",
    "b.py": "x = " + "[" * DEPTH,
    "c.py": "import os\n" + "".join(" " * i + "if x:\n" for i in range(900)) + " " * 900 + "os.system('ls')\n",
    "d.py": "x = " + "-" * DEPTH + "eval",
    "e.py": "x = " + "not " * DEPTH + "eval",
    "f.py": "x = f'{" * 2000 + "eval",
    "g.py": "eval" + "(eval" * 20000,
    "h.py": "eval" + ".eval" * 50000 + "()",
    "i.py": "eval = " * 50000 + "eval",
    "a.js": "eval(" * DEPTH,
    "b.js": "x => " * 50000 + "eval(x)",
    "c.js": "`${" * 3000 + "eval(x)",
    "d.js": "const {exec: " + "{exec: " * 20000 + "a}",
    "a.ts": "let x: " + "A<" * DEPTH + "eval",
    "a.tsx": "<a>" * 50000 + "{eval(x)}",
    "a.c": "int x = " + "(" * DEPTH + "system(",
    "b.c": "#define A system(\n" + "#if A\n" * 20000,
    "a.sh": "eval $(" * 20000,
    "b.sh": "eval \"" + "${x:-" * 20000,
    "c.sh": "cat <<A; eval $x\n" * 5000,
    "d.sh": "((" * 4000 + "eval",
}

BROKEN = {
    "a.py": "import os\n'''\nos.system(\n",
    "b.py": "def def def eval(((\n" * 5000,
    "a.js": "/* eval(",
    "b.js": "}}}}}} eval(x) {{{{{{{",
    "a.c": "\"system(\n#if\n#elif\n",
    "a.sh": "eval 'x\n\"$(",
    "empty.py": "",
    "newline.py": "\n",
    "marks.py": "\ufeffimport os\n",
    "return.py": "import os\ros.system('ls')\r",
    "long.py": "eval = " + "x" * 3000000,
    "line.js": "eval(1);" * 30000,
    "comment.py": "# chokepoint-lint: " * 100000,
    "comments.py": "# chokepoint-lint: allow x ADR-0001\n" * 20000,
}


@pytest.fixture
def tree(user_box):
    return Tree(user_box)


def bounded():
    if not sanitized():  # a sanitizer's own memory is far more
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("texts", [NESTED, BROKEN], ids=["nested", "broken"])
def test_no_source_ends_the_linter(tree, texts):
    for name, text in texts.items():
        tree.write(name, text)
    document = tree.lint("--jobs", "2", deadline=240 if sanitized() else 120, preexec_fn=bounded)
    reported = {one["path"] for one in document["findings"]}
    assert document["files"] + len(document["skipped"]) == len(texts)
    for skip in document["skipped"]:
        assert skip["path"] in reported, "what was not looked at is a finding"


def test_depth_does_not_hide_a_call(tree):
    tree.write("a.py", NESTED["a.py"])
    assert {rule for _, rule in tree.found(status=1)} & {SHELL_RULE, "not-scanned"}


def test_many_findings_are_counted_when_they_are_not_kept(tree):
    tree.write("a.py", "eval(1)\n" * 5000)
    document = tree.lint(status=1)
    assert len(document["findings"]) == 1000 and document["dropped"] == 4000
    assert b"and 4000 more" in tree.call().out


@pytest.mark.parametrize("size", [4 << 20, (4 << 20) + 1, 1 << 40])
def test_a_huge_file_is_not_read(tree, size):
    with open(tree.write("a.py", "eval(1)\n"), "r+b") as stream:
        stream.truncate(size)
    document = tree.lint(status=1, preexec_fn=bounded)
    assert [one["rule"] for one in document["findings"]] == ["not-scanned"]


def test_a_pipe_does_not_hold_it_up(tree):
    os.mkfifo(tree.top / "a.py")
    os.mkfifo(tree.top / ".gitignore")
    assert tree.lint(status=0)["files"] == 0
    os.mkfifo(tree.top / ".chokepoint-lint.yaml")
    assert "cannot read" in tree.refused()


@pytest.fixture
def deep(tree):
    """2100 directories one in the other, which Python could not remove."""
    here = os.open(tree.top, os.O_RDONLY)
    for _ in range(2100):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.fchown(inner, tree.box.actor.uid, tree.box.actor.gid)
        os.close(here)
        here = inner
    os.close(here)
    yield tree
    subprocess.run(["rm", "-rf", tree.top / "d"], check=True)


def test_a_tree_is_walked_to_where_no_path_reaches(deep):
    document = deep.lint(status=1)
    assert [one["rule"] for one in document["findings"]] == ["not-scanned"]
    assert "File name too long" in document["findings"][0]["message"]
