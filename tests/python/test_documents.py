"""The manual and the examples do what they say: every block of docs/python.md is run, and every example."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import PACKAGE

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCKS = re.findall(r"^```python\n(.*?)^```", (TOP / "docs/python.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((TOP / "bindings/python/examples").glob("*.py"))


@pytest.fixture
def repository(tmp_path):
    place = tmp_path / "repository"
    (tmp_path / "home").mkdir(mode=0o700)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "--quiet", place], check=True, env=env)
    subprocess.run(["git", "-C", place, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--allow-empty", "-m",
                    "first"], check=True, env=env)
    return place


def python(repository, *arguments, given=""):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(repository.parent / "home"), "PYTHONPATH": str(PACKAGE),
           **{name: value for name, value in os.environ.items() if name in ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")}}
    return subprocess.run([sys.executable, "-X", "dev", "-W", "error", *map(str, arguments)], cwd=repository, env=env, input=given,
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("block", BLOCKS, ids=[re.search(r"chokepoint\.(\w+)|run_\w+", block).group(0) + str(index)
                                               for index, block in enumerate(BLOCKS)])
def test_block_of_the_manual_runs(repository, block):
    if "asyncio.timeout" in block and sys.version_info < (3, 11):
        pytest.fail("the manual uses asyncio.timeout, which this Python does not have")
    finished = python(repository, "-c", block)
    assert finished.returncode == 0, finished.stderr


def test_manual_has_blocks_and_names_every_exported_name():
    import chokepoint
    text = (TOP / "docs/python.md").read_text(encoding="utf-8")
    assert len(BLOCKS) >= 8
    for name in ("run", "Context", "Result", "Refused", "ToolMissing", "Timeout", "Failed", "Error", "explain", "doctor", "lint", "Policy"):
        assert name in chokepoint.__all__ and name in text and getattr(chokepoint, name).__doc__


def test_agent_loop_reports_refusals_to_the_model(repository):
    finished = python(repository, EXAMPLES[0], repository)
    assert finished.returncode == 0, finished.stderr
    assert "exit status 0\nfirst\n" in finished.stdout and finished.stdout.count("disallowed: ") == 2


@pytest.mark.parametrize("call, answer", [
    ({"command": ["git", "log", "--format=%s"]}, {"status": 0, "stdout": "first\n"}),
    ({"command": ["sh", "-c", "id"]}, {"error": "disallowed"}),
    ({"command": "git log; id"}, {"error": "invalid"}),
    ({"command": ["git", 5]}, {"error": "invalid"}),
    ({}, {"error": "invalid"}),
    ({"command": ["git", "log"], "timeout_s": "soon"}, {"error": "invalid"}),
])
def test_run_command_tool_answers_whatever_a_model_passes(repository, call, answer):
    finished = python(repository, EXAMPLES[1], repository, given=json.dumps(call))
    assert finished.returncode == 0, finished.stderr
    assert answer.items() <= json.loads(finished.stdout).items()
