"""Attacker: the tool. Means: children spread over twenty process groups.

Expected: it is the tree that dies, not a group.
"""
from promises import none_left, timed_out


def test_every_group_dies(box, marker):
    answer = box.run("escape", "groups", marker, timeout=1)
    none_left(marker)
    timed_out(answer, 1)
    assert answer.stream("stdout") == b"ready\n"
