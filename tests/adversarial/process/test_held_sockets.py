"""Promise: The tree.
Attacker: none; an accident. Means: the host forked before it was killed with SIGKILL, and its
child still holds every socket that the keeper and the wardens listen to, so none of them sees an
end.

Expected: the tool dies, because they watch the death of the host itself.
"""
import os
import signal

from processes import marked, wait_until


def test_tool_dies_with_the_host_though_a_fork_holds_its_sockets(box, marker):
    process = box.popen([box.stage / "tests/helpers/host_open", box.policy, box.root, marker, "forked"], raw=True)
    word, copy = process.stdout.readline().split()
    try:
        assert word == b"running"
        assert len(marked(marker, "escape")) == 2
        process.kill()
        process.wait()
        wait_until(lambda: not marked(marker, "escape"), "the tree is dead")
        os.kill(int(copy), 0)  # the copy is alive, so it was not its end that did it
    finally:
        os.kill(int(copy), signal.SIGKILL)
