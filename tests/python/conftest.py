"""Tests of the Python package, in this process: CHOKE_BUILD names the build directory, or CHOKE_PYTHON a directory with the
package (an installed one). With CHOKE_TEST_LOOP=uvloop asyncio has the loop of that package. They need no root."""
import asyncio
import json
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = os.environ.get("CHOKE_PYTHON") or os.path.join(os.environ.get("CHOKE_BUILD", HERE.parent.parent / "build"), "bindings/python")
sys.path.insert(0, str(PACKAGE))

import chokepoint  # noqa: E402

if os.environ.get("CHOKE_TEST_LOOP") == "uvloop":
    import uvloop

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

TOOLS = ("sh", "cat", "true", "sleep", "yes", "head", "env", "printf", "false", "readlink")


def entry(name, **keys):
    return {"name": name, "why": "The tests run it.", "adr": "0001", "route": "direct", "limits": {"timeout_s": 60}, **keys}


def write_policy(place: pathlib.Path, tools) -> str:
    (place / "adr").mkdir(exist_ok=True)
    (place / "adr" / "0001-tests.md").write_text("# 0001 Tests\n")
    path = place / "policy.yaml"
    path.write_text(json.dumps({"version": 1, "adr_dir": "adr", "search_path": ["/usr/bin", "/bin"], "tools": list(tools)}))
    return str(path)


@pytest.fixture
def root(tmp_path) -> pathlib.Path:
    place = tmp_path / "root"
    place.mkdir()
    return place


@pytest.fixture
def policy(tmp_path) -> str:
    place = tmp_path / "policy"
    place.mkdir(mode=0o700)
    return write_policy(place, [*(entry(name) for name in TOOLS), entry("true-missing"),
                                entry("jq", route="external", execs=[]),
                                {"name": "bwrap", "why": "It makes jails.", "adr": "0001", "route": "jail"},
                                entry("git", args={"options": ["--version"]})])


@pytest.fixture
def context(policy):
    with chokepoint.Context(policy) as made:
        yield made


def full() -> bool:
    return os.environ.get("CHOKE_TEST_FULL") == "1"
