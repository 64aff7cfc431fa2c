"""Promise: The tree.
Attacker: time. Means: SIGKILL to the caller at any moment, fifty times in the middle of one run, and ten times in
the middle of many, some of which leave daemons and files. That ten thousand runs leave nothing is counted where they
are raced for as well: test_jail_races.py.

Expected: no mount, no scratch directory, no cgroup, no process is left on the host; what a SIGKILL leaves on disk is
gone after the next start.
"""
import random
import time

from feature import scaled
from leftovers import nothing_left

ENDLESS = 1 << 30


def wait_actively(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_nothing_is_left_after_the_command_is_killed(cell, marker):
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    with nothing_left(cell, f"seed {seed}", swept=True) as env:
        for _ in range(scaled(50, 20)):
            process = cell.box.popen(["escape", "setsid", marker], env=env,
                                     shape={"timeout": 90, "options": ["--jail", cell.jail], "policy": cell.policy})
            wait_actively(rng.random() ** 2 * scaled(60, 300) / 1000)
            process.kill()
            process.communicate()


def test_nothing_is_left_after_a_program_with_many_runs_is_killed(cell):
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    args = [cell.box.stage / "tests/helpers/host_jail_many", cell.policy, cell.box.root, cell.jail, ENDLESS]
    with nothing_left(cell, f"seed {seed}", swept=True) as env:
        for _ in range(scaled(10, 5)):
            process = cell.box.popen(list(map(str, args)), raw=True, env=env)
            assert process.stdout.readline() == b"at work\n"
            wait_actively(rng.random() * scaled(100, 300) / 1000)
            process.kill()
            _, err = process.communicate()
            assert process.returncode == -9, err
