"""What runs could leave on the host: mounts, files, cgroups, processes."""
import contextlib
import os

import bwrapped
import cgroups
from processes import describe, nothing_runs, of_this_test, wait_until


def files(cell):
    """Where a run could leave something. The parent of the scratch directories may stay; it is
    empty then."""
    directory = bwrapped.runtime(cell.box)
    found = [*directory.rglob("*"), *cell.box.home.iterdir()]
    return {str(path) for path in found if path != bwrapped.scratch_parent(cell.box)}


def mounts(cell):
    """Mounts of the whole machine, without those of other tests. Device and path, because mount
    ids are reused."""
    def of_others(directory):
        return directory.startswith(("/tmp/choke-test-", "/tmp/choke-docker-")) and not directory.startswith(str(cell.box.stage))

    with open("/proc/self/mountinfo", encoding="utf-8") as stream:
        return sorted((fields[2], fields[3], fields[4]) for fields in map(str.split, stream) if not of_others(fields[4]))


def state(cell):
    return {"mounts": mounts(cell), "files": files(cell), "tree": sorted(os.listdir(cell.box.root))}


def wait_for_the_end(what):
    """No process and no cgroup is left of earlier runs."""
    try:
        wait_until(nothing_runs)
    except AssertionError:
        raise AssertionError(f"{what}; left running: {describe(of_this_test())}") from None
    wait_until(lambda: not cgroups.stale(), "every cgroup is gone")


@contextlib.contextmanager
def nothing_left(cell, what, swept=False):
    """Checks around many runs. swept: files may stay until the next start sweeps them."""
    env = bwrapped.environment(cell.box)
    cell.succeeds_inside("say_args", env=env)
    before = state(cell)
    yield env
    wait_for_the_end(what)
    if swept:
        cell.succeeds_inside("say_args", env=env)
    assert state(cell) == before, what
