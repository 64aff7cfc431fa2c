"""Promise: The tree.
Attacker: the host program, without malice. Means: it takes the status of every child: a thread in
waitpid(-1), SIGCHLD ignored, a handler that reaps; or it was itself started with SIGCHLD ignored.

Expected: results are still right, and timeouts work.
"""
import signal

import pytest

from feature import scaled


@pytest.mark.parametrize("manner", ["thread", "ignore", "handler"])
def test_results_stay_right(box, manner):
    box.host("host_reaper", scaled(200, 50), manner)


def test_command_started_with_sigchld_ignored(box):
    answer = box.run("sh", "-c", "echo x; exit 9", popen={
        "preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), "restore_signals": False})
    assert (answer.status, answer.stream("stdout")) == (9, b"x\n")
