"""What `policy check` warns of: what an entry leaves open, and what is known to run or to write (policy/risks.yaml).

Each claim about a tool that is installed is tried: under an entry that lists the option, the tool runs the attacker's
program. With what the warning says instead, it does not.
"""
import json
import pathlib

import pytest
import yaml

PROJECT = pathlib.Path(__file__).parents[2]
RISKS = yaml.safe_load((PROJECT / "policy/risks.yaml").read_text(encoding="utf-8"))["risks"]
ANY = {"operands": "any"}


def check(box, *tools, guard=None, **more):
    """Findings of a policy with these entries: (severity, rule, message)."""
    if not (box.base / "policy/adr").exists():
        box.file(box.directory("policy/adr") / "0001-x.md", "x\n")
    path = box.write_policy(list(tools), name="policy/checked.yaml", **more)
    if guard is not None:
        path = box.file(path, json.dumps({**json.loads(path.read_text()), "guard": guard}), 0o600)
    answer = box.call([box.command, "policy", "check", "--json", str(path)])
    report = json.loads(answer.out)
    assert answer.status == 0 and report["good"], report
    return [(f["severity"], f["rule"], f["message"]) for f in report["findings"]]


def entry(box, name, args=None, **more):
    return box.entry(name, **{"route": "external", "execs": [], **({"args": args} if args is not None else {}), **more})


def rules(found):
    return [rule for severity, rule, _ in found if severity == "warning"]


# ---- what an entry leaves open ----------------------------------------------------------------

def test_entry_without_args_is_a_warning(user_box):
    (found,) = check(user_box, entry(user_box, "cat"))
    assert found[:2] == ("warning", "tools.cat.args") and "list the allowed ones" in found[2]
    assert check(user_box, entry(user_box, "cat", {})) == []


@pytest.mark.parametrize("more, said", [
    ({}, True), ({"execs": []}, False), ({"execs": ["cat"]}, False), ({"uses": ["shell"]}, False),
    ({"workspace": "rw", "workspace_code": True}, False), ({"args": {"exact": [["--version"]]}}, False)])
def test_entry_without_execs_is_a_warning(user_box, more, said):
    tool = user_box.entry("cat", **{"route": "external", "args": ANY, **more})
    found = check(user_box, tool)
    assert rules(found) == (["tools.cat.execs"] if said else [])
    assert not said or "write 'execs: []'" in found[0][2]


def test_each_subcommand_may_have_its_own_execs(user_box):
    subcommands = [{"name": "a", "execs": []}, {"name": "b", "execs": ["grep"]}]
    tool = user_box.entry("cat", route="external", args={"subcommands": subcommands})
    assert check(user_box, tool) == []
    del subcommands[1]["execs"]
    assert rules(check(user_box, tool)) == ["tools.cat.execs"]


@pytest.mark.parametrize("more, warned", [
    ({"execs": ["sh"]}, ["sh"]), ({"execs": ["/usr/bin/python3.11", "grep"]}, ["/usr/bin/python3.11"]), ({"execs": ["awk", "lua"]}, ["awk", "lua"]),
    ({"args": {"subcommands": [{"name": "a", "execs": ["bash"]}, {"name": "b"}]}, "execs": ["cat"]}, ["bash"]),
    ({"execs": ["grep", "xargs", "cc"]}, []), ({"execs": ["env", "node"]}, []), ({"uses": ["shell"]}, []),
    ({"execs": ["sh"], "workspace": "rw", "workspace_code": True}, [])])
def test_interpreter_among_the_helpers_is_a_warning(user_box, more, warned):
    """The tool's arguments are closed, and those of its helper are not."""
    found = check(user_box, user_box.entry("make", **{"route": "external", "args": {"exact": [["all"]]}, **more}))
    assert [message.split("'")[1] for _, rule, message in found if rule == "tools.make.execs"] == warned, found
    assert len(found) == len(warned)


def test_interpreter_runs_the_text_of_the_repository(user_box):
    """What is warned of: 'all' is the only call, and the Makefile says what the shell prints."""
    user_box.file("root/Makefile", "all:\n\t@echo text of the repository; :\n")
    for helpers, said in ((["sh"], b"text of the repository\n"), ([], b"")):
        entry_ = user_box.entry("make", route="external", args={"exact": [["all"]]}, execs=helpers)
        answer = user_box.run("make", "all", policy=user_box.write_policy([entry_], name="policy/open.yaml"))
        assert answer.stream("stdout") == said


