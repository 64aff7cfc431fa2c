"""Promise: The record.
Attacker: another program of the caller. Means: it takes the lock of the log and does not release
it; or it is stopped while it holds it.

Expected: a call waits for a bounded time, then nothing is run, and the message says what it waited
for.
"""
import fcntl


def test_lock_that_is_never_given_back_stops_the_run_and_not_for_ever(user_box):
    box = user_box
    assert box.run("true").outcome == "exited"
    with box.log.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        answer = box.run("sh", "-c", f": > {box.canary()}")
    assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit") and "locked by another" in answer.message
    assert not box.canary().exists() and 4.5 < answer.seconds < 60
    assert box.run("true").outcome == "exited"
