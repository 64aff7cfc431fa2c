"""Promise: The record.
Attacker: SIGKILL, at any moment. Means: programs that write to one log, four at once, are killed a thousand times; the log is
rotated meanwhile, or is not.

Expected: the next one writes on. The log holds at the end: every record is in its place, and what a kill left in the
middle of a write, if anything, is vouched for.
"""
import pytest

from feature import scaled


@pytest.mark.parametrize("max_bytes", [0, 100000])
def test_log_survives_being_killed_at_any_moment(user_box, max_bytes):
    box = user_box
    kills = scaled(500, 50)
    box.host("host_audit", box.log, "kill", kills, max_bytes, deadline=120)
    assert box.run("true", options=["--audit-max", "0"]).outcome == "exited"
    files = sorted(path for path in box.log.parent.iterdir() if path.suffix == ".jsonl")
    assert (len(files) > 1) == (max_bytes > 0)
    verified = box.call([box.command, "audit", "verify", "--quiet", *map(str, files)], deadline=120)
    assert verified.status == 0, verified.err
    contexts = set()
    for path in files:
        with path.open("rb") as log:
            contexts.update(line[at + 11:at + 27] for line in log if (at := line.find(b'"context":"')) > 0)
    assert len(contexts) > kills // 4  # many were killed in the middle of their work
