"""Promise: What each jail holds.
Attacker: the repository. Means: a FIFO, which blocks whoever opens it, a symlink to a device, a
directory where a file is expected, a mount point's name (work, tmp, .old), so that building the
jail fails.

Expected: the jail is built without opening anything in the repository; nothing is created in it.
"""
import os


def test_fifo_does_not_block(cell):
    names = ("fifo", ".tool", "tmp", "proc", "work", ".old", "dev")
    for name in names:
        os.mkfifo(cell.box.root / name)
        cell.box.own(cell.box.root / name)
    (cell.box.root / "etc").symlink_to("/dev/zero")
    answer = cell.succeeds_inside("say_args", "word")
    assert answer.stream("stdout") == b"word\0"
    assert sorted(os.listdir(cell.box.root)) == sorted([*names, "etc"])


def test_root_full_of_links_does_not_lead_the_jail_out(cell):
    for name in ("tmp", "proc", "dev", "usr", ".old"):
        (cell.box.root / name).symlink_to(cell.box.outside)
    cell.refused_inside("breach_files", "write", "tmp/file", errnos="ENOENT EROFS EACCES")
    assert os.listdir(cell.box.outside) == []
