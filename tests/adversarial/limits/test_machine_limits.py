"""Promise: Failure.
Attacker: circumstances, or tools that take what the machine has. Means: as many runs at once as the
limits on descriptors and processes allow, and more: RLIMIT_NOFILE, RLIMIT_NPROC, pids.max.

Expected: what is over the limit is refused as spawn_failed, with the name and the value of the
limit; nothing else fails, and the next run works.
"""
import os
import resource

import pytest

from cgroups import directories
from feature import skip
from limits import JAILS

MOST = 200  # more than any of the limits below allows


def entries(box):
    return box.write_policy([box.entry("sleep", route="external"), box.entry("true", route="external"),
                             box.entry("bwrap", route="jail")])


def limited(which, value):
    return {"preexec_fn": lambda: resource.setrlimit(which, (value, value))}


@pytest.mark.parametrize("jail", JAILS)
def test_open_files_are_named(box, jail):
    box.host("host_limit", jail, "(RLIMIT_NOFILE, ulimit -n, 120)", MOST, policy=entries(box),
             **limited(resource.RLIMIT_NOFILE, 120))


@pytest.mark.parametrize("jail", ["none", "native"])
def test_processes_of_a_user_are_named(user_box, jail):
    box = user_box
    box.host("host_limit", jail, "(RLIMIT_NPROC, ulimit -u, 60)", MOST, policy=entries(box),
             **limited(resource.RLIMIT_NPROC, 60))


@pytest.mark.parametrize("jail", ["none", "native"])
def test_processes_of_a_cgroup_are_named(root_box, jail):
    box = root_box
    tops = [top for top, names in directories().items() if os.path.exists(os.path.join(top, "pids.current")) or names == "pids"]
    if not tops:
        skip("cgroup", "no cgroup counts processes")
    own = os.path.join(tops[0], f"choke-limit-{os.getpid()}")
    os.mkdir(own)
    try:
        with open(os.path.join(own, "pids.max"), "w", encoding="ascii") as stream:
            stream.write("60")

        def enter():
            with open(os.path.join(own, "cgroup.procs"), "w", encoding="ascii") as stream:
                stream.write(str(os.getpid()))

        box.host("host_limit", jail, "(pids.max, 60)", MOST, policy=entries(box), preexec_fn=enter)
    finally:
        for parent, _, _ in os.walk(own, topdown=False):
            os.rmdir(parent)
