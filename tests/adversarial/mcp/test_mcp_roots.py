"""Promise: The server for agents.
Attacker: the client, or a tool that changes the repository. Means: roots outside the server's root, by symlinks,
".." and escapes of URIs, and a root that is replaced by a symlink after it was named.

Expected: a root can only narrow; where nothing is left, nothing is run.
"""
import os
import pathlib
import time
import urllib.parse

import pytest

from mcp import LEGACY, MODERN, Client, text_of

CAN = {"roots": {}}


@pytest.fixture
def tree(once_box):
    """The same for every caller: whose directories they are does not matter."""
    for name in ("root/sub", "root/sub/deep", "root/other", "outside/sub"):
        (once_box.base / name).mkdir()
        once_box.own(once_box.base / name, 0o755)
    once_box.write_policy(sh={"execs": ["ls", "cat"]})
    return once_box


def uri(path) -> str:
    return "file://" + urllib.parse.quote(str(path))


def place(client, roots, cwd=None):
    """Where a call with these roots runs; or its refusal."""
    arguments = {"argv": ["sh", "-c", "pwd -P"], **({"cwd": str(cwd)} if cwd else {})}
    listed = [{"uri": root} for root in roots]
    if client.era == MODERN:
        asked = client.request("tools/call", {"name": "run", "arguments": arguments})["result"]
        assert asked["resultType"] == "input_required"
        assert asked["inputRequests"] == {"roots": {"method": "roots/list", "params": {}}}
        result = client.tool("run", arguments, inputResponses={"roots": {"roots": listed}})
    else:
        client.roots = listed
        client.notify("notifications/initialized" if not client.asked else "notifications/roots/list_changed")
        result = client.tool("run", arguments)
    found = result["structuredContent"]
    return pathlib.Path(found["stdout"]["head"].strip()) if found["outcome"] == "exited" else found["outcome"]


@pytest.fixture(params=[MODERN, *LEGACY])
def client(request, tree):
    with Client(tree, era=request.param, capabilities=CAN) as made:
        yield made


def test_roots_narrow_and_nothing_else(client, tree):
    root, outside = tree.root, tree.outside
    (root / "link").symlink_to(outside)
    (outside / "back").symlink_to(root / "sub")
    assert place(client, [uri(root / "sub")]) == root / "sub"
    assert place(client, [uri(root / "sub")], "deep") == root / "sub/deep"
    assert place(client, [uri(root / "sub")], root / "sub/deep") == root / "sub/deep"
    assert place(client, [uri(root / "sub")], root / "other") == "cwd"
    assert place(client, [uri(root / "sub")], "..") == "cwd"
    assert place(client, [uri(root / "sub"), uri(root / "other")], root / "other") == root / "other"
    assert place(client, ["file://localhost" + str(root / "sub")]) == root / "sub"
    assert place(client, [uri(outside / "back")]) == root / "sub", "where it leads is what counts"
    # A root around the server's own, or beside it.
    assert place(client, [uri("/")]) == root and place(client, [uri(tree.base)]) == root
    for foreign in (uri(outside), uri(root / "link"), uri(root / ".." / "outside"), uri(root / "missing"), "https://example.org/",
                    "file://example.org" + str(root), "file:" + str(root), str(root), uri(root) + "%00", uri(root) + "%zz", "", "file://",
                    uri(root) + "%2f..%2f..%2fetc", uri(str(root) + "x")):
        assert place(client, [foreign]) == "cwd", foreign
    assert place(client, []) == root, "a client without an open folder has no wish"
    assert place(client, [uri(outside), uri(root / "sub")]) == root / "sub"


def test_a_root_that_becomes_a_symlink_leads_nowhere(tree):
    """The client names a directory; then a tool replaces it by a symlink."""
    with Client(tree, era=LEGACY[0], capabilities=CAN) as client:
        assert place(client, [uri(tree.root / "sub")]) == tree.root / "sub"
        tree.file("outside/secret", "secret")
        os.rename(tree.root / "sub", tree.root / "moved")
        (tree.root / "sub").symlink_to(tree.outside)
        result = client.tool("run", {"argv": ["sh", "-c", "ls; cat secret"]})
        assert "secret" not in result["structuredContent"]["stdout"]["head"]
        assert result["structuredContent"]["stdout"]["head"].split() == ["deep"], "the directory that was meant"
        assert "secret" not in text_of(client.tool("lint"))


@pytest.mark.parametrize("answer", [{}, {"roots": 5}, {"roots": [5]}, {"roots": [{}]}, {"roots": [{"uri": 5}]}, {"roots": [{"uri": "x"}] * 100}])
def test_an_answer_that_is_not_a_list_of_roots_opens_nothing(tree, answer):
    with Client(tree, capabilities=CAN) as client:
        result = client.tool("run", {"argv": ["true"]}, inputResponses={"roots": answer})
        assert result["isError"] and result["structuredContent"]["outcome"] in ("invalid", "cwd")
    with Client(tree, era=LEGACY[0], capabilities=CAN) as client:
        client.notify("notifications/initialized")
        client.send({"jsonrpc": "2.0", "id": client.read()["id"], "result": answer})
        outcome = client.run("true")["structuredContent"]["outcome"]
        assert outcome == ("exited" if answer == {} else "cwd")


def test_a_call_waits_for_the_roots_and_not_for_ever(tree):
    with Client(tree, era=LEGACY[0], capabilities=CAN) as client:
        client.notify("notifications/initialized")
        began = time.monotonic()
        call = client.ask_tool("run", {"argv": ["sh", "-c", "pwd"]})
        asked = client.read()
        assert asked["method"] == "roots/list"
        client.send({"jsonrpc": "2.0", "id": "roots-77", "result": {"roots": []}})  # not what was asked
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": uri(tree.root / "sub")}]}})
        assert client.answer(call)["result"]["structuredContent"]["stdout"]["head"] == f"{tree.root}/sub\n"
        client.notify("notifications/roots/list_changed")
        call = client.ask_tool("run", {"argv": ["sh", "-c", "pwd"]})
        assert client.answer(call)["result"]["structuredContent"]["stdout"]["head"] == f"{tree.root}/sub\n", "the last answer counts"
        assert time.monotonic() - began > 1.5
