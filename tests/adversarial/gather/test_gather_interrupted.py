"""Promise: A look at a repository.
Attacker: none; the operator presses Ctrl-C, or asks the command to end, while tools run that
ignore signals.

Expected: nothing is left, the status is that of the signal, and the document says what was
cancelled; what was finished keeps its evidence. A second signal does no harm.
"""
import contextlib
import fcntl
import json
import os
import pty
import signal
import termios

import pytest

from command import Answer
from gathered import Gathered, probe, gather_argv, write_probes
from processes import marked, wait_until
from promises import none_left

STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
ALL_AT_ONCE = 60  # seconds, for a machine that has other things to do; the tools would stay longer


def start(box, marker, *options, **keywords):
    """One probe is done, two hang, one waits for a free slot and one for a hanging probe."""
    probes = write_probes(box, probe("done", "say_args", "x"),
                          probe("hung", "ignore_signals", marker, timeout_s=300, needs=["done"]),
                          probe("daemon", "escape", "setsid", marker, timeout_s=300, needs=["done"]),
                          probe("queued", "true", needs=["done"]), probe("behind", "true", needs=["hung"]))
    process = box.popen(gather_argv(box, "--probes", probes, "--jobs", "2", *options), raw=True, **keywords)
    wait_until(lambda: len(marked(marker, "ignore_signals")) == 1 and len(marked(marker, "escape")) == 2,
               "the tools have settled")
    return process


def check(document):
    states = {found["name"]: found["state"] for found in document["probes"]}
    assert states == {"done": "ok", "hung": "cancelled", "daemon": "cancelled", "queued": "cancelled", "behind": "cancelled"}
    assert document["cancelled"] is True
    done = next(found for found in document["probes"] if found["name"] == "done")
    assert done["evidence"]["calls"]["one"]["total"] > 0


@pytest.mark.parametrize("number", STATUSES)
def test_a_signal_ends_everything(box, marker, number):
    process = start(box, marker, "--json")
    process.send_signal(number)
    out, err = process.communicate(timeout=ALL_AT_ONCE)
    none_left(marker)
    found = Gathered(Answer(process.returncode, out, err, 0))
    assert found.status == STATUSES[number]
    check(found.document)


def test_the_document_is_written_too(box, marker):
    out = box.home / "document.json"
    process = start(box, marker, "--out", out)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=ALL_AT_ONCE)
    assert process.returncode == 130
    none_left(marker)
    check(json.loads(out.read_text()))
    assert b"cancelled" in said


def test_more_signals_do_no_harm(user_box, marker):
    process = start(user_box, marker, "--json")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        process.send_signal(number)
    out, _ = process.communicate(timeout=ALL_AT_ONCE)
    assert process.returncode in (130, 143)
    none_left(marker)
    check(json.loads(out))


def test_ctrl_c_on_a_terminal(user_box, marker):
    """The terminal sends it to the whole foreground group; the tools are in other sessions, and still end."""
    ours, theirs = pty.openpty()
    out = user_box.home / "document.json"
    process = start(user_box, marker, "--out", out, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                    preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(theirs)
    os.write(ours, b"\x03")
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # the other end is gone
        pass
    os.close(ours)
    assert process.wait(ALL_AT_ONCE) == 130
    none_left(marker)
    check(json.loads(out.read_text()))
    assert b"hung" in said


def is_reading(process, path):
    for descriptor in os.listdir(f"/proc/{process.pid}/fd"):
        with contextlib.suppress(OSError):  # it is closed by now
            if os.readlink(f"/proc/{process.pid}/fd/{descriptor}") == str(path):
                return True
    return False


def test_a_tool_is_not_hashed_to_its_end(user_box):
    """Nothing is remembered of a tool that takes an hour to be read."""
    directory = user_box.directory("tools")
    tool = user_box.file("tools/endless", "#!/bin/sh\n", 0o755)
    os.truncate(tool, 1 << 40)
    policy = user_box.write_policy([user_box.entry("endless")], [str(directory)])
    probes = write_probes(user_box, probe("one", "endless"))
    process = user_box.popen(gather_argv(user_box, "--json", "--probes", probes, policy=policy), raw=True)
    wait_until(lambda: is_reading(process, tool), "the tool is read")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=ALL_AT_ONCE)
    found = Gathered(Answer(process.returncode, out, err, 0))
    assert (found.status, found.states, found.document["cancelled"]) == (130, {"one": "cancelled"}, True)


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_reader_that_is_gone_does_not_hold_the_command(user_box, form):
    """Nobody reads the document or the summary any more; the command says so and ends."""
    probes = write_probes(user_box, probe("one", "true"))
    reader, writer = os.pipe()
    os.close(reader)  # before the start: the command may be quick
    process = user_box.popen(gather_argv(user_box, *form, "--probes", probes), raw=True, stdout=writer)
    os.close(writer)
    assert process.wait(ALL_AT_ONCE) == 125
    assert b"standard output" in process.stderr.read()


def test_a_killed_command_leaves_nothing(box, marker):
    process = start(box, marker, "--json")
    process.kill()
    process.wait(ALL_AT_ONCE)
    wait_until(lambda: not marked(marker), "the tools are gone")
