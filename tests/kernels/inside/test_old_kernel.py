"""A kernel without Landlock and mount_setattr, such as 5.10: what needs them is refused, the rest works, and each says why.

Runs in a guest only (tests/kernels/places.py).
"""
import pytest

SOME = {"route": "external"}


def policy(box, **keys):
    return box.write_policy([box.entry("say_args", **keys), box.entry("bwrap", route="jail")])


@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_a_jail_that_is_named_is_refused(box, jail):
    answer = box.run("say_args", "x", options=["--jail", jail], policy=policy(box, **SOME))
    assert answer.outcome == "jail_unavailable" and "mount_setattr (it came with Linux 5.12)" in answer.document["error"]["message"]


def test_a_required_jail_is_refused(box):
    answer = box.run("say_args", "x", options=["--require-jail"], policy=policy(box, **SOME))
    assert answer.outcome == "jail_unavailable"


def test_without_a_jail_the_tool_runs_and_one_warning_is_given(box):
    answer = box.run("say_args", "x", policy=policy(box, **SOME))
    assert answer.outcome == "exited" and answer.document["jail"] == "none"
    assert answer.document["layers"] == [] or "landlock" not in answer.document["layers"]
    assert b"skipped" in answer.err


def test_execs_cannot_be_enforced_and_the_tool_is_refused(box):
    answer = box.run("say_args", "x", options=["--jail", "none"], policy=policy(box, execs=[], **SOME))
    assert answer.outcome == "jail_unavailable" and "no Landlock (it came with Linux 5.13)" in answer.document["error"]["message"]


def test_a_direct_tool_runs(box):
    answer = box.run("say_args", "x", policy=policy(box, route="direct"))
    assert answer.outcome == "exited" and answer.document["exit_code"] == 0
