"""R36: with a list a tool reaches the hosts on it, by the usual programs, in every jail; and the
caller gets events.

tests/adversarial/egress/test_egress_*.py has the tools that try more.
"""
import json
import shutil

import pytest

import audit
import registry
from feature import scaled
from jails import JAILS
from no_userns import NoUserns, on_fake_kernel
from promises import given_time

PROXY = "http://127.0.0.1:3128"
FETCH = """
const {EnvHttpProxyAgent, fetch, setGlobalDispatcher} = require("undici");
setGlobalDispatcher(new EnvHttpProxyAgent());
fetch(process.argv[2]).then(answer => answer.text()).then(text => console.log(text));
"""
OWN_FETCH = "fetch(process.argv[2]).then(answer => answer.text()).then(text => console.log(text))"


# ---- programs that people use ----

@pytest.mark.parametrize("url", ["https://web.example.org/", "http://web.example.org/", "https://web.example.org:8443/"])
def test_curl(way, url):
    answer = way.succeeds("curl", "-sS", url)
    assert answer.stream("stdout") == b"a word from web.example.org"


def test_curl_by_socks(way):
    """Names, not addresses: only the proxy resolves."""
    answer = way.succeeds("curl", "-sS", "--proxy", "socks5h://127.0.0.1:3128", "https://web.example.org/")
    assert answer.stream("stdout") == b"a word from web.example.org"
    assert way.events(answer, "allowed")[0]["protocol"] == "socks5"


def test_chunks_and_trailers_pass(way):
    answer = way.succeeds("curl", "-sS", "--raw", "http://web.example.org/chunks")
    assert answer.stream("stdout") == b"5\r\na wor\r\n1\r\nd\r\n0\r\nX-Sum: 6\r\n\r\n"


def test_several_requests_on_one_connection(way):
    answer = way.succeeds("curl", "-sS", *["http://web.example.org/"] * 3)
    assert answer.stream("stdout") == b"a word from web.example.org" * 3


def test_git_clone(way):
    way.succeeds("git", "clone", "-q", "https://git.example.org/repo.git", "cloned", egress=["git.example.org:443"])
    assert (way.box.root / "cloned/.git/HEAD").read_text(encoding="ascii") == "ref: refs/heads/main\n"
    assert way.box.call(["git", "-C", way.box.root / "cloned", "log", "--format=%s"]).out == b"first\n"


def test_npm_install(way):
    way.box.file("root/package.json", json.dumps({"name": "top", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}}))
    way.box.file("root/.npmrc", "registry=https://npm.example.org/\nfetch-retries=0\naudit=false\nfund=false\n")
    way.succeeds("npm", "install", egress=["npm.example.org"], timeout=60, deadline=90)
    installed = way.box.root / "node_modules/tiny/package.json"
    assert json.loads(installed.read_text(encoding="ascii"))["version"] == "1.0.0"


def test_node_fetch(way):
    shutil.copytree(registry.fetched() / "node_modules/undici", way.box.root / "node_modules/undici")
    way.box.file("root/fetch.js", FETCH)
    answer = way.succeeds("node", "fetch.js", "https://web.example.org/")
    assert answer.stream("stdout") == b"a word from web.example.org\n"


def test_nodes_own_fetch_uses_the_proxy_or_fails(way):
    """From version 24 on (and 22.21) it reads the variables if NODE_USE_ENV_PROXY is set; before
    that it reaches nothing."""
    version = tuple(map(int, way.box.call(["/usr/bin/node", "--version"]).out.decode().strip("v\n").split(".")))
    way.box.file("root/fetch.js", OWN_FETCH)
    answer = way.run("node", "fetch.js", "https://web.example.org/")
    if version >= (24,) or (22, 21) <= version < (23,):
        assert answer.stream("stdout") == b"a word from web.example.org\n"
    else:
        assert answer.status != 0 and way.network.take() == {"asked": [], "names": []}


def test_many_runs_of_one_thread_share_the_proxy(way):
    count = scaled(24, 8)
    request = ["curl", "-sS", "https://web.example.org/"]
    said = way.box.host("host_fetch", way.jail, count, "web.example.org", *request, policy=way.policy).out
    assert said == b"a word from web.example.org\n%d\n" % count


