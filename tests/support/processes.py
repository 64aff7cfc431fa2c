"""The processes that run because of a test.

The test process makes itself a child subreaper (conftest.py). So a process that outlives the
command becomes its child and is found by descent, whatever its name and its former parent.
"""
import os
import time

DEAD = "ZX"

# Enough for a condition that comes true in a moment, even on a busy machine. Victims live longer
# (VICTIM_LIFE_S), so a victim that is gone within it did not just end by itself.
PATIENCE_S = 60


def stat_of(pid: int):
    """(state, parent), or None if the process is gone."""
    try:  # os.open: a walk through /proc comes here for every process of the machine, three times in a test
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except (FileNotFoundError, ProcessLookupError):
        return None
    try:
        fields = os.read(fd, 4096).rpartition(b")")[2].split(None, 2)
    except ProcessLookupError:
        return None
    finally:
        os.close(fd)
    return fields[0].decode(), int(fields[1])


def peak_kib(pid: int) -> int:
    """Most memory that was resident, of the program that it is now: a process's rusage would hold what it was before, a
    copy of this process. 0 if it has ended, even if it is not reaped yet."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def everyone():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


_before = set()  # started by a session or module fixture, not by the test


def begin() -> None:
    """Called before every test."""
    _before.clear()
    _before.update(descendants(os.getpid()))


def of_this_test():
    """Living processes that started after the test began, whoever their parents are."""
    return [pid for pid in descendants(os.getpid()) if pid not in _before]


def childless() -> bool:
    """A subreaper without a child has no descendant. The kernel says so without a walk through
    /proc."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def descendants(ancestor: int):
    """Living processes below ancestor. Zombies are followed and not listed."""
    if ancestor == os.getpid() and childless():
        return []
    parents = {pid: stat for pid in everyone() if (stat := stat_of(pid))}
    children = {}
    for pid, (_, parent) in parents.items():
        children.setdefault(parent, []).append(pid)
    found, queue = [], [ancestor]
    while queue:
        for child in children.get(queue.pop(), []):
            queue.append(child)
            if parents[child][0] not in DEAD:
                found.append(child)
    return found


def proc_file(pid: int, name: str) -> bytes:
    """A file of /proc about a process. Empty if it has ended, which it may do between two system calls."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as stream:
            return stream.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def command_line(pid: int) -> bytes:
    return proc_file(pid, "cmdline")


def executes(pid: int, ending: str) -> bool:
    """Whether it runs now a program whose path ends so."""
    try:
        return os.readlink(f"/proc/{pid}/exe").endswith(ending)
    except (FileNotFoundError, ProcessLookupError):
        return False


def marked(marker: str, program: str = ""):
    """Living processes with marker among their arguments; with program, only those with an argv[0]
    that ends so."""
    found = []
    for pid in everyone():
        argv = command_line(pid).split(b"\0")
        if marker.encode() in argv[1:] and argv[0].endswith(program.encode()):
            stat = stat_of(pid)
            if stat and stat[0] not in DEAD:
                found.append(pid)
    return found


def describe(pids) -> str:
    def one(pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
                name = stream.read().strip()
        except OSError:
            return f"{pid} (gone)"
        return f"{pid} {name} {stat_of(pid)} {command_line(pid)[:80]!r}"
    return "; ".join(one(pid) for pid in pids)


def reap(pids) -> None:
    """Collects the status of adopted children that have ended."""
    for pid in pids:
        stat = stat_of(pid)
        if stat and stat[0] == "Z" and stat[1] == os.getpid():
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def nothing_runs(but: int = 0) -> bool:
    """Whether no process of this test is alive. Zombies are collected after that check, in this
    order: a keeper that ends in between would stay a zombie, and its pid would make what it
    left look used."""
    alive = [pid for pid in of_this_test() if pid != but]
    reap(pid for pid in children_of_self() if pid != but)
    return not alive


def children_of_self():
    return [] if childless() else [pid for pid in everyone() if (stat := stat_of(pid)) and stat[1] == os.getpid()]


def wait_until(holds, what: str = "", seconds: float = PATIENCE_S):
    """Waits for a condition, not for a time, and returns its value. seconds: for what takes long
    on a quiet machine too."""
    end = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"did not come true within {seconds} s: {what or holds}")
        time.sleep(0.002)
