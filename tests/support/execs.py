"""Helpers for the attacks on `execs`: each is made without the key, where it must succeed, and
with it.
"""
from feature import skip

REFUSED = 113  # the status of tests/helpers/victims/attempt.c


def bounded(box, execs=(), name="attempt", **more):
    return box.write_policy([box.entry(name, execs=list(execs), **more)])


def run_bounded(box, *argv, policy=None, **shape):
    answer = box.run(*argv, policy=policy or bounded(box), **shape)
    if answer.outcome == "jail_unavailable":
        skip("landlock", answer.message)
    return answer


def succeeds_without(box, *argv, **shape):
    """The attack is real: only the key prevents it."""
    answer = box.run("attempt", *argv, policy=box.write_policy(name="policy/free.yaml"), **shape)
    assert answer.status == 0, answer.document
    assert "execs" not in answer["layers"]
    return answer


def refused_with(box, *argv, policy=None, **shape):
    answer = run_bounded(box, "attempt", *argv, policy=policy, **shape)
    assert answer.outcome == "exited" and "execs" in answer["layers"], answer.document
    assert (answer.status, answer.stream("stdout")[:15]) == (REFUSED, b"refused: EACCES"), answer.document
    return answer
