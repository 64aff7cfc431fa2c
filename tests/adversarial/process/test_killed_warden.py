"""Promise: The tree.
Attacker: the tool. Means: as the same user it kills those who watch it: its parent (the warden), its parent's
parent (the keeper).

Expected: the call returns in time, says that it did not end well, and nothing is left: no tool, no child of it in
another session, no warden, no keeper. The next call is not the worse for it.
"""
import signal

import pytest

import cgroups
from feature import scaled, skip
from processes import marked, wait_until
from promises import returns_in_time


def run_killer(box, marker, levels, number=signal.SIGKILL):
    def attempt():
        answer = box.run("kill_watchers", str(int(number)), levels, marker, timeout=0.5)
        # Those who would have waited for the end of the tree are dead, so it is on its way, not over, when the call returns.
        wait_until(lambda: not marked(marker), "the tree is dead")
        assert answer.outcome in ("cancelled", "signaled", "timeout"), answer.document
        assert answer.status != 0
        return answer

    returns_in_time(attempt, 0.5)
    again = box.run("sh", "-c", "echo fine")
    assert again.stream("stdout") == b"fine\n"


@pytest.mark.parametrize("levels", ["1", "2"])
def test_call_returns_and_nothing_is_left(box, marker, levels):
    run_killer(box, marker, levels)


@pytest.mark.parametrize("levels", ["1,2", "2,1"])
def test_both_at_once_do_not_free_the_tree_where_cgroups_are_available(root_box, marker, levels):
    if root_box.run("true")["kill"] != "cgroup":
        skip("cgroup", "no cgroup v2 may be made here")
    for number in range(scaled(20, 10)):  # which death is noticed first is a race
        run_killer(root_box, f"{marker}-{number}", levels)
    wait_until(lambda: not cgroups.stale(), "cgroup directories are gone")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV, signal.SIGUSR1])
def test_signals_that_can_be_caught_do_not_move_the_watchers(box, marker, number):
    run_killer(box, marker, "1,2", number)


def test_killing_the_caller_leaves_nothing(box, marker):
    process = box.popen(["kill_watchers", "9", "3", marker], shape={"timeout": 90})
    assert process.wait(60) == -signal.SIGKILL
