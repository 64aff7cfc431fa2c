"""The machinery of the bench: alternating workers, medians with their spread, processor time of a
process tree.
"""

import json
import os
import statistics
import subprocess
import time


class Failure(Exception):
    """A measurement that could not be made; it has no figure."""


class Worker:
    """A process that does one batch of work for each line it is given, and answers with one JSON object."""

    def __init__(self, argv, env):
        self.argv = argv
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self._answer("start")

    def _answer(self, command):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"'{' '.join(self.argv)}' ended with {self.process.wait()} at '{command}'")
        return json.loads(line)

    def ask(self, *args):
        command = " ".join(str(word) for word in args)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._answer(command)

    def wall(self, *args):
        """Nanoseconds of wall time a run."""
        answer = self.ask(*args)
        return answer["wall_ns"] / answer["runs"]

    def cost(self, *args):
        """Nanoseconds a run: wall time, and processor time of the worker, all its descendants and the tools."""
        before = tree_cpu_ns(self.process.pid)
        answer = self.ask(*args)
        after = tree_cpu_ns(self.process.pid)
        return {
            "wall": answer["wall_ns"] / answer["runs"],
            "cpu": (after - before + answer["tool_cpu_ns"]) / answer["runs"],
        }

    def memory_kib(self, field):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        raise Failure(f"the kernel does not report {field}")

    def reset_peak_memory(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as refs:
            refs.write("5")

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=60) != 0:
            raise Failure(f"'{' '.join(self.argv)}' ended with {self.process.returncode}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        elif self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def children_by_parent():
    children = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(name))
    return children


def process_cpu_ns(pid):
    """The clock of clock_getcpuclockid(3): exact, where /proc/PID/stat counts ticks of 10 ms."""
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return 0


def tree_cpu_ns(root):
    """Processor time of a process and of its living descendants, without children that were reaped."""
    children = children_by_parent()
    total, todo = 0, [root]
    while todo:
        pid = todo.pop()
        total += process_cpu_ns(pid)
        todo += children.get(pid, [])
    return total


def alternate(rounds, sides):
    """Calls every side once per round, each round begins with another side. The first round is not
    counted."""
    names = list(sides)
    samples = {name: [] for name in names}
    for turn in range(rounds + 1):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            sample = sides[name]()
            if turn > 0:
                samples[name].append(sample)
    return samples


def batch_size(ask, target_ms, most=1000):
    """How many runs fill target_ms, so that slow sides do not take all the time."""
    per_run_ns = min(ask(2), ask(2))
    return max(1, min(most, round(target_ms * 1e6 / per_run_ns)))


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def ratios(above, below):
    """Round by round: a disturbance longer than a round affects both sides of it."""
    return [a / b for a, b in zip(above, below)]
