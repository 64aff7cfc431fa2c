"""Promise: Failure.
Attacker: a tool of an earlier run, or anybody on the machine, that takes the last process slot,
the last page of memory or the last namespace at the moment at which a context needs one.

Means: each call that makes a process, a namespace, a mount, a ruleset or a cgroup fails once, one
after the other, with EAGAIN, ENOMEM or ENOSPC, or its process is killed at it; and a user at the
limit of processes.

Expected: that run does not take place (`spawn_failed`, with the errno, and that it may be tried
again), or it runs as usual. It never runs outside the jail, and never with a weaker limit. The
next run is as usual.
"""
import json

import pytest

from feature import skip

LIMITS = {"memory_mib": 256, "processes": 20}


def policy_of(box, **entry):
    return box.write_policy([box.entry("say_args", route="external", **entry), box.entry("bwrap", route="jail")],
                            name="policy/shortage.yaml")


@pytest.mark.parametrize("jail", ["auto", "bwrap"])
def test_one_call_that_has_no_room_does_not_open_the_jail(box, jail):
    said = box.host("host_shortage", jail, "say_args", policy=policy_of(box)).out
    assert said.count(b"ok ") == 4, said


def test_one_call_that_has_no_room_does_not_weaken_a_limit(root_box):
    said = root_box.host("host_shortage", "auto", "say_args", policy=policy_of(root_box, limits=LIMITS)).out
    assert said.count(b"ok ") == 4, said
    if b"cgroup" not in said:
        skip("cgroup", "no cgroup may be made here")


@pytest.mark.parametrize("free", [1, 2, 3, 4, 6])
def test_a_user_without_process_slots_runs_nothing_outside_of_the_jail(user_box, free):
    said = user_box.host("host_slots", "say_args", free, policy=policy_of(user_box)).out
    assert said.endswith(b"ok\n"), said


def in_namespace_with(limit):
    """The limit belongs to the user namespace in which it is set, so no other process is affected."""
    return ["unshare", "--user", "--map-root-user", "sh", "-c",
            f'echo {limit} > /proc/sys/user/max_net_namespaces && exec "$@"', "sh"]


def test_the_limit_of_namespaces_is_a_temporary_failure(root_box):
    """One may exist, and it does."""
    policy = policy_of(root_box)
    args = root_box.run_argv(["say_args"], options=["--jail", "auto"], policy=policy)
    # The command is in the one that there may be.
    document = json.loads(root_box.call([*in_namespace_with(1), "unshare", "--net", *args]).out)
    assert document["outcome"] == "spawn_failed", document
    assert "try again" in document["error"]["message"], document


def test_namespaces_that_are_switched_off_are_an_answer(root_box):
    policy = policy_of(root_box)
    args = root_box.run_argv(["say_args"], options=["--jail", "auto"], policy=policy)
    document = json.loads(root_box.call([*in_namespace_with(0), *args]).out)
    assert document["outcome"] == "exited", document
    assert document["jail"] in ("native", "none") and "net_ns" not in document["layers"], document
