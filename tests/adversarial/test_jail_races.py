"""Attacker: another process that may write in the root. Means: it exchanges the working directory for a link that leads out while tools are
launched in a jail: between the check of the directory, the mount of the root and the tool's start.

Expected: in 10,000 launches no tool reads a file from outside. It runs in the directory that was meant, or not at all.
"""
from feature import scaled

LAUNCHES = {"native": 10000, "bwrap": 500}


def test_race_is_never_won(cell):
    cell.succeeds_inside("say_args")  # the jail is there
    policy = cell.write_policy(more=[cell.box.entry("cat", route="external")])
    count = scaled(LAUNCHES[cell.jail], 300)
    answer = cell.box.host("host_jail_race", cell.jail, count, cell.box.outside, policy=policy, deadline=200)
    words = answer.out.split()
    ran, refused = int(words[2]), int(words[4])
    assert ran > count // 20 and refused > count // 20, "the race was not run: " + answer.out.decode()
