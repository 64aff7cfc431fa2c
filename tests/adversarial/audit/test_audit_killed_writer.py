"""Promise: The record.
Attacker: SIGKILL, at any moment. Means: programs that write to one log, four at once, are killed a
thousand times; the log is rotated meanwhile, or is not.

Expected: the next one continues. The log is proven at the end: every record is in its place, and a
repair accounts for what a kill left in the middle of a write. Temporary files that a kill left are
removed; nothing else is.
"""
import os

import pytest

from feature import scaled


@pytest.mark.parametrize("max_bytes", [0, 100000])
def test_log_survives_being_killed_at_any_moment(user_box, max_bytes):
    box = user_box
    kills = scaled(500, 50, 150)
    box.host("host_audit", box.log, "kill", kills, max_bytes, deadline=120)
    assert box.run("true", options=["--audit-max", "0"]).outcome == "exited"
    assert not [path for path in box.log.parent.iterdir() if path.suffix == ".new"]
    files = sorted(path for path in box.log.parent.iterdir() if path.suffix == ".jsonl")
    assert (len(files) > 1) == (max_bytes > 0)
    verified = box.call([box.command, "audit", "verify", "--quiet", *map(str, files)], deadline=120)
    assert verified.status == 0, verified.err
    contexts = set()
    for path in files:
        with path.open("rb") as log:
            contexts.update(line[at + 11:at + 27] for line in log if (at := line.find(b'"context":"')) > 0)
    assert len(contexts) > kills // 4  # many were killed in the middle of their work


def leave(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def test_files_on_their_way_of_dead_writers_are_removed_and_no_others(box):
    """A kill between two system calls of a rotation leaves one; here it is put there as such a kill would have left it."""
    assert box.run("true").outcome == "exited"
    directory, name = box.log.parent, box.log.name
    begin = box.log.read_text(encoding="utf-8").splitlines(keepends=True)[0]
    dead = [leave(directory / f"{name}.{number:016x}.new", text) for number, text in enumerate(("", begin[:40], begin))]
    twin = directory / f"{name}.{7:016x}.new"
    os.link(box.log, twin)  # of one that died between its link and its removal
    kept = [leave(directory / other, "mine") for other in (f"{name}.new", f"{name}.0123456789abcdef.new.mine", "notes.new",
                                                       f"other.{0:016x}.new", f"{name}.0123456789ABCDEF.new")]
    kept.append(leave(directory / f"{name}.{8:016x}.new", "x" * 4096))  # no writer leaves that much
    link = directory / f"{name}.{9:016x}.new"
    link.symlink_to(kept[0])
    for path in (*dead, *kept, twin):
        os.chown(path, box.actor.uid, box.actor.gid)
    assert box.run("true").outcome == "exited"
    assert not [path for path in dead if path.exists()]
    assert all(path.exists() for path in kept) and link.is_symlink()
    assert box.call([box.command, "audit", "verify", "--quiet", str(box.log)]).status == 0
