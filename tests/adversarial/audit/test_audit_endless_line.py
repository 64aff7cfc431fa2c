"""Promise: The proof of the record.
Attacker: whoever can put a file where logs are read, or write to the end of one. Means: a line
without an end. A sparse file of 8 TiB takes no space on the disk, and its zeros are one line; the
same after good records; a million lines that are not records; a device that never ends.

Expected: damage at that line, as malformed, within a second and in bounded memory, by audit
verify, audit show and audit head; a writer refuses to append to it. A device is not read at all.
"""
import os
import resource

import pytest

import audit
from feature import sanitized

SIZES = {"2GiB": 2 << 30, "8TiB": 8 << 40}
SECONDS = 20 if sanitized() else 5


def holes(path, size):
    """As large as the file system takes."""
    while size:
        try:
            os.truncate(path, size)
            return
        except OSError:
            size //= 2
    pytest.fail("no sparse file can be made")


def cpu_seconds():
    """Of commands that have ended: other work on the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(box, *args):
    def bounded():
        if sanitized():  # its shadow needs all of the address space
            return
        resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
    began = cpu_seconds()
    answer = box.call([box.command, "audit", *map(str, args)], deadline=60, preexec_fn=bounded)
    answer.err = answer.err.decode()
    assert cpu_seconds() - began < SECONDS
    return answer


def good(count=3):
    log = audit.Log()
    for _ in range(count):
        log.call("true")
    return b"".join(line + b"\n" for line in log.lines), len(log.lines)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("records", [0, 3])
def test_line_without_an_end_is_damage_at_once(root_box, size, records):
    box = root_box
    text, lines = good(records) if records else (b"", 0)
    path = box.directory("logs", 0o700) / "audit.jsonl"
    path.write_bytes(text)
    holes(path, SIZES[size])
    verified = call(box, "verify", path)
    assert verified.status == 1 and f":{lines + 1}: malformed" in verified.err, verified.err
    shown = call(box, "show", path)
    assert shown.status == 1 and f":{lines + 1}: malformed" in shown.err, shown.err
    head = call(box, "head", path)
    assert head.status != 0 and "does not end with a record" in head.err
    answer = box.run("true", audit=path)
    assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit")


def test_line_without_an_end_after_other_damage_is_not_read(root_box):
    """After a missing record the rest is searched for it."""
    box = root_box
    text, _ = good()
    lines = text.splitlines(keepends=True)
    path = box.directory("logs", 0o700) / "audit.jsonl"
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    holes(path, SIZES["8TiB"])
    verified = call(box, "verify", path)
    assert verified.status == 1 and ":3: dropped" in verified.err, verified.err


def test_lines_that_no_repair_can_vouch_for_end_the_proof(root_box):
    box = root_box
    text, lines = good()
    path = box.directory("logs", 0o700) / "audit.jsonl"
    path.write_bytes(text + b"\n" * (1 << 25))
    verified = call(box, "verify", path)
    assert verified.status == 1 and f":{lines + 1}: malformed" in verified.err, verified.err


def test_device_that_never_ends_is_not_read(root_box):
    for command in ("verify", "show"):
        answer = call(root_box, command, "/dev/zero")
        assert answer.status == 2 and "neither a regular file nor a pipe" in answer.err, answer.err