@pytest.mark.parametrize("way", ["native"], indirect=True)
def test_what_was_fetched_goes_into_an_overlay(way):
    policy = way.write_policy(curl={"workspace": "overlay", "limits": {"memory_mib": 256, "processes": 16}})
    answer = way.succeeds("curl", "-sS", "-o", "fetched", "https://web.example.org/", policy=policy)
    assert [(change["path"], change["kind"]) for change in answer["changes"]] == [("fetched", "added")]
    assert {"overlay", "egress"} <= set(answer["layers"]) and not (way.box.root / "fetched").exists()


# ---- what the caller gets ----

def test_each_connection_is_an_event_when_it_is_allowed_and_when_it_ends(way):
    answer = way.succeeds("curl", "-sS", "https://web.example.org/", options=["--probe", "some_probe"])
    allowed, = way.events(answer, "allowed")
    expected = {"tool": "curl", "host": "web.example.org", "port": "443", "rule": "web.example.org",
                "address": "93.184.216.10", "protocol": "connect", "connection": "1", "probe_name": "some_probe"}
    assert {key: allowed[key] for key in expected} == expected
    closed, = way.events(answer, "closed")
    assert {key: closed[key] for key in expected} == expected
    assert int(closed["sent_bytes"]) > 100 and int(closed["received_bytes"]) > 500
    assert way.events(answer, "refused") == way.events(answer, "failed") == []
    assert answer["egress"] == {"rules": ["web.example.org"], "allowed": 1, "refused": 0, "failed": 0,
                                "sent_bytes": int(closed["sent_bytes"]), "received_bytes": int(closed["received_bytes"])}


def test_each_decision_is_a_record_between_intent_and_outcome(way):
    way.succeeds("curl", "-sS", "https://web.example.org/", "http://other.example.net/", options=["--probe", "some_probe"])
    records = audit.records(way.box.log)
    assert [record["kind"] for record in records[-5:]] == ["intent", "egress", "egress", "egress", "outcome"]
    intent, *decisions, _ = records[-5:]
    assert all((one["intent"], one["context"], one["probe"], one["tool"]) ==
               (intent["seq"], intent["context"], "some_probe", {"name": "curl"}) for one in decisions)
    by_verdict = {one["verdict"]: one for one in decisions}
    assert set(by_verdict) == {"allowed", "refused", "closed"}
    for verdict in ("allowed", "closed"):
        assert {key: by_verdict[verdict][key] for key in ("host", "port", "rule", "address", "protocol")} == {
            "host": "web.example.org", "port": 443, "rule": "web.example.org", "address": "93.184.216.10",
            "protocol": "connect"}
    assert by_verdict["closed"]["sent_bytes"] > 100 and by_verdict["closed"]["received_bytes"] > 500
    assert (by_verdict["refused"]["host"], by_verdict["refused"]["reason"]) == ("other.example.net", "not_listed")


def test_credential_in_a_name_is_neither_recorded_nor_reported(way):
    """The credential is in a file: in an argument it would be refused before there is a
    connection."""
    token = "ghp_" + "a1b2" * 9
    way.box.file("root/names", f'url = "http://{token}.example.net/"\n')
    answer = way.run("curl", "-sS", "-K", "names")
    decision, = [record for record in audit.records(way.box.log) if record["kind"] == "egress"]
    assert decision["verdict"] == "refused" and decision["host"].startswith("[redacted: "), decision
    assert token not in way.box.log.read_text(encoding="utf-8")
    refusal, = way.events(answer, "refused")
    assert refusal["host"] == decision["host"] and token.encode() not in answer.err


def test_run_that_is_ended_takes_its_connections_along(way):
    answer = given_time(lambda timeout: way.run("curl", "-sS", "--limit-rate", "1000",
                                                "https://web.example.org/flood?9000000", timeout=timeout),
                        lambda answer: way.events(answer, "allowed"))
    assert answer.outcome == "timeout"
    names = [json.loads(line)["event"] for line in answer.err.splitlines()]
    assert names.index("subproc.egress.closed") < names.index("subproc.exited")
    closed, = way.events(answer, "closed")
    assert answer["egress"]["received_bytes"] == int(closed["received_bytes"]) < 9000000


