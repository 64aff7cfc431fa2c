"""policy init: a start that is good, and never over an existing file (R84)."""
import os
import pathlib
import stat

import pytest
import yaml


@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_init_writes_a_policy_that_is_good_and_usable(box, mask):
    directory = box.directory("mine")
    answer = box.call([box.command, "policy", "init", "own.yaml"], cwd=directory, umask=mask)
    assert (answer.status, answer.err) == (0, b""), answer
    path = directory / "own.yaml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 & ~mask
    assert box.call([box.command, "policy", "check", str(path)]).out.endswith(b"good, 0 errors, 0 warnings\n")
    assert box.call([box.command, "policy", "diff", "default", str(path)]).out == b"no change\n"
    assert box.run("git", "--version", policy=path).outcome == "exited"


def test_what_init_writes_is_good_without_the_comment_signs(user_box):
    """A comment is "# text"; what a user is to uncomment has no blank, or two, after the sign."""
    directory = user_box.directory("mine")
    path = directory / "own.yaml"
    assert user_box.call([user_box.command, "policy", "init", str(path)]).status == 0
    lines = [line[1:] if line.startswith("#") and line[1:2].strip() or line.startswith("#  ") else line
             for line in path.read_text(encoding="ascii").splitlines()]
    document = "\n".join(lines).replace("docs/adr", "adr") + "\n"
    assert yaml.safe_load(document).keys() == {"version", "extends", "adr_dir", "upstream", "remove", "grant", "tools"}
    user_box.directory("mine/adr")
    for name in ("0001-x.md", "0002-x.md"):
        user_box.file(f"mine/adr/{name}", "x\n")
    written = str(user_box.file("mine/whole.yaml", document, 0o600))
    answer = user_box.call([user_box.command, "policy", "check", written])
    assert (answer.status, answer.out.decode()) == (0, f"{written}: good, 0 errors, 0 warnings\n")
    assert user_box.call([user_box.command, "policy", "diff", "default", written]).status == 0


def make_file(path):
    path.write_bytes(b"mine\n")


def make_link(path):
    (path.parent / "target").write_bytes(b"mine\n")
    path.symlink_to("target")


@pytest.mark.parametrize("make", [make_file, make_link, lambda path: path.symlink_to("nowhere"), os.mkfifo,
                                  pathlib.Path.mkdir], ids=["file", "link", "dangling", "fifo", "directory"])
def test_init_never_writes_over_what_exists(box, make):
    directory = box.directory("mine")
    path = directory / "own.yaml"
    make(path)
    before = [(entry.name, entry.lstat()) for entry in sorted(directory.iterdir())]
    answer = box.call([box.command, "policy", "init", str(path)], deadline=20)
    assert answer.status == 125 and b"exists already" in answer.err
    after = [(entry.name, entry.lstat()) for entry in sorted(directory.iterdir())]
    assert [(name, s.st_ino, s.st_size, s.st_mtime_ns) for name, s in before] == \
        [(name, s.st_ino, s.st_size, s.st_mtime_ns) for name, s in after]


@pytest.mark.parametrize("place", ["no/such/own.yaml", "/proc/own.yaml", "", "mine/"])
def test_init_where_nothing_can_be_written_is_125(user_box, place):
    user_box.directory("mine")
    answer = user_box.call([user_box.command, "policy", "init", place], cwd=user_box.base)
    assert answer.status == 125 and answer.err.startswith(b"chokepoint: ")


def test_init_in_a_directory_without_rights_is_125(user_box):
    directory = user_box.base / "theirs"
    directory.mkdir(mode=0o755)
    answer = user_box.call([user_box.command, "policy", "init", str(directory / "own.yaml")])
    assert answer.status == 125 and b"cannot create" in answer.err and not list(directory.iterdir())


def test_init_leaves_no_part_of_a_file(box):
    directory = box.directory("mine")
    answer = box.call(["sh", "-c", f"ulimit -f 1; exec {box.command} policy init {directory}/own.yaml"])
    assert answer.status == 125 and b"cannot write" in answer.err and not list(directory.iterdir())


@pytest.mark.parametrize("argv", [[], ["a.yaml", "b.yaml"], ["--frobnicate", "a.yaml"]])
def test_init_needs_one_file(user_box, argv):
    answer = user_box.call([user_box.command, "policy", "init", *argv], cwd=user_box.home)
    assert answer.status == 125 and not list(user_box.home.iterdir())
