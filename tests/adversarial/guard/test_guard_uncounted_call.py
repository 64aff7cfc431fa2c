"""Promise: A guarded program.
Attacker: a carrier. Means: a filter of its own (seccomp), which its doors inherit. It answers the door's system call with a
socket that the attacker holds, tells the door to wait, and lets the door connect only for what it takes for the second
time. The guard counts a door when it connects for the first time.

Expected (R92): the call is judged and recorded as any other, and guard says that the counts differ, with status 125.
"""
import pytest

from guards import needs

FOOLED = """
import ctypes, os, platform, socket, struct, sys
class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("true", ctypes.c_ubyte), ("false", ctypes.c_ubyte), ("value", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
NUMBER = {"x86_64": 180, "aarch64": 42}[platform.machine()]
SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]
LOAD, EQUAL, RETURN, ALLOW, ANSWER_0 = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000
BUSY = 5
code = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, NUMBER), (LOAD, 0, 0, 24), (EQUAL, 0, 1, 0), (RETURN, 0, 0, ANSWER_0), (RETURN, 0, 0, ALLOW)]
code = (Instruction * len(code))(*(Instruction(*one) for one in code))
libc = ctypes.CDLL(None, use_errno=True)
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
if os.fork() == 0:
    os.dup2(theirs.fileno(), 0)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.syscall(SECCOMP, 1, 0, ctypes.byref(Program(len(code), ctypes.addressof(code)))) != 0:
        sys.exit("no filter")
    os.execv("/usr/bin/cp", ["cp", "f", "copied"])
theirs.close()
print(len(ours.recv(40000)) > 100, flush=True)
ours.send(struct.pack("I", BUSY))
ours.close()
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.fixture
def attacker(guarded):
    needs("python3")
    guarded.set_policy(carriers=["python3"], tools=["cp"])
    guarded.box.file("root/f", "line\n")
    guarded.box.file("root/fooled.py", FOOLED)
    return guarded


def test_call_of_a_door_that_was_not_counted_is_noticed(attacker):
    answer = attacker.inside("python3", "fooled.py", options=())
    # The door may end early: its socket is its descriptor 0, so the copy of the tool's input reads what is meant for it.
    assert answer.out.startswith(b"True\n"), answer
    assert answer.status == 125 and "more calls" in answer.document["difference"] and b"counts differ" in answer.err, answer
    verified = attacker.box.call([attacker.box.command, "audit", "verify", "--complete", str(attacker.box.log)])
    assert verified.status == 1 and b"judged 1 calls, but has seen 0 connections" in verified.err, verified
