"""`chokepoint mcp` (R95): every method in every revision, and what reaches a model."""
import json
import pathlib
import signal

import jsonschema
import pytest

from command import FIELDS
from mcp import LEGACY, META, MODERN, TOOLS, Client, text_of
from processes import PATIENCE_S

ERAS = (MODERN, *LEGACY)


@pytest.fixture(params=ERAS)
def client(request, box):
    with Client(box, era=request.param) as made:
        yield made


@pytest.fixture
def modern(box):
    with Client(box) as made:
        yield made


@pytest.fixture
def legacy(box):
    with Client(box, era=LEGACY[0]) as made:
        yield made


def test_every_tool_is_listed_with_schemas_and_a_stable_order(client):
    tools = client.tools()
    assert [tool["name"] for tool in tools] == TOOLS and tools == client.tools()
    for tool in tools:
        assert tool["title"] and tool["description"] and set(tool["annotations"]) == {
            "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        for kind in ("inputSchema", "outputSchema"):
            jsonschema.Draft202012Validator.check_schema(tool[kind])
            assert tool[kind]["type"] == "object"
    run = tools[0]["inputSchema"]
    assert list(run["properties"]) == ["argv", "cwd", "stdin", "timeout_s", "env", "egress", "sandbox", "max_output_bytes"]
    assert run["additionalProperties"] is False


def test_run_returns_the_object_of_run_json(client):
    result = client.run("sh", "-c", "echo a b; echo c")
    found = result["structuredContent"]
    assert set(found) == FIELDS | {"nearest"} and result["isError"] is False
    assert found["outcome"] == "exited" and found["nearest"] is None
    assert found["stdout"] == {"head": "a b\nc\n", "tail": "", "bytes": 6, "truncated": False}
    assert "a b\nc\n" in text_of(result) and "exited with status 0" in text_of(result)


def test_a_failing_tool_is_a_result(client):
    result = client.run("sh", "-c", "echo no >&2; exit 3")
    assert result["isError"] is False and result["structuredContent"]["exit_code"] == 3
    assert result["structuredContent"]["stderr"]["head"] == "no\n" and "status 3" in text_of(result)


def test_stdin_env_and_cwd_reach_the_tool(box):
    box.write_policy(cat={}, say_env={"env": ["WANTED"]})
    (box.root / "sub").mkdir()
    box.own(box.root / "sub", 0o755)
    with Client(box) as client:
        assert client.run("cat", stdin="hello")["structuredContent"]["stdout"]["head"] == "hello"
        assert "WANTED=yes" in client.run("say_env", env={"WANTED": "yes"})["structuredContent"]["stdout"]["head"]
        assert client.run("sh", "-c", "pwd", cwd="sub")["structuredContent"]["stdout"]["head"] == f"{box.root}/sub\n"
        refused = client.run("say_env", env={"OTHER": "x"})
        assert refused["structuredContent"]["outcome"] == "env_forbidden" and refused["isError"]
        assert refused["structuredContent"]["nearest"] == {"argv": ["say_env"]}


def test_long_output_has_its_beginning_and_its_end(modern):
    result = modern.run("sh", "-c", "for i in $(seq 100000); do echo $i; done", max_output_bytes=1000)
    out = result["structuredContent"]["stdout"]
    assert out["truncated"] and out["bytes"] == sum(len(f"{i}\n") for i in range(1, 100001))
    assert out["head"].startswith("1\n2\n") and out["tail"].endswith("99999\n100000\n")
    assert len(out["head"]) + len(out["tail"]) <= 1000
    assert out["head"] in text_of(result) and out["tail"] in text_of(result)


def test_timeout_is_an_error_for_the_model(modern):
    result = modern.run("sleep", "60", timeout_s=0.2)
    assert result["structuredContent"]["outcome"] == "timeout" and result["isError"]


@pytest.mark.parametrize("argv, nearest", [
    (["say_arg", "x"], ["say_args", "x"]), (["/usr/bin/say_args"], ["say_args"]), (["git", "lgo", "-n", "3"], ["git", "log", "-n", "3"]),
    (["git", "log", "--exec-path=x"], ["git", "log"]), (["git", "log", "--onelin"], ["git", "log", "--oneline"]),
    (["docker", "run", "image"], ["docker", "run", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "image"]),
    (["nothing-like-it"], None)])
def test_a_refusal_names_rule_and_nearest_call(box, argv, nearest):
    with Client(box, policy="default" if argv[0] in ("git", "docker") else None) as client:
        result = client.run(*argv)
        found, text = result["structuredContent"], text_of(result)
        assert found["outcome"] == "disallowed" and result["isError"] and found["jail"] is None
        assert found["rule"] and f"'{found['rule']}'" in text and found["error"]["message"] in text
        assert found["nearest"] == (nearest and {"argv": nearest})
        assert "Nothing was run" in text and (json.dumps(nearest, separators=(",", ":")) in text) == (nearest is not None)
        if nearest:
            allowed = client.tool("explain", {"argv": nearest})["structuredContent"]
            assert allowed["decision"] == "allowed" or allowed["outcome"] == "tool_missing"


@pytest.mark.parametrize("arguments, message", [
    ({}, "'argv' is missing"), ({"argv": []}, "at least one item"), ({"argv": "git log"}, "an array"), ({"argv": ["a", 1]}, "a string"),
    ({"argv": ["true"], "policy": "x"}, "unknown argument 'policy'"), ({"argv": ["true"], "jail": "none"}, "unknown argument 'jail'"),
    ({"argv": ["true"], "root": "/"}, "unknown argument 'root'"), ({"argv": ["true"], "audit": "x"}, "unknown argument 'audit'"),
    ({"argv": ["true"], "timeout_s": 0}, "must be from"), ({"argv": ["true"], "timeout_s": "1"}, "a number"),
    ({"argv": ["true"], "max_output_bytes": 1 << 30}, "must be from"), ({"argv": ["true"], "sandbox": 1}, "true or false"),
    ({"argv": ["true"], "env": {"A": 1}}, "a string"), ({"argv": ["true"], "env": {"A=B": "c"}}, "not the name of a variable"),
    ({"argv": ["tr\0ue"]}, "without a NUL"), ({"argv": ["true"], "cwd": "\0"}, "without a NUL")])
def test_wrong_arguments_are_results_that_say_what_is_right(client, arguments, message):
    result = client.tool("run", arguments)
    assert result["isError"] and result["structuredContent"]["outcome"] == "invalid"
    assert message in text_of(result) and message in result["structuredContent"]["error"]["message"]


def test_egress_must_be_within_the_options_of_the_server(box):
    box.write_policy(say_args={"route": "external", "egress": ["*.example.org", "other.net"]})
    with Client(box) as client:
        refused = client.run("say_args", egress=["a.example.org"])["structuredContent"]
        assert refused["rule"] == "server.egress" and refused["nearest"] == {"argv": ["say_args"]}
    with Client(box, "--egress", "*.example.org:443") as client:
        def decide(*hosts):
            return client.tool("explain", {"argv": ["say_args"], "egress": list(hosts)})["structuredContent"]
        assert decide("a.example.org:443")["decision"] == "allowed"
        assert decide("a.example.org:443")["egress"] == ["a.example.org:443"]
        assert decide("a.example.org")["rule"] == "server.egress"
        assert decide("other.net:443")["rule"] == "server.egress"
        assert decide("not a host")["outcome"] == "invalid"


def test_explain_says_what_run_would_do(client):
    result = client.tool("explain", {"argv": ["say_args", "x"]})
    assert result["structuredContent"]["decision"] == "allowed" and result["structuredContent"]["argv"] == ["say_args", "x"]
    assert "Allowed by rule 'tools.say_args'" in text_of(result)
    refused = client.tool("explain", {"argv": ["say_arg"]})
    assert refused["structuredContent"]["decision"] == "refused" and not refused["isError"]
    assert refused["structuredContent"]["nearest"] == {"argv": ["say_args"]}


def test_tools_lists_what_is_allowed(box):
    with Client(box, policy="default") as client:
        listed = client.tool("tools")
        names = [tool["name"] for tool in listed["structuredContent"]["tools"]]
        assert "git" in names and "bwrap" not in names and "sandbox-exec" not in names
        assert all(f"\n{name} (" in text_of(listed) for name in names)
        git = client.tool("tools", {"name": "git"})
        grammar = {rule["call"]: rule for rule in git["structuredContent"]["tools"][0]["grammar"]}
        assert "--oneline" in grammar["git log"]["options"] and "--oneline" in text_of(git)
        assert "did you mean 'git'" in text_of(client.tool("tools", {"name": "gti"}))


def test_lint_finds_calls_beneath_the_root(box, modern):
    box.file("root/a.py", "import os\nos.system('x')\n")
    box.file("outside/b.py", "import os\nos.system('x')\n")
    found = modern.tool("lint")
    assert [finding["name"] for finding in found["structuredContent"]["findings"]] == ["a.py"] and "os.system" in text_of(found)
    assert modern.tool("lint", {"paths": ["a.py"]})["structuredContent"]["errors"] == 1
    for path in ("../outside", str(box.outside)):
        assert "beneath it" in text_of(modern.tool("lint", {"paths": [path]}))


def test_gather_returns_a_document_and_keeps_it_as_a_resource(box):
    with Client(box, policy="default") as client:
        def last():
            return json.loads(client.result("resources/read", {"uri": "chokepoint://gather/last"})["contents"][0]["text"])
        assert last() is None
        found = client.tool("gather", {"only": ["snapshot"]}, meta={"progressToken": "g"})
        document = found["structuredContent"]["document"]
        schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/gather.schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(document, schema)
        assert last() == document and document["repository"]["root"] == str(box.root)
        assert "snapshot" in text_of(found)
        assert "unknown probe" in text_of(client.tool("gather", {"only": ["no_such"]}))


def test_annotations_come_from_the_policy(box):
    def hints(*options, **tools):
        policy = box.write_policy([box.entry(name, **more) for name, more in tools.items()])
        with Client(box, *options, policy=policy) as client:
            return client.tools()[0]["annotations"]
    external = {"route": "external", "version_args": ["x"]}
    assert hints(say_args=external) == {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    assert not hints(say_args={**external, "workspace": "overlay"})["readOnlyHint"]
    assert hints(say_args=external, cat={"route": "external", "workspace": "rw"})["destructiveHint"]
    direct = hints(say_args=external, cat={})
    assert not direct["readOnlyHint"] and direct["destructiveHint"] and direct["openWorldHint"]
    with_egress = hints("--egress", "example.org", say_args=external)
    assert not with_egress["readOnlyHint"] and with_egress["openWorldHint"]
    assert not hints("--jail", "none", say_args=external)["readOnlyHint"]


def test_resources_and_prompts(client):
    listed = client.result("resources/list")["resources"]
    uris = [resource["uri"] for resource in listed]
    assert uris[:3] == ["chokepoint://policy", "chokepoint://gather/last", "chokepoint://audit/head"]
    policy = client.result("resources/read", {"uri": uris[0]})["contents"][0]
    assert json.loads(policy["text"])["tools"][0]["name"] == "say_args"
    entry = client.result("resources/read", {"uri": "chokepoint://policy/tools/cat"})["contents"][0]
    assert json.loads(entry["text"])["name"] == "cat"
    client.run("true")
    assert client.result("resources/read", {"uri": uris[2]})["contents"][0]["text"].startswith("ckh1.")
    error = client.error("resources/read", {"uri": "chokepoint://nope"})
    assert error["code"] == (-32602 if client.era == MODERN else -32002) and error["data"] == {"uri": "chokepoint://nope"}
    assert client.result("resources/templates/list")["resourceTemplates"][0]["uriTemplate"] == "chokepoint://policy/tools/{name}"
    assert [prompt["name"] for prompt in client.result("prompts/list")["prompts"]] == ["what-may-i-run", "why-was-this-refused"]
    may = client.result("prompts/get", {"name": "what-may-i-run"})["messages"][0]["content"]["text"]
    assert "say_args" in may
    for argv in ('["say_arg", "x"]', "say_arg x"):
        why = client.result("prompts/get", {"name": "why-was-this-refused", "arguments": {"argv": argv}})
        assert "did you mean" in why["messages"][0]["content"]["text"] and '["say_args","x"]' in why["messages"][0]["content"]["text"]
    assert client.error("prompts/get", {"name": "x"})["code"] == -32602
    values = client.result("completion/complete", {"ref": {"type": "ref/prompt", "name": "what-may-i-run"},
                                                   "argument": {"name": "tool", "value": "say_"}})["completion"]["values"]
    assert values == ["say_args", "say_env", "say_state"]


def test_a_long_list_has_pages(box):
    policy = box.write_policy([box.entry(f"tool{number}") for number in range(120)])
    with Client(box, policy=policy) as client:
        found, params = [], {}
        while True:
            page = client.result("resources/list", params)
            found += [resource["uri"] for resource in page["resources"]]
            if "nextCursor" not in page:
                break
            params = {"cursor": page["nextCursor"]}
        assert len(found) == len(set(found)) == 123 and params == {"cursor": "100"}
        for cursor in ("", "x", "-1", "0", "123", "99999999999999999999", 50):
            assert client.error("resources/list", {"cursor": cursor})["code"] == -32602


def test_methods_belong_to_their_era(box):
    with Client(box) as client:
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "nonsense"):
            assert client.error(method)["code"] == -32601, method
        found = client.result("server/discover")
        assert found["supportedVersions"] == list(ERAS) and found["ttlMs"] >= 0 and found["cacheScope"] == "private"
        for method in ("tools/list", "resources/list", "prompts/list", "resources/templates/list"):
            assert {"ttlMs", "cacheScope"} <= set(client.result(method))
    with Client(box, era=LEGACY[0]) as client:
        assert client.result("ping") == {}
        for method in ("server/discover", "subscriptions/listen", "nonsense"):
            assert client.error(method)["code"] == -32601, method


def test_the_era_is_decided_for_each_message(box):
    """One client uses all revisions in turn, as a proxy of several agents would."""
    with Client(box) as client:
        for era in (MODERN, LEGACY[1], MODERN, LEGACY[0]):
            client.era = era
            assert client.run("true")["structuredContent"]["outcome"] == "exited"


def test_versions_that_are_not_known(box):
    with Client(box) as client:
        error = client.error("tools/list", meta={META + "protocolVersion": "2099-01-01"})
        assert error["code"] == -32022 and error["data"] == {"supported": list(ERAS), "requested": "2099-01-01"}
        answer = client.answer(client.ask("tools/list", meta={META + "clientCapabilities": None}))
        assert answer["error"]["code"] == -32602 and "clientCapabilities" in answer["error"]["message"]
        client.era = LEGACY[0]
        answer = client.result("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {}})
        assert answer["protocolVersion"] == LEGACY[0]


def test_several_calls_run_at_once_and_the_fast_one_is_answered_first(modern):
    slow = modern.ask_tool("run", {"argv": ["sh", "-c", "read x < /dev/zero || sleep 60"], "timeout_s": 50})
    quick = [modern.ask_tool("run", {"argv": ["say_args", str(i)]}) for i in range(20)]
    for number, id in enumerate(quick):
        assert f"{number}" in modern.answer(id)["result"]["structuredContent"]["stdout"]["head"]
    modern.notify("notifications/cancelled", {"requestId": slow})
    assert modern.request("tools/list")["result"]


def test_progress_is_sent_only_if_asked_for_and_grows(client):
    client.run("sleep", "0.7")
    assert client.notes == []
    result = client.tool("run", {"argv": ["sleep", "0.9"]}, meta={"progressToken": "token"})
    assert result["structuredContent"]["outcome"] == "exited"
    sent = [note["params"] for note in client.notes if note["method"] == "notifications/progress"]
    values = [note["progress"] for note in sent]
    assert 2 <= len(values) <= 6 and values == sorted(set(values)) and {note["progressToken"] for note in sent} == {"token"}
    assert all(note["total"] >= note["progress"] and note["message"] for note in sent)


def test_log_messages_by_the_rules_of_each_era(box):
    with Client(box) as client:
        client.run("nothing-like-it")
        assert client.notes == []
        client.tool("run", {"argv": ["nothing-like-it"]}, meta={META + "logLevel": "warning"})
        assert [note["params"]["data"]["outcome"] for note in client.notes] == ["disallowed"]
        client.tool("run", {"argv": ["true"]}, meta={META + "logLevel": "warning"})
        assert len(client.notes) == 1
        client.tool("run", {"argv": ["true"]}, meta={META + "logLevel": "debug"})
        assert client.notes[-1]["params"]["level"] == "info"
    with Client(box, era=LEGACY[1]) as client:
        client.notify("notifications/initialized")
        client.run("nothing-like-it")
        assert [note["params"]["data"]["event"] for note in client.notes] == ["subproc.refused"]
        client.result("logging/setLevel", {"level": "emergency"})
        client.run("nothing-like-it")
        assert len(client.notes) == 1
        client.result("logging/setLevel", {"level": "debug"})
        client.run("true")
        assert "subproc.started" in [note["params"]["data"]["event"] for note in client.notes]
        assert client.error("logging/setLevel", {"level": "loud"})["code"] == -32602


def test_a_new_document_is_announced_to_subscribers(box):
    last = "chokepoint://gather/last"
    with Client(box, policy="default") as client:
        id = client.ask("subscriptions/listen", {"notifications": {"resourceSubscriptions": [last, "chokepoint://nope"]}})
        client.tool("gather", {"only": ["snapshot"]})
        assert [note["params"] for note in client.notes] == [
            {"notifications": {"resourceSubscriptions": [last]}, "_meta": {META + "subscriptionId": id}},
            {"uri": last, "_meta": {META + "subscriptionId": id}}]
        client.era, client.notes = LEGACY[0], []
        client.notify("notifications/cancelled", {"requestId": id})
        assert client.result("resources/subscribe", {"uri": last}) == {}
        client.tool("gather", {"only": ["snapshot"]})
        client.result("resources/unsubscribe", {"uri": last})
        client.tool("gather", {"only": ["snapshot"]})
        assert [note["params"] for note in client.notes] == [{"uri": last}]
        assert client.error("resources/subscribe", {"uri": "chokepoint://nope"})["code"] == -32002


def test_subscription_is_acknowledged_and_ends_with_its_cancellation(modern):
    id = modern.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    modern.result("tools/list")
    assert modern.notes == [{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                             "params": {"notifications": {}, "_meta": {META + "subscriptionId": id}}}]
    modern.notify("notifications/cancelled", {"requestId": id})
    assert modern.result("tools/list") and not modern.answers
    assert modern.error("subscriptions/listen")["code"] == -32602


def test_calls_are_recorded(box):
    with Client(box) as client:
        client.run("true")
        client.run("nothing-like-it")
    kinds = [json.loads(line)["kind"] for line in box.log.read_text(encoding="utf-8").splitlines()]
    assert kinds == ["begin", "intent", "outcome", "refused"]


def test_signals_and_options_of_the_command(box):
    client = Client(box)
    client.result("tools/list")
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(PATIENCE_S) == 128 + signal.SIGTERM
    for options in (("--egress", "not a host"), ("--root", str(box.base / "missing")), ("--policy", str(box.base / "missing"))):
        answer = box.call([box.command, "mcp", *options])
        assert answer.status == 125 and answer.out == b"" and answer.err.startswith(b"chokepoint: ")
    assert box.call([box.command, "mcp", "--root", str(box.root), "--no-audit"], input=b"").status == 0
