"""Promise: The tree.
Attacker: the tool. Means: children spread over twenty process groups.

Expected: it is the tree that dies, not a group.
"""
from promises import times_out


def test_every_group_dies(box, marker):
    times_out(box.run, "escape", "groups", marker=marker, timeout=1, said=b"ready\n")
