"""Promise: What each jail holds.
Attacker: a tool that leaves data for another run: in /dev/shm, in /tmp and HOME, in shared memory
of System V, in a message queue. So one run could pass on what the other may not read.

Expected: every run begins with nothing; outside the second run finds what the first left.
"""
import ctypes
import os
import pathlib
import random
import uuid

IPC_RMID = 0


def nothing_is_found(cell, keep, find, name):
    """In one command each, and in one process by test_jail_leftovers.py."""
    cell.succeeds_inside("breach_files", keep, name)
    cell.refused_inside("breach_files", find, name, errnos="ENOENT")


def test_shared_memory_is_empty(cell):
    name = "choke-" + uuid.uuid4().hex
    path = pathlib.Path("/dev/shm") / name
    try:
        cell.succeeds_outside("breach_files", "keep", name)
        cell.succeeds_outside("breach_files", "find", name)
        cell.refused_inside("breach_files", "find", name, errnos="ENOENT")
    finally:
        path.unlink()
    nothing_is_found(cell, "keep", "find", name)
    assert not path.exists()


def test_system_v_segments_are_refused(cell):
    libc = ctypes.CDLL(None)
    key = random.randrange(1 << 16, 1 << 30)
    try:
        cell.succeeds_outside("breach_files", "keep_ipc", key)
        cell.succeeds_outside("breach_files", "find_ipc", key)
        cell.refused_inside("breach_files", "find_ipc", key, errnos="ENOENT")
    finally:
        libc.shmctl(libc.shmget(key, 0, 0), IPC_RMID, None)
    nothing_is_found(cell, "keep_ipc", "find_ipc", key)


def test_message_queues_are_none(cell):
    name = "/choke-" + uuid.uuid4().hex
    try:
        cell.succeeds_outside("breach_files", "keep_queue", name)
        cell.succeeds_outside("breach_files", "find_queue", name)
        cell.refused_inside("breach_files", "find_queue", name, errnos="ENOENT")
    finally:
        ctypes.CDLL(None).mq_unlink(name.encode())
    cell.inside("breach_files", "keep_queue", name)  # a queue is a file to Landlock, which may refuse to make it
    cell.refused_inside("breach_files", "find_queue", name, errnos="ENOENT")


def test_scratch_is_empty(cell):
    for path in ("/tmp/word", "/tmp/probe/word"):
        cell.succeeds_inside("breach_files", "write", path)
        cell.refused_inside("breach_files", "read", path, errnos="ENOENT")
        assert not os.path.exists(path)
