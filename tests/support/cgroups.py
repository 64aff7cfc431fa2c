"""A private cgroup for each test process.

The library makes its cgroups below the cgroup of its caller, and sweeps there what dead callers
left. A test that counts leftovers must not see those of a test beside it, and that test's sweep
must not remove them. So each test process moves into its own cgroup where it may make one.
"""
import contextlib
import os

NAMED = "choke-test-"
COUNTED = {"memory", "pids", "cpu", "cpuacct"}  # a new cpuset cgroup has no processor and cannot be entered


def directories():
    """The cgroup directory of this process in each mounted hierarchy -> its controllers; empty for
    version 2."""
    with open("/proc/self/cgroup", encoding="utf-8") as stream:
        own = {names: path for _, names, path in (line.rstrip("\n").split(":", 2) for line in stream)}
    found = {}
    with open("/proc/self/mountinfo", encoding="utf-8") as stream:
        for fields in map(str.split, stream):
            kind, options = fields[fields.index("-") + 1], set(fields[-1].split(","))
            names = [names for names in own if kind == "cgroup" and names and set(names.split(",")) <= options]
            names += [""] if kind == "cgroup2" and "" in own else []
            if names:
                found[fields[4] + own[names[0]].rstrip("/")] = names[0]
    return found


def may_be_left(directory, names):
    """cgroup v2: a group that has controllers and processes cannot have children with limits."""
    if names:
        return bool(COUNTED & set(names.split(",")))
    with open(os.path.join(directory, "cgroup.controllers"), encoding="ascii") as stream:
        return not stream.read().strip()


def move(directory) -> None:
    with open(os.path.join(directory, "cgroup.procs"), "w", encoding="ascii") as stream:
        stream.write(str(os.getpid()))


def enter():
    """Moves this process into its own cgroups, as far as that is allowed, and returns them."""
    made = []
    for directory, names in directories().items():
        with contextlib.suppress(OSError):
            if may_be_left(directory, names):
                own = os.path.join(directory, f"{NAMED}{os.getpid()}")
                os.mkdir(own)
                made.append(own)
                move(own)
    return made


def leave(made) -> None:
    for own in made:
        with contextlib.suppress(OSError):
            move(os.path.dirname(own))
        for parent, _, _ in os.walk(own, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(parent)


def of_ours(named):
    """Directories with this name that the library made for us."""
    prefix = f"chokepoint-{os.stat('/proc/self/ns/pid').st_ino}-"
    return [os.path.join(parent, name) for top in directories() for parent, names, _ in os.walk(top) for name in names
            if name.startswith(prefix) and named(name.removeprefix(prefix))]


def stale():
    """Those with a keeper, by the pid in their name, that no longer exists."""
    return of_ours(lambda pid: not os.path.exists(f"/proc/{pid}"))
