"""Attacker: circumstances. Means: memory runs out, at each allocation in turn.

Expected: a clean error each time; no crash, no descriptor and no child left, and never an invented result.
"""


def test_every_allocation_may_fail_with_a_policy_file(user_box):
    assert user_box.host("host_nomem", deadline=120).out.startswith(b"ok ")


def test_every_allocation_may_fail_with_the_default_policy(user_box):
    assert user_box.host("host_nomem", policy="-", deadline=120).out.startswith(b"ok ")
