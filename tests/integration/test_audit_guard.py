"""The records of a guard, as a reader of the log sees them (R92): the golden file that the unit
test of the writer compares with is a log that holds to the schema, verifies, and is shown.
"""
import json
import pathlib

import pytest
from audit import VALIDATOR, Log, records

GOLDEN = pathlib.Path(__file__).parent / "golden/guard.jsonl"
SUMS = {"attempts": 1, "door": 0, "carrier": 1, "workspace": 0, "refused": 0, "not_found": 0, "failed": 0,
           "connections": 0, "calls": 0}


class Reader:
    """The command, on a log of the caller."""

    def __init__(self, box):
        self.box = box

    def audit(self, data, *args, status=0):
        path = self.box.file("outside/guard.jsonl", data, 0o600)
        answer = self.box.call([self.box.command, "audit", *args, str(path)])
        assert answer.status == status, answer
        return answer


@pytest.fixture
def reader(user_box):
    return Reader(user_box)


def guard(log, name="bash", **more):
    return log.add("guard_begin", context="c" * 16, pid=1, probe=None, tool={"name": name}, argv=[name, "x.sh"], **more)


def end(log, begin, **sums):
    return log.add("guard_end", guard=begin, context="c" * 16, pid=1, probe=None, tool={"name": "bash"},
                   outcome="exited", exit_code=0, duration_us=1, executions={**SUMS, **sums})


def test_records_of_a_guard_hold_to_the_schema():
    found = records(GOLDEN)
    assert [record["kind"] for record in found] == [
        "begin", "guard_begin", "intent", "outcome", "refused", "guard_end"]


def test_schema_refuses_an_end_without_its_sums():
    record = json.loads(GOLDEN.read_bytes().splitlines()[-1])
    del record["executions"]["failed"]
    assert not VALIDATOR.is_valid(record)


def test_log_of_a_guard_is_complete(reader):
    answer = reader.audit(GOLDEN.read_bytes(), "verify", "--complete")
    assert answer.out == GOLDEN.read_bytes() and b"verified 6 records" in answer.err


def test_guard_without_an_end_is_named(reader):
    cut = b"".join(GOLDEN.read_bytes().splitlines(keepends=True)[:-1])
    assert reader.audit(cut, "verify").status == 0  # the chain itself is whole
    answer = reader.audit(cut, "verify", "--complete", "--quiet", status=1)
    assert b"is not complete: record 1: the guard of 'bash', begun at 2026-11-15T16:38:18.000001Z, has no end" in answer.err
    assert answer.out == b""


def test_attempt_that_is_in_no_sum_is_an_error(reader):
    log = Log()
    end(log, guard(log), attempts=3)
    answer = reader.audit(log.text(), "verify", "--complete", status=1)
    assert b"record 2: 3 executions were attempted, but 1 are accounted for" in answer.err
    assert answer.out == log.text()  # they are proven nevertheless


def test_damage_is_more_than_a_gap(reader):
    log = Log()
    guard(log)
    answer = reader.audit(log.text().replace(b"x.sh", b"y.sh"), "verify", "--complete", status=1)
    assert b"edited" in answer.err and b"is not complete" not in answer.err


def test_many_gaps_are_counted(reader):
    log = Log()
    for _ in range(100):
        end(log, guard(log), attempts=2)
    answer = reader.audit(log.text(), "verify", "--complete", "--quiet", status=1)
    assert answer.err.count(b"is not complete: record") == 64 and b"and 36 more" in answer.err


def test_guard_is_one_row_after_its_calls(reader):
    rows = reader.audit(GOLDEN.read_bytes(), "show").out.decode().splitlines()
    assert [row.split()[2:] for row in rows if "git" in row or "docker" in row or "bash" in row] == [
        ["exited", "3", "0.0ms", "git", "log"], ["disallowed", "-", "-", "docker", "ps"],
        ["exited", "3", "0.0ms", "guard:", "bash", "build.sh"]]


def test_guard_that_has_not_ended_is_unfinished(reader):
    log = Log()
    guard(log)
    log.refused("sudo", guard=1)
    rows = reader.audit(log.text(), "show").out.decode().splitlines()
    assert "unfinished" in rows[-1] and rows[-1].endswith("guard: bash x.sh") and "disallowed" in rows[-2]
