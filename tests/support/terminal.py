"""A terminal for the output of a command, and what the command writes to it."""
import fcntl
import os
import pty
import struct
import termios

PATIENCE = 20  # s
LINES = 25


def on_terminal(box, argv, columns=80, streams=("stdout",), **keywords):
    """(status, output) of a command with a terminal of that width as its standard output, or as
    the named streams."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        process = box.popen(argv, raw=True, **dict.fromkeys(streams, theirs), **keywords)
    finally:
        os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # the other end is gone
        pass
    finally:
        os.close(ours)
    return process.wait(PATIENCE), said
