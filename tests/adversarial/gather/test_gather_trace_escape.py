"""Promise: A look at a repository.
Attacker: the program of the image. Means: calls that strace does not see or cannot read: a process
that was made with CLONE_UNTRACED, by either of the calls for it and by those of 32 bits; io_uring;
memory that no other process may read, by prctl or because its file may be executed and not read;
another user namespace; a program that is started by strace's loader.

Expected: what cannot be followed is refused and is among the attempts; if something cannot be
read, `complete` is false.
"""
import contextlib
import json
import os
import pathlib
import signal

import pytest

import processes
from processes import wait_until
from tracing import Tracing, report_of

SECRET = "/unseen"


@pytest.fixture
def tracing(root_box, docker_socket):
    return Tracing(root_box, docker_socket)


def paths(items):
    return [item["path"] for item in items]


def test_nothing_leaves_the_trace(tracing):
    tracing.image("untraced=/unseen1", "untraced32=/unseen2", "untraced3=/unseen3", "ring=", "hidden=/seen1",
                  "namespace=/seen2", "read=/behind")
    kept = tracing.box.directory("kept", 0o700)
    evidence = tracing.look("--keep", kept)["evidence"]
    trace = (kept / "runtime_trace.run.out").read_text(encoding="utf-8")
    assert evidence["complete"] and evidence["exit_code"] == 3, trace
    assert evidence["attempts"] == [
        {"call": "clone", "error": "EPERM"}, {"call": "io_uring_setup", "error": "ENOSYS"},
        {"call": "prctl", "error": "EPERM"}, {"call": "unshare", "error": "EPERM"}]
    assert trace.count("CLONE_UNTRACED|SIGCHLD) = -1 EPERM") == 2 and "clone3(" in trace  # by 64 and by 32 bits
    assert paths(evidence["files"]) == ["/behind", "/seen1", "/seen2"]
    assert "=filter 1" in trace.splitlines()


def test_an_unreadable_file_is_reported(tracing):
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


def tracer():
    """The process of strace: by its loader, in a directory that has its name from this project."""
    for pid in processes.descendants(os.getpid()):  # not another test's
        with contextlib.suppress(OSError):
            argv = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if argv[0].startswith(b"/.chokepoint-") and argv[0].endswith(b"/loader"):
                return pid
    return None


def test_tracer_that_is_killed_is_reported(tracing):
    """Though the program itself was seen to end: another process goes on, and is seen no more."""
    tracing.image("leave=/behind")
    process = tracing.box.popen(tracing.gather_argv("--probes", tracing.probes(60)), raw=True)
    pid = wait_until(reaped_tracer, "the program has ended, and the other stays")
    os.kill(pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    evidence = report_of(json.loads(out))["evidence"]
    assert (evidence["ended"], evidence["complete"], evidence["exit_code"]) == ("trace_lost", False, 3)


def reaped_tracer():
    """The pid of the tracer if its program is reaped. A process that starts or ends meanwhile may be missed once."""
    pid = tracer()
    with contextlib.suppress(OSError):
        return pid if pid and is_reaped(pid) else None
    return None


def is_reaped(pid):
    """The tracer has waited for the program, its only child; what it traces besides is a child of the first process."""
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8") == "" and any(
        f"TracerPid:\t{pid}\n" in status for status in statuses())


def statuses():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            yield pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")


def test_threads_and_programs_of_theirs_are_complete(tracing):
    """Every process is seen to end, also one that a thread replaced by execve."""
    tracing.image("exec=/bin/traced", "exec=/bin/sh", "crowd=8")
    kept = tracing.box.directory("kept", 0o700)
    evidence = tracing.look("--keep", kept)["evidence"]
    assert evidence["complete"] and evidence["ended"] == "program", (kept / "runtime_trace.run.out").read_text("utf-8")
