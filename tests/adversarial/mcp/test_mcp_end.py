"""Promise: The server for agents.
Attacker: the client, which goes away in the middle of calls, and tools that ignore signals.

Expected: when the input has ended, or the client was killed, no process is left 100 ms later; a cancelled call has no
process left either.
"""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from feature import sanitized
from mcp import Client
from processes import marked, of_this_test, wait_until
from promises import none_left

AT_MOST_S = 5.0 if sanitized() else 0.1  # a sanitizer looks for leaks before it lets a process end


def busy(client, marker):
    """Tools that ignore SIGTERM, daemons, one that is jailed, and a gather."""
    client.ask_tool("run", {"argv": ["ignore_signals", marker]})
    client.ask_tool("run", {"argv": ["escape", "setsid", marker]})
    client.ask_tool("run", {"argv": ["sleep", "600"], "timeout_s": 600}, meta={"progressToken": 1})
    wait_until(lambda: len(marked(marker, "ignore_signals")) == 1 and marked(marker, "escape"), "the tools have started")
    client.ask_tool("gather", {})


def left_after(moment, pid):
    """Seconds until the server and everything of it are gone."""
    while True:
        living = [one for one in of_this_test() if one != pid or os.path.exists(f"/proc/{pid}/exe")]
        if not living:
            return time.monotonic() - moment
        assert time.monotonic() - moment < 30, "left running"
        time.sleep(0.001)


def test_end_of_input_ends_everything(box, marker):
    client = Client(box)
    client.result("tools/list")
    busy(client, marker)
    began = time.monotonic()
    client.process.stdin.close()
    status = client.process.wait(60)
    ended = time.monotonic() - began
    none_left(marker)
    assert status == 0 and ended < AT_MOST_S, ended
    assert left_after(began, client.process.pid) < AT_MOST_S + 0.05, "and the keepers"


CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
call = {"name": "run", "arguments": {"argv": ["ignore_signals", sys.argv[1]]}}
server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode() + b"\\n")
server.stdin.flush()
time.sleep(600)
"""


def test_a_killed_client_ends_everything(box, marker):
    command = [box.command, "mcp", "--root", str(box.root), "--policy", str(box.policy), "--no-audit"]
    process = box.popen([sys.executable, "-I", "-c", CLIENT, marker, *command], raw=True)
    wait_until(lambda: marked(marker, "ignore_signals"), "the tool has started")
    began = time.monotonic()
    process.kill()
    wait_until(lambda: not marked(marker, "ignore_signals"), "the tool has ended")
    assert time.monotonic() - began < AT_MOST_S + 0.05
    process.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_ended_server_leaves_nothing(box, marker, number):
    client = Client(box)
    busy(client, marker)
    client.process.send_signal(number)
    client.process.wait(60)
    wait_until(lambda: not marked(marker), "the tools have ended")


def test_cancellation_kills_the_tree(box, marker):
    with Client(box) as client:
        ids = [client.ask_tool("run", {"argv": argv}) for argv in (["ignore_signals", marker], ["escape", "setsid", marker])]
        wait_until(lambda: len(marked(marker, "ignore_signals")) == 1 and marked(marker, "escape"), "the tools have started")
        for id in ids:
            client.notify("notifications/cancelled", {"requestId": id})
        wait_until(lambda: not marked(marker), "the tools have ended")
        assert client.run("true")["structuredContent"]["outcome"] == "exited" and not client.answers
    outcomes = [record.get("outcome") for record in map(json.loads, box.log.read_text(encoding="utf-8").splitlines())]
    assert outcomes.count("cancelled") == 2, "cancelled runs are recorded as such"


def test_cancelled_gather_ends_its_tools(box):
    with Client(box, policy="default") as client:
        before = len(of_this_test())
        id = client.ask_tool("gather", {})
        wait_until(lambda: len(of_this_test()) > before, "the gather has begun")
        client.notify("notifications/cancelled", {"requestId": id})
        wait_until(lambda: len(of_this_test()) <= before + 1, "the gather has ended")
        assert client.result("tools/list") and not client.answers


def test_cancelled_lints_leave_their_places_to_others(box):
    """Two lints work at a time. Cancelled ones must not go on until they have read everything."""
    line = b"import subprocess\nvalue = [subprocess.run(['ls', name]) for name in names if name]\n"
    for number in range(60):
        (box.root / f"source{number}.py").write_bytes(line * 500)
    (box.root / "small").mkdir()
    box.own(box.root / "small", 0o755)
    with Client(box) as client:
        def answer_time(began):
            client.tool("lint", {"paths": ["small"]})
            return time.monotonic() - began
        began = time.monotonic()
        whole = [client.ask_tool("lint", {}) for _ in range(2)]
        waited = answer_time(began)
        for id in whole:
            client.answer(id)
        began = time.monotonic()
        whole = [client.ask_tool("lint", {}) for _ in range(2)]
        client.result("tools/list")  # the server has begun both by now
        for id in whole:
            client.notify("notifications/cancelled", {"requestId": id})
        assert answer_time(began) < waited / 3


def test_a_client_that_does_not_read_stops_the_server_and_not_more(box):
    """Back-pressure: no more is read, memory is bounded, and the end is still noticed."""
    client = Client(box)
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode() + b"\n"
    os.set_blocking(client.process.stdin.fileno(), False)
    sent, began = 0, time.monotonic()
    while time.monotonic() - began < 20:
        try:
            sent += os.write(client.process.stdin.fileno(), request * 50)
            began = time.monotonic() if sent < 20000 else began
        except BlockingIOError:
            if time.monotonic() - began > 2:
                break
            time.sleep(0.02)
    else:
        pytest.fail("the server reads on")
    with open(f"/proc/{client.process.pid}/statm", encoding="ascii") as statm:
        assert int(statm.read().split()[1]) * 4 < 128 << 10, "KiB that are resident"
    began = time.monotonic()
    client.process.stdin.close()
    client.process.wait(60)
    assert time.monotonic() - began < AT_MOST_S


def test_a_client_that_closes_its_end_of_the_output_ends_the_server(box, marker):
    client = Client(box)
    client.ask_tool("run", {"argv": ["ignore_signals", marker]})
    wait_until(lambda: marked(marker, "ignore_signals"), "the tool has started")
    client.process.stdout.close()
    client.out = -1
    client.ask("tools/list")
    client.process.wait(60)
    none_left(marker)


def test_progress_is_no_flood(box):
    """A tool that prints without end, many calls, and a client that wants progress of each."""
    with Client(box) as client:
        began = time.monotonic()
        ids = [client.ask_tool("run", {"argv": ["yes"], "timeout_s": 1.5}, meta={"progressToken": f"t{number}"}) for number in range(4)]
        for id in ids:
            assert client.answer(id)["result"]["structuredContent"]["outcome"] == "timeout"
        seconds = time.monotonic() - began
        assert len(client.notes) <= 4 * (seconds / 0.2 + 1)


def test_a_half_message_at_the_end_is_no_message(box, marker):
    done = box.call([box.command, "mcp", "--root", str(box.root), "--policy", str(box.policy), "--no-audit"],
                    input=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n{"jsonrpc":"2.0","id":2,"method":"tools/li', deadline=30)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 0 and [line["id"] for line in lines] == [1] and done.err == b"" and not marked(marker)
    assert subprocess.run(["true"], check=True).returncode == 0
