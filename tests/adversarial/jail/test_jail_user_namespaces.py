"""Promise: What each jail holds.
Attacker: the tool. Means: its own user namespace, in which it would have every capability: by
unshare, clone and clone3.

Expected: refused. clone3 is as if it did not exist (ENOSYS), because its flags cannot be seen by a
filter: libraries then use clone.
"""
import pytest


@pytest.mark.parametrize("way,errno", [("unshare", "EPERM"), ("clone", "EPERM"), ("clone3", "ENOSYS")])
def test_no_user_namespace(cell, way, errno):
    cell.breaks_out_only_outside("breach_mounts", way, errnos=errno)
