"""The unit tests of another machine, on a kernel of that machine.

Runs in a guest only (tests/kernels/places.py).
"""
import os
import pathlib
import subprocess

import pytest

PROGRAMS = sorted(path for path in (pathlib.Path(os.environ["CHOKE_BUILD"]) / "tests/unit").glob("test_*") if path.is_file())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_unit(program):
    done = subprocess.run([program], env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"}, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0 and "\nnot ok " not in done.stdout and "ok 1" in done.stdout, done.stdout[-4000:] + done.stderr[-1000:]
