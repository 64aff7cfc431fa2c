"""Attacker: the program of the image. Means: calls that strace does not see or cannot read: a process that was made with
CLONE_UNTRACED, by either of the calls for it and by those of 32 bits; io_uring; memory that nobody may look into, by prctl
or because its file may be executed and not read; another user namespace; a program that is started by strace's loader.

Expected: what cannot be followed is refused to it and is among the attempts; what cannot be read is said by `complete`.
"""
import os

import pytest

from tracing import Tracing

SECRET = "/unseen"


@pytest.fixture
def tracing(root_box, docker_socket):
    return Tracing(root_box, docker_socket)


def paths(items):
    return [item["path"] for item in items]


@pytest.mark.parametrize("way, attempt", [
    ("untraced", {"call": "clone", "error": "EPERM"}),
    ("untraced32", {"call": "clone", "error": "EPERM"}),
    ("untraced3", None),
    ("hidden", {"call": "prctl", "error": "EPERM"}),
    ("namespace", {"call": "unshare", "error": "EPERM"}),
    ("ring", {"call": "io_uring_setup", "error": "ENOSYS"}),
])
def test_nothing_leaves_the_trace(tracing, way, attempt):
    tracing.image(f"{way}={SECRET}", "read=/behind")
    kept = tracing.box.directory("kept", 0o700)
    evidence = tracing.look("--keep", kept)["evidence"]
    trace = (kept / "runtime_trace.run.out").read_text(encoding="utf-8")
    assert evidence["complete"] and evidence["exit_code"] == 3, trace
    assert evidence["attempts"] == ([attempt] if attempt else [])
    wanted = ["/behind", SECRET] if way in ("hidden", "namespace") else ["/behind"]
    assert paths(evidence["files"]) == wanted
    assert "=filter 1" in trace.splitlines()


def test_what_cannot_be_read_is_said(tracing):
    """A file that may only be executed makes a process that nobody may look into."""
    tracing.image(f"read={SECRET}", more="USER 1234\n")
    os.chmod(tracing.box.root / "traced", 0o111)
    evidence = tracing.look()["evidence"]
    assert not evidence["complete"] and evidence["exit_code"] == 3
    assert SECRET not in paths(evidence["files"])  # else there was nothing to say


def test_program_that_the_loader_starts_is_listed(tracing):
    tracing.image("loader=/bin/traced")
    evidence = tracing.look()["evidence"]
    wanted = {"path": "/.chokepoint/loader", "argv": ["/.chokepoint/loader", "/bin/traced"], "error": None}
    assert wanted in evidence["programs"]


def test_threads_and_programs_of_theirs_are_complete(tracing):
    """Every process is seen to end, also one that another's thread took the place of."""
    tracing.image("exec=/bin/traced", "exec=/bin/sh", "crowd=8")
    evidence = tracing.look()["evidence"]
    assert evidence["complete"] and evidence["ended"] == "program"
