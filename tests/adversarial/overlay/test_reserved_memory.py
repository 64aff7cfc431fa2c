"""Promise: Time.
Attacker: a tool with an overlay or a scratch directory in memory. Means: it reserves 900 MiB for a
file (fallocate) and writes none of it. What is reserved is not data for lseek, so the caller
cannot free it in pieces: its removal took one dispatch of 0.8 s.

Expected: a tool in a jail cannot reserve (tests/unit/test_seccomp.c has the calls): it gets the
error of a file system that cannot. The C library's posix_fallocate writes instead, so honest
programs continue, and what it writes is data.
"""
SCRIPT = """
import os
fd = os.open("/tmp/f", os.O_RDWR | os.O_CREAT)
os.posix_fallocate(fd, 0, 1 << 20)
print(os.fstat(fd).st_size, os.lseek(fd, 0, os.SEEK_DATA))
"""


def test_nothing_is_reserved(cell):
    policy = cell.write_policy([cell.box.entry("python3", route="external")], search_path=["/usr/bin", "/bin"])
    answer = cell.inside("python3", "-I", "-S", "-c", SCRIPT, policy=policy)
    assert answer.stream("stdout").split() == [b"%d" % (1 << 20), b"0"], answer.stream("stderr")
