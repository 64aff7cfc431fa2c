"""Attacker: the tool. Means: a fork bomb (bounded, for the machine's sake) that goes on forking while it is being
killed.

Expected: dead at the timeout, all of it.
"""
import pytest

from promises import none_left, timed_out


def test_full_bomb_dies(box, marker):
    answer = box.run("bomb", "500", marker, timeout=1)
    none_left(marker)
    timed_out(answer, 1)
    assert answer.stream("stdout") == b"full\n"


@pytest.mark.parametrize("timeout", [0.1, 0.2])
def test_bomb_that_is_still_growing_dies(box, marker, timeout):
    answer = box.run("bomb", "3000", marker, timeout=timeout)
    none_left(marker)
    assert (answer.status, answer.outcome) == (124, "timeout")
