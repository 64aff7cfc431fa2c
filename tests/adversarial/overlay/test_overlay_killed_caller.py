"""Promise: The tree.
Attacker: a tool with `workspace: overlay` that is at work when its caller is killed. Means: SIGKILL to the command
in the middle of a run, again and again. Expected: the repository is as it was, and no mount, directory or process is
left."""
import json
import os
import pathlib
import signal

import pytest

from command import check_shape
from feature import scaled
from overlays import OverlayBox
from processes import descendants, wait_until


@pytest.fixture
def overlay_box(box):
    return OverlayBox(box)


def mounts() -> list:
    """Those that could be ours; other programs mount things too."""
    lines = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if " - overlay work " in line or " - tmpfs layer " in line]


def test_sigkill_in_the_middle_leaves_nothing(overlay_box):
    listing = sorted(overlay_box.box.base.rglob("*"))
    directory = overlay_box.box.home / "kept"
    for _ in range(scaled(20, 5)):
        process = overlay_box.box.popen(
            ["sh", "-c", "echo ready; while :; do echo x > f; rm f; echo y > d/old; rm -rf e; done"],
            shape={"options": ["--jail", "native", "--keep", str(directory), "--no-audit"], "form": "--stream",
                   "policy": overlay_box.policy})
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert list(directory.iterdir()) == []  # made when the run began, and filled only at its end
        directory.rmdir()
    overlay_box.nothing_changed()
    assert mounts() == []
    assert sorted(overlay_box.box.base.rglob("*")) == listing


def is_warden_of_a_jail(pid: int) -> bool:
    """It serves a run: it has a choke-init among its children."""
    return comm(pid) == "choke-warden" and any(comm(child) == "choke-init" for child in descendants(pid))


def comm(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def test_list_that_died_with_the_warden_is_said_to_be_incomplete(overlay_box):
    directory = overlay_box.box.home / "kept"
    process = overlay_box.box.popen(
        ["sh", "-c", "echo x > new; while :; do :; done"],
        shape={"options": ["--jail", "native", "--keep", str(directory)], "policy": overlay_box.policy})
    wait_until(lambda: any(map(is_warden_of_a_jail, descendants(process.pid))), "the run has begun")
    for pid in filter(is_warden_of_a_jail, descendants(process.pid)):
        os.kill(pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    document = json.loads(out)
    check_shape(document)
    assert (document["outcome"], document["changes"]) == ("cancelled", []), document
    assert document["changes_incomplete"] and document["kept_incomplete"]
    assert list(directory.iterdir()) == []
    overlay_box.nothing_changed()


def test_layer_is_gone_with_the_run(overlay_box):
    overlay_box.sh("echo x > new")
    overlay_box.sh("rm -r d")
    assert sorted(os.listdir(overlay_box.box.root)) == [".git", "d", "e", "package.json", "tool"]
