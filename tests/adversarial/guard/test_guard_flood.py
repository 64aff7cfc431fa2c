"""Promise: A guarded program.
Attacker: a carrier. Means: as many calls of the guard at once as it can make, calls that never end, calls that are killed
before they are answered, and stopped doors.

Expected (R90): each call is answered or waits; the guard keeps its bounds, answers the calls after that, counts all of
them, and leaves nothing behind.
"""
import os
import signal

import pytest

from feature import full
from guards import counts, needs, running
from processes import descendants, executes, wait_until

CALLS = 10000 if full() else 400


@pytest.fixture
def attacker(once_guarded):
    once_guarded.set_policy(tools=["cat", "sleep", "true", "seq"])
    return once_guarded


def test_many_at_once(attacker):
    answer = attacker.shell(f"for ((i = 0; i < {CALLS}; i++)); do true & /usr/bin/true & done; wait; seq 1", deadline=1500)
    assert (answer.status, answer.out) == (0, b"1\n"), answer
    found = counts(answer)
    assert found["door"] == answer.document["calls"]["ran"] == CALLS + 1, found


def test_long_calls_at_once_do_not_wait_for_each_other(attacker):
    """Together they are more than guard keeps of calls that are not whole. For the kernel each is too long, which its tool finds out."""
    needs("python3")
    attacker.set_policy(carriers=["python3"], tools=["true"])
    attacker.box.file("root/long.py", """
import os, resource
resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
pids = []
for _ in range(40):
    if (pid := os.fork()) == 0:
        os.execv("/usr/bin/true", ["true", *["x" * 100000] * 45])
    pids.append(pid)
print([os.waitpid(pid, 0)[0] for pid in pids] == pids)
""")
    answer = attacker.inside("python3", "long.py", deadline=300)
    assert (answer.status, answer.out) == (0, b"True\n"), answer
    assert counts(answer)["door"] == 40 and answer.document["calls"]["malformed"] == 0, answer.document
    assert answer.err.count(b"Argument list too long") == 40


def test_calls_that_take_long_to_judge_do_not_keep_guard(attacker):
    """Each path is looked up. Together these calls take minutes, which a signal must not wait for."""
    attacker.set_policy(tools=[], more=[attacker.tool("cat", args={"options": [], "operands": "inside"})])
    script = "printf -v paths 'f %.0s' {1..100000}; for ((i = 0; i < 100; i++)); do cat $paths & done; wait"
    process = attacker.box.popen(attacker.argv("bash", "-c", script, options=["--quiet"]), raw=True)
    wait_until(lambda: len(descendants(process.pid)) > 60, "many doors wait", 240)
    os.kill(next(pid for pid in [process.pid, *descendants(process.pid)] if executes(pid, "/chokepoint")), signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err


def test_long_calls_in_parallel_are_all_answered(attacker):
    """What waits because guard is busy has not been late."""
    attacker.box.file("root/f", "")
    attacker.set_policy(tools=[], more=[attacker.tool("cat", args={"options": [], "operands": "inside"})])
    script = "printf -v paths 'f %.0s' {1..20000}; for ((i = 0; i < 8; i++)); do cat $paths & done; wait; echo end"
    answer = attacker.shell(script, deadline=300)
    assert (answer.status, answer.out) == (0, b"end\n"), answer
    assert answer.document["calls"]["ran"] == 8 and counts(answer)["door"] == 8


def test_killed_before_they_are_answered(attacker):
    """Some doors die before they connect, and count as failed; none of their tools is left."""
    answer = attacker.shell(f"for ((i = 0; i < {CALLS // 2}; i++)); do sleep 1000 & kill -9 $!; done 2>/dev/null; wait; seq 1")
    assert (answer.status, answer.out) == (0, b"1\n"), answer
    counts(answer)


def test_stopped_door_holds_nobody_up(attacker):
    script = "sleep 1000 & p=$!; while [ ! -e go ]; do :; done; kill -STOP $p; seq 2; : > stopped; while [ ! -e end ]; do :; done"
    process = attacker.box.popen(attacker.argv("bash", "-c", script, options=["--quiet"]), raw=True)
    wait_until(lambda: running(process, "sleep"), "the tool runs")
    (attacker.root / "go").touch()
    assert process.stdout.readline() + process.stdout.readline() == b"1\n2\n"
    (attacker.root / "end").touch()
    assert process.wait(60) == 0  # and the stopped one is gone: the fixture nothing_is_left


def test_killed_guard_in_a_flood(attacker):
    process = attacker.box.popen(attacker.argv("bash", "-c", "echo up; while :; do cat /dev/null & true; done"), raw=True)
    assert process.stdout.readline() == b"up\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait(60)
