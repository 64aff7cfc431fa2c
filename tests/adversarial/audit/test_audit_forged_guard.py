"""Promise: The proof of the record.
Attacker: a program in the cage of guard, or another process of the user, who wants that a call or
an execution leaves no trace. Means: a guard killed before its end, an end that somebody else
writes, an end of another guard, records left out and the chain made anew, a write cut in the middle.

Expected: 'audit verify' proves the chain where it is one; with --complete every guard without its
own end, and every call and execution that it does not account for, is named by its record.
"""
import pytest
from audit import CLOSING, Log

CONTEXT, OTHER = "c" * 16, "d" * 16


def sums(**numbers):
    parts = {"door": 0, "carrier": 1, "workspace": 0, "refused": 0, "not_found": 0, "failed": 0, **numbers}
    return {"attempts": sum(parts.values()), **parts, "connections": parts["door"], "calls": parts["door"]}


def begin(log, context=CONTEXT):
    return log.add("guard_begin", context=context, pid=1, probe=None, tool={"name": "bash"}, argv=["bash", "x.sh"])


def end(log, guard, context=CONTEXT, **more):
    return log.add("guard_end", guard=guard, context=context, pid=1, probe=None, tool={"name": "bash"},
                   outcome="exited", exit_code=0, duration_us=1, executions={**sums(), **more})


def honest(log):
    """A guard with one call; the number of its record."""
    guard = begin(log)
    call = log.intent("git", "log", guard=guard)
    log.outcome(call, "git")
    end(log, guard, **sums(door=1))
    return guard


def killed(log):
    guard = begin(log)
    log.outcome(log.intent("git", "push", guard=guard), "git")
    return "the guard of 'bash'"


def ended_by_another(log):
    end(log, begin(log), context=OTHER)
    return "was not written by the guard"


def ended_twice(log):
    end(log, honest(log))
    return "which is no guard that is open"


def ended_in_advance(log):
    end(log, log.seq + 1)
    begin(log)
    return "which is no guard that is open"


def call_left_out(log):
    guard = begin(log)
    end(log, guard, **sums(door=1))
    return "the guard judged 1 calls, but 0 records name it"


def call_of_a_guard_that_is_gone(log):
    guard = honest(log)
    log.refused("sudo", "id", guard=guard)
    return "which is no guard that is open"


def call_hidden_in_another_guard(log):
    first = begin(log)
    second = begin(log, OTHER)
    log.refused("sudo", "id", guard=second)  # by the context of the first
    end(log, second, OTHER)
    end(log, first, **sums(door=1))
    return "was not written by the guard"


def execution_left_out(log):
    end(log, begin(log), attempts=2)
    return "2 executions were attempted, but 1"


def door_around_the_guard(log):
    end(log, begin(log), **{**sums(door=3), "connections": 2, "calls": 0})
    return "doors were executed 3 times, but the guard has seen 2"


def nested(log):
    guard = begin(log)
    inner = begin(log)
    end(log, inner)
    end(log, guard)
    return "a guard begins in the context of the guard of record"


def never_ending_call(log):
    guard = begin(log)
    log.intent("git", "push", guard=guard)
    end(log, guard, **sums(door=1))
    return "the call of 'git' in the guard of record 5 has no outcome"


def torn_end(log):
    begin(log)
    text = f'{{"v":1,"log":"{log.log}","seq":{log.seq},"time":"2026-11-15T16:00:06.000000Z","kind":"guard_end"'
    log.torn(text.encode())
    return "the guard of 'bash'"


ATTACKS = [killed, ended_by_another, ended_twice, ended_in_advance, call_left_out, call_of_a_guard_that_is_gone,
           call_hidden_in_another_guard, execution_left_out, door_around_the_guard, nested, never_ending_call, torn_end]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_a_guard_leaves_out_is_named(user_box, attack):
    log = Log()
    assert honest(log) == 1
    path = user_box.file("outside/forged.jsonl", log.text(), 0o600)
    verify = [user_box.command, "audit", "verify", "--quiet"]
    assert user_box.call([*verify, "--complete", str(path)]).status == 0
    said = attack(log)
    path.write_bytes(log.text())
    assert user_box.call([*verify, str(path)]).status == 0  # the chain is one: what the attacker hoped for
    answer = user_box.call([*verify, "--complete", str(path)])
    assert answer.status == 1 and b"is not complete: record" in answer.err and said.encode() in answer.err, answer.err


def test_edited_end_breaks_the_chain(user_box):
    log = Log()
    honest(log)
    data = log.text()
    covered = data[:data.rindex(CLOSING)]
    path = user_box.file("outside/forged.jsonl", covered.replace(b'"refused":0', b'"refused":9', 1)
                         + data[len(covered):], 0o600)
    answer = user_box.call([user_box.command, "audit", "verify", "--complete", "--quiet", str(path)])
    assert answer.status == 1 and b"edited" in answer.err
