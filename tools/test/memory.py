"""A file system in memory for the files of the tests.

A test makes a directory with some files and removes it. On a disk each removal waits for the journal, and the tests of
all processes wait for the same one: a third of their time. The file system is mounted in a mount namespace of this
process and what it starts, so nothing of it is left when the process ends, however it ends.
"""
import contextlib
import ctypes
import os
import tempfile

VARIABLE = "CHOKE_TEST_STAGE"  # tests/conftest.py
CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE, MNT_DETACH = 0x4000, 0x40000, 2
NEEDED_KIB = 8 << 20  # the tests use about two GiB of it, and at most half of the memory

_made = []


def directory():
    """Its path; None if nothing was mounted."""
    return _made[0] if _made else None


def is_large_enough() -> bool:
    with open("/proc/meminfo", encoding="ascii") as stream:
        return any(int(line.split()[1]) >= NEEDED_KIB for line in stream if line.startswith("MemAvailable:"))


def mount(path) -> bool:
    libc = ctypes.CDLL(None)
    return (libc.unshare(CLONE_NEWNS) == 0 and libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0
            and libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", 0, b"mode=755") == 0)


@contextlib.contextmanager
def mounted():
    """Around all suites, before there are threads: a namespace belongs to a thread and to what it starts."""
    if os.geteuid() != 0 or not is_large_enough():
        yield
        return
    path = tempfile.mkdtemp(prefix="choke-test-")
    try:
        if mount(path):
            _made.append(path)
        yield
    finally:
        if _made:
            ctypes.CDLL(None).umount2(os.fsencode(_made.pop()), MNT_DETACH)
        os.rmdir(path)
