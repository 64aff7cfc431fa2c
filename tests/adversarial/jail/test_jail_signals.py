"""Promise: What each jail holds.
Attacker: the tool. Means: signals to its parent, to a process of the host by its number, and to
everyone (kill(-1)).

Expected: the host's processes do not exist inside. The init of the jail ignores what its children
send, being the first of its pid namespace; and if everyone is killed, only the run ends.
"""
import signal


def test_process_of_the_host_is_out_of_reach(cell):
    other = cell.box.popen(["sleep", "20"], raw=True)
    attack = ["breach_processes", "kill", other.pid, signal.SIGTERM.value]
    cell.refused_inside(*attack, errnos="ESRCH EPERM")
    assert other.poll() is None
    cell.succeeds_outside(*attack)
    assert other.wait(60) == -signal.SIGTERM


def test_parent_lives_on(cell):
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        answer = cell.inside("breach_processes", "parent", number.value)
        assert (answer.outcome, answer["kill"]) == ("exited", "pidns"), answer.document


def test_everyone_is_only_the_run(cell, marker):
    """Only inside: outside it would be everyone."""
    other = cell.box.popen(["sleep", "20"], raw=True)
    answer = cell.inside("breach_processes", "everyone")
    assert answer.outcome == "exited", answer.document
    assert other.poll() is None
    assert cell.succeeds_inside("say_args", marker).stream("stdout") == marker.encode() + b"\0"
