"""stdin of a tool in a jail is a pipe, and the caller's input is copied into it. For every source,
the run ends when the tool does, and an input that is still open is not reported.
"""
import fcntl
import json
import os
import pty
import tty
import re
import signal
import socket
import struct
import subprocess
import termios
import threading

import pytest

from feature import sanitized
from jails import JAILS, Cell
from processes import descendants, proc_file, wait_until
from no_userns import NoUserns

TOOLS = ("cat", "head", "sh", "true", "wc")


@pytest.fixture(params=[*JAILS, "alone"])
def any_cell(request, user_box):
    """Every jail, and the native one without user namespaces. The kind of caller does not matter
    to a pipe."""
    made = NoUserns(user_box, "container") if request.param == "alone" else Cell(user_box, request.param)
    made.policy = policy_of(made)
    return made


def policy_of(cell, **keys):
    return cell.write_policy(more=[cell.box.entry(name, route="external", **keys) for name in TOOLS])


def run(any_cell, *argv, source=None, options=(), **shape):
    """Runs with --stdin -, and this as the stdin of the command: a descriptor, or bytes."""
    args = any_cell.box.run_argv(list(argv), options=["--jail", any_cell.jail, "--stdin", "-", *options], policy=any_cell.policy,
                            form="--json", **shape)
    if isinstance(any_cell, NoUserns):
        args = [str(any_cell.box.stage / "tests/helpers/fake_kernel"), "container", *args]
    process = any_cell.box.popen(args, raw=True, stdin=subprocess.PIPE if isinstance(source, bytes) else source)
    out, err = process.communicate(source if isinstance(source, bytes) else None, timeout=60)
    document = json.loads(out)
    assert document["jail"] == any_cell.jail, (document, err)
    assert document["output_incomplete"] is False, document
    return document


def ended(document, text=None):
    assert (document["outcome"], document["exit_code"]) == ("exited", 0), document
    assert text is None or document["stdout"]["text"] == text, document["stdout"]["text"][:100]


@pytest.mark.parametrize("jail", JAILS)
def test_it_is_a_pipe(user_box, jail):
    cell = Cell(user_box, jail)
    answer = cell.succeeds_inside("say_state", options=["--stdin", str(user_box.file("given", "word"))])
    assert re.search(rb"^fd\.0=pipe:", answer.stream("stdout"), re.MULTILINE), answer.document
    answer = cell.succeeds_inside("say_state")
    assert re.search(rb"^fd\.0=/dev/null$", answer.stream("stdout"), re.MULTILINE), answer.document


@pytest.mark.parametrize("length", [0, 1, 65536, 300_001])
def test_all_of_it_arrives(any_cell, length):
    given = any_cell.box.file("given", "x" * length)
    answer = any_cell.inside("wc", "-c", options=["--stdin", str(given)])
    assert answer.stream("stdout").split() == [str(length).encode()], answer.document


def test_what_is_not_read_does_not_matter(any_cell):
    given = any_cell.box.file("given")
    os.truncate(given, 1 << 40)
    with open(given, "rb") as stream:
        ended(run(any_cell, "true", source=stream), "")
    with open("/dev/zero", "rb") as stream:
        ended(run(any_cell, "head", "-c", "3", source=stream), "\0\0\0")
    with open("/dev/zero", "rb") as stream:
        ended(run(any_cell, "sh", "-c", "exec <&-; echo closed", source=stream), "closed\n")


def test_a_source_that_is_silent_does_not_hold_the_run(any_cell):
    reading, writing = os.pipe()
    try:
        ended(run(any_cell, "true", source=reading), "")
        document = run(any_cell, "cat", source=reading, timeout=1)
        assert document["outcome"] == "timeout" and document["duration_ms"] < 20000, document  # else it never ends
    finally:
        os.close(reading)
        os.close(writing)


def test_a_terminal(any_cell):
    outer, inner = pty.openpty()
    os.chown(os.ttyname(inner), any_cell.box.actor.uid, -1)
    try:
        os.write(outer, b"word\n")
        ended(run(any_cell, "head", "-n", "1", source=inner), "word\n")
    finally:
        os.close(outer)
        os.close(inner)


