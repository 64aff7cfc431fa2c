"""Attacker: the tool. Means: it stops itself, and its child in another session, with SIGSTOP: a stopped process acts
on nothing but SIGKILL.

Expected: a timeout like any other.
"""
import pytest

from promises import none_left, timed_out


@pytest.mark.parametrize("timeout", [0.2, 1])
def test_stopped_tree_is_killed_in_time(box, marker, timeout):
    answer = box.run("halt", marker, timeout=timeout)
    none_left(marker)
    timed_out(answer, timeout)
    assert answer.stream("stdout") == b"ready\n"
