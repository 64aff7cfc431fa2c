"""Promise: The machine's policy.
Attacker: whoever writes the command line and the environment of the command, and is not root.
Means: another policy, as a file, as standard input, by a link or by variables; no jail for an
external tool; no log, another log, one that is never synced, or another home for it; another root;
another probes file; other commands that run tools.

Expected (R9): each is refused, the message says that the machine's policy is locked, and the attempt
to run something is in the machine's log. Without the lock each of these succeeds.
"""
import json

import pytest

from machine import is_locked_message
from no_userns import on_fake_kernel
from tracing import PROBES


def attacks(box):
    """Name: options of run."""
    link = box.base / "policy/link.yaml"
    if not link.is_symlink():
        link.symlink_to(box.policy)
    return {
        "policy": ["--policy", str(box.policy)],
        "policy by a link": ["--policy", str(link)],
        "no audit": ["--no-audit"],
        "another log": ["--audit", str(box.log)],
        "a relative log": ["--audit", "../outside/audit.jsonl"],
        "no jail": ["--jail", "none"],
        "records that are never synced": ["--audit-sync", "none"],
    }


@pytest.mark.parametrize("name", ["policy", "policy by a link", "no audit", "another log", "a relative log", "no jail",
                                  "records that are never synced"])
def test_weakening_option_is_refused(machine_box, name):
    box = machine_box
    options = attacks(box)[name]
    tool = ["rg", "--version"] if name == "no jail" else ["say_args", "x"]
    box.install()
    assert box.plain(*tool, options=options).outcome == "exited"
    box.install(locked=True)
    before = len(box.recorded())
    answer = box.plain(*tool, options=options)
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "locked")
    assert is_locked_message(answer.message), answer.message
    (record,) = [record for record in box.recorded()[before:] if record["kind"] == "refused"]
    assert record["outcome"] == "disallowed", record
    dry = box.plain(*tool, options=[*options, "--dry-run"])
    assert (dry.status, dry.outcome) == (125, "disallowed") and is_locked_message(json.dumps(dry.document))


def test_policy_from_standard_input_is_refused(machine_box):
    """'-' is the name of a file here, as it is without the lock."""
    machine_box.install(locked=True)
    for name in ("-", "/dev/stdin", "/proc/self/fd/0"):
        answer = machine_box.plain("sh", "-c", "echo no", options=["--policy", name], input=machine_box.policy.read_bytes())
        assert (answer.status, answer.outcome) == (125, "policy") or is_locked_message(answer.message), name
        assert answer.stream("stdout") == b""


def test_environment_selects_neither_policy_nor_log(machine_box):
    box = machine_box
    box.install([box.entry("say_args")], locked=True)
    other = box.directory("other")
    env = box.environment(HOME=str(other), XDG_STATE_HOME=str(other), XDG_CONFIG_HOME=str(box.base / "policy"),
                          XDG_CONFIG_DIRS=str(box.base / "policy"), XDG_CACHE_HOME=str(other), CHOKE_POLICY=str(box.policy),
                          CHOKEPOINT_POLICY=str(box.policy), CHOKE_AUDIT="", CHOKEPOINT_CONFIG=str(box.policy))
    answer = box.plain("say_args", "x", env=env)
    assert answer.outcome == "exited", answer.document
    assert not (other / "chokepoint").exists() and not (other / ".local").exists()
    assert [record["kind"] for record in box.recorded()][-2:] == ["intent", "outcome"]
    assert box.plain("sh", "-c", "echo no", env=env).outcome == "disallowed"
    for variables in ({"HOME": ""}, {"HOME": "relative", "XDG_STATE_HOME": "relative"}):
        assert box.plain("say_args", "x", env=box.environment(**variables)).outcome == "exited"


def test_log_without_a_home_in_the_password_database_refuses(machine_box):
    box = machine_box
    box.install(locked=True)
    for home in (None, "", "relative"):
        box.passwd(home)
        answer = box.plain("say_args", "x")
        assert answer.status == 125 and is_locked_message(answer.message), home
    box.passwd("/nonexistent")
    answer = box.plain("say_args", "x")
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "spawn_failed", "audit")
    assert "--no-audit" not in answer.message


def test_root_outside_the_listed_ones_is_refused(machine_box):
    box = machine_box
    allowed, other = box.directory("allowed"), box.directory("allowed-not")
    inside = box.directory("allowed/deep")
    link, planted = box.base / "link", box.base / "planted"
    link.symlink_to(other)
    planted.symlink_to("/")
    box.install(locked=True, roots=[str(allowed), str(box.base / "missing"), str(planted)])
    for root in (allowed, inside, box.base / "allowed/../allowed"):
        assert box.plain("say_args", "x", root=root, cwd=root).outcome == "exited", root
    for root in (other, link, box.base, "/usr", "/etc/apt", inside / "../../allowed-not"):
        answer = box.plain("say_args", "x", root=root, cwd=root)
        assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "roots"), root
        assert is_locked_message(answer.message) and str(allowed) in answer.message


