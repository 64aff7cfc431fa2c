"""Promise: Time.
Attacker: the tool. Means: as the same user it stops its watchers with SIGSTOP: they are alive, and
do nothing.

Expected: the call has returned by 1.5 times the timeout, and nothing is left.
"""
import pytest

from processes import wait_until, marked
from promises import returns_in_time


@pytest.mark.parametrize("levels", ["1", "2", "1,2"])
@pytest.mark.parametrize("timeout", [0.2, 1])
def test_call_returns_in_time(box, marker, levels, timeout):
    def attempt():
        answer = box.run("kill_watchers", "19", levels, marker, timeout=timeout)
        assert (answer.status, answer.outcome) == (124, "timeout")
        wait_until(lambda: not marked(marker), "the tree is dead")
        return answer

    returns_in_time(attempt, timeout)
