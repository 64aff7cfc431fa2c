"""Promise: A guarded program.
Attacker: a carrier. Means: processes that try to live longer than the program: daemons (setsid, double fork, ignored
signals), a tool in the background, files in the shared /tmp; and the death of the guard by SIGKILL.

Expected (R19): nothing of it is left when guard has ended, however it ended.
"""
import os
import signal

import pytest


@pytest.fixture
def attacker(guarded):
    guarded.set_policy(carriers=["bash", "sh", "escape", "daemons", "ignore_signals"], tools=["cat", "sleep", "touch"])
    return guarded


@pytest.mark.parametrize("script", [
    "(sleep 1000 > /dev/null 2>&1 &); echo up", "sleep 1000 & disown; trap '' HUP TERM; echo up",
    "(trap '' HUP TERM INT; while :; do read -t 1000 <> <(:); done) & echo up", "$V/ignore_signals & echo up",
    "$V/daemons & sleep 0.2; echo up"])
def test_daemon_dies_with_the_program(attacker, script):
    answer = attacker.shell(f"V={attacker.victims}; {script}; touch /tmp/left", deadline=60)
    assert b"up" in answer.out, answer


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_dead_guard_takes_all_with_it(attacker, number):
    process = attacker.box.popen(attacker.argv("bash", "-c", f"{attacker.victims}/ignore_signals & sleep 1000 & echo up; cat"), raw=True)
    assert b"up" in process.stdout.readline() + process.stdout.readline()
    os.kill(process.pid, number)
    process.wait(60)


def test_temporary_directory_is_not_left(attacker):
    before = set(os.listdir("/tmp"))
    attacker.shell("touch /tmp/left-by-the-cage; mkdir -p /tmp/d 2>/dev/null; echo x > /tmp/f")
    assert "left-by-the-cage" not in os.listdir("/tmp")
    assert not {name for name in set(os.listdir("/tmp")) - before if name.startswith("chokepoint")}
