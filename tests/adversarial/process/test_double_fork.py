"""Promise: The tree.
Attacker: the tool. Means: fork, setsid, fork; the tool itself ends at once with status 0.

Expected: the call ends when the tool ends, with the tool's status; the orphan is killed then, and not waited for.
"""
from promises import none_left


def test_orphan_is_killed_when_the_tool_ends(box, marker):
    answer = box.run("escape", "double", marker, timeout=60)
    none_left(marker)
    assert (answer.status, answer.outcome) == (0, "exited")
    assert answer.stream("stdout") == b"ready\n"
    assert answer["output_incomplete"] is False
    assert answer.seconds < 40  # the orphan stays for VICTIM_LIFE_S


def test_hundred_orphans_are_killed(box, marker):
    script = f"i=0; while [ $i -lt 100 ]; do '{box.bin}/escape' double {marker} >/dev/null; i=$((i+1)); done"
    answer = box.run("sh", "-c", script, timeout=60)
    none_left(marker)
    assert (answer.status, answer.outcome) == (0, "exited")
