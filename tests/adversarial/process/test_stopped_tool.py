"""Promise: Time.
Attacker: the tool. Means: it stops itself, and its child in another session, with SIGSTOP: a stopped process acts
on nothing but SIGKILL.

Expected: a timeout like any other.
"""
import pytest

from promises import times_out


@pytest.mark.parametrize("timeout", [0.2, 1])
def test_stopped_tree_is_killed_in_time(box, marker, timeout):
    times_out(box.run, "stop_self", marker=marker, timeout=timeout, said=b"ready\n")
