"""Promise: Limits.
Attacker: the tool. Means: it fills what it can write: /tmp, its home, /dev/shm, with bytes and
with empty files.

Expected: the space is bounded, it is not the host's disk, and it is freed when the run ends. The
scratch directory of bwrap's jail is one of the host (R31): what is written there is bounded by
`file_size_mib` alone, and is freed like the rest; and bwrap bounds bytes, not the number of files
(docs/adr/0022).
"""
import os
import signal

import pytest

from jails import Cell

MIB = 1 << 20
LIMIT_MIB = 1024


def free_bytes(path):
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def test_filling_is_real(cell):
    cell.succeeds_outside("breach_files", "fill", ".", 16)
    assert (cell.box.root / "filling").stat().st_size == 16 * MIB


@pytest.mark.parametrize("directory", ["/tmp", "/tmp/probe", "/dev/shm"])
def test_bytes_are_bounded(cell, directory):
    shape = {"timeout": 60, "deadline": 90}
    if cell.jail == "bwrap" and directory == "/tmp/probe":
        shape["policy"] = cell.write_policy(breach_files={"limits": {"file_size_mib": 64}})
        cell.killed_inside("breach_files", "fill", directory, 65, signal=signal.SIGXFSZ, **shape)
        return
    free = free_bytes("/tmp")
    answer = cell.refused_inside("breach_files", "fill", directory, LIMIT_MIB + 512, errnos="ENOSPC", **shape)
    assert b"(write)" in answer.stream("stdout")
    assert free_bytes("/tmp") > free - LIMIT_MIB * MIB


@pytest.mark.parametrize("directory", ["/tmp", "/dev/shm"])
def test_files_are_bounded(once_box, directory):
    """The bound is an option of the mount, the same for root."""
    cell = Cell(once_box, "native")
    cell.refused_inside("breach_files", "inodes", directory, 300000, timeout=60, deadline=90, errnos="ENOSPC")


@pytest.mark.parametrize("directory", ["/", "/work", "/dev", "/etc", "/.tool", "/proc", "/usr"])
def test_other_directories_accept_no_bytes(cell, directory):
    cell.refused_inside("breach_files", "fill", directory, 1, errnos="EACCES EROFS ENOENT EPERM")
