"""Promise: The tree.
Attacker: circumstances (the out-of-memory killer, an operator, a crash). Means: SIGKILL to the
command at any moment of its life, while the tool ignores SIGTERM and has a child in its own
session.

Expected: nothing is left: no tool, no warden, no keeper, no cgroup directory.
"""
import random
import signal
import time

import pytest

import cgroups
from feature import scaled
from processes import PATIENCE_S, command_line, describe, marked, nothing_runs, of_this_test, wait_until


def kill_and_look(box, process, when):
    process.kill()
    assert process.wait(PATIENCE_S) == -signal.SIGKILL
    try:
        wait_until(lambda: nothing_runs(but=process.pid))
    except AssertionError:
        pytest.fail(f"killed {when}; left running: {describe(of_this_test())}")
    process.stdout.close()
    process.stderr.close()


def test_nothing_is_left_at_fifty_moments(box, marker):
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    for number in range(scaled(50, 20)):
        process = box.popen(["escape", "setsid", marker], shape={"timeout": 90})
        # The moment is the attack: from before exec to well after the tool has settled.
        moment = rng.random() ** 2 * scaled(30, 150) / 1000
        end = time.monotonic() + moment
        while time.monotonic() < end:
            pass
        kill_and_look(box, process, f"after {moment:.4f} s, seed {seed}, number {number}")
    wait_until(lambda: not cgroups.stale(), "cgroup directories are gone")


def test_nothing_is_left_of_a_settled_tree(box, marker):
    for _ in range(5):
        process = box.popen(["escape", "groups", marker], shape={"timeout": 90})
        wait_until(lambda: len(marked(marker, "escape")) == 21, "the tree has grown")
        kill_and_look(box, process, "when settled")


def test_nothing_is_left_of_a_deep_chain(box, marker):
    process = box.popen(["chain", "300", "leave", marker], shape={"timeout": 90, "form": "--stream"})
    assert process.stdout.readline() == b"deep\n"
    kill_and_look(box, process, "when deep")


def test_nothing_is_left_of_many_runs(box):
    """The host program has a hundred tools in flight when it is killed."""
    process = box.popen([box.stage / "tests/helpers/host_inflight", box.policy, box.root, "100", "hold"], raw=True)
    assert process.stdout.readline() == b"holding\n"
    wait_until(lambda: sum(b"sleep" in command_line(pid) for pid in of_this_test()) == 100, "all run")
    kill_and_look(box, process, "with many in flight")
