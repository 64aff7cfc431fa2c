"""Promise: A guarded program.
Attacker: a carrier. Means: signals to everything that it sees, init of the cage too; a program that stops itself and all
others; more processes than the user may have; and the death of the guard by SIGKILL at any moment.

Expected (R19): init and the guard go on, the time of the program is kept, and nothing is left: no process, and no
shared /tmp. That of a guard that was killed is removed by the next run.
"""
import os
import random
import signal
import time

import pytest

from guards import counts, needs
from processes import nothing_runs, wait_until

ROUNDS = 12
FILES = 40000


@pytest.fixture
def attacker(once_guarded):
    once_guarded.set_policy(carriers=["bash", "sh", "python3"], tools=["cat", "sleep", "true", "seq"])
    return once_guarded


def scratch(attacker):
    """Directories of guards of this caller."""
    place = f"/tmp/chokepoint-{attacker.box.actor.uid}"
    return [name for name in os.listdir(place) if name.startswith("chokepoint-guard-")] if os.path.isdir(place) else []


@pytest.mark.parametrize("number", ["KILL", "STOP", "TERM", "CHLD", "SEGV", "RTMAX"])
def test_signal_to_init(attacker, number):
    answer = attacker.shell(f"kill -{number} 1; seq 1; sh -c 'seq 2'")
    assert (answer.status, answer.out) == (0, b"1\n1\n2\n"), answer
    assert counts(answer)["door"] == 2


def test_everything_is_stopped(attacker):
    """Doors, their callers and the program itself. The tools are not in the cage, and the guard is not."""
    needs("python3")
    attacker.box.file("root/stop.py", "import os, signal, subprocess\n"
                      "children = [subprocess.Popen(['sleep', '1000']) for _ in range(5)]\n"
                      "print('stopped', flush=True)\nos.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)\n")
    answer = attacker.inside("python3", "stop.py", options=["--timeout", "3"])
    assert (answer.status, answer.out) == (124, b"stopped\n"), answer


def test_more_processes_than_there_may_be(attacker):
    """A fork bomb of shells and doors, beneath a limit of the user that the guard has, too."""
    argv = attacker.argv("bash", "-c", "b() { b | b & true & }; b; while :; do :; done", options=["--quiet", "--timeout", "3"])
    answer = attacker.box.call(["bash", "-c", 'ulimit -u 120; exec "$@"', "_", *argv])
    assert answer.status in (124, 125), answer
    assert attacker.shell("seq 1").out == b"1\n"


def test_guard_is_killed_at_any_moment(attacker):
    busy = "while :; do cat /dev/null & seq 3 | cat > /tmp/$RANDOM; sleep 100 & done"
    for seed in range(ROUNDS):
        process = attacker.box.popen(attacker.argv("bash", "-c", busy), raw=True)
        time.sleep(random.Random(seed).random() * 0.5)  # where it is then differs each time
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
        process.stdout.close()
        process.stderr.close()
    wait_until(nothing_runs, "nothing is left running")
    assert attacker.shell("seq 1").out == b"1\n"
    wait_until(lambda: not scratch(attacker), "the next run has removed what was left in /tmp")


def test_full_directory_is_removed(attacker):
    """More than is removed in a moment."""
    many = f"for ((i = 0; i < {FILES}; i++)); do : > /tmp/$i; done; echo $i"
    answer = attacker.shell(many)
    assert (answer.out, scratch(attacker)) == (b"%d\n" % FILES, []), answer
