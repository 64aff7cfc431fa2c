"""Promise: A guarded program.
Attacker: a carrier. Means: seccomp itself: a second listener, which would answer in place of the guard; a filter that makes
executions fail; and questions whether a file may be executed, which look like executions.

Expected (R92): there is one listener. What is executed beneath a filter of the attacker is counted as ever, and a question
(AT_EXECVE_CHECK) is not counted.
"""
import pytest

from guards import counts, needs

FILTERS = """
import ctypes, errno, os, platform, sys
class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("true", ctypes.c_ubyte), ("false", ctypes.c_ubyte), ("value", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
SECCOMP, EXECVEAT = {"x86_64": (317, 322), "aarch64": (277, 281)}[platform.machine()]
ALLOW, NEW_LISTENER, WAIT_KILLABLE = 0x7fff0000, 8, 32
CHECK = 0x10000
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
code = (Instruction * 1)(Instruction(6, 0, 0, ALLOW))
def install(flags):
    program = Program(1, ctypes.addressof(code))
    made = libc.syscall(SECCOMP, 1, flags, ctypes.byref(program))
    return "made" if made >= 0 else errno.errorcode[ctypes.get_errno()]
if sys.argv[1] == "listen":
    print(install(NEW_LISTENER), install(NEW_LISTENER | WAIT_KILLABLE))
elif sys.argv[1] == "ask":
    argv = (ctypes.c_char_p * 2)(b"x", None)
    for path in (b"/usr/bin/cat", b"/usr/bin/id", b"/usr/bin/python3"):
        libc.syscall(EXECVEAT, -100, path, argv, None, CHECK)
else:
    print(install(0), flush=True)
    os.system("cat f; sh -c 'cat f'; /usr/bin/id")
"""


@pytest.fixture
def attacker(guarded):
    needs("python3")
    guarded.set_policy(carriers=["python3", "sh", "bash"], tools=["cat"])
    guarded.box.file("root/f", "line\n")
    guarded.box.file("root/a.py", FILTERS)
    return guarded


def test_second_listener_is_refused(attacker):
    assert attacker.outside("python3", "a.py", "listen").out.startswith(b"made ")
    assert attacker.inside("python3", "a.py", "listen").out == b"EBUSY EBUSY\n"


def test_question_is_no_execution(attacker):
    found = counts(attacker.inside("python3", "a.py", "ask"))
    assert (found["attempts"], found["carrier"]) == (1, 1), found


def test_executions_beneath_another_filter_are_counted(attacker):
    answer = attacker.inside("python3", "a.py", "filter")
    assert answer.out == b"made\nline\nline\n", answer
    found = counts(answer)
    assert (found["door"], found["refused"]) == (2, 1), found
