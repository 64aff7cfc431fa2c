"""Promise: Output.
Attacker: the tool. Means: a flood into a reader that is slow, does not read at all, or goes away, with output that is
passed on as it arrives.

Expected: nothing is queued, so the memory of the caller stays small; the tool waits for the reader and is ended at its
timeout; the command returns by 1.5 times the timeout; what the reader then finds are whole lines.
"""
import hashlib
import json
import signal
import time

import pytest

from command import captured, check_lines, pattern
from feature import sanitized, scaled
from processes import peak_kib, wait_until
from promises import TRIES, none_left

MIB = 1 << 20
FORMS = ["--json --stream", "--stream", None]


def peak_until_the_end(process):
    peak = 0
    while process.poll() is None:
        peak = max(peak, peak_kib(process.pid))
        time.sleep(0.05)
    return peak


@pytest.mark.parametrize("form", FORMS)
def test_timeout_holds(box, form):
    """The reader does not read."""
    for _ in range(TRIES):
        began = time.monotonic()
        process = box.popen(["flood", str(1 << 40), "both"], shape={"form": form, "timeout": 2})
        peak = peak_until_the_end(process)
        status = process.wait(20)
        seconds = time.monotonic() - began
        out = process.stdout.read()
        assert status == 124 and (sanitized() or 0 < peak < 32 * 1024), (status, peak)
        if seconds <= 3:
            break
    assert seconds <= 3
    if form == "--json --stream":
        assert out.endswith(b"\n")
        pieces = [json.loads(line) for line in out.splitlines()]
        data = b"".join(captured(piece) for piece in pieces if piece.get("stream") == "stdout")
        assert data == pattern(0, len(data))


@pytest.mark.parametrize("form", ["--json --stream", None])
def test_gib_in_bounded_memory(user_box, form):
    size = (1 << 30) // scaled(1, 8, 4) + 12345
    process = user_box.popen(["flood", str(size), "out"], shape={"form": form, "timeout": 100})
    seen, total, peak, rest = hashlib.sha256(), 0, 0, b""
    while data := process.stdout.read(MIB):
        if form:
            *lines, rest = (rest + data).split(b"\n")
            data = b"".join(captured(piece) for piece in map(json.loads, lines) if "stream" in piece)
            last = lines[-1]
        seen.update(data)
        total += len(data)
        peak = max(peak, peak_kib(process.pid))
    assert process.wait(20) == 0 and total == size
    assert sanitized() or 0 < peak < 32 * 1024, peak
    if form:
        assert json.loads(last)["stdout"] == {"bytes": size, "truncated": False}
    expected = hashlib.sha256()
    for at in range(0, size, MIB):
        expected.update(pattern(at, min(at + MIB, size)))
    assert seen.digest() == expected.digest()


@pytest.mark.parametrize("form", FORMS)
def test_reader_that_goes_away_ends_the_tool_quietly(box, marker, form):
    """As SIGPIPE does in a pipeline, with nothing left running."""
    process = box.popen(["sh", "-c", "while :; do echo y; done", marker], shape={"form": form, "timeout": 20})
    assert process.stdout.read(2)
    process.stdout.close()
    assert process.wait(20) == 128 + signal.SIGPIPE
    assert process.stderr.read() == b""
    none_left(marker)


@pytest.mark.parametrize("form", FORMS)
def test_with_sigpipe_ignored_it_is_an_error(user_box, form):
    process = user_box.popen(["yes"], shape={"form": form, "timeout": 20}, restore_signals=False)
    assert process.stdout.read(2)
    process.stdout.close()
    assert process.wait(20) == 125
    assert b"cannot write to standard output: Broken pipe" in process.stderr.read()


def test_captured_output_of_a_reader_that_is_gone(user_box):
    process = user_box.popen(["sh", "-c", "read go; echo x"], stdin=-1,
                             shape={"form": None, "options": ["--max-output", "100", "--stdin", "-"]})
    process.stdout.close()
    process.stdin.write(b"go\n")
    process.stdin.close()
    assert process.wait(20) == 128 + signal.SIGPIPE
    assert process.stderr.read() == b""


def test_lost_output_is_not_a_success(user_box):
    """The tool ends in time with status 0, but the last of its output is never read."""
    for form in ("--json --stream", None):
        process = user_box.popen(["flood", str(200000), "out"], shape={"form": form, "timeout": 2})
        assert process.wait(20) in (124, 125)


def test_late_reader_learns_that_lines_are_missing(user_box):
    """It reads after the deadline has passed: the result still comes, and says so, or the lines end without one."""
    process = user_box.popen(["flood", str(300000), "out"], shape={"form": "--json --stream", "timeout": 1})
    wait_until(lambda: process.poll() is not None, "the command ends")
    out = process.stdout.read()
    assert out.endswith(b"\n")
    if b'"outcome"' in out.splitlines()[-1]:
        document, passed_on = check_lines(out)
        assert document["stdout"]["truncated"] and len(passed_on["stdout"]) < document["stdout"]["bytes"]
