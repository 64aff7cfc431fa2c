"""Promise: Limits.
Attacker: the tool. Means: CPU time, in one process, in one that ignores every signal, and in children that each stay
below the limit while the tool itself waits.

Expected: ended at the limit, long before the timeout; the children too where a cgroup counts them.
"""
import signal

import pytest

from limits import JAILS, limited, mechanisms, need_cgroup

LIMIT = {"cpu_s": 1}


def used_ms(answer):
    return answer["user_ms"] + answer["system_ms"]


@pytest.mark.parametrize("jail", JAILS)
def test_process_is_ended_at_its_limit(box, jail):
    answer = limited(box, "hog", "cpu", jail=jail, limits=LIMIT, timeout=80)
    assert (answer.outcome, answer["signal"], answer["limit_hit"]) == ("signaled", signal.SIGXCPU, "cpu")
    assert used_ms(answer) < 1800


@pytest.mark.parametrize("jail", JAILS)
def test_process_that_ignores_signals_is_killed(once_box, jail):
    """The kernel's own limit; root's cgroup is what test_children_are_counted_together is about."""
    answer = limited(once_box, "hog", "ignore_signals", jail=jail, limits=LIMIT, timeout=80)
    assert (answer.outcome, answer["signal"]) == ("signaled", signal.SIGKILL)
    # A jail's init ends with the tool, and what the tool used comes to the warden through it.
    assert answer["limit_hit"] == "cpu"
    assert used_ms(answer) < 2800


@pytest.mark.parametrize("jail", JAILS)
def test_children_are_counted_together(root_box, jail):
    answer = limited(root_box, "hog", "burners", "4", jail=jail, limits=LIMIT, timeout=80)
    if mechanisms(answer)["cpu_s"] == "rlimit":
        need_cgroup(root_box, "cpu_s")
    assert (answer.outcome, answer["limit_hit"]) == ("signaled", "cpu")
    # Who counts has been late where it was not the first signal that ended it.
    assert answer["signal"] in (signal.SIGXCPU, signal.SIGKILL)
    # Each of them alone would have had a second, so four; together they had one.
    assert used_ms(answer) < 3500
