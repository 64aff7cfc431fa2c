"""Promise: The tree.
Attacker: the tool. Means: a thousand daemons: forked twice, in their own sessions and under their
own names, ignoring every signal that can be ignored; the tool ends with success at once.

Expected: the call returns when the tool has ended, and all are dead by then.
"""
import os
import signal

from processes import marked, wait_until
from promises import none_left, tried


def test_daemons_are_real(box, marker):
    """Without chokepoint they stay."""
    answer = box.call([str(box.bin / "daemons"), "20", marker])
    assert answer.out == b"ready\n"
    found = wait_until(lambda: len(pids := marked(marker)) == 20 and pids, "all stay")
    for pid in found:
        os.kill(pid, signal.SIGKILL)


def test_thousand_daemons_die_with_the_run(cell, marker):
    answer = cell.succeeds_inside("daemons", "1000", marker, timeout=80)
    none_left(marker)
    assert answer.stream("stdout") == b"ready\n" and answer["kill"] == "pidns"


def test_daemons_die_at_the_timeout(cell, marker):
    def attempt():
        answer = cell.inside("escape", "groups", marker, timeout=1)
        none_left(marker)
        assert answer.outcome == "timeout", answer.document
        return answer

    tried(attempt, lambda answer: answer["kill"] == "pidns")  # who is late to report is not waited for
