"""Promise: The machine's policy.
Attacker: another user than root, who can change something about /etc/chokepoint/policy.yaml: its
owner or mode, a directory above it, a link in its place; or who runs the command in a user
namespace. Means: the file, a link, a FIFO, a directory, a loop that replaces it.

Expected (R9): everything is refused, also a call that names another policy: never is the embedded
policy used in place of a file that is there.
"""
import os

import pytest

from machine import PATH

ACCESS = """import os, struct, sys
entries = [(1, 6, -1), (2, 6, int(sys.argv[1])), (4, 4, -1), (16, 6, -1), (32, 4, -1)]
os.setxattr(sys.argv[2], "system.posix_acl_access",
            struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries))
"""
FAULTS = ["owner", "group writes", "others write", "directory of a user", "writable directory", "link", "dangling link",
          "link of the directory", "dangling link of the directory", "fifo", "directory", "file as directory",
          "unreadable file", "unreadable directory", "empty", "garbage", "too large", "access list"]


def link_directory(box, target):
    (box.etc / "chokepoint").rename(box.etc / "elsewhere")
    (box.etc / "chokepoint").symlink_to(target)


def spoil(box, fault):
    path, directory = box.file_path, box.etc / "chokepoint"
    if fault == "owner":
        os.chown(path, box.actor.uid, box.actor.gid)
    elif fault == "group writes":
        path.chmod(0o664)
    elif fault == "others write":
        path.chmod(0o646)
    elif fault == "directory of a user":
        os.chown(directory, box.actor.uid, box.actor.gid)
    elif fault == "writable directory":
        directory.chmod(0o777)
    elif fault == "link":
        path.rename(directory / "real.yaml")
        path.symlink_to("real.yaml")
    elif fault == "dangling link":
        path.unlink()
        path.symlink_to("missing.yaml")
    elif fault == "link of the directory":
        link_directory(box, "elsewhere")
    elif fault == "dangling link of the directory":
        link_directory(box, "/nonexistent/elsewhere")
    elif fault == "fifo":
        path.unlink()
        os.mkfifo(path)
    elif fault == "directory":
        path.unlink()
        path.mkdir()
    elif fault == "file as directory":
        directory.rename(box.etc / "elsewhere")
        directory.write_text("", encoding="ascii")
    elif fault == "unreadable file":
        path.chmod(0o600)
    elif fault == "unreadable directory":
        directory.chmod(0o700)
    elif fault == "empty":
        path.write_text("", encoding="ascii")
    elif fault == "garbage":
        path.write_bytes(b"\0\xff locked: false\n")
    elif fault == "too large":
        path.write_text(path.read_text(encoding="ascii") + "#" * (1 << 20), encoding="ascii")
    elif fault == "access list":
        box.before = f"/usr/bin/python3 -c '{ACCESS}' {box.actor.uid} {PATH}"


@pytest.mark.parametrize("fault", FAULTS)
def test_file_in_doubt_refuses_everything(machine_box, fault):
    box = machine_box
    box.install()
    assert box.plain("say_args").outcome == "exited"
    spoil(box, fault)
    for answer in (box.plain("say_args"), box.plain("git", "--version"), box.run("say_args")):
        assert (answer.status, answer.outcome) == (125, "policy"), answer.document
        assert PATH in answer.message
        assert answer.stream("stdout") == b""
    for command in (["doctor"], ["gather", str(box.root)], ["audit", "show"]):
        answer = box.call([box.command, *command])
        assert answer.status in (2, 125) and PATH in answer.err.decode(), (command, answer)


def test_root_trusts_no_file_of_another_user_either(root_machine_box, ordinary):
    box = root_machine_box
    box.install()
    os.chown(box.file_path, ordinary.uid, ordinary.gid)
    assert box.plain("say_args").outcome == "policy"


def test_user_namespace_makes_no_root(machine_box):
    """Inside, the caller is root, and the file of the host's root belongs to nobody."""
    box = machine_box
    box.install(locked=True)
    command = ["/usr/bin/unshare", "--user", "--map-root-user", "--", *box.run_argv(["say_args"], policy=box.policy)]
    answer = box.call(command)
    assert answer.status == 125 and b'"outcome":"policy"' in answer.out.replace(b" ", b""), answer
    box.file_path.unlink()
    answer = box.call(["/usr/bin/unshare", "--user", "--map-root-user", "--", box.command, "policy", "show"])
    assert answer.status == 0 and b"git" in answer.out


def test_replaced_file_is_never_missing(machine_box):
    """Root installs a new version while commands run: each of them sees the one or the other."""
    box = machine_box
    box.install(locked=True)
    box.before = ("( while kill -0 $$; do cp -p /etc/chokepoint/policy.yaml /etc/chokepoint/next;"
                  " mv /etc/chokepoint/next /etc/chokepoint/policy.yaml; done ) >/dev/null 2>&1 </dev/null &")
    call = " ".join(f"'{word}'" for word in box.run_argv(["say_args"], policy="default", options=["--no-audit"]))
    answer = box.call(["/bin/sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do {call}; done"])
    lines = answer.out.decode().splitlines()
    assert len(lines) == 15 and all('"disallowed"' in line and "is locked" in line for line in lines), answer
