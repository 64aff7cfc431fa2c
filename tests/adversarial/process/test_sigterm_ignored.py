"""Promise: Time.
Attacker: the tool. Means: it ignores SIGTERM and every other signal that can be ignored.

Expected: SIGKILL at the end of the grace; the call ends as a timeout by 1.5 times the timeout, with nothing left.
"""
import pytest

from promises import is_in_time, none_left, times_out, tried


@pytest.mark.parametrize("timeout", [0.1, 0.2, 1])
def test_tool_that_ignores_sigterm_is_killed_in_time(box, marker, timeout):
    answer = times_out(box.run, "ignore_signals", marker=marker, timeout=timeout, said=b"ready\n")
    assert answer["signal"] == (9 if answer["kill"] else None)


@pytest.mark.parametrize("timeout", [0.001, 0.02])
def test_timeout_shorter_than_the_start_leaves_nothing(box, marker, timeout):
    answer = box.run("ignore_signals", marker, timeout=timeout)
    none_left(marker)
    assert (answer.status, answer.outcome) == (124, "timeout")
    assert answer.seconds < 10 + timeout


def test_polite_tool_gets_sigterm_first(box):
    script = "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    answer = tried(lambda: box.run("sh", "-c", script, timeout=0.5),
                   lambda answer: answer.stream("stdout") == b"ready\nasked\n" and is_in_time(answer, 0.5))
    assert (answer.status, answer.outcome) == (124, "timeout")


def test_trap_in_the_shell_and_a_session_of_its_own(box, marker):
    """The documented example, with a duration that no other process sleeps."""
    duration = f"1000.{int(marker[-6:], 16)}"
    script = f"trap '' TERM; setsid sleep {duration} & sleep {duration}"
    times_out(box.run, "sh", "-c", script, marker=duration, timeout=1)
