"""Promises that many attacks are held against.

A promise about time is broken where it is broken again and again: a machine that has other things to do may be late once.
What is left running, and how the call ended, is looked at each time.
"""
from command import KILLS
from feature import sanitized
from processes import describe, marked

# What the command itself needs to start, load its policy and print; the call's own duration gets no such gift.
START_SECONDS = 1.0 if sanitized() else 0.25
TRIES = 5


def is_in_time(answer, timeout: float) -> bool:
    """R17: the call has returned by 1.5 times the timeout."""
    start = 0 if timeout >= 1 and not sanitized() else START_SECONDS
    return answer["duration_ms"] <= 1500 * timeout and answer.seconds <= 1.5 * timeout + start


def tried(attempt, holds):
    """The first of some answers for which it holds."""
    for _ in range(TRIES):
        answer = attempt()
        if holds(answer):
            return answer
    raise AssertionError(f"not once in {TRIES} times: {answer.seconds} s, {answer.document}")


def returns_in_time(attempt, timeout: float):
    """attempt: makes a call and looks at all but the time."""
    return tried(attempt, lambda answer: is_in_time(answer, timeout))


def times_out(run, *argv, marker: str, timeout: float, said=None, **shape):
    """A run that only its timeout ends is ended in time, with all of its tree; said: what the tool says before."""
    def attempt():
        answer = run(*argv, marker, timeout=timeout, **shape)
        none_left(marker)
        assert (answer.status, answer.outcome) == (124, "timeout"), answer.document
        assert answer["duration_ms"] >= 1000 * timeout
        return answer

    def holds(answer):
        # A short timeout leaves those who kill a few milliseconds to report in; on a busy machine the caller does without.
        reported = answer["kill"] in KILLS or timeout < 0.25
        return reported and said in (None, answer.stream("stdout")) and is_in_time(answer, timeout)
    return tried(attempt, holds)


def none_left(marker: str) -> None:
    """When the call has returned the tree is dead: now, not soon."""
    left = marked(marker)
    assert not left, "left running: " + describe(left)