def test_rules_are_reported_in_their_one_spelling(way):
    answer = way.succeeds("curl", "--version", egress=["WEB.Example.org.", "*.Example.ORG:443"])
    assert answer["egress"]["rules"] == ["web.example.org", "*.example.org:443"]


def test_host_that_does_not_answer_is_reported(way):
    answer = way.fails("curl", "-sS", "https://web.example.org:9/")
    failed, = way.events(answer, "failed")
    assert (failed["host"], failed["port"]) == ("web.example.org", "9") and failed["message"]
    assert answer["egress"]["failed"] == 1


def test_name_that_does_not_exist_is_reported(way):
    answer = way.fails("curl", "-sS", "https://nobody.example.org/", egress=["*.example.org"])
    failed, = way.events(answer, "failed")
    assert failed["host"] == "nobody.example.org" and answer["egress"]["failed"] == 1
    assert set(way.network.take()["names"]) == {"nobody.example.org"}


@pytest.mark.parametrize("url,protocol,address", [("https://93.184.216.10/", "tcp", "93.184.216.10"),
                                                  ("https://web.example.org/", "udp", "")])
def test_curl_without_the_proxy_reaches_no_host_and_is_reported(way, url, protocol, address):
    """Not even a listed host; and for a name the resolver would be asked first."""
    answer = way.fails("curl", "-sS", "--noproxy", "*", url)
    assert way.network.take() == {"asked": [], "names": []}
    event = way.events(answer, "refused")[0]
    assert (event["protocol"], event.get("address", ""), event["reason"]) == (protocol, address, "direct")


# ---- the environment ----

def environment(answer):
    return dict(line.split("=", 1) for line in answer.stream("stdout").decode().split("\0") if line)


@pytest.mark.parametrize("sandbox", [False, True])
def test_tool_gets_the_proxy_variables_and_no_other_proxy(way, sandbox):
    host = way.box.environment(HTTPS_PROXY="http://elsewhere.example.net:1", NPM_CONFIG_PROXY="http://elsewhere.example.net:1",
                               no_proxy="*")
    answer = way.succeeds("say_env", options=["--sandbox"] if sandbox else [], env=host)
    found = environment(answer)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy", "npm_config_proxy",
                 "npm_config_https_proxy"):
        assert found.pop(name) == PROXY
    assert found.pop("NO_PROXY") == found.pop("no_proxy") == "" and found.pop("NODE_USE_ENV_PROXY") == "1"
    assert set(found) == {"PATH", "HOME", "LANG", "LC_ALL"}


def test_tool_without_egress_gets_no_proxy_variables(way):
    answer = way.run("say_env", egress=[])
    assert set(environment(answer)) == {"PATH", "HOME", "LANG", "LC_ALL"} and answer["egress"] is None


# ---- limits ----

def test_bytes_are_bounded(way):
    policy = way.write_policy(curl={"limits": {"egress_mib": 1}})
    url = "http://web.example.org/flood?"
    answer = way.succeeds("curl", "-sS", "-o", "/dev/null", url + "1000000", policy=policy)
    assert answer["limit_hit"] is None and {"name": "egress_mib", "value": 1, "mechanism": "proxy"} in answer["limits"]
    answer = way.fails("curl", "-sS", "-o", "/dev/null", url + "9000000", policy=policy)
    assert answer["limit_hit"] == "egress" and answer["egress"]["received_bytes"] <= 1 << 20
    assert {event["reason"] for event in way.events(answer, "refused")} == {"bytes"}


def test_connections_are_bounded(way):
    policy = way.write_policy(curl={"limits": {"egress_connections": 2}})
    request = ["curl", "-sS", "--no-keepalive", "-H", "Connection: close"]
    answer = way.succeeds(*request, *["https://web.example.org/"] * 2, policy=policy)
    assert answer["limit_hit"] is None and answer["egress"]["refused"] == 0
    answer = way.succeeds(*request, "https://web.example.org/", "https://git.example.org/", egress=["*.example.org"], policy=policy)
    assert answer["egress"]["allowed"] == 2 and answer["limit_hit"] is None and answer["egress"]["refused"] == 0
    hosts = [f"https://{name}.example.org/" for name in ("web", "git", "other")]
    answer = way.fails(*request, *hosts, egress=["*.example.org"], policy=policy)
    assert answer["egress"]["allowed"] == 2 and answer["limit_hit"] == "egress"
    assert {event["reason"] for event in way.events(answer, "refused")} == {"connections"}