@pytest.mark.parametrize("fault", ["seccomp", "container"])
def test_external_tool_without_a_whole_jail_is_refused(machine_box, fault):
    """No jail at all, or only a part of one: as with --require-jail."""
    box = machine_box
    box.install()
    assert on_fake_kernel(box, fault, "rg", "--version", policy="default", audit="default").outcome == "exited"
    box.install(locked=True)
    answer = on_fake_kernel(box, fault, "rg", "--version", policy="default", audit="default")
    assert (answer.status, answer.outcome) == (125, "jail_unavailable"), answer.document
    assert is_locked_message(answer.message)
    assert on_fake_kernel(box, fault, "say_args", policy="default", audit="default").outcome == "exited"


def test_entry_without_its_decision_record_is_refused(machine_box):
    box = machine_box
    box.install([box.entry("say_args"), box.entry("say_env", adr="0002")], locked=True)
    assert box.plain("say_args", "x").outcome == "exited"
    answer = box.plain("say_env")
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.say_env.adr")
    assert is_locked_message(answer.message) and "0002" in answer.message
    box.record("0002")
    assert box.plain("say_env").outcome == "exited"
    box.file_path.write_text(box.file_path.read_text(encoding="ascii").replace('"adr_dir": "adr",', ""), encoding="ascii")
    answer = box.plain("say_args", "x")
    assert answer.outcome == "disallowed" and "adr_dir" in answer.message


def test_other_commands_run_nothing_by_another_policy(machine_box):
    box = machine_box
    own = str(box.policy)
    locks = [str(box.base / "audit" / name) for name in ("first.lock", "second.lock")]
    box.install()
    assert box.call([box.command, "lock", "--policy", own, "--output", locks[0]]).status == 0
    box.install(locked=True)
    for command in (["doctor", "--policy", own], ["doctor", "--attack"], ["lock", "--policy", own, "--output", locks[1]],
                    ["lock", "--policy", own, "--check", locks[0]]):
        answer = box.call([box.command, *command])
        assert answer.status == 125 and is_locked_message(answer.err.decode()), (command, answer)
    assert not (box.base / "audit/second.lock").exists()


def test_no_option_writes_over_the_log(machine_box):
    """The command writes files that its caller names; the machine's log must not be one of them."""
    box = machine_box
    tool = box.entry("sh", route="external", workspace="overlay", execs=[])
    box.install([tool, box.entry("rg", route="external"), box.entry("git")], locked=True)
    here = box.machine_log.parent
    here.mkdir(parents=True, mode=0o700)
    for path in (here, here.parent, here.parent.parent):
        box.own(path, 0o700)
    # Before there is a log its directory is empty, and could be that of --keep.
    line = "echo forged > audit.jsonl"
    for command in (["policy", "init"], ["audit", "keygen"]):
        answer = box.call([box.command, *command, str(box.machine_log)])
        assert answer.status != 0 and is_locked_message(answer.err.decode()), answer
    answer = box.plain("sh", "-c", line, options=["--keep", str(here)])
    assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit"), answer.document
    assert box.plain("sh", "-c", line, options=["--keep", str(box.directory("kept", 0o700))]).outcome == "exited"
    records = box.recorded()
    assert [record["kind"] for record in records] == ["begin", "refused", "intent", "outcome"]
    for command in (["gather", "--only", "snapshot", "--out", str(box.machine_log), str(box.root)],
                    ["gather", "--only", "snapshot", "--out", str(here / "../chokepoint/audit.jsonl"), str(box.root)],
                    ["gather", "--only", "snapshot", "--keep", str(here), str(box.root)],
                    ["gather", "--only", "snapshot", "--keep", str(here / "../chokepoint"), str(box.root)],
                    ["lock", "--output", str(box.machine_log)], ["policy", "init", str(here / "own.yaml")],
                    ["audit", "keygen", str(here / "key")]):
        answer = box.call([box.command, *command])
        assert answer.status in (125, 2) and is_locked_message(answer.err.decode()), answer
    assert box.recorded()[:4] == records and [path.name for path in here.iterdir()] == ["audit.jsonl"]
    assert box.call([box.command, "gather", "--only", "snapshot", "--out", str(box.base / "kept/x.json"), str(box.root)]).status == 0
    init = [box.command, "policy", "init", str(box.base / "kept/own.yaml")]
    here.parent.chmod(0)  # where the log is cannot be seen, so it may be anywhere
    answer = box.call(init)
    assert answer.status == 125 and is_locked_message(answer.err.decode()) and "cannot examine" in answer.err.decode()
    here.parent.chmod(0o700)
    assert box.call(init).status == 0


def test_gather_takes_no_other_policy_probes_or_log(machine_box):
    box = machine_box
    probes = box.file("policy/probes.yaml", PROBES.read_text(encoding="utf-8"), 0o600)
    box.install(locked=True)
    for options in (["--policy", str(box.policy)], ["--probes", str(probes)], ["--no-audit"], ["--audit", str(box.log)]):
        answer = box.call([box.command, "gather", "--json", *options, str(box.root)])
        assert answer.status == 125 and is_locked_message(answer.err.decode()), (options, answer)
        assert answer.out == b""
    assert not box.log.exists()
    box.repository()
    before = len(box.recorded())
    assert box.call([box.command, "gather", "--json", "--only", "snapshot", str(box.root)]).status == 0
    assert len(box.recorded()) > before
