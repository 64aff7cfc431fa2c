"""Promise: What each jail holds.
Attacker: a tool that wants to leave something to its own next run, under the same warden. Means:
files in /tmp, in the scratch directory, in /dev/shm and in an overlay; directories of the jail
removed, others put where it keeps things between two runs.

Expected: every run finds exactly what the first one found.
"""
import pytest

from feature import scaled

TRACES = """
ls -A /tmp /tmp/probe /dev/shm/ /work
echo x > /tmp/file; echo x > /tmp/probe/file; echo x > /dev/shm/file
rm -r /tmp/shm; mkdir -p /tmp/gone /tmp/.old/upper; echo x > /tmp/gone/file
%s
echo end"""


@pytest.mark.parametrize("workspace", ["ro", "overlay"])
def test_next_run_finds_what_the_first_found(cell, workspace):
    if cell.jail == "bwrap" and workspace == "overlay":
        workspace = "rw"  # of which the jail throws nothing away, and which gets no file here
    more = [cell.box.entry("sh", route="external", execs=["ls", "rm", "mkdir"], workspace=workspace)]
    policy = cell.write_policy(more=more)
    script = TRACES % ("echo x > /work/file" if workspace == "overlay" else "")
    count = scaled(40, 15)
    cell.succeeds_inside("sh", "-c", "exit 0", policy=policy)
    said = cell.box.host("host_repeat", cell.jail, count, "sh", "-c", script, policy=policy).out
    found = said.split(b"end\n")[:-1]
    assert len(found) == count and set(found) == {found[0]}, set(found)
    assert b"file" not in found[0]
