"""Promise: A guarded program.
Attacker: whoever can fill the disk that the log is on, a carrier too if it shares that disk. Means: no room for the record of a
call, of its end, or of the end of the guard.

Expected (R92): a call that cannot be recorded does not run, and a guard whose log lacks a record says so and ends with 125.
"""
import subprocess

import pytest
from processes import descendants, executes


@pytest.fixture
def attacker(once_guarded):
    once_guarded.set_policy(tools=["seq"])
    return once_guarded


class Running:
    """A guard whose program waits for lines, and executes each."""

    def __init__(self, guarded):
        self.guarded = guarded
        script = 'echo up; while read -r line; do eval "$line"; echo "status $?"; done'
        self.process = guarded.box.popen(guarded.argv("bash", "-c", script), raw=True, stdin=subprocess.PIPE)
        assert self.process.stdout.readline() == b"up\n"
        self.pid = next(pid for pid in [self.process.pid, *descendants(self.process.pid)] if executes(pid, "/chokepoint"))

    def disk(self, full):
        """A limit on the size of files is the same for the log: it is the largest file of guard."""
        box = self.guarded.box
        size = box.log.stat().st_size if full else "unlimited"
        answer = box.call(["prlimit", f"--pid={self.pid}", f"--fsize={size}:unlimited"])
        assert answer.status == 0, answer

    def order(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        said = []
        while not said or not said[-1].startswith(b"status "):
            said.append(self.process.stdout.readline())
        return b"".join(said)

    def finish(self):
        """Status, and standard error."""
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err

    def verify(self):
        box = self.guarded.box
        return box.call([box.command, "audit", "verify", "--complete", "--quiet", str(box.log)]).status


def test_end_that_finds_no_room(attacker):
    running = Running(attacker)
    assert running.order("seq 1") == b"1\nstatus 0\n"
    running.disk(full=True)
    status, err = running.finish()
    assert status == 125 and b"1 call lacks a record" in err and running.verify() == 1, err


def test_call_that_finds_no_room_does_not_run(attacker):
    """There is room again for what comes after it, the end too."""
    running = Running(attacker)
    assert running.order("seq 1") == b"1\nstatus 0\n"
    running.disk(full=True)
    said = running.order("seq 1")
    assert said == b"status 126\n", said
    running.disk(full=False)
    assert running.order("seq 2") == b"1\n2\nstatus 0\n"
    status, err = running.finish()
    assert status == 125 and b"1 call lacks a record" in err and running.verify() == 1, err
