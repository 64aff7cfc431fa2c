"""Promise: The linter.
Attacker: the repository that is linted, or another user of the machine.

Means: a configuration that has everything off, at the top, below it, or above it in a directory
that all may write to; and patterns that exclude everything.

Expected: with --config nothing of the tree is a configuration; only the top has one; a directory
of another user never becomes the top; and what was excluded is counted.
"""
import pytest
from linter import SHELL, SHELL_RULE, Tree

OFF = f"exclude:\n  - {{path: '*', why: x}}\nseverities: {{{SHELL_RULE}: off}}\n"


@pytest.fixture
def tree(user_box):
    made = Tree(user_box)
    made.write("sub/a.py")
    return made


def test_a_named_configuration_cannot_be_switched_off(tree):
    tree.configure(OFF)
    assert tree.paths() == []  # the attack succeeds without --config, and can be seen:
    assert tree.lint()["excluded"] == 1 and tree.lint()["config"].endswith("/.chokepoint-lint.yaml")
    assert b"excluded by the configuration: 1" in tree.call().out
    mine = tree.box.file("outside/mine.yaml", "version: 1\n")
    tree.write("sub/.chokepoint-lint.yaml", "version: 1\n" + OFF)
    tree.repository()
    for args in ((), ("sub",), ("sub/a.py",), ("--root", "sub", "sub")):
        assert tree.paths("--config", mine, *args) == ["sub/a.py"]


def test_a_broken_one_of_the_tree_does_not_matter_then(tree):
    tree.write(".chokepoint-lint.yaml", "\xff: [")
    assert tree.refused()
    assert tree.paths("--config", "/dev/null") == ["sub/a.py"]


def test_what_gitignore_leaves_out_is_counted(tree):
    tree.write(".gitignore", "*\n")
    assert tree.lint(status=0)["ignored"] > 0 and b"excluded by .gitignore: " in tree.call().out
    assert tree.paths("--no-gitignore") == ["sub/a.py"]


def test_a_directory_of_others_does_not_become_the_top(tree):
    """As /tmp is: another user makes .git and a configuration in it, and waits."""
    tree.configure(OFF)
    tree.repository()
    away = tree.box.directory("away")
    assert tree.paths(".", cwd=tree.top / "sub") == []  # in a directory of one's own this is what is meant
    tree.top.chmod(0o1777)
    assert tree.paths(".", cwd=tree.top / "sub") == ["a.py"]
    assert tree.paths(tree.top / "sub/a.py", cwd=away) == [f"{tree.top}/sub/a.py"]


@pytest.mark.parametrize("text", [
    b"version: 1\nexclude: [" + b"[" * 100000, b"a: &a [*a]\n", b"- " * 100000, b"%YAML 9.9\n" * 20000,
    b"version: 1\nseverities: {" + b",".join(b"r%d: off" % i for i in range(20000)) + b"}\n", b"a" * 300000,
    b"\0", b"version: 1\nadr_dir: /\nadr_dir: /\n", b"? [a]\n: b\n", b"!!python/object:os.system x\n",
], ids=range(10))
def test_no_configuration_ends_the_linter(tree, text):
    tree.write(".chokepoint-lint.yaml", text)
    assert "configuration" in tree.refused()


def test_patterns_cannot_hold_it_up(tree):
    name = "a" * 200 + ".py"
    for i in range(20):
        tree.write(f"{i}/{name}", SHELL)
    tree.write(".gitignore", ("*a" * 100 + "b\n") * 800 + ("**/a/" * 60 + "b\n") * 100)
    assert len(tree.paths()) == 21


@pytest.mark.parametrize("text", ["a\n" * 20000, "#" + "a" * (1 << 20) + "\n*\n"], ids=["many", "large"])
def test_patterns_that_are_too_many_leave_nothing_out(tree, text):
    tree.write(".gitignore", text + "*.py\n")
    document = tree.lint(status=1)
    assert [one["path"] for one in document["findings"]] == ["sub/a.py"]
    assert document["skipped"][0]["path"] == ".gitignore" and "too" in document["skipped"][0]["reason"]


def test_a_waiver_cannot_bring_its_own_record(tree):
    """With a configuration of one's own, records are those beside it."""
    tree.configure("adr_dir: adr\n")
    tree.write("adr/0001-fine.md", "fine\n")
    tree.write("sub/a.py", f"import os\nos.system('ls')  # chokepoint-lint: allow {SHELL_RULE} ADR-0001\n")
    assert tree.found() == []
    mine = tree.box.file("outside/mine.yaml", "version: 1\nadr_dir: adr\n")
    assert sorted(rule for _, rule in tree.found("--config", mine)) == [SHELL_RULE, "waiver-unfounded"]
