"""Promise: The tree.
Attacker: the tool. Means: a daemon whose parents are gone, in a host that runs for hours and never
frees its context.

Expected: the daemon is dead when the call has returned, not when the context ends.
"""
from processes import marked
from promises import none_left


def test_daemon_is_dead_while_the_context_is_open(box, marker):
    process = box.popen([box.stage / "tests/helpers/host_open", box.policy, box.root, marker, "after"], raw=True)
    try:
        assert process.stdout.readline() == b"returned\n"
        assert not marked(marker, "escape")
    finally:
        process.kill()
        process.wait()
    none_left(marker)
