"""Promise: Limits.
Attacker: the tool. Means: a fork bomb, a memory bomb, output without end. In a jail as without one.

Expected: the fork bomb is dead at the timeout, and bounded where the policy bounds it; memory is bounded where the policy bounds it; of
the output the cap is kept.
"""
from command import MARK
from promises import none_left, times_out

MIB = 1 << 20


def test_fork_bomb_dies(cell, marker):
    times_out(cell.inside, "bomb", "1500", marker=marker, timeout=2)


def test_fork_bomb_is_bounded(cell, marker):
    policy = cell.write_policy(bomb={"limits": {"processes": 40}})
    answer = cell.inside("bomb", "1500", marker, timeout=2, policy=policy)
    none_left(marker)
    assert answer.stream("stdout") == b"", "all were made"
    assert [limit["name"] for limit in answer["limits"]] == ["processes"], answer.document


def test_memory_bomb_is_bounded(cell):
    attack = ["breach_files", "memory", "512"]
    cell.succeeds_outside(*attack)
    policy = cell.write_policy(breach_files={"limits": {"memory_mib": 64}})
    answer = cell.inside(*attack, policy=policy)
    assert answer.status != 0 and b"done" not in answer.stream("stdout"), answer.document


def test_flood_is_kept_to_the_cap(cell):
    answer = cell.succeeds_inside("flood", str(256 * MIB), "out", timeout=80, options=["--max-output", str(MIB)])
    kept = answer.stream("stdout")
    assert len(kept) == MIB and kept.startswith(MARK) and answer["stdout"]["bytes"] == 256 * MIB
