"""The machine's policy (R9): it takes the place of the embedded one, and its lock does not bind root."""
import json

import pytest

from machine import PATH, is_locked_message


def review(box, *command):
    answer = box.call([box.command, *command])
    return answer, answer.out.decode()


@pytest.fixture(params=["user", "root"])
def either_machine_box(request):
    return request.getfixturevalue({"user": "machine_box", "root": "root_machine_box"}[request.param])


def test_it_takes_the_place_of_the_embedded_policy(either_machine_box):
    box = either_machine_box
    assert box.plain("say_args").outcome == "disallowed"
    box.install()
    assert box.plain("say_args").outcome == "exited"
    assert box.plain("jq", "--version").outcome == "disallowed"
    only = box.write_policy([box.entry("true")])
    assert box.plain("true", policy=only).outcome == "exited"
    assert box.plain("say_args", policy=only).outcome == "disallowed"
    assert box.plain("say_args", policy=PATH).outcome == "exited"
    shown = json.loads(review(box, "policy", "show", "--json")[1])
    assert shown["file"] == PATH and shown["locked"] is False and shown["roots"] is None
    answer, text = review(box, "policy", "check")
    assert answer.status == 0 and PATH in text + answer.err.decode()


def test_locked_policy_may_extend_the_default(machine_box):
    """Entries of the build have their records in the build, the machine's own need theirs in adr_dir. The word
    `default` stays the embedded policy."""
    box = machine_box
    box.install([box.entry("say_args"), box.entry("true", adr="0777")], locked=True, extends="default")
    assert box.plain("jq", "--version").outcome == "exited"
    assert box.plain("say_args").outcome == "exited"
    answer = box.plain("true")
    assert answer["rule"] == "tools.true.adr" and is_locked_message(answer.message), answer.document
    shown = json.loads(review(box, "policy", "show", "--json", "default")[1])
    assert shown["file"] == "default policy" and "say_args" not in {tool["name"] for tool in shown["tools"]}
    answer, text = review(box, "policy", "diff", "default", PATH)
    assert answer.status == 1 and "say_args" in text and "jq" not in text.split(), text


def test_records_name_it(machine_box):
    machine_box.install(locked=True)
    assert machine_box.plain("say_args").outcome == "exited"
    assert machine_box.recorded()[1]["policy"]["path"] == PATH
    answer = machine_box.call([machine_box.command, "audit", "verify"])
    assert answer.status == 0, answer
    answer = machine_box.call([machine_box.command, "audit", "show", "--json"], env=machine_box.environment(HOME="/nonexistent"))
    assert answer.out == machine_box.machine_log.read_bytes()


def test_root_is_not_bound(root_machine_box):
    box = root_machine_box
    box.install(locked=True, roots=[str(box.outside)])
    for options in ([], ["--no-audit"], ["--audit", str(box.log)], ["--policy", str(box.policy)]):
        assert box.plain("say_args", options=options).outcome == "exited", options
    assert box.plain("rg", "--version", options=["--jail", "none"])["jail"] == "none"
    assert not box.machine_log.exists()
    report = json.loads(review(box, "doctor", "--json", "--no-cache")[1])
    assert (report["machine_policy"], report["machine_locked"], report["machine_binds"]) == (PATH, True, False)
    assert "locked, but not for root" in review(box, "doctor")[1]


def test_doctor_shows_it(machine_box):
    box = machine_box
    report = json.loads(review(box, "doctor", "--json")[1])
    assert (report["machine_policy"], report["machine_locked"], report["machine_binds"]) == (None, False, False)
    box.install()
    assert f"machine policy {PATH}: not locked" in review(box, "doctor")[1]
    box.install(locked=True, roots=[str(box.outside)])
    text = review(box, "doctor")[1]
    assert f"machine policy {PATH}: locked" in text
    report = json.loads(review(box, "doctor", "--json")[1])
    assert (report["machine_policy"], report["machine_locked"], report["machine_binds"]) == (PATH, True, True)
    states = {tool["name"]: tool["state"] for tool in report["tools"]}
    assert states["rg"] == states["say_args"] == "ready", report  # they run in none of the roots


def test_other_files_are_reviewed_and_explained(machine_box):
    box = machine_box
    own = str(box.write_policy([box.entry("cat", route="external")]))
    box.install(locked=True, roots=[str(box.root)])
    assert review(box, "policy", "show", own)[0].status == 0
    assert review(box, "policy", "diff", PATH, own)[0].status == 1
    explain = ["policy", "explain", "--json", "--root", str(box.root)]
    for options in ([], ["--jail", "none"]):
        answer, text = review(box, *explain, "--policy", own, *options, "--", "cat", "x")
        assert answer.status == 0 and json.loads(text)["decision"] == "allowed", text
    answer, text = review(box, *explain, "--jail", "none", "--", "rg", "x")
    assert answer.status == 125 and is_locked_message(text)
    answer, text = review(box, "policy", "explain", "--json", "--root", str(box.outside), "--", "say_args")
    assert answer.status == 125 and is_locked_message(text)
    assert json.loads(review(box, *explain, "--", "say_args")[1])["decision"] == "allowed"
    assert not box.machine_log.exists()


def test_keys_in_another_file_have_no_effect_and_a_warning(box):
    tools = [box.entry("say_args")]
    document = {"version": 1, "adr_dir": "adr", "search_path": box.search_path, "locked": True,
                "roots": [str(box.outside)], "tools": tools}
    policy = box.file("policy/locked.yaml", json.dumps(document), 0o600)
    assert box.run("say_args", policy=policy, options=["--no-audit"]).outcome == "exited"

    def findings():
        report = json.loads(review(box, "policy", "check", "--json", str(policy))[1])
        return [(finding["severity"], finding["rule"]) for finding in report["findings"]]
    assert ("warning", "locked") in findings()
    policy.write_text(json.dumps({**document, "locked": False}), encoding="ascii")
    assert ("warning", "roots") in findings()


def test_locked_policy_does_not_leave_the_proxy_to_the_environment(either_machine_box):
    """The caller chooses the environment. With a URL in the policy the variable decides nothing."""
    box = either_machine_box
    tools = [box.entry("say_args", route="external", egress=["web.example.org"])]
    box.install(tools, locked=True, upstream="environment")
    answer = box.run("say_args", policy="default", options=["--egress", "web.example.org"], audit="default")
    assert answer.outcome == "policy" and "lets every caller choose the proxy" in answer.message
    box.install(tools, locked=True, upstream={"url": "http://127.0.0.1:9"})
    answer = box.run("say_args", policy="default", options=["--egress", "web.example.org", "--dry-run"], audit="default",
                     env=box.environment(HTTPS_PROXY="http://mine.example.net:1"))
    assert answer["via"] == "http://127.0.0.1:9"
