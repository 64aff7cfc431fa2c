"""Promise: What each jail holds.
Attacker: the tool, as root. Means: setns into the namespaces of the first process.

Expected: the first process is the jail's own init, and its namespaces cannot be opened or entered.
"""
import os

import pytest


@pytest.mark.parametrize("kind", ["net", "uts", "ipc", "mnt", "pid", "user", "cgroup"])
def test_namespace_is_not_entered(cell, kind):
    if cell.box.actor.uid == 0 and kind != "user":  # one's own user namespace cannot be entered again
        cell.succeeds_outside("breach_processes", "enter", f"/proc/{os.getpid()}/ns/{kind}")
    for who in (1, "self"):
        cell.refused_inside("breach_processes", "enter", f"/proc/{who}/ns/{kind}", errnos="EACCES EPERM EINVAL")
