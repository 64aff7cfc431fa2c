"""Promise: The tree.
Attacker: the tool. Means: processes that do nothing but fork the next and end, so that a killer
that first lists processes and then kills always comes too late.

Expected: all are killed; nothing is left when the call returns, in time.
"""
import pytest

from promises import times_out


@pytest.mark.parametrize("lines", [1, 8])
def test_fork_relays_are_killed(box, marker, lines):
    times_out(box.run, "fork_relay", str(lines), marker=marker, timeout=1, said=b"ready\n")
