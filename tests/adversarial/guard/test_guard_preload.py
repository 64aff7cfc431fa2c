"""Promise: A guarded program.
Attacker: a carrier. Means: LD_PRELOAD, LD_LIBRARY_PATH and LD_AUDIT with a library of the root: for other carriers, and
for tools that it calls through the door.

Expected (R90): a file of the root is not mapped as code; no such variable reaches a tool.
"""
import shutil

import pytest

from guards import needs


@pytest.fixture
def attacker(guarded):
    shutil.copy(guarded.box.stage / "tests/helpers/preloaded.so", guarded.root / "evil.so")
    guarded.box.own(guarded.root / "evil.so")
    guarded.set_policy(tools=["cat", "printenv"])
    return guarded


@pytest.mark.parametrize("variable", ["LD_PRELOAD", "LD_AUDIT"])
def test_library_is_not_loaded(attacker, variable):
    script = f"export {variable}=$PWD/evil.so; sh -c :; cat /dev/null; printenv {variable}; echo end"
    outside = attacker.outside("bash", "-c", script).out
    if variable == "LD_PRELOAD":
        assert b"loaded" in outside
    assert attacker.shell(script).out == b"end\n"


MAPPED = """
import ctypes, mmap, shutil, sys
if sys.argv[2]:
    shutil.copy(sys.argv[1], sys.argv[2])
with open(sys.argv[2] or sys.argv[1], "rb") as stream:
    mmap.mmap(stream.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print("mapped")
"""


@pytest.mark.parametrize("copy", ["", "copied", "/tmp/copied", "/dev/shm/copied"])
def test_program_is_not_mapped_as_code(attacker, copy):
    """What the loader and dlopen do. The mounts refuse it: of system programs, and wherever the cage can write."""
    needs("python3")
    attacker.box.file("root/mapped.py", MAPPED)
    attacker.set_policy(carriers=["python3"], tools=["cat"])
    assert attacker.outside("python3", "mapped.py", "/usr/bin/id", copy and "copied").out == b"mapped\n"
    answer = attacker.inside("python3", "mapped.py", "/usr/bin/id", copy)
    assert answer.out == b"" and b"PermissionError" in answer.err, answer
