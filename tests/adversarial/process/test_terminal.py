"""Promise: Time.
Attacker: the tool. Means: the caller's terminal, into which it could push input (TIOCSTI) or print
what looks like the caller's.

Expected: the tool leads its own session without a terminal, and stdin is not the terminal.
"""
import fcntl
import os
import pty
import re
import termios


def test_tool_has_no_terminal(box):
    master, slave = pty.openpty()
    os.fchown(slave, box.actor.uid, box.actor.gid)

    def take_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    try:
        probe = box.call(["/bin/sh", "-c", "exec 3<>/dev/tty && echo control"], stdin=slave, preexec_fn=take_terminal)
        assert probe.out == b"control\n", "the terminal is not one; the test would prove nothing"
        answer = box.run("say_state", popen={"stdin": slave, "preexec_fn": take_terminal})
    finally:
        os.close(master)
        os.close(slave)
    state = dict(re.findall(rb"(\w[\w.]*)=(.*)\n", answer.stream("stdout")))
    assert state[b"tty"] == b"no"
    assert state[b"sid"] == state[b"pid"] == state[b"pgid"]
    assert state[b"fd.0"] == b"/dev/null"
