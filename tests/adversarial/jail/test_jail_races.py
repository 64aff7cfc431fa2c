"""Promise: The directories of bwrap's jail.
Attacker: another process of the same user. Means: it exchanges the working directory for a link that leads out while
tools are launched in a jail: between the check of the directory, the mount of the root and the tool's start. It does
the same to the scratch directories that bwrap is given, and to what is in them: while they are made, used, emptied
and removed. Both succeed against a program that goes by paths.

Expected: in 14,500 launches (make test: 3,650) no tool reads or writes a file outside, and nothing outside is removed. A tool runs in the
directories that were meant, or not at all. Then no mount, no scratch directory, no cgroup and no process is left,
although some tools left daemons and files.
"""
import bwrapped
from feature import scaled
from leftovers import nothing_left

# Ten thousand where a launch is cheap. bwrap takes ten times as long, and what it is given is made by the same code; for
# root neither does what it does not do for a user.
LAUNCHES = {"native": scaled(10000, 0, 2500), "bwrap": scaled(2000, 0, 500)}
LAUNCHES_BY_ROOT = {"native": scaled(2000, 0, 500), "bwrap": scaled(500, 0, 150)}


def race(box, jail, policy, env, launches=0):
    """tests/helpers/hosts/host_jail_race.c checks what each tool did, and what is outside."""
    directory = bwrapped.scratch_parent(box)
    if not directory.exists():
        directory.mkdir(0o700)
        box.own(directory)
    answer = box.host("host_jail_race", jail, launches, box.outside, directory, policy=policy, deadline=600, env=env)
    return answer.out.split()


def test_race_is_won_by_path(box):
    assert race(box, "naive", box.policy, bwrapped.environment(box)) == b"cwd lost scratch lost".split()


def test_race_is_never_won_and_nothing_is_left(cell):
    policy = cell.write_policy(more=[cell.box.entry("cat", route="external")])
    launches = (LAUNCHES_BY_ROOT if cell.box.actor.uid == 0 else LAUNCHES)[cell.jail]
    with nothing_left(cell, "thousands of runs", swept=True) as env:
        args = race(cell.box, cell.jail, policy, env, launches)
        for path in (cell.box.root / "trap", cell.box.root / "work", bwrapped.scratch_parent(cell.box) / "trap"):
            remove(path)
    count = dict(zip(args[::2], map(int, args[1::2])))
    assert count[b"ran"] >= launches and count[b"read"] > launches / 10, count
    assert count[b"refused"] > 0 and (cell.jail == "native" or count[b"stopped"] > 0), f"the race was not run: {count}"


def remove(path):
    """One of the two that were swapped all the time."""
    if path.is_symlink():
        path.unlink()
    else:
        (path / "who").unlink()
        path.rmdir()
