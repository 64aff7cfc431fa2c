"""Attacker: the tool. Means: processes that do nothing but fork the next and end, so that a killer who looks first
and strikes then always strikes a process that is gone.

Expected: they are caught all the same; nothing is left when the call returns, in time.
"""
import pytest

from promises import none_left, timed_out


@pytest.mark.parametrize("lines", [1, 8])
def test_comets_are_caught(box, marker, lines):
    answer = box.run("comet", str(lines), marker, timeout=1)
    none_left(marker)
    timed_out(answer, 1)
    assert answer.stream("stdout") == b"ready\n"
