"""Promise: The record.
Attacker: whoever can replace the log. Means: a symlink to another file, a pipe, a directory, a
device, a file of another user or one that others may write, a directory on the way that others may
write.

Expected: nothing runs, nothing is written through what was planted, nothing hangs. The same call
runs with a log of the caller, so the log is the reason of the refusal.
"""
import os

import pytest


def plant_link(box, path):
    path.symlink_to(box.file("outside/target", "", 0o600))


def plant_pipe(box, path):
    os.mkfifo(path)
    box.own(path, 0o600)


def plant_directory(box, path):
    path.mkdir()
    box.own(path)


def plant_dangling(box, path):
    path.symlink_to(box.outside / "not-there")


def plant_group_writable(box, path):
    box.file(path, "", 0o620)


def plant_world_writable(box, path):
    box.file(path, "", 0o602)


def plant_device(box, path):
    path.symlink_to("/dev/null")


PLANTS = [plant_link, plant_pipe, plant_directory, plant_dangling, plant_group_writable, plant_world_writable, plant_device]


def stays_out(box, log, reason):
    answer = box.run("sh", "-c", f": > {box.canary()}", audit=log)
    assert (answer.outcome, answer["rule"], answer.status) == ("spawn_failed", "audit", 125)
    assert reason in answer.message and "--no-audit" in answer.message, answer.message
    assert answer["unrecorded"] and not box.canary().exists() and answer.seconds < 20


def runs_elsewhere(box):
    assert box.run("sh", "-c", f": > {box.canary()}").outcome == "exited" and box.canary().exists()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__[6:])
def test_a_file_that_the_caller_does_not_own_is_refused(box, plant):
    log = box.log.parent / "planted.jsonl"
    plant(box, log)
    words = {"plant_pipe": "not a regular file", "plant_directory": "not a regular file",
             "plant_group_writable": "may be written", "plant_world_writable": "may be written"}
    stays_out(box, log, words.get(plant.__name__, "is a symlink"))
    assert not (box.outside / "not-there").exists()
    if plant is plant_link:
        assert (box.outside / "target").read_bytes() == b""
    runs_elsewhere(box)


def test_file_of_another_user_is_refused(root_box, ordinary):
    log = root_box.file("audit/planted.jsonl", "", 0o644)
    os.chown(log, ordinary.uid, ordinary.gid)
    stays_out(root_box, log, "belongs to another user")
    assert log.read_bytes() == b""


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_directory_that_others_may_write_is_refused(box, mode):
    directory = box.directory("open", mode)
    stays_out(box, directory / "audit.jsonl", "may be written by group or others")
    assert list(directory.iterdir()) == []


def test_directory_that_another_may_exchange_is_refused(box):
    box.directory("open", 0o777)
    (box.base / "open/inner").mkdir()
    box.own(box.base / "open/inner", 0o700)
    stays_out(box, box.base / "open/inner/audit.jsonl", "may be written by group or others")


def test_file_that_was_planted_where_a_rotated_one_goes_is_kept(box):
    """The log goes on in its file, and says that it could not be rotated."""
    box.run("true")
    planted = box.file("audit/audit-000000000000.jsonl", "planted\n", 0o600)
    answer = box.run("true", options=["--audit-max", "1"])
    assert answer.outcome == "exited" and planted.read_bytes() == b"planted\n"
    assert [event["event"] for event in box.events(answer)] == ["audit.unrotated"]
    assert sorted(path.name for path in box.log.parent.iterdir()) == ["audit-000000000000.jsonl", "audit.jsonl"]


def test_log_that_was_taken_away_is_missed_once_it_was_rotated(box):
    for _ in range(3):
        box.run("true", options=["--audit-max", "1"])
    box.log.unlink()
    stays_out(box, box.log, "was deleted or moved away")
    assert not box.log.exists()
