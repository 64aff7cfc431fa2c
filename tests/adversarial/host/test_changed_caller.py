"""Promise: Whose tool it is.
Attacker: a tool that runs for a program that has given up privileges, or restricted itself, after
its first run.

Means: the program runs a tool as root, then changes its user, root directory, namespaces, limits,
priority, processors, capabilities, filters or cgroup, and runs tools again, in each jail and in
none; a job is in flight meanwhile.

Expected: the tools after the change have the identity that the program has then: they read nothing
that it may not read, and have its limits. The job in flight ends as without the change.
"""
import os

import pytest

import cgroups
from feature import sanitized, skip

CHANGES = ("user", "euser", "root", "mounts", "net", "limit", "nice", "processor", "bounding", "securebits", "nnp",
           "seccomp", "landlock", "cgroup")


def make_root(box):
    box.file("root/open", "public")
    box.file("root/secret", "confidential", 0o600)
    box.directory("root/sub")
    tools = [box.entry(name) for name in ("cat", "sleep", "readlink")] + [box.entry("bwrap", route="jail")]
    return box.write_policy(tools, name="policy/changed.yaml")


# The change is seen before any jail is chosen.
@pytest.mark.parametrize("jail", ["native"] if sanitized() else ["none", "native", "bwrap"])
@pytest.mark.parametrize("change", CHANGES)
def test_tools_have_the_current_rights_of_their_caller(root_box, change, jail):
    policy = make_root(root_box)
    argument = [str(root_box.directory("other"))] if change == "root" else []
    made = []
    if change == "cgroup":
        directories = [directory for directory, names in cgroups.directories().items() if cgroups.may_be_left(directory, names)]
        if not directories:
            skip("cgroup", "no cgroup may be made")
        made = [os.path.join(directories[0], f"choke-changed-{os.getpid()}")]
        os.mkdir(made[0])
        argument = made
    try:
        assert root_box.host("host_changed", jail, change, *argument, policy=policy).out == b"ok\n"
    finally:
        for directory in made:
            os.rmdir(directory)


def test_a_moment_without_descriptors_does_not_hide_a_later_change(root_box):
    """What cannot be seen of a thread at that moment is looked for again."""
    assert root_box.host("host_thread_netns", policy=make_root(root_box)).out == b"ok\n"
