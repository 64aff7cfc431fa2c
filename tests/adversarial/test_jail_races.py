"""Attacker: another process that may write in the root. Means: it exchanges the working directory for a link that leads out while tools are
launched in a jail: between the check of the directory, the mount of the root and the tool's start.

Expected: in 10,000 launches no tool reads a file from outside. It runs in the directory that was meant, or not at all.
"""
from feature import scaled

CAGED = {"native": 500, "bwrap": 100}


def test_race_is_never_won(cell):
    cell.succeeds_inside("say_args")  # the jail is there
    policy = cell.write_policy(more=[cell.box.entry("cat", route="external")])
    count = scaled(CAGED[cell.jail], 100)
    answer = cell.box.host("host_jail_race", cell.jail, count, cell.box.outside, policy=policy, deadline=200)
    read, missed, refused = map(int, answer.out.split()[1::2])
    assert read > 0 and refused > 0 and read + missed >= count, "the race was not run: " + answer.out.decode()
