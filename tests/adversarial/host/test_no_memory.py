"""Promise: Failure.
Attacker: circumstances. Means: memory runs out, once at each allocation.

Expected: a clean error each time; no crash, no descriptor and no child left, and never an invented
result.
"""
import hashlib
import pathlib


def test_every_allocation_may_fail_with_a_policy_file(user_box):
    assert user_box.host("host_nomem", deadline=120).out.startswith(b"ok ")


def test_every_allocation_may_fail_with_pins_and_execs(user_box):
    def pinned(name, execs):
        content = pathlib.Path("/usr/bin", name).read_bytes()
        return user_box.entry(name, sha256=hashlib.sha256(content).hexdigest(), execs=execs)
    policy = user_box.write_policy([pinned("sh", ["cat", "no-such-helper"]), pinned("git", []), user_box.entry("sleep")])
    assert user_box.host("host_nomem", policy=policy, deadline=120).out.startswith(b"ok ")


def test_every_allocation_may_fail_with_the_default_policy(user_box):
    assert user_box.host("host_nomem", policy="-", deadline=120).out.startswith(b"ok ")


def test_every_allocation_may_fail_with_egress(user_box):
    policy = user_box.write_policy([user_box.entry("sh", execs=["cat"], egress=["a.example.org", "*.example.net"])])
    assert user_box.host("host_nomem", "egress", policy=policy, deadline=120).out.startswith(b"ok ")
