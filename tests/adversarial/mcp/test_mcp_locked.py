"""Promise: The machine's policy.
Attacker: an agent's client, or whoever wrote its configuration, on a machine with a locked policy. Means: options of
the server, arguments of its calls, and roots.

Expected: the server does not start with options that weaken a run, and no call of it goes around the lock.
"""
import pytest

from machine import is_locked_message
from mcp import Client


@pytest.fixture
def locked(machine_box):
    machine_box.install(locked=True, roots=[str(machine_box.root)])
    return machine_box


@pytest.mark.parametrize("options", [["--policy", "own"], ["--no-audit"], ["--audit", "/tmp/other.jsonl"]])
def test_options_that_weaken_are_refused_at_the_start(locked, options):
    own = [str(locked.policy) if option == "own" else option for option in options]
    answer = locked.call([locked.command, "mcp", "--root", str(locked.root), *own], input=b"")
    assert answer.status == 125 and answer.out == b"" and is_locked_message(answer.err.decode())


def test_calls_stay_within_the_lock(locked):
    with Client(locked, policy="default", audit=False) as client:
        assert client.run("say_args")["structuredContent"]["outcome"] == "exited"
        assert client.run("rg", "--version")["structuredContent"]["jail"] != "none"
    assert [record["kind"] for record in locked.recorded()][1:] == ["intent", "outcome"] * 2
    with Client(locked, "--jail", "none", policy="default", audit=False) as client:
        refused = client.run("rg", "--version")
        assert refused["isError"] and is_locked_message(refused["content"][0]["text"])
    with Client(locked, policy="default", audit=False, root=locked.outside) as client:
        refused = client.run("say_args")
        assert refused["structuredContent"]["rule"] == "roots" and is_locked_message(refused["content"][0]["text"])


def test_a_gather_is_bound_too(locked):
    with Client(locked, policy="default", audit=False, root=locked.outside) as client:
        found = client.tool("gather", {"only": ["snapshot", "curated_patterns"]})["structuredContent"]["document"]
        assert {probe["state"] for probe in found["probes"]} <= {"skipped", "refused"}
