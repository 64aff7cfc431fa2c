"""Attacker: time. Means: ten thousand runs in one program, many of which leave daemons and files; and SIGKILL to the command in the middle
of a run, fifty times.

Expected: no mount, no scratch directory, no cgroup, no process is left on the host; what a SIGKILL leaves on disk is gone after the
next start.
"""
import os
import random
import time

from feature import scaled
from processes import children_of_self, describe, descendants, reap, stale_cgroups, wait_until

RUNS = {("native", "user"): 10000, ("native", "root"): 2000, ("bwrap", "user"): 300, ("bwrap", "root"): 300}


def files(cell):
    """Where a run could leave something. The place for scratch directories may stay; it is empty then."""
    place = cell.box.place / "runtime"
    return {str(path) for path in [*place.rglob("*"), *cell.box.home.iterdir()] if path != place / "chokepoint"}


def mounts():
    """Of the whole machine; device and place, since numbers are given anew."""
    with open("/proc/self/mountinfo", encoding="utf-8") as stream:
        return sorted((words[2], words[3], words[4]) for words in map(str.split, stream))


def environment(cell):
    """With a place for scratch directories that is only this test's."""
    if not (cell.box.place / "runtime").exists():
        cell.box.directory("runtime", 0o700)
    return cell.box.environment(XDG_RUNTIME_DIR=str(cell.box.place / "runtime"))


def state(cell):
    return {"mounts": mounts(), "files": files(cell), "tree": sorted(os.listdir(cell.box.root))}


def nothing_runs():
    reap(children_of_self())
    return not descendants(os.getpid())


def test_nothing_is_left_after_ten_thousand_runs(cell):
    env = environment(cell)
    cell.succeeds_inside("say_args", env=env)
    before = state(cell)
    count = scaled(RUNS[cell.jail, cell.box.actor.name], 300)
    answer = cell.box.host("host_jail_many", cell.jail, count, policy=cell.policy, deadline=300, env=env)
    assert answer.out.startswith(b"ok ")
    assert state(cell) == before
    wait_until(nothing_runs, 5, "every process has ended")
    wait_until(lambda: not stale_cgroups(), 5, "every cgroup is gone")


def test_nothing_is_left_after_the_command_is_killed(cell, marker):
    env = environment(cell)
    cell.succeeds_inside("say_args", env=env)
    before = state(cell)
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    for _ in range(scaled(50, 20)):
        process = cell.box.popen(["escape", "setsid", marker], env=env,
                                 shape={"timeout": 20, "options": ["--jail", cell.jail], "policy": cell.policy})
        end = time.monotonic() + chance.random() ** 2 * scaled(60, 300) / 1000
        while time.monotonic() < end:
            pass
        process.kill()
        process.communicate()
    try:
        wait_until(nothing_runs, 5)
    except AssertionError:
        raise AssertionError(f"seed {seed}; left running: {describe(descendants(os.getpid()))}") from None
    wait_until(lambda: not stale_cgroups(), 5, "every cgroup is gone")
    cell.succeeds_inside("say_args", env=env)
    assert state(cell) == before, seed
