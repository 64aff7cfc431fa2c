"""Promise: What each jail holds.
Attacker: the tool. Means: TIOCSTI, which types into a terminal as if its user did, TIOCLINUX,
which can paste into a console, and both with bits set in the upper half of the request, which the
kernel ignores.

Expected: no terminal is in the jail, and the requests are refused whatever they are made on
(EPERM; without the filter stdin would say ENOTTY, because it is not a terminal).
"""
import os
import pty
import select
import termios
import tty

import pytest

TIOCLINUX = 0x541C
HIGH_BITS = (0, 1 << 32, 0xFFFFFFFF << 32)


def arrives(slave) -> bytes:
    return os.read(slave, 16) if select.select([slave], [], [], 0)[0] else b""


@pytest.mark.parametrize("bits", HIGH_BITS)
def test_nothing_is_typed_into_a_terminal(cell, bits):
    master, slave = pty.openpty()
    try:
        tty.setraw(slave)
        os.fchown(slave, cell.box.actor.uid, cell.box.actor.gid)
        attack = ["breach_calls", "terminal", os.ttyname(slave), hex(bits | termios.TIOCSTI)]
        cell.succeeds_outside(*attack)
        assert arrives(slave) == b"X"
        cell.refused_inside(*attack, errnos="ENOENT")
        assert arrives(slave) == b""
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("bits", HIGH_BITS)
@pytest.mark.parametrize("request_number", [termios.TIOCSTI, TIOCLINUX, termios.TIOCCONS, termios.TIOCSETD])
def test_request_is_refused_on_whatever_is_at_hand(cell, request_number, bits):
    attack = ["breach_calls", "request", hex(bits | request_number)]
    assert b"ENOTTY" in cell.run(*attack, jail="none").stream("stdout"), "the filter is not what refuses"
    cell.refused_inside(*attack, errnos="EPERM")


def test_other_requests_are_not(cell):
    """The filter looks at the number, and at nothing that only resembles it."""
    cell.refused_inside("breach_calls", "request", hex(termios.TCGETS), errnos="ENOTTY")
