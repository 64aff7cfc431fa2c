"""Promise: The tree.
Attacker: the tool. Means: kill(-1, SIGKILL): every process of its user at once, the command, the
keeper and the wardens among them.

Expected: a user may kill the processes of that user, and there is no result; but nothing of the
tree is left.
"""
import os
import signal

import pytest

from feature import skip
from processes import marked, wait_until


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left(user_box, marker, number):
    if os.geteuid() != 0 or user_box.actor.uid == 0:
        skip("root", "the tool must belong to a user who has no other process")
    process = user_box.popen(["kill_watchers", str(int(number)), "everyone", marker], shape={"timeout": 90})
    status = process.wait(60)
    assert status == -signal.SIGKILL if number == signal.SIGKILL else status == 143
    wait_until(lambda: not marked(marker), "the tree is dead")
