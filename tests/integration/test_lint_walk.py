"""Which files are scanned: .gitignore as Git itself reads it, and what is skipped.

Git is asked which files of a tree it does not ignore; the linter must scan the same ones.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from feature import scaled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from linter import SHELL, Tree


@pytest.fixture
def tree(user_box):
    return Tree(user_box)


# ---- against Git ----

class Twin:
    """One tree, one Git, one linter."""

    def __init__(self, command, top):
        self.command, self.top = command, top
        self.git = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
        subprocess.run(["git", "init", "-q", "."], cwd=top, env=self.git, check=True)

    def make(self, files, ignores):
        for name in os.listdir(self.top):
            if name != ".git":
                path = self.top / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name in files:
            path = self.top / name
            if any(parent.is_file() for parent in path.parents) or path.exists():
                continue  # one cannot be in the other
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SHELL, encoding="ascii")
        for directory, text in ignores.items():
            if (self.top / directory).is_dir():
                (self.top / directory / ".gitignore").write_text(text, encoding="utf-8", newline="")

    def by_git(self):
        done = subprocess.run(["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others",
                               "--exclude-standard", "--", "*.py"], cwd=self.top, env=self.git, check=True,
                              capture_output=True)
        return sorted(name for name in done.stdout.decode().split("\0") if name)

    def by_linter(self):
        done = subprocess.run([self.command, "lint", "--format", "github"], cwd=self.top, check=False,
                              capture_output=True)
        lines = done.stdout.decode().splitlines()
        assert done.returncode in (0, 1) and all(line.startswith("::error file=") for line in lines), done
        return sorted(line.split("=", 1)[1].split(",", 1)[0] for line in lines)


@pytest.fixture(scope="module")
def twin(stage):
    with tempfile.TemporaryDirectory() as path:
        yield Twin(stage / "chokepoint", pathlib.Path(path))


CASES = [
    {"": "*.py\n!b.py\n"},
    {"": "a/\n"},
    {"": "/a\n"},
    {"": "a/b\n"},
    {"": "**/b\n"},
    {"": "a/**\n!a/b/\n"},
    {"": "a/*\n!a/b/\n!a/b/**\n"},
    {"": "*\n!*/\n!b.py\n"},
    {"": "*.py\n", "a": "!*.py\n"},
    {"": "b.py\n", "a/b": "!/b.py\n"},
    {"": "/*/b\n", "a": "/b\n"},
    {"": "[a-b].py\n"},
    {"": "\\!x.py\n#b.py\n\\#b.py\n"},
    {"": "a.py \nb.py\\ \n"},
    {"": "a.py\r\nb.py\r\n"},
    {"": "\ufeffa.py\n"},
    {"": "a//b.py\n/a/./b.py\n"},
    {"": "?.py"},
    {"": "a/**/b.py\n"},
    {"": "**\n!a\n!a/**\n"},
    {"": "*/b.py\n"},
    {"": "b\n!b/\n"},
    {"": "a**/b.py\n"},
    {"": "a**/**\n"},
    {"": "/a**\n"},
    {"": "c/***/b.py\n"},
]
FILES = ["a.py", "b.py", "!x.py", "#b.py", "a/a.py", "a/b.py", "a/b/b.py", "a/b/c.py", "b/a.py", "c/b/b.py",
         "c/d/a/b.py"]


@pytest.mark.parametrize("ignores", CASES, ids=[repr(case) for case in CASES])
def test_a_tree_is_seen_as_git_sees_it(twin, ignores):
    twin.make(FILES, ignores)
    assert twin.by_linter() == twin.by_git()


piece = st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "[!a]", "[a-b", "\\a", "\\*", ".py", "*.py", "ab", " ", "]"])
segment = st.lists(piece, min_size=1, max_size=3).map("".join)
pattern = st.tuples(st.sampled_from(["", "", "", "!", "/", "!/", "**/"]),
                    st.lists(segment, min_size=1, max_size=3).map("/".join),
                    st.sampled_from(["", "", "", "/", "/**", " "])).map("".join)
text = st.lists(pattern, max_size=5).map(lambda lines: "\n".join(lines) + "\n")
name = st.lists(st.sampled_from(["a", "b", "ab", "a b", "c"]), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts) + ".py")


@settings(max_examples=scaled(120, 30, 40), deadline=None, database=None, derandomize=True,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.sets(name, min_size=4, max_size=10), top=text, inner=text)
def test_any_patterns_mean_what_they_mean_to_git(twin, files, top, inner):
    twin.make(sorted(files), {"": top, "a": inner})
    assert twin.by_linter() == twin.by_git()


# ---- what Git has no word for ----

def test_named_files_are_looked_at_whatever_gitignore_says(tree):
    tree.write(".gitignore", "*\n")
    tree.write("a.py")
    assert tree.paths() == [] and tree.lint()["ignored"] == 2
    assert tree.paths("a.py") == ["a.py"]
    assert tree.paths("--no-gitignore") == ["a.py"]


def test_patterns_above_a_named_directory_hold(tree):
    tree.repository()
    tree.write(".gitignore", "gen_*.py\n/sub/out/\n")
    for name in ("sub/a.py", "sub/gen_a.py", "sub/out/a.py", "sub/deep/out/a.py"):
        tree.write(name)
    assert tree.paths("sub") == ["sub/a.py", "sub/deep/out/a.py"]
    assert tree.paths(".", cwd=tree.top / "sub") == ["a.py", "deep/out/a.py"]
    assert tree.paths("sub/out") == ["sub/out/a.py"]  # an explicitly named file is scanned


def test_what_git_keeps_for_itself_is_not_entered(tree):
    tree.write(".git/hooks/a.py")
    tree.write("sub/.git/a.py")
    tree.write("sub/.github/a.py")
    assert tree.paths() == ["sub/.github/a.py"]


def test_links_are_passed_over_and_reported(tree):
    tree.write("real/a.py")
    (tree.top / "loop").symlink_to(".")
    (tree.top / "real/up").symlink_to("..")
    (tree.top / "self").symlink_to("self")
    (tree.top / "b.py").symlink_to("real/a.py")
    document = tree.lint()
    assert [one["path"] for one in document["findings"]] == ["real/a.py"]
    assert document["skipped"] == [{"path": path, "reason": "a symbolic link"}
                                   for path in ("b.py", "loop", "real/up", "self")]
    assert tree.lint("b.py", "loop", status=0)["skipped"] == [
        {"path": path, "reason": "a symbolic link"} for path in ("b.py", "loop")]
    assert tree.paths("loop/") == ["loop/real/a.py"]  # a slash follows the link


def test_anything_but_a_file_is_skipped_and_reported(tree):
    os.mkfifo(tree.top / "pipe.py")
    assert tree.lint(status=0)["skipped"] == [{"path": "pipe.py", "reason": "not a regular file"}]
    assert tree.lint("pipe.py", status=0)["skipped"] == [{"path": "pipe.py", "reason": "not a regular file"}]
