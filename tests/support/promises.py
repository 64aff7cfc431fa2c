"""Promises that many attacks are held against."""
from door import KILLS
from feature import sanitized
from processes import describe, marked

# What the command itself needs to start, load its policy and print; the call's own duration gets no such gift.
START_SECONDS = 1.0 if sanitized() else 0.25


def returned_in_time(answer, timeout: float) -> None:
    """R17: the call has returned by 1.5 times the timeout."""
    assert answer["duration_ms"] <= 1500 * timeout, answer.document
    assert answer.seconds <= 1.5 * timeout + (0 if timeout >= 1 and not sanitized() else START_SECONDS)


def timed_out(answer, timeout: float) -> None:
    assert answer.status == 124
    assert answer.outcome == "timeout"
    assert answer["duration_ms"] >= 1000 * timeout
    # A short timeout leaves those who kill a few milliseconds to report in; on a busy machine the caller does without.
    assert answer["kill"] in KILLS or timeout < 0.25
    returned_in_time(answer, timeout)


def none_left(marker: str) -> None:
    """When the call has returned the tree is dead: now, not soon."""
    left = marked(marker)
    assert not left, "left running: " + describe(left)
