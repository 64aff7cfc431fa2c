"""Promise: What each jail holds.
Attacker: the tool. Means: other entries to the kernel, whose calls have other numbers: int 0x80
(i386) and x32. A filter that compares numbers only would allow them all.

Expected: the process is killed by SIGSYS at the first such call. Outside, i386 works and x32 does
not kill, whether the kernel has it or not (tests/support/kernel.py).
"""
import signal

import pytest

import kernel
from feature import needs_machine


@pytest.fixture(autouse=True)
def machine_with_other_entries():
    needs_machine("x86_64")


def test_i386_call_kills(cell):
    cell.succeeds_outside("breach_calls", "i386")
    cell.killed_inside("breach_calls", "i386", signal=signal.SIGSYS)


def test_x32_call_kills(cell):
    outside = cell.run("breach_calls", "x32", jail="none")
    assert outside.status == 0 or kernel.lacks_x32(outside.stream("stdout")), outside.document
    cell.killed_inside("breach_calls", "x32", signal=signal.SIGSYS)
