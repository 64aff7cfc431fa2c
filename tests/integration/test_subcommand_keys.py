"""A subcommand has its own execs, workspace, egress, env, set_env and limits, in place of the
tool's (R89).
"""
import json

import pytest
import yaml

from feature import skip

JAILS = ("native", "bwrap")


def policy_of(box, name, subcommands, more=(), **entry):
    tool = box.entry(name, route="external", args={"subcommands": subcommands}, **entry)
    return box.write_policy([tool, box.entry("bwrap", route="jail"), *more])


def run(box, policy, *argv, jail="native", options=(), **shape):
    answer = box.run(*argv, policy=policy, options=["--jail", jail, *options], **shape)
    if answer.outcome == "jail_unavailable":
        skip(jail, answer.message)
    return answer


@pytest.mark.parametrize("jail", JAILS)
def test_only_one_subcommand_writes(box, jail):
    policy = policy_of(box, "git", [{"name": "init", "operands": "inside", "workspace": "rw"},
                                    {"name": "hash-object", "options": ["-w"], "operands": "existing"}], execs=[])
    box.file("root/f", "text")
    assert run(box, policy, "git", "init", ".", jail=jail).status == 0
    assert (box.root / ".git/HEAD").exists()
    assert run(box, policy, "git", "hash-object", "f", jail=jail).status == 0
    refused = run(box, policy, "git", "hash-object", "-w", "f", jail=jail)
    assert refused.status == 128 and b"Read-only" in refused.stream("stderr"), refused.document


@pytest.mark.parametrize("jail", JAILS)
def test_only_one_subcommand_executes(box, jail):
    policy = policy_of(box, "attempt", [{"name": "plain", "operands": "any", "execs": ["true"]},
                                        {"name": "child", "operands": "any"}], execs=["false"])
    assert run(box, policy, "attempt", "plain", "/usr/bin/true", jail=jail).status == 0
    for argv in (["child", "/usr/bin/true"], ["plain", "/usr/bin/false"]):
        answer = run(box, policy, "attempt", *argv, jail=jail)
        assert answer.stream("stdout").startswith(b"refused: EACCES"), answer.document


def test_variables_are_those_of_the_subcommand(box):
    policy = policy_of(box, "say_env", [{"name": "own", "env": ["TZ"], "set_env": [{"name": "MODE", "value": "own"}]},
                                        {"name": "none", "env": [], "set_env": []}, {"name": "usual"}],
                       env=["COLUMNS"], set_env=[{"name": "MODE", "value": "usual"}])

    def says(name, *given):
        return run(box, policy, "say_env", name, options=[word for item in given for word in ("--env", item)])
    assert {b"MODE=own", b"TZ=UTC"} <= set(says("own", "TZ=UTC").stream("stdout").split(b"\0"))
    assert {b"MODE=usual", b"COLUMNS=9"} <= set(says("usual", "COLUMNS=9").stream("stdout").split(b"\0"))
    assert b"MODE" not in says("none").stream("stdout")
    for name, given, rule in (("own", "COLUMNS=9", "tools.say_env.args.subcommands.own.env"),
                              ("none", "COLUMNS=9", "tools.say_env.args.subcommands.none.env"),
                              ("usual", "TZ=UTC", "tools.say_env.env")):
        answer = says(name, given)
        assert (answer.outcome, answer["rule"]) == ("env_forbidden", rule), answer.document


def test_limits_are_replaced_as_a_whole(box):
    policy = policy_of(box, "hog", [{"name": "memory", "operands": "any", "limits": {"timeout_s": 5, "open_files": 64}},
                                    {"name": "files", "operands": "any"}], limits={"timeout_s": 9, "file_size_mib": 8})

    def limits(*argv):
        return {limit["name"]: limit["value"] for limit in run(box, policy, "hog", *argv, timeout=3)["limits"]}
    assert limits("memory", "1") == {"open_files": 64}
    assert limits("files", "9") == {"file_size_mib": 8}
    for argv, rule in ((("memory", "1"), "tools.hog.args.subcommands.memory.limits.timeout_s"),
                       (("files", "1"), "tools.hog.limits.timeout_s")):
        answer = run(box, policy, "hog", *argv, timeout=30)
        assert (answer.outcome, answer["rule"]) == ("disallowed", rule), answer.document


def explained(box, policy, *argv, options=()):
    answer = box.call([box.command, "policy", "explain", "--json", *(["--policy", policy] if policy else []), "--root",
                       str(box.root), "--timeout", "5", *options, "--", *argv])
    return json.loads(answer.out)


def test_egress_of_npm(user_box):
    """Of the default policy: what installs may reach the public registry, what runs code of the
    repository reaches nothing."""
    for name in ("ci", "install"):
        decision = explained(user_box, None, "npm", name, options=["--egress", "registry.npmjs.org:443"])
        assert decision["decision"] == "allowed" or decision["outcome"] == "jail_unavailable", decision
        other = explained(user_box, None, "npm", name, options=["--egress", "registry.example.org"])
        assert (other["outcome"], other["rule"]) == ("disallowed", f"tools.npm.args.subcommands.{name}.egress")
    for argv, rule in ((["test"], "tools.npm.args.subcommands.test.egress"), (["ls"], "tools.npm.egress"),
                       (["--version"], "tools.npm.egress")):
        decision = explained(user_box, None, "npm", *argv, options=["--egress", "registry.npmjs.org:443"])
        assert (decision["outcome"], decision["rule"]) == ("disallowed", rule), decision


def test_a_command_has_the_keys_of_its_subcommand(box):
    outer = box.entry("nice", args={"options": ["-n=<number>"], "command": "after_options"})
    policy = policy_of(box, "hog", [{"name": "files", "operands": "any", "limits": {"open_files": 32}}], more=[outer],
                       limits={"open_files": 16})
    answer = run(box, policy, "nice", "-n", "1", "hog", "files", "100")
    assert {limit["name"]: limit["value"] for limit in answer["limits"]} == {"open_files": 32}


def test_show_says_what_each_subcommand_has(box):
    policy = policy_of(box, "hog", [{"name": "memory", "limits": {"timeout_s": 5}, "workspace": "rw", "egress": []},
                                    {"name": "files"}])
    shown = json.loads(box.call([box.command, "policy", "show", "--json", str(policy)]).out)
    memory, files = shown["tools"][0]["args"]["subcommands"]
    assert (memory["workspace"], memory["egress"], memory["limits"]["timeout_s"]) == ("rw", [], 5)
    assert [files[key] for key in ("execs", "workspace", "egress", "env", "set_env", "limits")] == [None] * 6
    text = " ".join(box.call([box.command, "policy", "show", str(policy)]).out.decode().split())
    assert "memory: (no egress; workspace rw; 5 s)" in text


def test_diff_is_made_for_each_subcommand(box):
    before = policy_of(box, "hog", [{"name": "memory"}, {"name": "files", "egress": ["a.example.org"]}])
    document = yaml.safe_load(before.read_text())
    document["tools"][0]["args"]["subcommands"] = [{"name": "memory", "workspace": "rw"}, {"name": "files"}]
    after = box.file("policy/after.yaml", yaml.safe_dump(document))
    answer = box.call([box.command, "policy", "diff", "--json", str(before), str(after)])
    changes = {(change["kind"], change["field"]) for change in json.loads(answer.out)["changes"]}
    assert changes == {("widens", "args.subcommands.memory.workspace"), ("narrows", "args.subcommands.files.egress")}
