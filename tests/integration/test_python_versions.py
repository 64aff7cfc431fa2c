"""The Python package in other surroundings: its own tests, run by other interpreters and on another event loop.

It is one binary for every version of Python from 3.9 on.
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest
from feature import full
from pythons import VERSIONS, interpreter

TESTS = pathlib.Path(__file__).parent.parent / "python"
FILES = ["test_run.py", "test_asyncio.py", "test_processes.py", *(["test_types.py", "test_exec.py", "test_leaks.py"] if full() else [])]


def run_tests(program, files, variables, options, tmp_path):
    """How many passed: all, and none is left out."""
    argv = [program, "-m", "pytest", "-q", "-c", TESTS / "pytest.ini", "--rootdir", TESTS, f"--basetemp={tmp_path / 'base'}", *options,
            *(TESTS / name for name in files)]
    done = subprocess.run(argv, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=1800,
                          stdin=subprocess.DEVNULL)
    passed = re.search(r"^(\d+) passed(?!.*(failed|skipped|deselected))", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and passed, done.stdout[-6000:] + done.stderr[-2000:]
    return int(passed[1])


@pytest.mark.parametrize("version", VERSIONS)
def test_package_works_with_other_versions_of_python(version, tmp_path):
    program, variables = interpreter(version)
    said = subprocess.run([program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], env={**os.environ, **variables},
                          capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == version
    # Of the warnings: this machine's pytest is older than the newest interpreter.
    assert run_tests(program, FILES, variables, ["-o", "filterwarnings="], tmp_path) > 50


def test_asyncio_works_on_uvloop(tmp_path):
    assert run_tests(sys.executable, ["test_asyncio.py"], {"CHOKE_TEST_LOOP": "uvloop"}, [], tmp_path) > 15
