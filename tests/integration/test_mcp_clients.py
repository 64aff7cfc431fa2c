"""The clients of the official SDK, both lines, against `chokepoint mcp`. They come from npm by the lock file in
tests/clients/mcp-sdk. One of them always runs, all in a full run; test_mcp_agents.py has the other clients."""
import json
import shutil

import pytest

import registry
from command import VICTIMS
from feature import full, skip
from mcp import TOOLS
from mcp_clients import output_of, server

SDKS = [("1", "legacy"), ("2", "legacy"), ("2", "auto"), ("2", "2026-07-28")]


@pytest.mark.parametrize("line, mode", SDKS if full() else SDKS[2:3])
def test_the_clients_of_the_sdk(root_box, line, mode):
    """They validate each answer by the schemas of their revision. The process of the client is not the ordinary user's:
    its modules are in the build directory."""
    box = root_box
    (box.root / "sub").mkdir()
    box.file("root/sub/a.py", "import os\nos.system('x')\n")
    modules = registry.locked("mcp-sdk")
    tools = [box.entry(name) for name in (*VICTIMS, "sh", "sleep", "true")] + [box.entry("git", route="external")]
    box.write_policy(tools)
    node = shutil.which("node") or skip("node", "node is not installed")
    seen = json.loads(output_of([node, "client.mjs", line, mode, *server(box)], modules))
    assert seen["tools"] == TOOLS and seen["place"] == f"{box.root}/sub\n", "the client's root narrows"
    assert seen["refused"]["isError"] and seen["refused"]["nearest"] == {"argv": ["say_args", "x"]}
    assert seen["refused"]["text"].startswith("Refused (disallowed) by rule 'tools': ")
    assert seen["explain"] == "allowed" and seen["listed"] == len(tools) and seen["lint"] == 1 and seen["gather"] == 1
    assert len(seen["progress"]) >= 2 and seen["progress"] == sorted(seen["progress"])
    assert seen["aborted"] == "aborted" and seen["again"] == "exited" and seen["errors"] == []
    assert seen["resources"] == 3 + len(tools) and seen["policy"] == 1 and seen["missing"] in (-32002, -32602)
    assert seen["prompts"] == ["what-may-i-run", "why-was-this-refused"] and seen["prompt"] == 1
    assert seen["completion"] == ["say_args"] and seen["closed_ms"] < 1500
