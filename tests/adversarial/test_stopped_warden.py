"""Attacker: the tool. Means: as the same user it stops those who watch it with SIGSTOP: they are alive, and do
nothing.

Expected: the call has returned by 1.5 times the timeout all the same, and nothing is left.
"""
import pytest

from processes import wait_until, marked
from promises import returned_in_time


@pytest.mark.parametrize("levels", ["1", "2", "1,2"])
@pytest.mark.parametrize("timeout", [0.2, 1])
def test_call_returns_in_time(box, marker, levels, timeout):
    answer = box.run("slay", "19", levels, marker, timeout=timeout, deadline=10)
    returned_in_time(answer, timeout)
    assert (answer.status, answer.outcome) == (124, "timeout")
    wait_until(lambda: not marked(marker), 1, "the tree is dead")
