"""Promise: The linter.
Attacker: the repository that is linted.

Means: symlinks to what is outside, also such that replace a directory during the walk.

Expected: nothing outside is read, so no line of it is ever shown; a symlink is reported.
"""
import os
import threading
import time

import pytest
from feature import scaled
from linter import SHELL, SHELL_RULE, Tree
from processes import PATIENCE_S

SECRET = "import os\nos.system('the secret of another')\n"


@pytest.fixture
def tree(user_box):
    made = Tree(user_box)
    made.box.file("outside/secret.py", SECRET)
    return made


def looked_at(document) -> str:
    return str(document["findings"])


def test_the_secret_would_be_shown(tree):
    """Without a link in between it is read and shown: so the tests below can fail."""
    assert "secret of another" in looked_at(tree.lint(tree.box.outside))


@pytest.mark.parametrize("target", ["../outside/secret.py", "{outside}/secret.py",
                                    "/proc/self/root{outside}/secret.py"])
def test_a_link_to_a_file_is_not_followed(tree, target):
    (tree.top / "a.py").symlink_to(target.format(outside=tree.box.outside))
    assert (tree.top / "a.py").read_text(encoding="ascii") == SECRET
    for args in ((), ("a.py",), (tree.top / "a.py",)):
        document = tree.lint(*args, status=0)
        assert looked_at(document) == "[]" and document["skipped"][0]["reason"] == "a symbolic link"


def test_a_link_to_a_directory_is_not_followed(tree):
    (tree.top / "sub").symlink_to(tree.box.outside)
    assert (tree.top / "sub/secret.py").exists()
    assert looked_at(tree.lint(status=0)) == "[]"
    assert looked_at(tree.lint("sub", status=0)) == "[]"
    for path in ("sub/", "sub/secret.py", "sub/."):
        assert "is outside" in tree.refused(".", path)


def test_what_is_excluded_or_ignored_cannot_be_a_link(tree):
    """A .gitignore or a configuration that is a link would show the lines of its target in a message."""
    (tree.top / ".gitignore").symlink_to(tree.box.outside / "secret.py")
    tree.write("a.py")
    assert tree.paths() == ["a.py"]
    (tree.top / ".chokepoint-lint.yaml").symlink_to(tree.box.outside / "secret.py")
    message = tree.refused()
    assert "it is a link" in message and "import" not in message


def test_a_directory_that_becomes_a_link_leads_nowhere(tree):
    for i in range(40):
        tree.write(f"d{i:02}/secret.py", "pass\n")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for i in range(40):
                name = tree.top / f"d{i:02}"
                os.rename(name, tree.top / "aside")
                os.symlink(tree.box.outside, name)
                os.unlink(name)
                os.rename(tree.top / "aside", name)

    end = time.monotonic() + PATIENCE_S
    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        documents = [tree.lint("--jobs", "2") for _ in range(scaled(25, 8))]
        while not any(document["skipped"] for document in documents) and time.monotonic() < end:
            documents.append(tree.lint("--jobs", "2"))  # on a busy machine the other thread may not have its turn for a while
    finally:
        stop.set()
        swapper.join()
    assert all("secret of another" not in looked_at(document) for document in documents)
    assert any(document["skipped"] for document in documents), "no look fell into a swap"
    assert tree.lint(status=0)["files"] == 40


def test_a_tree_within_a_link_is_linted_where_it_is(tree):
    """Who names the top through a link means it; from there on the same holds."""
    tree.write("a.py", SHELL)
    way = tree.box.base / "way"
    way.symlink_to(tree.top)
    assert [rule for _, rule in tree.found(f"{way}/", cwd="/")] == [SHELL_RULE]
