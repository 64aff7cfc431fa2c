"""Promise: What each jail holds.
Attacker: the tool. Means: descriptors of directories of the host, which lead out of any root: what
the caller had open, and what the warden and the init of the jail need for their work.

Expected: the tool has 0, 1 and 2, of which none is a directory or a file, and cannot take those of
the init.
"""
import os
import re


def test_nothing_is_inherited(cell):
    fds = [os.open(name, os.O_RDONLY) for name in ("/", "/etc/passwd", cell.box.home)]
    try:
        popen = {"pass_fds": fds}
        outside = cell.box.call([str(cell.box.bin / "breach_processes"), "descriptors"], **popen)
        assert outside.status == 0, "the descriptors do not arrive; the test would prove nothing"
        cell.refused_inside("breach_processes", "descriptors", popen=popen, errnos="EBADF")
        said = cell.succeeds_inside("say_state", popen=popen).stream("stdout")
    finally:
        for fd in fds:
            os.close(fd)
    found = dict(re.findall(rb"fd\.(\d+)=(.*)\n", said))
    assert sorted(found) == [b"0", b"1", b"2"], found
    assert found[b"1"].startswith(b"pipe:") and found[b"2"].startswith(b"pipe:")


def test_none_is_taken_from_init(cell):
    cell.succeeds_outside("breach_processes", "descriptor", "sibling")
    for who in ("sibling", "init"):
        cell.refused_inside("breach_processes", "descriptor", who, errnos="EPERM")


def test_none_of_init_is_followed(cell):
    cell.succeeds_inside("breach_files", "list", "/proc/self/fd")
    cell.refused_inside("breach_processes", "init_descriptors", errnos="EACCES EPERM ENOENT")
