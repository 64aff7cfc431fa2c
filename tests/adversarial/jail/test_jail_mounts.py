"""Promise: What each jail holds.
Attacker: the tool, as root or as a user who makes a user namespace. Means: mount, umount, remount,
pivot_root, chroot, open_tree, fsopen, mount_setattr: whoever can change the mount tree can make it
writable, or uncover what was covered.

Expected: each is refused.
"""
import pytest

REFUSALS = "EPERM EACCES"
WAYS = [("mount", "."), ("writable", "."), ("pivot", "."), ("chroot", "."), ("tree", "."), ("context",)]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0])
def test_tree_stays_as_it_is(cell, way):
    """In a new namespace outside, so that the machine's tree stays unchanged too."""
    if way[0] != "pivot":  # which wants a mount point besides
        cell.succeeds_outside("breach_mounts", "+" + way[0], *way[1:])
    cell.refused_inside("breach_mounts", "+" + way[0], *way[1:], errnos=REFUSALS)
    cell.refused_inside("breach_mounts", *way, errnos=REFUSALS)


@pytest.mark.parametrize("target", ["the root", "/tmp", "/proc", "/usr", "/"])
@pytest.mark.parametrize("way", ["uncover", "attributes", "writable", "mount"])
def test_mounts_of_the_jail_stay(cell, way, target):
    cell.refused_inside("breach_mounts", way, cell.place if target == "the root" else target, errnos=REFUSALS)
