"""Promise: A guarded program.
Attacker: a carrier. Means: descriptors that it opens and leaves open for a tool: a directory of the cage, a file that may
be executed, a memory file, a socket, a device, one of each number.

Expected (R90): pipes, files, terminals and harmless devices are handed over with their numbers. A directory, and what
could carry more than bytes, is not; if it is one of the standard streams, the call is refused.
"""
import pytest

from guards import needs

LIST = """
import os, socket, subprocess, sys
def show(name, fd, number=60):
    os.dup2(fd, number)
    done = subprocess.run(["ls", "/proc/self/fd"], close_fds=False, capture_output=True, text=True)
    print(name, str(number) in done.stdout.split(), done.returncode, flush=True)
    os.close(number)
show("file", os.open("f", os.O_RDONLY))
show("pipe", os.pipe()[0])
show("null", os.open("/dev/null", os.O_RDWR))
show("directory", os.open("/", os.O_RDONLY))
show("path", os.open("f", os.O_PATH))
show("root", os.open(".", os.O_PATH))
pair = socket.socketpair()
show("socket", pair[0].fileno())
"""


@pytest.fixture
def attacker(guarded):
    needs("python3")
    guarded.set_policy(carriers=["python3", "bash"], tools=["cat", "ls"])
    guarded.box.file("root/f", "line\n")
    guarded.box.file("root/a.py", LIST)
    return guarded


def test_what_is_handed_over(attacker):
    assert b"False" not in attacker.outside("python3", "a.py").out
    lines = dict(line.split(" ", 1) for line in attacker.inside("python3", "a.py").out.decode().splitlines())
    assert {name: lines[name] for name in ("file", "pipe", "null")} == dict.fromkeys(("file", "pipe", "null"), "True 0")
    assert all("True" not in lines[name] for name in ("directory", "path", "root")), lines


@pytest.mark.parametrize("number", [0, 1, 2])
def test_directory_as_a_stream_is_refused(attacker, number):
    answer = attacker.shell(f"{{ cat f {number}< / ; }} ; echo end $?")
    assert answer.out.endswith(b"end 126\n"), answer


def test_sockets_as_streams_work_and_are_pipes_for_the_tool(attacker):
    """node makes sockets of all three. The tool cannot send a descriptor over what it gets."""
    attacker.box.file("root/b.py", """
import socket, subprocess
ours, theirs = socket.socketpair()
process = subprocess.Popen(["cat"], stdin=theirs, stdout=theirs)
theirs.close()
ours.sendall(b"through a socket")
ours.shutdown(socket.SHUT_WR)
print(ours.recv(100), process.wait())
""")
    assert attacker.inside("python3", "b.py").out == attacker.outside("python3", "b.py").out == b"b'through a socket' 0\n"


def test_too_many(attacker):
    attacker.box.file("root/c.py", """
import os, subprocess
for _ in range(100):
    os.dup2(0, os.dup(0), inheritable=True)
done = subprocess.run(["cat", "f"], close_fds=False, capture_output=True, text=True)
print(done.returncode, done.stderr)
""")
    assert attacker.outside("python3", "c.py").out == b"0 \n"
    answer = attacker.inside("python3", "c.py")
    assert b"126" in answer.out and b"descriptors" in answer.out, answer
