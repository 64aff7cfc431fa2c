"""Promise: The record.
Attacker: whoever can fill the disk that the log is on. Means: no room for the record of what is
run next, or for a part of it.

Expected: a call that cannot be recorded does not run, and says so; nothing that was recorded is
lost; when there is space again, the next call writes a repair for the torn write, reports it, and
continues.
"""
import contextlib
import json
import subprocess

import pytest

import audit


@contextlib.contextmanager
def small_disk(box, pages):
    """A file system of this many pages, with the log in it, and all of it taken but for what the log has."""
    directory = box.directory("small", 0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * 4}k,mode=700", "none", directory], check=True)
    try:
        yield directory
    finally:
        subprocess.run(["umount", directory], check=True)


def fill(directory):
    ballast = directory / "ballast"
    with open(ballast, "ab", buffering=0) as stream, contextlib.suppress(OSError):
        while True:
            stream.write(b"x" * 4096)
    return ballast


def test_what_cannot_be_recorded_is_not_run(root_box):
    box = root_box
    with small_disk(box, 4) as directory:
        log = directory / "audit.jsonl"
        assert box.run("true", audit=log).outcome == "exited"
        ballast = fill(directory)
        before, ran = b"", 0
        for number in range(20):
            trace = box.canary().with_name(f"trace-{number}")
            answer = box.run("sh", "-c", f": > {trace}", audit=log)
            assert trace.exists() == (answer.outcome == "exited")
            if answer.outcome != "exited":
                break
            ran += 1
            before = log.read_bytes()
        assert ran > 0 and number < 19  # there was room in the last page, until there was none
        assert (answer.outcome, answer["rule"], answer.status) == ("spawn_failed", "audit", 125)
        assert answer["unrecorded"] and ("disk full" in answer.message or "No space left" in answer.message)
        assert log.read_bytes().startswith(before)
        ballast.unlink()
        go_on(box, log)


def go_on(box, log):
    """There is room again."""
    answer = box.run("true", audit=log)
    assert answer.outcome == "exited" and not answer["unrecorded"]
    reported = [event["event"] for event in box.events(answer)]
    repairs = sum(json.loads(line)["kind"] == "repair" for line in log.read_bytes().splitlines() if line[-2:] == b'"}')
    assert reported == ["audit.repaired"] * repairs
    assert box.call([box.command, "audit", "verify", "--quiet", str(log)]).status == 0


def test_log_that_cannot_be_begun_is_not_begun_in_part(root_box):
    box = root_box
    with small_disk(box, 1) as directory:
        fill(directory)
        answer = box.run("sh", "-c", f": > {box.canary()}", audit=directory / "audit.jsonl")
        assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit") and not box.canary().exists()
        assert [path.name for path in directory.iterdir()] == ["ballast"]


def test_outcome_that_finds_no_room_is_reported(root_box):
    """The run has happened; that is said with its result."""
    box = root_box
    with small_disk(box, 3) as directory:
        log = directory / "audit.jsonl"
        filling = f"head -c 100000 /dev/zero > {directory}/more; head -c {4096 * 3} /dev/zero >> {log}; exit 0"
        answer = box.run("sh", "-c", filling, audit=log)
        assert (answer.outcome, answer["exit_code"]) == ("exited", 0) and answer["unrecorded"]
        reported = [event for event in box.events(answer) if event["event"] == "audit.unrecorded"]
        assert len(reported) == 1 and reported[0]["level"] == "warning" and reported[0]["outcome"] == "exited"


def test_read_only_disk_runs_nothing(root_box):
    box = root_box
    with small_disk(box, 8) as directory:
        log = directory / "audit.jsonl"
        assert box.run("true", audit=log).outcome == "exited"
        subprocess.run(["mount", "-o", "remount,ro", directory], check=True)
        for path in (log, directory / "new.jsonl"):
            answer = box.run("sh", "-c", f": > {box.canary()}", audit=path)
            assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit") and "Read-only" in answer.message
        assert not box.canary().exists()
        audit.check(log.read_bytes())


@pytest.mark.parametrize("beyond", [0, 100])
def test_record_at_the_file_size_limit_ends_no_process(user_box, beyond):
    """A limit on the size of files comes as a signal where it is met, and that would end who called the library."""
    box = user_box
    assert box.run("true").outcome == "exited"
    with box.log.open("ab") as log:  # larger than all else that a run writes
        log.write(b"x" * (1 << 19) + b"\n")
    assert box.run("true").outcome == "exited"
    before = box.log.read_bytes()
    answer = box.call(["prlimit", f"--fsize={len(before) + beyond}", *box.run_argv(["true"])])
    assert answer.status == 125, answer
    document = json.loads(answer.out)
    assert (document["outcome"], document["rule"]) == ("spawn_failed", "audit")
    assert "File too large" in document["error"]["message"]
    assert box.log.read_bytes() == before
    assert box.run("true").outcome == "exited"
    assert box.call([box.command, "audit", "verify", "--quiet", str(box.log)]).status == 0


@pytest.mark.parametrize("name", ["audit", "new/deep/audit"])
def test_directory_that_may_not_be_written_runs_nothing(user_box, name):
    box = user_box
    directory = box.directory("closed", 0o500)
    answer = box.run("sh", "-c", f": > {box.canary()}", audit=directory / (name + ".jsonl"))
    assert (answer.outcome, answer["rule"], answer.status) == ("spawn_failed", "audit", 125)
    assert ("Permission denied" in answer.message or name != "audit") and not box.canary().exists()
