"""Promise: A guarded program.
Attacker: code inside a carrier. Means: memory that it fills with code and runs, without any execve: what an interpreter
with access to memory can always do.

Expected (R91): where no carrier needs a JIT, the kernel refuses memory that was writable and becomes code. With one it
works, and what runs has the cage's rights and no more: it is what the documents say.
"""
import pytest

from guards import needs

# mmap, write `mov eax, 42; ret` or its like, call it.
CODE = """
import ctypes, mmap, platform
code = {"x86_64": b"\\xb8\\x2a\\x00\\x00\\x00\\xc3", "aarch64": b"\\x40\\x05\\x80\\x52\\xc0\\x03\\x5f\\xd6"}[platform.machine()]
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
print(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
"""

# Memory that is code in one mapping is written in another: each mapping by itself never was both.
SHARED = """
import ctypes, os, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
code = {"x86_64": b"\\xb8\\x2a\\x00\\x00\\x00\\xc3", "aarch64": b"\\x40\\x05\\x80\\x52\\xc0\\x03\\x5f\\xd6"}[platform.machine()]
failed = ctypes.c_void_p(-1).value
READ, WRITE, EXEC, SHARED, PRIVATE, ANONYMOUS = 1, 2, 4, 1, 2, 0x20
READ_IMPLIES_EXEC, SHM_EXEC, SHM_RDONLY = 0x400000, 0o100000, 0o10000
def call(name, *arguments):
    function = getattr(libc, name)
    function.restype = ctypes.c_void_p
    result = function(*(ctypes.c_long(one) for one in arguments))
    if result == failed:
        sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
    return result or 0  # NULL is None
def protection():
    memory = call("mmap", 0, 4096, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    ctypes.memmove(memory, code, len(code))
    call("mprotect", memory, 4096, READ | EXEC)
    return memory
def second_mapping():
    memory = call("mmap", 0, 4096, READ | EXEC, SHARED | ANONYMOUS, -1, 0)
    other = call("mremap", memory, 0, 4096, 1)
    call("mprotect", other, 4096, READ | WRITE)
    ctypes.memmove(other, code, len(code))
    return memory
def child():
    memory = call("mmap", 0, 4096, READ | EXEC, SHARED | ANONYMOUS, -1, 0)
    if os.fork() == 0:
        call("mprotect", memory, 4096, READ | WRITE)
        ctypes.memmove(memory, code, len(code))
        os._exit(0)
    os.wait()
    return memory
def segment(flags=SHM_EXEC):
    made = call("shmget", 0, 4096, 0o1700)
    ctypes.memmove(call("shmat", made, 0, 0), code, len(code))
    memory = call("shmat", made, 0, flags | SHM_RDONLY)
    call("shmctl", made, 0, 0)
    return memory
def personality():
    libc.personality(READ_IMPLIES_EXEC)
    memory = call("mmap", 0, 4096, READ, SHARED | ANONYMOUS, -1, 0)
    if " r-xs " not in open("/proc/self/maps").read():
        sys.exit("personality: no code")
    other = call("mremap", memory, 0, 4096, 1)
    libc.personality(0)
    call("mprotect", other, 4096, READ | WRITE)
    ctypes.memmove(other, code, len(code))
    return memory
print(ctypes.CFUNCTYPE(ctypes.c_int)(globals()[sys.argv[1]]())())
"""


@pytest.fixture
def attacker(guarded):
    needs("python3")
    guarded.box.file("root/code.py", CODE)
    guarded.box.file("root/shared.py", SHARED)
    assert guarded.outside("python3", "code.py").out == b"42\n"
    return guarded


def test_refused_without_a_jit(attacker):
    attacker.set_policy(carriers=["python3"], tools=["cat"])
    answer = attacker.inside("python3", "code.py")
    assert answer.status == 1 and b"42" not in answer.out and b"PermissionError" in answer.err, answer


def test_runs_in_the_cage_where_a_carrier_has_a_jit(attacker):
    """And it has no more than the cage: the program that it could not execute it still cannot, nor read another home."""
    attacker.set_policy(carriers=["python3"], tools=["cat"], section={"jit": True})
    assert attacker.inside("python3", "code.py").out == b"42\n"
    more = "import os\ntry:\n    os.execv('/usr/bin/id', ['id'])\nexcept PermissionError:\n    print('refused')\nprint(os.path.exists('/root'))\n"
    attacker.box.file("root/more.py", CODE + more)
    lines = attacker.inside("python3", "more.py").out.split()
    assert lines[:2] == [b"42", b"refused"], lines


@pytest.mark.parametrize("way", ["protection", "second_mapping", "child", "segment", "personality"])
def test_no_way_makes_code_of_written_memory(attacker, way):
    assert attacker.outside("python3", "shared.py", way).out == b"42\n"
    attacker.set_policy(carriers=["python3"], tools=["cat"])
    answer = attacker.inside("python3", "shared.py", way)
    assert answer.out == b"" and (b"denied" in answer.err or b"no code" in answer.err), answer
    attacker.set_policy(carriers=["python3"], tools=["cat"], section={"jit": True})
    assert attacker.inside("python3", "shared.py", way).out == b"42\n"
