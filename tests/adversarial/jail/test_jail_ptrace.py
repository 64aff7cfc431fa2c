"""Promise: What each jail holds.
Attacker: the tool. Means: ptrace and process_vm_writev: on a process of the same user on the host,
on another process of its own run, and on the init of the jail, which holds descriptors of the
host.

Expected: the host's process does not exist inside; the others are refused.
"""
import pytest


@pytest.mark.parametrize("way", ["trace", "write"])
def test_process_of_the_host_is_out_of_reach(cell, way):
    other = cell.box.popen(["sleep", "20"], raw=True)
    attack = ["breach_processes", way, other.pid]
    cell.succeeds_outside(*attack)
    cell.refused_inside(*attack, errnos="ESRCH EPERM")
    assert other.poll() is None


@pytest.mark.parametrize("way", ["trace", "write"])
def test_sibling_is_refused(cell, way):
    cell.breaks_out_only_outside("breach_processes", way, "sibling", errnos="EPERM")


@pytest.mark.parametrize("way", ["trace", "write"])
def test_init_is_refused(cell, way):
    cell.refused_inside("breach_processes", way, "init", errnos="EPERM")


def test_init_is_refused_to_a_tracer(cell):
    """A tool such as strace may trace its own children only, and not init."""
    entry = cell.box.entry("strace", route="external", args={"options": ["-f"], "command": "after_options"})
    policy = cell.write_policy(more=[entry])
    for way in ("trace", "write"):
        answer = cell.inside("strace", "-f", "breach_processes", way, "init", policy=policy)
        assert answer.status == 113 and b"refused: EPERM" in answer.stream("stdout"), answer.document
    answer = cell.inside("strace", "-f", "breach_calls", "uring", policy=policy)
    assert answer.status == 113 and b"refused: EPERM" in answer.stream("stdout"), answer.document
