"""Promise: Whose tool it is.
Attacker: a tool that runs for a program that has given up privileges, or restricted itself, after
its first run.

Means: the program runs a tool as root, then changes its user, root directory, namespaces, limits,
priority, processors, capabilities, filters or cgroup, and runs tools again, in each jail and in
none; a job is in flight meanwhile. Another process changes its limits or cgroup. It raises a
capability only for the change, or enters a user namespace and is otherwise the same.

Expected: the tools after the change have the identity that the program has then: they read nothing
that it may not read, and have its limits. The job in flight ends as without the change.
"""
import contextlib
import os

import pytest

import cgroups
from feature import sanitized, skip

CHANGES = ("user", "euser", "root", "mounts", "net", "limit", "nice", "processor", "bounding", "securebits", "nnp",
           "seccomp", "landlock", "cgroup")
# Each is at the edge of a rule of the kernel by which a start leaves something unread.
SHORTCUTS = ("bounding", "bounding-raised", "net-raised", "net-entered", "ipc", "user", "limit-outside", "cgroup-outside")


def make_root(box):
    box.file("root/open", "public")
    box.file("root/secret", "confidential", 0o600)
    box.directory("root/sub")
    tools = [box.entry(name) for name in ("cat", "sleep", "readlink")] + [box.entry("bwrap", route="jail")]
    return box.write_policy(tools, name="policy/changed.yaml")


@contextlib.contextmanager
def cgroups_to_enter():
    """A new cgroup with another one in it."""
    directories = [directory for directory, names in cgroups.directories().items() if cgroups.may_be_left(directory, names)]
    if not directories:
        skip("cgroup", "no cgroup may be made")
    outer = os.path.join(directories[0], f"choke-changed-{os.getpid()}")
    made = [outer, os.path.join(outer, "inner")]
    for directory in made:
        os.mkdir(directory)
    try:
        yield outer
    finally:
        for directory in reversed(made):
            os.rmdir(directory)


# The change is seen before any jail is chosen.
@pytest.mark.parametrize("jail", ["native"] if sanitized() else ["none", "native", "bwrap"])
@pytest.mark.parametrize("change", CHANGES)
def test_tools_have_the_current_rights_of_their_caller(root_box, change, jail):
    policy = make_root(root_box)
    argument = [str(root_box.directory("other"))] if change == "root" else []
    with contextlib.ExitStack() as stack:
        if change == "cgroup":
            argument = [stack.enter_context(cgroups_to_enter())]
        assert root_box.host("host_changed", jail, change, *argument, policy=policy).out == b"ok\n"


@pytest.mark.parametrize("change", SHORTCUTS)
def test_what_a_start_does_not_read_has_not_changed(root_box, change):
    """Also two changes one after the other, by another process, and with a capability that is raised in between."""
    policy = make_root(root_box)
    with contextlib.ExitStack() as stack:
        argument = [stack.enter_context(cgroups_to_enter())] if change == "cgroup-outside" else []
        assert root_box.host("host_shortcuts", change, *argument, policy=policy).out == b"ok\n"


def test_a_moment_without_descriptors_does_not_hide_a_later_change(root_box):
    """What cannot be seen of a thread at that moment is looked for again."""
    assert root_box.host("host_thread_netns", policy=make_root(root_box)).out == b"ok\n"
