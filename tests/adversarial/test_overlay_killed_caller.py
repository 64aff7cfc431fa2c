"""Attacker: a tool with `workspace: overlay` that is at work when its caller is killed. Means: SIGKILL to the command in
the middle of a run, again and again. Expected: the repository is as it was, and no mount, directory or process is left."""
import os
import pathlib
import signal

import pytest

from feature import scaled
from layers import Layered
from processes import wait_until


@pytest.fixture
def layered(box):
    return Layered(box)


def mounts() -> int:
    return len(pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())


def test_sigkill_in_the_middle_leaves_nothing(layered):
    mounted, listing = mounts(), set(os.listdir("/tmp"))
    place = layered.box.home / "kept"
    for _ in range(scaled(20, 5)):
        process = layered.box.popen(
            ["sh", "-c", "echo ready; while :; do echo x > f; rm f; echo y > d/old; rm -rf e; done"],
            shape={"options": ["--jail", "native", "--keep", str(place)], "form": "--stream", "policy": layered.policy})
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert list(place.iterdir()) == []  # made when the run began, and filled only at its end
        place.rmdir()
    layered.nothing_changed()
    assert mounts() == mounted
    wait_until(lambda: not set(os.listdir("/tmp")) - listing, 5, "nothing new is in /tmp")


def test_layer_is_gone_with_the_run(layered):
    layered.sh("echo x > new")
    layered.sh("rm -r d")
    assert not [path for path in layered.box.root.iterdir() if path.name not in (".git", "d", "e", "package.json", "tool")]
