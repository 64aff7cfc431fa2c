"""Promise: What each jail holds.
Attacker: the tool. Means: every call that changes the repository, or the directories of the
system: write, link, rename, remove, a FIFO, modes and times. The caller may do all of these to its
own files.

Expected: refused in a workspace that is `ro`, which is the default; hard links and renames do not
lead from one mount to another.
"""
import pytest

REFUSALS = "EROFS EACCES EPERM EXDEV ENOENT"
CHANGES = [("write", "victim"), ("write", "new"), ("link", "victim", "new"), ("rename", "victim", "new"),
           ("symlink", "victim", "new"), ("mkfifo", "new"), ("remove", "victim"), ("touch", "victim"), ("mode", "victim")]


def facts(path):
    status = path.stat()
    return status.st_ino, status.st_mode, status.st_nlink, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def restore(cell):
    (cell.box.root / "new").unlink(missing_ok=True)
    return cell.box.file("root/victim", "as it was")


@pytest.mark.parametrize("change", CHANGES, ids="-".join)
def test_repository_stays_as_it_is(cell, change):
    restore(cell)
    cell.succeeds_outside("breach_files", *change)
    victim = restore(cell)
    before = facts(victim)
    cell.refused_inside("breach_files", *change, errnos=REFUSALS)
    cell.refused_inside("breach_files", change[0], *(f"/work/{name}" for name in change[1:]), errnos=REFUSALS)
    assert victim.read_text() == "as it was" and facts(victim) == before
    assert sorted(path.name for path in cell.box.root.iterdir()) == ["victim"]


@pytest.mark.parametrize("path", ["/new", "/usr/new", "/usr/bin/new", "/etc/new", "/etc/passwd", "/dev/new", "/.tool/new", "/work/new",
                                  "/proc/new", "/lib/new"])
def test_directories_of_the_jail_stay_as_they_are(cell, path):
    cell.refused_inside("breach_files", "write", path, errnos=REFUSALS)


@pytest.mark.parametrize("way", ["link", "rename"])
@pytest.mark.parametrize("workspace", ["ro", "rw"])
def test_nothing_moves_between_mounts(cell, way, workspace):
    restore(cell)
    policy = cell.write_policy(breach_files={"workspace": workspace})
    for source, target in (("victim", "/tmp/new"), ("/usr/bin/env", f"{cell.place}/new"), ("/usr/bin/env", "/tmp/new"),
                           ("/etc/passwd", f"{cell.place}/new")):
        cell.refused_inside("breach_files", way, source, target, policy=policy, errnos=REFUSALS)
    assert (cell.box.root / "victim").read_text() == "as it was"


def test_writable_workspace_is_written(cell):
    """Where the policy says so; without this the rest could be refused for another reason."""
    restore(cell)
    policy = cell.write_policy(breach_files={"workspace": "rw"})
    cell.succeeds_inside("breach_files", "write", "new", policy=policy)
    assert (cell.box.root / "new").read_text() == "word"
    assert (cell.box.root / "new").stat().st_uid == cell.box.actor.uid
    cell.refused_inside("breach_files", "write", "../new", policy=policy, errnos=REFUSALS)
