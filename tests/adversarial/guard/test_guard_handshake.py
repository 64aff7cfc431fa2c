"""Promise: A guarded program.
Attacker: a carrier. Means: the guard itself, without a door: the system call that connects, with any arguments; a copy of
the door; a door that is traced, so that it says what the tracer wants.

Expected (R90): only the program of a door gets a connection, and nobody can trace one.
"""
import pytest

from guards import needs

CONNECT = """
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 180, "aarch64": 42}[platform.machine()]
for first, second in ((0x646f6f7263616765, 0), (0x646f6f7263616765, 1), (0, 0), (2**64 - 1, 2**64 - 1)):
    r = libc.syscall(ctypes.c_long(number), ctypes.c_ulong(first), ctypes.c_ulong(second), 0)
    print(r, errno.errorcode[ctypes.get_errno()])
"""
TRACED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    if libc.ptrace(0, 0, None, None) != 0:  # PTRACE_TRACEME
        print("refused", flush=True)
        os._exit(0)
    os.execv("/usr/bin/cat", ["cat", "f"])
_, status = os.waitpid(pid, 0)
if os.WIFSTOPPED(status):
    print("stopped at its first instruction", flush=True)
    libc.ptrace(8, pid, None, None)  # PTRACE_KILL
    os.waitpid(pid, 0)
"""


@pytest.fixture
def attacker(guarded):
    needs("python3")
    guarded.set_policy(carriers=["python3"], tools=["cat", "cp"])
    guarded.box.file("root/f", "line\n")
    return guarded


def test_no_connection_without_a_door(attacker):
    attacker.box.file("root/a.py", CONNECT)
    assert set(attacker.outside("python3", "a.py").out.split(b"\n")) == {b"-1 ENOSYS", b""}
    assert set(attacker.inside("python3", "a.py").out.split(b"\n")) == {b"-1 EPERM", b""}


def test_copy_of_a_door_is_none(attacker):
    """Where files of the root may be executed, the copy runs; it has no connection."""
    attacker.set_policy(carriers=["python3", "sh"], tools=["cat"], section={"workspace_code": True})
    copy = "data = open('/usr/bin/cat', 'rb').read(); open('copy', 'wb').write(data); import os; os.chmod('copy', 0o755); os.execv('./copy', ['cat', 'f'])"
    answer = attacker.inside("python3", "-c", copy)
    assert answer.status == 126 and b"no door" in answer.err and answer.out == b"", answer


def test_door_is_not_traced(attacker):
    attacker.box.file("root/a.py", TRACED)
    assert attacker.outside("python3", "a.py").out == b"stopped at its first instruction\n"
    assert attacker.inside("python3", "a.py").out == b"refused\n"
