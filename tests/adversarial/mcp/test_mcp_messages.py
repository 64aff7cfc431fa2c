"""Promise: The server for agents.
Attacker: the client of the server. Means: messages that are broken, deep, endless, repeated or of another kind, and
ids that belong to somebody else.

Expected: each is answered with an error or ignored, in bounded memory, and the server serves the next one.
"""
import json

import pytest

from feature import sanitized
from mcp import LEGACY, META, Client
from processes import peak_kib

LIMIT = 4 << 20


@pytest.fixture
def client(once_box):
    """The reader is the same for every caller."""
    with Client(once_box) as made:
        yield made


def refused(client, data, code):
    """One line, one error without an id; and the server goes on."""
    client.send_bytes(data + b"\n")
    message = client.read()
    assert message["error"]["code"] == code and "id" not in message, message
    assert client.result("tools/list")
    return message["error"]["message"]


@pytest.mark.parametrize("data, code", [
    (b"x", -32700), (b"{", -32700), (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700), (b"\xff\xfe", -32700),
    (b'"text"', -32600), (b"[]", -32600), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), (b"null", -32600),
    (b"{}", -32600), (b'{"jsonrpc":"2.0"}', -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":"' + b"x" * 257 + b'","method":"ping"}', -32600),
    (b"[" * 65 + b"]" * 65, -32600), (b"[" * 1000000, -32600), (b'{"a":' * 70 + b"1" + b"}" * 70, -32600)])
def test_what_is_not_a_message_is_refused(client, data, code):
    refused(client, data, code)


@pytest.mark.parametrize("message, code", [
    ({"jsonrpc": "1.0", "method": "tools/list"}, -32600), ({"jsonrpc": "2.0"}, -32600), ({"jsonrpc": "2.0", "method": 7}, -32600),
    ({"jsonrpc": "2.0", "method": "tools/list", "params": []}, -32602),
    ({"jsonrpc": "2.0", "method": "tools/list", "params": {"_meta": 1}}, -32602),
    ({"jsonrpc": "2.0", "method": "tools/list", "params": {"_meta": {META + "protocolVersion": 1}}}, -32602),
    ({"jsonrpc": "2.0", "method": "tools/list", "result": {}}, -32600), ({"jsonrpc": "2.0", "result": {}, "error": {}}, -32600),
    ({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "no"}}, -32602), ({"jsonrpc": "2.0", "method": "tools/call"}, -32602),
    ({"jsonrpc": "2.0", "method": "resources/read", "params": {"uri": 5}}, -32602), ({"jsonrpc": "2.0", "method": "too\0ls/list"}, -32600)])
def test_a_wrong_request_is_answered_under_its_id(client, message, code):
    for id in ("text", 2 ** 53):
        client.send({"id": id, **message})
        answer = client.answer(id)
        assert answer["error"]["code"] == code, answer


def test_notifications_and_strange_answers_are_ignored(client):
    for message in ({"method": "notifications/nonsense"}, {"method": "notifications/cancelled", "params": {"requestId": {}}},
                    {"method": "notifications/cancelled"}, {"method": "notifications/cancelled", "params": []},
                    {"id": "roots-1", "result": {"roots": []}}, {"id": 99, "error": {"code": 1, "message": "x"}},
                    {"method": "tools/list", "params": 5}):
        client.send({"jsonrpc": "2.0", **message})
    client.send_bytes(b"\n\r\n   \n".replace(b"   \n", b""))
    assert client.run("true")["structuredContent"]["outcome"] == "exited" and client.notes == [] and not client.answers


def test_a_message_of_the_largest_size_is_read_and_a_larger_one_is_not(client):
    def message(length):
        frame = {"jsonrpc": "2.0", "id": "big", "method": "tools/list", "params": {"_meta": client.meta(), "x": ""}}
        frame["params"]["x"] = "x" * (length - len(json.dumps(frame)))
        return json.dumps(frame).encode()
    client.send_bytes(message(LIMIT) + b"\n")
    assert client.answer("big")["result"]["tools"]
    assert str(LIMIT) in refused(client, message(LIMIT + 1), -32600)
    client.send_bytes(message(LIMIT) + b"\r\n")
    assert client.answer("big")["result"]["tools"]


