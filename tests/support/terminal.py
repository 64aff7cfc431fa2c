"""A terminal for the output of a command, and what the command writes to it."""
import fcntl
import os
import pty
import struct
import termios

PATIENCE = 20  # s
LINES = 25


def on_terminal(box, argv, columns=80, streams=("stdout",), **keywords):
    """(status, what was written) of a command whose standard output, or the streams named, is a terminal of that width."""
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