# ---- what is needed, and what is shown ----

def test_direct_tool_gets_a_jail(way):
    policy = way.write_policy(curl={"route": "direct"})
    answer = way.box.run("curl", "-sS", "https://web.example.org/", options=["--egress", "web.example.org"], policy=policy)
    assert answer.outcome == "exited" and answer["jail"] == "native", answer.document


def test_no_jail_is_refused(way):
    answer = way.box.run("curl", "--version", options=["--jail", "none", "--egress", "web.example.org"], policy=way.policy)
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "request.jail")
    assert "--egress" in answer.message


@pytest.mark.parametrize("jail", ["auto", "native", "bwrap"])
def test_jail_without_a_network_of_its_own_is_refused(user_box, jail):
    no_userns = NoUserns(user_box, "switch")
    policy = no_userns.write_policy(say_args={"egress": ["web.example.org"]})
    answer = no_userns.run("say_args", jail=jail, policy=policy, options=["--egress", "web.example.org"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "request.jail")
    assert "egress" in answer.message


def on_faulty_kernel(box, fault, jail, *argv):
    policy = box.write_policy([box.entry("breach_net", route="external", egress=["web.example.org"]),
                               box.entry("bwrap", route="jail")])
    return on_fake_kernel(box, fault, *argv, policy=policy, options=["--jail", jail, "--egress", "web.example.org"])


@pytest.mark.parametrize("jail", JAILS)
@pytest.mark.parametrize("fault", ["landlock", "seccomp", "capset"])
def test_kernel_that_accepts_and_does_not_enforce_is_detected(user_box, jail, fault):
    answer = on_faulty_kernel(user_box, fault, jail, "breach_net", "reach", "127.0.0.1", "3128")
    assert answer.outcome == "jail_unavailable" and "egress" in answer.message


def test_network_bounds_where_there_is_no_landlock(user_box):
    """bwrap works without Landlock; the rule about ports is missing then, and no other port has a
    listener."""
    for port, said in (("3128", b"done\n"), ("3129", b"refused: ECONNREFUSED (connect)\n")):
        answer = on_faulty_kernel(user_box, "nolandlock", "bwrap", "breach_net", "reach", "127.0.0.1", port)
        assert "landlock" not in answer["layers"] and "egress" in answer["layers"]
        assert answer.stream("stdout") == said


@pytest.mark.parametrize("rule,outcome", [
    ("web.example.net", "disallowed"), ("*.org", "invalid"), ("*", "invalid"), ("https://web.example.org/", "invalid"),
    ("127.1", "invalid"), ("127.0.0.2", "disallowed"), ("93.184.216.10", "exited"), ("0.0.0.0/0", "invalid")])
def test_entry_bounds_the_caller(way, rule, outcome):
    answer = way.run("curl", "--version", egress=[rule])
    assert answer.outcome == outcome, answer.document


@pytest.mark.parametrize("granted,outcome", [(["web.example.org"], "exited"), ([], "disallowed")])
def test_entry_of_a_tool_that_is_run_by_another_bounds_too(user_box, granted, outcome):
    outer = user_box.entry("env", route="external", egress=["*.example.org"], args={"options": [], "command": "after_options"})
    inner = user_box.entry("say_args", egress=granted, args={"options": [], "operands": "any"})
    policy = user_box.write_policy([outer, inner])
    answer = user_box.run("env", "say_args", "word", policy=policy, options=["--egress", "web.example.org"])
    assert answer.outcome == outcome, answer.document
    assert answer["rule"] == ("tools.env" if granted else "tools.say_args.egress")


def test_explanation_shows_it(way):
    answer = way.run("curl", "--version", options=["--dry-run"])
    assert answer["egress"] == ["web.example.org"] and f"HTTPS_PROXY={PROXY}" in answer["env"]
    assert "egress" in answer["layers"]
    answer = way.run("curl", "--version", egress=[], options=["--dry-run"])
    assert answer["egress"] == [] and not any("PROXY" in variable for variable in answer["env"])
