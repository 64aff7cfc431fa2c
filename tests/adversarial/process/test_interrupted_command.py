"""Promise: Time.
Attacker: none; the operator presses Ctrl-C, closes the terminal, or asks the command to end. The tool ignores it
all.

Expected: nothing is left, and the exit status is that of the signal: 130, 143, 129. A tool that would listen is ended
just so.
"""
import json
import signal

import pytest

from command import check_shape
from processes import PATIENCE_S, marked, wait_until
from promises import none_left

STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def shell_status(status):
    return 128 - status if status < 0 else status


@pytest.mark.parametrize("number", STATUSES)
@pytest.mark.parametrize("form", ["--json", "--stream", None])
def test_signal_ends_the_tree(box, marker, number, form):
    process = box.popen(["escape", "setsid", marker], shape={"timeout": 90, "form": form})
    wait_until(lambda: len(marked(marker, "escape")) == 2, "the tool has settled")
    process.send_signal(number)
    assert shell_status(process.wait(PATIENCE_S)) == STATUSES[number]
    none_left(marker)


def test_second_signal_does_no_harm(box, marker):
    process = box.popen(["escape", "setsid", marker], shape={"timeout": 90})
    wait_until(lambda: len(marked(marker, "escape")) == 2, "the tool has settled")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    assert shell_status(process.wait(PATIENCE_S)) in (130, 143)
    none_left(marker)


def test_json_says_cancelled(box, marker):
    process = box.popen(["ignore_signals", marker], shape={"timeout": 90})
    wait_until(lambda: marked(marker, "ignore_signals"), "the tool runs")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE_S)
    document = json.loads(out)
    check_shape(document)
    assert document["outcome"] == "cancelled"
