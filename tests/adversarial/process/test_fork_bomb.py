"""Promise: The tree.
Attacker: the tool. Means: a fork bomb (bounded, for the machine's sake) that goes on forking while it is being
killed.

Expected: dead at the timeout, all of it.
"""
import pytest

from promises import none_left, times_out


def test_full_bomb_dies(box, marker):
    times_out(box.run, "bomb", "500", marker=marker, timeout=1, said=b"full\n")


@pytest.mark.parametrize("timeout", [0.1, 0.2])
def test_bomb_that_is_still_growing_dies(box, marker, timeout):
    answer = box.run("bomb", "3000", marker, timeout=timeout)
    none_left(marker)
    assert (answer.status, answer.outcome) == (124, "timeout")