def test_the_other_side_of_a_terminal_ends_by_hanging_up(any_cell):
    """After the last slave is closed a master reads EIO, and that is its end."""
    outer, inner = pty.openpty()
    tty.setraw(inner)
    os.write(inner, b"word\n")
    os.close(inner)
    try:
        ended(run(any_cell, "cat", source=outer), "word\n")
    finally:
        os.close(outer)


def test_a_socket(any_cell):
    near, far = socket.socketpair()
    with near, far:
        near.sendall(b"word\n")
        near.shutdown(socket.SHUT_WR)
        ended(run(any_cell, "cat", source=far), "word\n")


def test_a_source_that_does_not_block(any_cell):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(writing, "wb") as stream:
        later = threading.Timer(0.2, lambda: (stream.write(b"late\n"), stream.close()))
        later.start()
        ended(run(any_cell, "cat", source=reading), "late\n")
        later.join()
    os.close(reading)


def test_a_directory_is_an_empty_stream(any_cell):
    fd = os.open(any_cell.box.root, os.O_RDONLY)
    try:
        ended(run(any_cell, "cat", source=fd), "")
    finally:
        os.close(fd)


def was_cut(process):
    document = json.loads(process.communicate(timeout=60)[0])
    assert document["outcome"] == "cancelled" and "its stdin was cut" in document["error"]["message"], document
    assert document["duration_ms"] < 60000, document  # else it ends with its time


def start(any_cell, *argv, source):
    args = any_cell.box.run_argv(list(argv), options=["--jail", any_cell.jail, "--stdin", "-"], policy=any_cell.policy,
                                 timeout=90)
    if isinstance(any_cell, NoUserns):
        args = [str(any_cell.box.stage / "tests/helpers/fake_kernel"), "container", *args]
    return any_cell.box.popen(args, raw=True, stdin=source)


def named(pid, name):
    return [child for child in descendants(pid) if proc_file(child, "comm") == name.encode() + b"\n"]


@pytest.mark.parametrize("tool", ["cat", "sh"])
def test_a_stream_that_was_cut_is_not_taken_for_the_whole(any_cell, tool):
    """The process that copies is killed, as by the OOM killer; the tool ends at once, or after a
    while."""
    reading, writing = os.pipe()
    process = start(any_cell, *(["sh", "-c", "while read line; do :; done; while :; do :; done"] if tool == "sh" else ["cat"]),
                    source=reading)
    os.close(reading)
    try:
        own = os.path.basename(os.path.realpath(f"/usr/bin/{tool}"))
        wait_until(lambda: named(process.pid, "choke-pump") and named(process.pid, own))
        os.kill(named(process.pid, "choke-pump")[0], signal.SIGKILL)
        was_cut(process)
    finally:
        os.close(writing)


def test_a_source_that_fails_on_the_way(any_cell):
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far = server.accept()[0]
    with near, far:
        near.sendall(b"word\n")
        process = start(any_cell, "cat", source=far)
        wait_until(lambda: struct.unpack("i", fcntl.ioctl(far, termios.FIONREAD, bytes(4)))[0] == 0)
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing it is a reset
        near.close()
        was_cut(process)


def test_limits_are_the_tools_own(any_cell):
    """The process that copies does not count among those that the entry allows."""
    any_cell.policy = policy_of(any_cell, limits={"processes": 1})
    document = run(any_cell, "cat", source=b"word\n")
    if document["outcome"] != "spawn_failed":  # no mechanism for the limit
        ended(document, "word\n")


def test_no_process_is_left(any_cell):
    reading, writing = os.pipe()
    ended(run(any_cell, "true", source=reading), "")
    os.close(reading)
    # With no reader at the other end a write fails: so this shows that no process is left.
    def unread():
        try:
            os.write(writing, b"x")
        except BrokenPipeError:
            return True
        return False
    try:
        wait_until(unread)
    finally:
        os.close(writing)


@pytest.mark.parametrize("jail", JAILS)
def test_many_in_one_program(box, jail):
    cell = Cell(box, jail)
    box.host("host_stdin", jail, 15 if sanitized() else 30, policy=policy_of(cell))
