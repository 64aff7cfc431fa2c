"""Promise: Limits.
Attacker: a tool with `workspace: overlay`. Means: it writes more than there is memory for, by data and by copies of
what is in the repository. Expected: it gets ENOSPC, and nothing of it is left on the host."""
import pytest

from layers import Layered
from processes import wait_until


@pytest.fixture
def layered(box):
    return Layered(box)


def memory_mib(field: str) -> int:
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith(field + ":"))


def test_two_gibibytes_do_not_fit(layered):
    before = memory_mib("Shmem")
    answer = layered.run("python3", "-I", "-S", "-c", """
import os
fd = os.open("big", os.O_CREAT | os.O_WRONLY); piece = b"x" * (1 << 20); written = 0
try:
    while written < 2048: written += os.write(fd, piece) >> 20
except OSError as error: print(error.errno, written)
""", timeout=60, deadline=90)
    number, written = answer.stream("stdout").split()
    assert number == b"28" and int(written) <= 1024
    assert [change["path"] for change in answer["changes"]] == ["big"]
    layered.nothing_changed()
    wait_until(lambda: memory_mib("Shmem") < before + 500, "the memory is given back")


def test_large_file_of_the_repository_is_not_copied_beyond_the_bound(layered):
    with open(layered.box.root / "large", "wb") as file:
        file.truncate(3 << 30)
    layered.box.own(layered.box.root / "large")
    answer = layered.run("sh", "-c", "echo x >> large", timeout=60, deadline=90)
    assert answer.outcome == "exited"
    assert (layered.box.root / "large").stat().st_size == 3 << 30
