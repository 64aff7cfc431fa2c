"""Promise: A guarded program.
Attacker: a carrier. Means: the standard streams of a tool: a socket, over which descriptors could be sent out of the tool's
jail, and a file of the root where that may hold code, which the tool could map although it sees the root as noexec.

Expected (R90): the tool gets a pipe in place of both, and the bytes arrive.
"""
import pytest

from guards import needs

SOCKET = """
import socket, subprocess
ours, theirs = socket.socketpair()
process = subprocess.Popen(["stat", "-L", "-c", "%F", "/dev/stdin"], stdin=theirs, stdout=subprocess.PIPE)
print(process.communicate()[0].decode().strip())
"""
MAPPED = """
import mmap, os
try:
    mmap.mmap(0, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    print("mapped", end=" ")
except OSError:
    print("refused", end=" ")
print(len(os.read(0, 4096)))
"""


@pytest.fixture
def attacker(guarded):
    needs("python3")
    guarded.box.file("root/socket.py", SOCKET)
    guarded.box.file("root/mapped.py", MAPPED)
    guarded.box.file("root/code", "\x90" * 8192)
    return guarded


def test_socket_is_a_pipe_for_the_tool(attacker):
    attacker.set_policy(carriers=["python3"], tools=["stat"])
    assert attacker.outside("python3", "-I", "socket.py").out == b"socket\n"
    assert attacker.inside("python3", "-I", "socket.py").out == b"fifo\n"


def test_file_that_may_be_code_is_a_pipe_for_the_tool(attacker):
    attacker.set_policy(carriers=["bash"], tools=["python3"], section={"workspace_code": True})
    script = "python3 mapped.py < code"
    assert attacker.outside("bash", "-c", script).out == b"mapped 4096\n"
    assert attacker.shell(script).out == b"refused 4096\n"
