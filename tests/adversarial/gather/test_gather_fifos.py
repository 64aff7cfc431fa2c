"""Promise: A look at a repository.
Attacker: the author of a working tree. Means: FIFOs and devices with names that tools open by
themselves: .gitignore, .gitattributes, .mailmap, package.json, a source file, files of the git
directory; directly, by a symlink, and deep down.

Expected: nothing blocks. Each probe whose tool would block is skipped at once and names the file;
the others give the same evidence as without it.
"""
import os
import socket
import time
from contextlib import chdir

import pytest

from gathered import gather, probe, write_probes
from hostile import Repository

SECONDS = 30  # for all of it on a busy machine; the policy gives each tool 300


def look(box, *only):
    began = time.monotonic()
    found = gather(box, "--only", ",".join(only), policy="default", deadline=90)
    assert time.monotonic() - began < SECONDS
    return found


def plant(box, name):
    path = box.root / name
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
        box.own(path.parent)
    if path.is_file():
        path.unlink()
    os.mkfifo(path)
    return box.own(path)


def reason(found, name):
    assert found.states[name] == "skipped", found.probes[name]
    return found.probes[name]["reason"]


# Which probes open it.
NAMES = {
    ".gitignore": ("snapshot", "curated_patterns"),
    "sub/dir/.gitignore": ("snapshot",),
    "sub/dir/.gitattributes": ("snapshot",),
    ".mailmap": ("snapshot",),
    ".gitmodules": ("snapshot",),
    ".git/HEAD": ("snapshot",),
    ".git/info/exclude": ("snapshot",),
    ".git/refs/heads/other": ("snapshot",),
}


@pytest.mark.parametrize("name", NAMES)
def test_fifo_that_a_tool_would_open_is_not_waited_for(box, name):
    Repository(box)
    plant(box, name)
    found = look(box, *NAMES[name])
    for each in NAMES[name]:
        assert f"'{name}' is a FIFO" in reason(found, each)


def test_what_is_passed_over_changes_nothing(box):
    """But for the counts of files, which have it."""
    Repository(box)
    before = look(box, "snapshot", "curated_patterns").probes
    for name in ("planted.py", "package.json", "sub/.ignore"):
        plant(box, name)
    with chdir(box.root), socket.socket(socket.AF_UNIX) as made:  # its path is too long for a socket's name
        made.bind("socket.py")  # it cannot be opened, so nobody waits for it
    after = look(box, "snapshot", "curated_patterns").probes
    for name in ("snapshot", "curated_patterns"):
        assert after[name]["state"] == "ok" and after[name]["found"] == before[name]["found"], after[name]


def test_link_to_a_fifo_is_followed_as_tools_do(user_box):
    Repository(user_box)
    plant(user_box, "sub/pipe")
    (user_box.root / ".gitignore").unlink(missing_ok=True)
    (user_box.root / ".gitignore").symlink_to("sub/pipe")
    assert "'.gitignore' is a FIFO" in reason(look(user_box, "curated_patterns"), "curated_patterns")


def test_device_counts_as_well(root_box):
    Repository(root_box)
    os.mknod(root_box.root / ".mailmap", 0o20666, os.makedev(5, 0))
    assert "'.mailmap' is a FIFO or a device" in reason(look(root_box, "snapshot"), "snapshot")


@pytest.mark.parametrize("name", [".git/info/attributes", ".gitignore"])
def test_link_to_a_device_without_an_end_is_not_read(box, name):
    """git took /dev/zero for a line that goes on, until its limit."""
    Repository(box)
    (box.root / name).unlink(missing_ok=True)
    (box.root / name).symlink_to("/dev/zero")
    assert f"'{name}' is a FIFO or a device" in reason(look(box, "snapshot"), "snapshot")


def test_link_to_the_empty_device_is_an_empty_file(user_box):
    Repository(user_box)
    (user_box.root / ".gitignore").unlink(missing_ok=True)
    (user_box.root / ".gitignore").symlink_to("/dev/null")
    assert look(user_box, "snapshot").states["snapshot"] == "ok"


def test_tool_that_may_open_anything_is_not_started(user_box):
    """A probe says what its tool opens; where it says nothing, that may be any file."""
    box = user_box
    box.directory("root/sub")
    box.file("root/a.txt", "text\n")
    plant(box, "sub/pipe")
    probes = [probe("all", "sh", "-c", "cat a.txt sub/*"), probe("some", "sh", "-c", "cat a.txt", opens=["*.txt"]),
              probe("none", "sh", "-c", "echo text", opens=[]),
              probe("given", "sh", "-c", "cat \"$@\"", "sh", "{files}", applies_when=["**/*"], opens=[])]
    began = time.monotonic()
    policy = box.write_policy([box.entry("sh", execs=["cat"])], name="policy/sh.yaml")
    found = gather(box, "--probes", write_probes(box, *probes), policy=policy, deadline=90)
    assert time.monotonic() - began < SECONDS
    assert reason(found, "all") == "'sub/pipe' is a FIFO or a device, and 'sh' would wait for it; remove it"
    for name in ("some", "none", "given"):
        assert found.lines(name) == ["text"]


def test_fifo_does_not_make_require_pass(user_box):
    """A gate in CI would be open otherwise: the probe that looks for findings did not run."""
    box = user_box
    box.file("root/a.txt", "text\n")
    probes = write_probes(box, probe("all", "sh", "-c", "cat a.txt"))
    policy = box.write_policy([box.entry("sh", execs=["cat"])], name="policy/sh.yaml")
    assert gather(box, "--require", "--probes", probes, policy=policy).status == 0
    os.mkfifo(box.root / "pipe")
    found = gather(box, "--require", "--probes", probes, policy=policy)
    assert found.status == 1 and found.states["all"] == "skipped"


def test_bare_repository_is_a_git_directory(user_box):
    box = user_box
    repo = Repository(box)
    bare = box.directory("bare")
    repo.git("clone", "-q", "--bare", repo.path, bare)
    os.mkfifo(bare / "refs/heads/other")
    found = gather(box, "--only", "snapshot", root=bare, policy="default", deadline=90)
    assert "'refs/heads/other' is a FIFO" in reason(found, "snapshot")
