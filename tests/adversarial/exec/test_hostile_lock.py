"""Promise: The file that is meant.
Attacker: whoever wrote the lock file that is checked: it comes with a repository.

Means: garbage, huge and deep files, other types, a pipe, a device, control bytes in every string.

Expected: status 125 and one line, in time; what is printed of a file that can be compared is
escaped; and no tool but those of the policy runs.
"""
import json
import os

import pytest
from readiness import Toolbox

SHA = "a" * 64


@pytest.fixture
def toolbox(box):
    made = Toolbox(box)
    made.tool("teller")
    return made


def refused(toolbox, path):
    answer = toolbox.text("lock", "--check", path, status=125)
    assert len(answer.err.splitlines()) == 1 and answer.err.startswith(b"chokepoint: cannot ") and answer.out == b""
    assert toolbox.asked("teller") == 0  # nothing is run for a file that cannot be compared
    return answer


def tool(**changes):
    return {"name": "teller", "path": "/x", "version": "1", "sha256": SHA, "interpreters": [], "libraries": [],
            **changes}


def document(*tools):
    return json.dumps({"version": 1, "tools": list(tools)}).encode()


BAD = [
    b"", b"\0", b"{", b"[]", b"7", b"\xff\xfe{}", b"[" * 1000000, b'{"a":' * 100000, b"{}", b'{"version":1}',
    b'{"version":1,"tools":{}}', b'{"version":"1","tools":[]}', b'{"version":2,"tools":[]}',
    b'{"version":1e999,"tools":[]}', b'{"version":99999999999999999999,"tools":[]}',
    document(7), document({}), document(None), document(tool(name=None)), document(tool(sha256="x")),
    document(tool(path=["/x"])), document(tool(libraries={})), document(tool(libraries=[7])),
    document(tool(interpreters=[{"name": "a", "path": 1, "sha256": None}])), document(tool(), tool()),
    document(tool(name="x" * 5000)), document(tool())[:-2], document(tool()) + b"x",
    b'{"version":1,"tools":[{"name":"a\\u0000b"}]}', b'{"version":1,"version":1,"tools":[]}',
]


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_an_invalid_lock_is_refused(toolbox, text):
    refused(toolbox, toolbox.box.file("root/tools.lock", text))


def test_a_huge_file_is_refused_at_once(toolbox):
    path = toolbox.box.file("root/tools.lock")
    with open(path, "wb") as stream:
        stream.truncate(1 << 40)
    assert b"larger" in refused(toolbox, path).err


def test_anything_but_a_file_is_refused_and_does_not_hang(toolbox):
    path = toolbox.box.root / "tools.lock"
    os.mkfifo(path)
    refused(toolbox, path)
    for other in ("/dev/zero", "/", "/proc/self/mem", "\033[31m"):
        assert b"\033" not in refused(toolbox, other).err


def test_a_file_that_may_not_be_read_is_refused(user_box, superuser):
    toolbox = Toolbox(user_box)
    toolbox.tool("teller")
    path = toolbox.box.file("root/tools.lock", document(tool()), 0o600)
    os.chown(path, 0, 0)
    refused(toolbox, path)


def test_control_bytes_do_not_reach_the_terminal(toolbox):
    evil = "\033]0;owned\007\u009b31m\n"
    files = [{"name": evil, "path": evil, "sha256": None}]
    path = toolbox.box.file("root/tools.lock", document(
        tool(name=evil, path=evil, version=evil), tool(path=evil, version=evil, interpreters=files, libraries=files)))
    said = toolbox.text("lock", "--check", path, status=1).out
    assert b"owned" in said
    assert not any(byte in said for byte in (b"\033", b"\007", b"\xc2\x9b"))
    assert json.loads(toolbox.text("lock", "--check", "--json", path, status=1).out)["same"] is False


def test_a_tool_named_in_the_file_is_not_run(toolbox):
    trace = toolbox.box.canary()
    evil = toolbox.box.script("outside/evil", trace)
    path = toolbox.box.file("root/tools.lock", document(tool(name="evil", path=str(evil)), tool(path=str(evil))))
    toolbox.text("lock", "--check", path, status=1)
    assert not trace.exists()


def test_many_tools_in_the_file_are_compared_in_time(toolbox):
    path = toolbox.box.file("root/tools.lock", document(*(tool(name=f"t{i}") for i in range(20000))))
    answer = toolbox.text("lock", "--check", "--json", path, status=1)
    assert len(json.loads(answer.out)["drifts"]) == 20001