def test_an_endless_line_costs_bounded_memory(client):
    for _ in range(64):
        client.send_bytes(b"x" * (1 << 20))
    refused(client, b"", -32600)
    if not sanitized():
        assert peak_kib(client.process.pid) < 32 << 10


def test_a_second_request_with_the_id_of_a_running_one_does_not_end_it(client):
    slow = client.ask_tool("run", {"argv": ["sleep", "60"], "timeout_s": 2}, id="same")
    for method in ("tools/list", "nonsense", "tools/call"):
        client.ask(method, {"name": "run", "arguments": {"argv": ["true"]}}, id="same")
        message = client.read()
        assert message["error"]["code"] == -32600 and "id" not in message and message["error"]["data"] == {"duplicate": "same"}
    client.send({"jsonrpc": "2.0", "id": "same", "method": "tools/list", "params": []})
    assert "id" not in client.read()
    assert client.answer(slow)["result"]["structuredContent"]["outcome"] == "timeout"


def test_ids_of_different_types_are_different_ids(client):
    one, text = client.ask_tool("run", {"argv": ["sleep", "30"]}, id=1001), client.ask_tool("run", {"argv": ["sleep", "30"]}, id="1001")
    client.notify("notifications/cancelled", {"requestId": "1001"})
    assert client.result("tools/list")
    client.ask("tools/list", id=text)
    assert client.answer(text)["result"]["tools"], "its id is free again"
    client.ask("tools/list", id=one)
    assert client.read()["error"]["data"] == {"duplicate": 1001}
    client.notify("notifications/cancelled", {"requestId": 1001})


def test_a_cancelled_call_gets_no_answer_and_a_late_cancellation_is_ignored(client, marker):
    id = client.ask_tool("run", {"argv": ["sh", "-c", "sleep 60; true", marker]})
    client.notify("notifications/cancelled", {"requestId": id})
    client.notify("notifications/cancelled", {"requestId": id})
    done = client.ask_tool("run", {"argv": ["true"]})
    assert client.answer(done)["result"] and not client.answers
    client.notify("notifications/cancelled", {"requestId": done})
    assert client.run("true") and not client.answers


def test_too_many_calls_are_refused_and_the_rest_is_answered(client):
    ids = [client.ask_tool("run", {"argv": ["sleep", "0.05"]}) for _ in range(140)]
    answers = [client.answer(id) for id in ids]
    refusals = [answer["error"]["code"] for answer in answers if "error" in answer]
    assert refusals == [-32000] * len(refusals) and len(answers) - len(refusals) >= 128


def test_arguments_are_never_read_as_options_or_words_of_a_shell(client, once_box):
    """argv injection: each item stays one argument, whatever is in it."""
    hostile = ["; id", "$(id)", "`id`", "--policy=/x", "-rf", "a\nb", "--", "", "é", "|cat"]
    out = client.run("say_args", *hostile)["structuredContent"]["stdout"]
    assert out["bytes"] == sum(len(item.encode()) + 1 for item in hostile)
    for name in ("run --jail=none", "../run", "run\n", "RUN", ""):
        assert client.error("tools/call", {"name": name, "arguments": {"argv": ["true"]}})["code"] == -32602
    assert once_box.root.is_dir()


@pytest.mark.parametrize("era", LEGACY)
def test_a_session_that_was_not_opened_is_served_by_the_same_rules(once_box, era):
    with Client(once_box) as client:
        client.era = era
        assert client.tool("run", {"argv": ["nothing"]})["structuredContent"]["outcome"] == "disallowed"
        assert client.notes == []
