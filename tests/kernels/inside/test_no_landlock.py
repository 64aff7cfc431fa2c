"""A kernel of today that was booted without Landlock: what needs it is refused, and each says why.

Runs in a guest only (tests/kernels/places.py).
"""

SOME = {"route": "external"}


def policy(box, **keys):
    return box.write_policy([box.entry("say_args", **keys), box.entry("bwrap", route="jail")])


def test_the_native_jail_is_refused_by_name(box):
    answer = box.run("say_args", "x", options=["--jail", "native"], policy=policy(box, **SOME))
    assert answer.outcome == "jail_unavailable" and "'landlock'" in answer.document["error"]["message"]


def test_execs_cannot_be_enforced_and_the_tool_is_refused(box):
    answer = box.run("say_args", "x", options=["--jail", "none"], policy=policy(box, execs=[], **SOME))
    assert answer.outcome == "jail_unavailable" and "Landlock" in answer.document["error"]["message"]


def test_a_direct_tool_runs(box):
    answer = box.run("say_args", "x", policy=policy(box, route="direct"))
    assert answer.outcome == "exited" and answer.document["exit_code"] == 0


def test_guard_is_refused(guarded):
    answer = guarded.shell("true")
    assert answer.status == 125 and b"landlock" in answer.err.lower(), answer
