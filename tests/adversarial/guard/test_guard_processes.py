"""Promise: A guarded program.
Attacker: a carrier. Means: other processes: ptrace, process_vm_writev, /proc/PID/mem and signals, on processes of the
host, on another carrier, on a door, and on the init of the cage; and /proc/PID/environ and cmdline of all of them.

Expected (R91): the host's processes do not exist inside. Carriers cannot be traced or written. What a process of the cage
was given in its environment every other one can read: so a secret must not be there, and the caller's is not.
"""
import pathlib

import pytest
from processes import wait_until


@pytest.fixture
def attacker(guarded):
    guarded.set_policy(carriers=["bash", "sh", "breach_processes"], tools=["cat", "sleep", "ls"])
    return guarded


@pytest.mark.parametrize("way", ["trace", "write"])
@pytest.mark.parametrize("whom", ["parent", "door", "1"])
def test_process_of_the_cage_is_not_taken_over(attacker, way, whom):
    breach = attacker.victims / "breach_processes"
    script = {"parent": f"{breach} {way} $$; exit $?", "1": f"{breach} {way} 1; exit $?",
              "door": f"sleep 1000 & {breach} {way} $!; r=$?; kill -9 $!; exit $r"}[whom]
    if whom == "door":
        assert attacker.outside("bash", "-c", script).status == 0
    answer = attacker.shell(script)
    assert answer.status == 113 and b"refused: EPERM" in answer.out, answer


@pytest.mark.parametrize("way", ["trace", "write"])
def test_process_of_the_host_is_out_of_reach(attacker, way):
    other = attacker.box.popen(["sleep", "100"], raw=True)
    comm = pathlib.Path(f"/proc/{other.pid}/comm")
    wait_until(lambda: comm.read_text(encoding="ascii") == "sleep\n", "the process has become the user's")
    assert attacker.outside("breach_processes", way, other.pid).status == 0
    answer = attacker.inside("breach_processes", way, other.pid)
    assert answer.status == 113, answer
    assert other.poll() is None
    other.kill()


def test_environment_of_the_caller_is_not_inside(attacker):
    """Neither in its own environment nor in that of any process that it sees."""
    env = {**attacker.box.environment(), "THE_KEY": "value-of-the-key"}
    script = ("n=0; for f in /proc/[0-9]*/environ; do while IFS= read -r -d '' v; do case $v in *value-of-the-key*) n=1;; esac; "
              "done < $f; done 2>/dev/null; echo $n")
    answer = attacker.shell(script, env=env)
    assert answer.out == b"0\n", answer


def test_environment_of_another_carrier_is_readable(attacker):
    """It is no secret among processes of one cage, as the documents say."""
    script = ("MINE=value-of-mine bash -c 'read -r x' < <(sleep 100) & n=0; while [ $n = 0 ]; do for f in /proc/[0-9]*/environ; do "
              "while IFS= read -r -d '' v; do case $v in MINE=*) n=1;; esac; done < $f; done 2>/dev/null; done; echo $n")
    assert attacker.shell(script).out == b"1\n"
