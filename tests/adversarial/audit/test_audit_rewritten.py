"""Promise: The proof of the record.
Attacker: a user who may write the log, after a refused call. Means: the log rewritten without that
call, with correct hashes and numbers.

Expected: the chain alone cannot show it, and verify says so; a head that was kept elsewhere shows
it, and names the record; the same for a log that was cut before the call, or begun anew.
"""
import json

import pytest
from audit import CLOSING, ZEROS, check, hash_of, seal


def verify(box, *args):
    return box.call([box.command, "audit", "verify", "--quiet", str(box.log), *args])


def written_anew(lines):
    """The records with numbers and hashes that fit."""
    made, prev = [], ZEROS
    for seq, line in enumerate(lines):
        covered = line[:line.rindex(CLOSING)]
        record = json.loads(line)
        covered = covered.replace(f'"seq":{record["seq"]},'.encode(), f'"seq":{seq},'.encode(), 1)
        covered = covered.replace(record["prev"].encode(), prev.encode(), 1)
        made.append(seal(covered))
        prev = hash_of(made[-1])
    return made


@pytest.fixture
def recorded_call(user_box):
    """A log with a refused call in its middle, and its head."""
    user_box.run("true")
    assert user_box.run("bash", "-c", "id").outcome == "disallowed"
    user_box.run("true")
    head = user_box.call([user_box.command, "audit", "head", str(user_box.log)]).out.decode().strip()
    assert verify(user_box, "--head", head).status == 0
    return user_box, head, user_box.log.read_bytes().splitlines()


def without_the_call(lines):
    return [line for line in lines if json.loads(line)["kind"] != "refused"]


def with_another_call(lines):
    return written_anew([line.replace(b"bash", b"true") for line in lines])


def begun_anew(lines):
    return written_anew([lines[0].replace(json.loads(lines[0])["log"].encode(), b"0" * 16)])


@pytest.mark.parametrize("attack,damage", [
    (lambda lines: written_anew(without_the_call(lines)), b"cut"),
    (with_another_call, b"rebuilt"),
    (lambda lines: lines[:3], b"cut"),
    (begun_anew, b"rebuilt"),
])
def test_a_log_that_was_written_anew_does_not_hold_against_a_head(recorded_call, attack, damage):
    box, head, lines = recorded_call
    forged = b"".join(line + b"\n" for line in attack(lines))
    assert b"bash" not in forged
    check(forged)
    box.log.write_bytes(forged)
    assert verify(box).status == 0  # what the attacker hoped for
    answer = verify(box, "--head", head)
    assert answer.status == 1 and b": " + damage + b": " in answer.err


def test_the_call_cannot_just_be_left_out(recorded_call):
    box, _, lines = recorded_call
    box.log.write_bytes(b"".join(line + b"\n" for line in without_the_call(lines)))
    answer = verify(box)
    assert answer.status == 1 and b":4: dropped: record 3 is missing before it" in answer.err
