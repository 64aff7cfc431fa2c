"""Where the time of a jailed run goes, from the kernel's trace of system calls (tracefs; for
root).

Nothing in the library is changed for this. The worker makes a system call that does nothing
before and after each run; between the two, each step ends with an event of one of the
processes: caller, init, tool. The tracing itself costs about a microsecond per call and
is in the figures: they say where the time goes, not how much it is.
"""

import contextlib
import os
import pathlib
import re

from measure import Failure, children_by_parent

TRACEFS = pathlib.Path("/sys/kernel/tracing")
EVENTS = ("syscalls", "sched/sched_process_fork", "sched/sched_process_exec")
LINE = re.compile(r"\s*.{1,16}-(\d+)\s+\[\d+\] \S+\s+([\d.]+): (.*)")
BEGIN = "sys_getppid("

# The name of a step, the process of the event that ends it, and the beginning of that event. The
# init of the run, and the process of the tool, were prepared before (docs/adr/0071, 0156).
STEPS = (
    ("caller: judge, plan, pipes, send", "caller", "sys_sendmsg ->"),
    ("tool's process: woken, plan received", "tool", "sys_recvmsg ->"),
    ("tool's process: plan checked, read ends sent to init", "tool", "sys_sendmsg ->"),
    ("tool's process: read ends sent to the warden", "tool", "sys_sendmsg ->"),
    ("tool's process: steps up to exec", "tool", "sys_execve"),
    ("exec", "tool", "sched_process_exec"),
    ("the tool itself", "tool", "sys_exit_group("),
    ("tool's end, init woken", "init", "sys_waitid ->"),
    ("init: reported", "init", "sys_sendmsg ->"),
    ("caller: woken, result", "caller", BEGIN),
)
# Work that the caller does not wait for, of the warden that had the run before: the name, and the
# beginnings of the events around it.
BESIDE = (
    ("beside the run: the next init created, pid and ipc namespaces", "sys_clone(", "sys_clone ->"),
    ("beside the run: the mounts of the last one released", "sys_umount(", "sys_umount ->"),
)


def available():
    return os.access(TRACEFS / "instances", os.W_OK) and (TRACEFS / "events" / "syscalls").is_dir()


@contextlib.contextmanager
def tracing(pid):
    """Traces a process, its descendants and what they will create; the block gets a function that ends it."""
    directory = TRACEFS / "instances" / f"chokepoint-bench-{os.getpid()}"
    directory.mkdir()
    try:
        def write_setting(name, text):
            (directory / name).write_text(text, encoding="ascii")

        write_setting("trace_clock", "mono")
        write_setting("buffer_size_kb", "16384")
        write_setting("options/event-fork", "1")
        write_setting("set_event_pid", " ".join(str(one) for one in family(pid)))
        for event in EVENTS:
            write_setting(f"events/{event}/enable", "1")

        def finish():
            write_setting("tracing_on", "0")
            return (directory / "trace").read_text(encoding="utf-8", errors="replace")

        yield finish
    finally:
        directory.rmdir()


def family(root):
    children = children_by_parent()
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def parse(text):
    """(pid, microseconds, event) of each line."""
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            yield int(match[1]), float(match[2]) * 1e6, match[3]


def split_runs(events, caller):
    """One list of events for each run, from the caller's first mark to its next first mark."""
    runs, inside = [], False
    for event in events:
        if event[0] == caller and event[2].startswith(BEGIN):
            inside = not inside
            if inside:
                runs.append([])
        if runs:
            runs[-1].append(event)
    return runs


def roles(run, caller):
    """The tool is what executes a file, and init is who waits for it."""
    found = {"caller": caller}
    sent = find(run, 0, caller, "sys_sendmsg ->")
    for pid, _, event in run[sent or 0:]:
        if event.startswith("sched_process_exec"):
            found.setdefault("tool", pid)
        elif event.startswith("sys_waitid ->") and "tool" in found:
            found.setdefault("init", pid)
    return found


def find(run, at, pid, beginning):
    """The index of the next event of this process that begins so; None if there is none."""
    return next((i for i in range(at, len(run)) if run[i][0] == pid and run[i][2].startswith(beginning)), None)


def durations(run, caller):
    """Microseconds of each step; None if the run does not have them all, in order."""
    who = roles(run, caller)
    at, found = 0, []
    for _, role, beginning in STEPS:
        before, at = at, find(run, at + 1, who.get(role), beginning)
        if at is None:
            return None
        found.append(run[at][1] - run[before][1])
    return found


def beside(events, begin, end):
    """Microseconds between the two events of one process, wherever they are."""
    open_at, found = {}, []
    for pid, time, event in events:
        if event.startswith(begin):
            open_at[pid] = time
        elif event.startswith(end) and pid in open_at:
            found.append(time - open_at.pop(pid))
    return found


def steps(worker, side, tool, runs):
    """What each step took in each run, in microseconds, by its name, in order."""
    pid = worker.process.pid
    with tracing(pid) as finish:
        worker.ask("traced", side, tool, runs)
        text = finish()
    events = list(parse(text))
    rows = [row for row in (durations(run, pid) for run in split_runs(events, pid)) if row]
    if len(rows) < runs / 2:
        raise Failure(f"only {len(rows)} of {runs} traced runs have all steps")
    found = {name: list(column) for (name, _, _), column in zip(STEPS, zip(*rows))}
    return {**found, **{name: beside(events, begin, end) for name, begin, end in BESIDE}}


