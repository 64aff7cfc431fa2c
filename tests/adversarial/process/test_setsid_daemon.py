"""Promise: The tree.
Attacker: the tool. Means: a child in its own session, with its own streams, which ignores SIGTERM.

Expected: it dies with the call: at the timeout, and also when the tool ends by itself.
"""
import pytest

from promises import none_left, times_out


@pytest.mark.parametrize("timeout", [0.2, 1])
def test_daemon_dies_at_the_timeout(box, marker, timeout):
    times_out(box.run, "escape", "setsid", marker=marker, timeout=timeout, said=b"ready\n")


def test_daemon_dies_when_the_tool_is_killed_by_itself(box, marker):
    answer = box.run("sh", "-c", f"'{box.bin}/escape' setsid {marker} & read x; kill -9 $$", input=b"\n",
                     options=["--stdin", "-"])
    none_left(marker)
    assert (answer.status, answer.outcome, answer["signal"]) == (137, "signaled", 9)
