"""Promise: Limits.
Attacker: a tool with `workspace: overlay`. Means: it writes more than there is memory for, by data and by copies of
what is in the repository. Expected: it gets ENOSPC, and nothing of it is left on the host."""
import pytest

from overlays import OverlayBox
from processes import wait_until


@pytest.fixture
def overlay_box(box):
    return OverlayBox(box)


def memory_mib(field: str) -> int:
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith(field + ":"))


def test_two_gibibytes_do_not_fit(overlay_box):
    before = memory_mib("Shmem")
    answer = overlay_box.run("python3", "-I", "-S", "-c", """
import os
fd = os.open("big", os.O_CREAT | os.O_WRONLY); piece = b"x" * (1 << 20); written = 0
try:
    while written < 2048: written += os.write(fd, piece) >> 20
except OSError as error: print(error.errno, written)
""", timeout=60, deadline=90)
    number, written = answer.stream("stdout").split()
    assert number == b"28" and int(written) <= 1024
    assert [change["path"] for change in answer["changes"]] == ["big"]
    overlay_box.nothing_changed()
    wait_until(lambda: memory_mib("Shmem") < before + 500, "the memory is given back")


def test_large_file_of_the_repository_is_not_copied_beyond_the_bound(overlay_box):
    with open(overlay_box.box.root / "large", "wb") as file:
        file.truncate(3 << 30)
    overlay_box.box.own(overlay_box.box.root / "large")
    answer = overlay_box.run("sh", "-c", "echo x >> large", timeout=60, deadline=90)
    assert answer.outcome == "exited"
    assert (overlay_box.box.root / "large").stat().st_size == 3 << 30
