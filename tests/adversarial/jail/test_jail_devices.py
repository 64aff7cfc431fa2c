"""Promise: What each jail holds.
Attacker: the tool, as root. Means: its own device node, in any directory that it can write.

Expected: not made (no capability), and could not be used (nodev). The devices that are there are a
few harmless ones.
"""


def test_no_device_is_made(root_cell):
    root_cell.policy = root_cell.write_policy(breach_mounts={"workspace": "rw"})
    root_cell.breaks_out_only_outside("breach_mounts", "device", "node", errnos="EPERM EACCES")


def test_no_device_is_made_anywhere(cell):
    for path in ("/tmp/node", "/tmp/probe/node", "/dev/node", "/dev/shm/node"):
        cell.refused_inside("breach_mounts", "device", path, errnos="EPERM EACCES EROFS")


def names_in(cell, directory):
    policy = cell.write_policy(more=[cell.box.entry("ls", route="external")])
    return set(cell.succeeds_inside("ls", directory, policy=policy).stream("stdout").decode().split())


def test_devices_are_few(cell):
    found = names_in(cell, "/dev")
    harmless = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm"}
    # bwrap mounts a new devpts without any terminal of the host.
    more = {"tty", "ptmx", "pts", "core", "console"} if cell.jail == "bwrap" else set()
    assert harmless <= found <= harmless | more, found
    if cell.jail == "bwrap":
        assert names_in(cell, "/dev/pts") == {"ptmx"}
