"""Promises that many attacks are checked against.

A promise about time is broken only if it fails again and again: a busy machine may be late
once. Leftover processes and the outcome are checked every time.
"""
from command import KILLS
from feature import sanitized
from processes import describe, marked

# What the command needs to start, load its policy and print. The duration in the result gets no
# such allowance.
START_SECONDS = 1.0 if sanitized() else 0.25
TRIES = 5


def is_in_time(answer, timeout: float) -> bool:
    """R17: the call returns within 1.5 times the timeout."""
    start = 0 if timeout >= 1 and not sanitized() else START_SECONDS
    return answer["duration_ms"] <= 1500 * timeout and answer.seconds <= 1.5 * timeout + start


def tried(attempt, holds):
    """The first of several answers for which it holds."""
    for _ in range(TRIES):
        answer = attempt()
        if holds(answer):
            return answer
    raise AssertionError(f"not once in {TRIES} times: {answer.seconds} s, {answer.document}")


def given_time(attempt, holds, timeouts=(2, 10, 50)):
    """The first answer for which it holds, with more and more time: what a run does before its timeout takes longer on a
    busy machine."""
    for timeout in timeouts:
        answer = attempt(timeout)
        if holds(answer):
            return answer
    raise AssertionError(f"not even in {timeout} s: {answer}")


def returns_in_time(attempt, timeout: float):
    """attempt: makes a call and checks all but the time."""
    return tried(attempt, lambda answer: is_in_time(answer, timeout))


def times_out(run, *argv, marker: str, timeout: float, said=None, **shape):
    """A run that only its timeout ends is ended in time, with its whole tree; said: what the tool
    prints before."""
    def attempt():
        answer = run(*argv, marker, timeout=timeout, **shape)
        none_left(marker)
        assert (answer.status, answer.outcome) == (124, "timeout"), answer.document
        assert answer["duration_ms"] >= 1000 * timeout
        return answer

    def holds(answer):
        # A short timeout leaves the warden a few milliseconds to report. On a busy machine the
        # caller continues without it.
        reported = answer["kill"] in KILLS or timeout < 0.25
        return reported and said in (None, answer.stream("stdout")) and is_in_time(answer, timeout)
    return tried(attempt, holds)


def none_left(marker: str) -> None:
    """When the call returns, the tree is dead: now, not soon."""
    left = marked(marker)
    assert not left, "left running: " + describe(left)