def test_granted_interpreter_is_a_warning(user_box):
    box = user_box
    box.file(box.directory("policy/adr") / "0001-x.md", "x\n")
    grant = {"name": "jq", "execs": ["perl"], "adr": "0001", "why": "x"}
    path = box.file("policy/granted.yaml", json.dumps({"version": 1, "extends": "default", "adr_dir": "adr", "grant": [grant]}), 0o600)
    (found,) = json.loads(box.call([box.command, "policy", "check", "--json", str(path)]).out)["findings"]
    assert (found["severity"], found["rule"]) == ("warning", "grant.jq.execs") and "'perl'" in found["message"], found


def test_jails_helper_is_not_warned_of(user_box):
    assert check(user_box, user_box.entry("bwrap", route="jail")) == []


# ---- options ----------------------------------------------------------------------------------

# tool, its args, the arguments of the attack, what is harmless instead.
ATTACKS = {
    "find": ("find", {"bundles": False, "options": ["-exec <any> <any> <any>"], "operands": "any"},
             [".", "-exec", "/usr/bin/touch", "{canary}", ";"], {"bundles": False, "options": ["-print0"], "operands": "inside"}),
    "tar": ("tar", {"options": ["-x", "-f=<inside>", "--to-command="]},
            ["-x", "-f", "a.tar", "--to-command=touch {canary}"], {"options": ["-x", "-f=<inside>"]}),
    "tar checkpoint": ("tar", {"options": ["-t", "-f=<inside>", "--checkpoint=<number>", "--checkpoint-action="]},
                       ["-t", "-f", "a.tar", "--checkpoint=1", "--checkpoint-action=exec=touch {canary}"],
                       {"options": ["-t", "-f=<inside>", "--checkpoint-action=dot"]}),
    "split": ("split", {"options": ["--filter="], "operands": "any"}, ["--filter=touch {canary}", "a.tar"],
              {"options": ["--bytes=<number>"], "operands": "inside"}),
    "env": ("env", {"options": ["-S="], "operands": "none"}, ["-Stouch {canary}"], {"options": ["-i"], "command": "after_options"}),
    "sed": ("sed", {"options": ["-n"], "first": "any", "operands": "inside"}, ["-n", "1e touch {canary}", "a.txt"],
            {"options": ["-n"], "inject": ["--sandbox"], "first": "any", "operands": "inside"}),
    "awk": ("awk", {"first": "any", "operands": "inside"}, ['BEGIN {{ system("touch {canary}") }}'],
            {"exact": [["{ print $1 }"]]}),
    "xargs": ("xargs", {"options": ["-0"], "operands": "any"}, ["touch", "{canary}"],
              {"options": ["-0"], "command": "after_options"}),
    "bash": ("bash", {"options": ["-c="], "operands": "none"}, ["-c", "touch {canary}"], {"exact": [["--version"]]}),
    "perl": ("perl", {"options": ["-e="]}, ["-e", "system('touch {canary}')"], {"options": ["-v"]}),
    "script": ("perl", {"operands": "inside"}, ["a.pl"], {"options": ["-v"]}),
    "path": ("text", {"options": ["-e="]}, ["-e", "system('touch {canary}')"], {"options": ["-v"]}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_warned_of_runs_a_program_and_what_is_said_instead_does_not(user_box, attack):
    name, args, argv, instead = ATTACKS[attack]
    box, canary = user_box, user_box.canary()
    more = {"path": "/usr/bin/perl"} if attack == "path" else {}
    box.file("root/a.txt", "x\n")
    box.file("root/a.pl", f"system('touch {canary}');\n")
    box.call(["/usr/bin/tar", "-cf", "a.tar", "a.txt"])
    given = [word.format(canary=canary) for word in argv]
    policy = box.write_policy([box.entry(name, args=args, **more)], name="policy/open.yaml")
    answer = box.run(name, *given, policy=policy)
    assert answer.outcome == "exited" and canary.exists(), answer
    warned = [message for severity, rule, message in check(box, entry(box, name, args, **more))
              if (severity, rule) == ("warning", f"tools.{name}.args")]
    assert len(warned) == 1 and (" runs what it is given: " in warned[0] or " runs programs: " in warned[0])
    canary.unlink()
    assert check(box, entry(box, name, instead, **more)) == []
    policy = box.write_policy([box.entry(name, args=instead, **more)], name="policy/closed.yaml")
    box.run(name, *given, policy=policy)
    assert not canary.exists()


def test_warning_has_the_place_of_the_option(user_box):
    box = user_box
    box.file(box.directory("policy/adr") / "0001-x.md", "x\n")
    text = """version: 1
adr_dir: adr
search_path: [/usr/bin]
tools:
  - name: git
    why: w
    adr: "0001"
    route: external
    execs: []
    args:
      sets: [{name: s, options: [-q, "--output="]}]
      options: [-C=<inside>, "-c="]
      subcommands:
        - {name: archive, options: ["@s", "--exec=", "--format=tar|zip"]}
        - {name: grep, options: [-c, -o]}
"""
    answer = box.call([box.command, "policy", "check", str(box.file("policy/p.yaml", text, 0o600))])
    lines = [line.split(": ")[0].rsplit("/")[-1] for line in answer.out.decode().splitlines() if "warning: option" in line]
    assert sorted(lines) == ["p.yaml:11:38", "p.yaml:12:30", "p.yaml:14:43"], answer.out.decode()


@pytest.mark.parametrize("option, said", [
    ("-o=", True), ("-o=<any>", True), ("-o=<name>", True), ("-o=<inside>", False), ("-o=a.txt|b.txt", False), ("-o", False)])
def test_file_beneath_the_root_may_be_written(user_box, option, said):
    found = check(user_box, entry(user_box, "sort", {"options": [option], "operands": "inside"}))
    assert rules(found) == (["tools.sort.args"] if said else [])


def test_version_in_a_name_does_not_hide_a_tool(user_box):
    for name in ("python3", "python3.11", "php8.2"):
        assert rules(check(user_box, entry(user_box, name, ANY))) == [f"tools.{name}.args"]
    assert check(user_box, entry(user_box, "pythonic", ANY)) == []


def test_code_of_the_repository_may_be_said(user_box):
    tool = entry(user_box, "make", ANY)
    assert rules(check(user_box, tool)) == ["tools.make.args"]
    assert check(user_box, {**tool, "workspace": "rw", "workspace_code": True}) == []


@pytest.mark.parametrize("name, options", [
    ("eslint", ["--config=<existing>", "-c=<existing>"]), ("prettier", ["--config=<existing>"]),
    ("perl", ["-e=", "-I=<inside>"]), ("ruby", ["-e=", "-r=<inside>"]), ("php", ["-r=", "-d="])])
def test_option_that_runs_code_may_be_said_with_code_of_the_repository(user_box, name, options):
    tool = entry(user_box, name, {"options": options})
    assert rules(check(user_box, tool)) == [f"tools.{name}.args"] * len(options)
    assert check(user_box, {**tool, "workspace": "rw", "workspace_code": True}) == []


def test_short_option_of_one_tool_is_not_taken_for_that_of_another(user_box):
    """-c of prettier is --check."""
    assert check(user_box, entry(user_box, "prettier", {"options": ["-c"], "operands": "inside"})) == []


@pytest.mark.parametrize("option, said", [("-w=", True), ("--write-out=", True), ("-w=%{http_code}", False)])
def test_format_of_curl_may_write(user_box, option, said):
    """%output{FILE} does, from version 8.3 on."""
    assert rules(check(user_box, entry(user_box, "curl", {"options": [option]}))) == (["tools.curl.args"] if said else [])


def test_every_row_of_the_table_is_reached(user_box):
    """An entry that lists the options of the row, and nothing else, has a warning for each."""
    tools, wanted = [], []
    for risk in RISKS:
        for name in risk["tools"]:
            options = risk.get("options", [])
            args = {"bundles": False, "options": [f"{option}=" for option in options]}
            where = [word for word in risk.get("subcommands", []) if word != "."]
            if where:
                args = {"bundles": False, "subcommands": [{"name": word, "options": args["options"]} for word in where]}
            if not options:
                args["operands"] = "any"
            # One policy has a name once, so it goes into `path`.
            tools.append(entry(user_box, f"t{len(tools)}x", args, path=f"/usr/bin/{name}"))
            wanted.append(len(options) * max(len(where), 1) or 1)
    found = rules(check(user_box, *tools))
    counts = [sum(rule == f"tools.{tool['name']}.args" for rule in found) for tool in tools]
    assert [tool["path"] for tool, count, least in zip(tools, counts, wanted) if count < least] == []


# ---- grants -----------------------------------------------------------------------------------

def extended(box, *grants):
    box.file(box.directory("policy/adr") / "0001-x.md", "x\n")
    document = {"version": 1, "extends": "default", "adr_dir": "adr",
                "grant": [{"why": "w", "adr": "0001", **grant} for grant in grants]}
    path = box.file("policy/extended.yaml", json.dumps(document, indent=1), 0o600)
    answer = box.call([box.command, "policy", "check", "--json", str(path)])
    assert answer.status == 0, answer
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(f["rule"], lines[f["line"] - 1].strip(" ,")) for f in json.loads(answer.out)["findings"]]


def test_option_of_a_grant_is_warned_of(user_box):
    found = extended(user_box, {"name": "git", "options": ["-q", "-c="]}, {"name": "node", "options": ["--eval="]},
                     {"name": "git", "subcommand": "log", "options": ["-c="]})
    assert found == [("tools.git.args", '"-c="'), ("tools.node.args", '"--eval="')]


def test_grant_that_does_not_reach_a_subcommand_is_warned_of(user_box):
    found = extended(user_box, {"name": "npm", "egress": ["a.org"]}, {"name": "npm", "subcommand": "ci", "egress": ["a.org"]})
    assert [rule for rule, _ in found] == ["grant.npm.egress"]


def test_entries_of_the_build_are_not_warned_of(user_box):
    assert extended(user_box, {"name": "npm", "subcommand": "ci", "egress": ["a.org"]}) == []


# ---- carriers of guard ------------------------------------------------------------------------

def guarded(box, *tools, **section):
    """The findings about the section `guard`."""
    found = check(box, *tools, guard={"adr": "0001", **section})
    return [(rule, message) for severity, rule, message in found if severity == "warning" and rule.startswith("guard.")]


@pytest.mark.parametrize("more", [
    {"args": ANY}, {"egress": ["a.example.org"]}, {"limits": {"timeout_s": 5}}, {"set_env": [{"name": "A", "value": "b"}]},
    {"args": {"subcommands": [{"name": "a", "egress": ["a.example.org"]}]}}])
def test_what_does_not_hold_on_a_carrier_is_a_warning(user_box, more):
    tool = user_box.entry("git", **{"route": "external", "execs": [], **more})
    (found,) = guarded(user_box, tool, carriers=["git"])
    assert found[0] == "guard.carriers" and "'git' is a carrier" in found[1] and "do not hold" in found[1]
    assert guarded(user_box, tool) == []


def test_carrier_without_such_keys_is_no_warning(user_box):
    tools = [user_box.entry("bash", route="external", execs=[]), user_box.entry("agent", route="carrier")]
    assert guarded(user_box, *tools, carriers=["bash"]) == []


def test_entry_of_route_carrier_needs_no_args_and_no_execs(user_box):
    assert check(user_box, user_box.entry("agent", route="carrier")) == []


def test_carriers_without_a_record_are_a_warning(user_box):
    tool = user_box.entry("bash", route="external", execs=[])
    found = check(user_box, tool, guard={"carriers": ["bash"]})
    assert [rule for rule in rules(found) if rule.startswith("guard")] == ["guard.adr"]


@pytest.mark.parametrize("name, jit, said", [("node", False, True), ("node", True, False), ("bash", False, False)])
def test_carrier_that_makes_code_needs_jit(user_box, name, jit, said):
    found = guarded(user_box, user_box.entry(name, route="external", execs=[]), carriers=[name], jit=jit)
    assert [rule for rule, _ in found] == (["guard.jit"] if said else [])
