"""Promise: A look at a repository.
Attacker: the program of the image that is traced. Means: it prints lines of strace, on every
descriptor that it has; writes them to what the first process of the container and strace hold
open, through /proc; attaches to them; kills them.

Expected: the trace is what happened, to its end. Its output is separate from the trace, and it
cannot reach the other processes.
"""
import json

import pytest

from tracing import Tracing


@pytest.fixture
def tracing(root_box, docker_socket):
    return Tracing(root_box, docker_socket)


@pytest.mark.parametrize("user", ["0", "1234"])
def test_trace_is_not_forged(tracing, user):
    tracing.image("forge=", "attack=", "read=/behind", more=f"USER {user}\n")
    kept = tracing.box.directory("kept", 0o700)
    report = tracing.look("--keep", kept)
    evidence = report["evidence"]
    assert [program["path"] for program in evidence["programs"]] == ["/bin/traced"]
    assert "forged" not in json.dumps([evidence["programs"], evidence["files"], evidence["sockets"]])
    assert evidence["guarded"] and evidence["complete"]
    assert (evidence["ended"], evidence["exit_code"]) == ("program", 3)
    assert [file["path"] for file in evidence["files"] if file["path"] == "/behind"] == ["/behind"]
    assert evidence["attempts"] == [{"call": "ptrace", "error": "EPERM"}]
    tried = {file["error"] for file in evidence["files"] if file["path"].startswith("/proc/[pid]/fd/")}
    assert tried == {"EACCES", "ENOENT"}  # what they hold open is there, and closed to it
    assert "forged" not in (kept / "runtime_trace.run.out").read_text(encoding="utf-8")
