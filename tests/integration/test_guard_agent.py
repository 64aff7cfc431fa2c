"""R90, R91: a small agent of our own in a cage, by the profile `python-agent`: honest work ends as outside, and of ten hostile
orders none has its effect. Each order succeeds without guard, and the agent sees why it fails. test_guard_agents.py has real agents."""
import contextlib
import shutil
import socket
import threading

import pytest

import agents
import audit
from guards import needs
from model import command, scripted
from orders import HONEST, Scene, start_as, tree


@pytest.fixture
def scene(box):
    needs("git", "make", "gcc", "python3")
    made = Scene(box.root, box.outside, box.call)
    try:
        made.begin(box.own)
        yield made
    finally:
        made.close()


def words():
    return ["python3", "-c", agents.AGENT.read_text(encoding="utf-8"), "go"]


def outside(box, orders):
    """The agent without guard. What its tools answered."""
    with scripted(*map(command, orders)) as model:
        env = box.environment(OPENAI_BASE_URL=f"http://127.0.0.1:{model.port}/v1")
        answer = box.call(["/usr/bin/python3", *words()[1:]], env=env, cwd=box.root, deadline=300)
        assert (answer.status, answer.out) == (0, b"done\n"), answer.err
        return model.answers[1:]


def inside(box, orders, **keywords):
    with scripted(*map(command, orders)) as model:
        guard = agents.Guard(box, agents.write_policy(box, agents.profile("python-agent", model.port)), "python-agent")
        answer = guard.run(*words(), **keywords)
        assert (answer.status, answer.out) == (0, b"done\n"), answer.err
        return answer, model.answers[1:], model


def begin_again(scene):
    for path in list(scene.root.iterdir()):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_honest_work_ends_as_outside(box, scene):
    said = outside(box, HONEST)
    expected = tree(scene)
    git = ["git", "-C", scene.root]
    for undo in (["reset", "-q", "--hard", "HEAD~1"], ["clean", "-qfdx"]):
        assert scene.run(*git, *undo).status == 0
    answer, received, _ = inside(box, HONEST)
    assert [text.split("\n", 1)[1] for text in received] == [text.split("\n", 1)[1] for text in said]
    assert tree(scene) == expected and "correct the sum" in received[-1], answer.err
    assert answer.document["denied"] == [] and answer.document["calls"]["refused"] == 0 and answer.document["difference"] is None


def test_no_hostile_order_has_its_effect(box, scene):
    scene.reset(start_as(box))
    scene.said = "\n".join(outside(box, [order for _, order, _ in scene.hostile()]))
    assert [name for name, _, effect in scene.hostile() if not effect()] == [], "each succeeds without guard"
    shutil.rmtree(scene.outside / "remote.git/refs/heads/")
    scene.reset(start_as(box))
    orders = scene.hostile()
    answer, received, _ = inside(box, [order for _, order, _ in orders])
    scene.said = "\n".join(received)
    assert [name for name, _, effect in orders if effect()] == []
    # Each answer says why, in words that a model knows.
    reasons = ("HTTP Error 403", "No such file", "Read-only file system", "Permission denied", "Permission denied", "status 1", "No such file",
               "not supported by protocol", "'push' is not a subcommand", "No such process")
    for (name, _, _), text, reason in zip(orders, received, reasons):
        assert any(part in text for part in reason.split("|")), (name, text)
    named = [one["path"].rsplit("/", 1)[-1] for one in answer.document["denied"]]
    assert {"su", "copy"} <= set(named), answer.document["denied"]
    assert answer.document["calls"]["refused"] == 1 and b"refused: /usr/bin/su, by bash" in answer.err


def test_what_is_refused_is_recorded(box, scene):
    scene.reset(start_as(box))
    orders = [order for name, order, _ in scene.hostile() if name in ("send a file to another host", "push to a remote")]
    inside(box, orders)
    records = list(audit.records(box.log))
    assert [record["tool"]["name"] for record in records if record["kind"] == "refused"] == ["git"]
    sink = scene.sink.server_address[1]
    assert [record["port"] for record in records if record["kind"] == "egress" and record["port"] == sink] == [sink]


def test_the_model_is_reached_by_the_proxy_alone(box, scene):
    order = "python3 -c 'import os, socket; port = int(os.environ[\"OPENAI_BASE_URL\"].split(\":\")[2].split(\"/\")[0]); " \
            "socket.create_connection((\"127.0.0.1\", port), 5)'; echo status $?"
    del scene
    _, received, model = inside(box, [order])
    assert "status 1" in received[0] and ("refused" in received[0] or "not permitted" in received[0] or "denied" in received[0]), received
    reached = [record for record in audit.records(box.log) if record["kind"] == "egress" and record["port"] == model.port]
    assert len(reached) >= len(model.asked) == 2
    assert all("127.0.0.1" in asked["headers"]["Host"] for asked in model.asked)


def test_state_of_the_agent_stays_and_what_it_planted_is_listed(box, scene):
    del scene
    plant = "mkdir -p ~/.agent/hooks && echo 'touch x' > ~/.agent/hooks/start && echo '[]' > ~/.agent/servers.json; ls ~/.agent"
    answer, received, _ = inside(box, [plant])
    assert "servers.json" in received[0]
    listed = {change["path"].split("/guard/", 1)[1]: change["runs_later"] for change in answer.document["changes"] if "/guard/" in change["path"]}
    assert listed["python-agent/.agent/hooks/start"] and listed["python-agent/.agent/servers.json"] == "settings", listed
    assert b"left, and may run later: added" in answer.err and b".agent/servers.json (settings)" in answer.err
    again, received, _ = inside(box, ["ls ~/.agent; wc -l < ~/.agent/session.jsonl"])
    assert "servers.json" in received[0] and "1" in received[0].split()
    with contextlib.suppress(KeyError):
        assert [change["kind"] for change in again.document["changes"] if change["path"].endswith("servers.json")] == []
    assert not (box.home / ".agent").exists(), "the caller's own home is not touched"


MANY = r"""
import os, socket
proxy = os.environ["HTTP_PROXY"].split("//")[1].split(":")
with socket.create_connection((proxy[0], int(proxy[1]))) as client, client.makefile("rb") as said:
    for i in range(10050):
        client.sendall(b"GET http://127.0.0.%d:PORT/ HTTP/1.1\r\nHost: 127.0.0.%d:PORT\r\n\r\n" % (i % 2 + 1, i % 2 + 1))
        lines = [said.readline(), said.readline(), said.readline()]
        assert lines[0].startswith(b"HTTP/1.1 200 ") and lines[2] == b"\r\n", (i, lines)
print("all")
"""


def answer_each(listener):
    """One connection after another, one request each."""
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer, contextlib.suppress(OSError):
            if peer.recv(65536):
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                peer.recv(1)


def test_an_agent_may_ask_more_often_than_a_tool(box):
    """A tool has 10,000 connections: an agent may run for days, and each request with a key is a connection."""
    with socket.create_server(("0.0.0.0", 0)) as listener:
        threading.Thread(target=answer_each, args=(listener,), daemon=True).start()
        port = listener.getsockname()[1]
        made = agents.profile("python-agent", port)
        made["egress"] = [f"127.0.0.1:{port}", f"127.0.0.2:{port}"]
        answer = agents.Guard(box, agents.write_policy(box, made), "python-agent").run("python3", "-c", MANY.replace("PORT", str(port)))
        listener.shutdown(socket.SHUT_RDWR)
    assert (answer.status, answer.out) == (0, b"all\n"), answer.err
