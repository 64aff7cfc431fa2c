"""Promise: The environment.
Attacker: the tool. Means: descriptors that the caller, or the library, left open: files, sockets, the policy, the
pipes of other runs.

Expected: the tool has 0, 1 and 2 and no other, and stdin is /dev/null.
"""
import os
import re

import pytest

from processes import PATIENCE_S


def descriptors(answer):
    assert answer.status == 0, answer.document
    return dict(re.findall(rb"fd\.(\d+)=(.*)\n", answer.stream("stdout")))


def test_tool_has_three_descriptors(box):
    kept = []
    try:
        for _ in range(200):
            kept.append(os.open("/etc/passwd", os.O_RDONLY))
            kept += os.pipe()
        found = descriptors(box.run("say_state", popen={"pass_fds": kept}))
    finally:
        for fd in kept:
            os.close(fd)
    assert sorted(found) == [b"0", b"1", b"2"]
    assert found[b"0"] == b"/dev/null"
    assert found[b"1"].startswith(b"pipe:") and found[b"2"].startswith(b"pipe:")
    assert found[b"1"] != found[b"2"]


def test_script_has_three_descriptors(box):
    """A script is executed by path: its interpreter gets no descriptor of it either."""
    trusted = box.base / "trusted"
    trusted.mkdir(mode=0o755)
    (trusted / "tool").write_text("#!/bin/sh\nexec ls /proc/self/fd\n")
    (trusted / "tool").chmod(0o755)
    policy = box.write_policy([box.entry("tool")], search_path=[str(trusted), "/usr/bin"])
    # ls itself opens the directory as 3.
    assert box.run("tool", policy=policy).stream("stdout") == b"0\n1\n2\n3\n"


def test_callers_output_is_not_in_reach(box):
    """Without --stream the tool's streams are pipes of the library's, not the caller's terminal or file."""
    found = descriptors(box.run("say_state"))
    ours = os.readlink("/proc/self/fd/1").encode()
    assert ours not in found.values()


@pytest.mark.parametrize("closed", [(0,), (2,), (0, 2), (0, 1, 2)])
def test_closed_standard_descriptors_are_not_filled_with_something_else(box, closed):
    """If the command starts with 0, 1 or 2 closed, the next opened files get these numbers."""
    def no_userns():
        for fd in closed:
            os.close(fd)

    trace = box.canary()
    script = f"exec >>'{trace}'; readlink /proc/self/fd/0; readlink /proc/self/fd/2"
    process = box.popen(["sh", "-c", script], preexec_fn=no_userns)
    process.communicate(timeout=PATIENCE_S)
    if process.returncode == 125 and 1 in closed:
        return  # it cannot print its document, and says so by its status
    assert process.returncode == 0
    stdin, stderr = trace.read_text().splitlines()
    assert stdin == "/dev/null"
    assert stderr.startswith("pipe:")
