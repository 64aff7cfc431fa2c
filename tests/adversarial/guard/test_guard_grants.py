"""Promise: A guarded program.
Attacker: a carrier. Means: a tool of the policy, used for what its entry does not grant: to write with `workspace: ro`, to
read a file outside, to execute another program, to reach the network; and an entry of the root that names a carrier.

Expected (R90): a door call has the rights of its entry, whatever PROGRAM itself may do.
"""
import pytest

from guards import needs


@pytest.fixture
def attacker(guarded):
    guarded.box.file("root/f", "line\n")
    return guarded


def test_read_only_tool_does_not_write(attacker):
    attacker.set_policy(tools=["cat"], touch={}, more=[attacker.tool("touch", workspace="ro"), attacker.tool("cp")])
    answer = attacker.shell("touch by-tool; echo $?; : > by-shell; cp f by-cp; echo $?")
    assert answer.out == b"1\n0\n" and (attacker.root / "by-shell").exists() and (attacker.root / "by-cp").exists(), answer
    assert not (attacker.root / "by-tool").exists()


def test_read_only_tool_may_open_its_input_once_more(attacker):
    """It was opened on the mount of the cage, which is not beneath the directory "/" of the tool."""
    attacker.set_policy(tools=["cat"], more=[attacker.tool("head", workspace="ro")])
    answer = attacker.shell("for i in 1 2 3; do head /dev/stdin < f; head /dev/fd/7 7< f; done")
    assert answer.out == b"line\n" * 6, answer


def test_operands_outside_are_refused(attacker):
    attacker.set_policy(tools=[], more=[attacker.tool("cat", args={"options": ["-n"], "operands": "inside"})])
    answer = attacker.shell("cat f; cat /etc/hostname; echo $?; cat /tmp/../etc/hostname; echo $?; echo t > /tmp/t; cat /tmp/t; cat ../outside/x; echo $?")
    assert answer.out == b"line\n126\n126\nt\n126\n", answer


def test_tool_executes_nothing_by_itself(attacker):
    needs("env", "nice")
    attacker.set_policy(tools=["cat"], more=[attacker.tool("env"), attacker.tool("nice")])
    assert attacker.outside("bash", "-c", "env id").status == 0
    answer = attacker.shell("env id; echo $?; nice cat f; echo $?; env cat f; echo $?")
    assert answer.out == b"126\n126\n126\n", answer


def test_credential_in_an_argument_is_refused(attacker):
    answer = attacker.shell("a=AKIA; cat f; cat ${a}IOSFODNN7EXAMPLE; echo $?")
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    assert answer.out == b"line\n126\n" and key.encode() not in answer.err, answer
    assert key not in attacker.box.log.read_text(encoding="utf-8")


def test_network_of_the_cage_is_empty(attacker):
    script = "exec 3<>/dev/tcp/127.0.0.1/1; echo $?; exec 3<>/dev/udp/192.0.2.1/53; echo $?"
    answer = attacker.shell(script)
    assert b"0\n" not in answer.out, answer
