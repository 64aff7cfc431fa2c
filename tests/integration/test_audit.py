"""R50: every call is recorded before it runs, and its outcome afterwards; without a record nothing
runs.
"""
import hashlib
import json
import os
import pathlib
import re
import signal
import stat
import subprocess

import jsonschema
import pytest

import audit
from audit import SCHEMA, VALIDATOR, records
from command import EXPECTED_STATUS, pattern

PROJECT = pathlib.Path(__file__).parents[2]
GOLDEN = PROJECT / "tests/integration/golden"


def kinds(path):
    return [record["kind"] for record in records(path)]


def verify(box, *args):
    return box.call([box.command, "audit", "verify", "--quiet", *map(str, args)])


# ---- what is recorded ----------------------------------------------------------------------------------------------


def test_schema_is_a_schema():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_run_is_an_intent_and_an_outcome(box):
    box.run("sh", "-c", "echo out; echo err >&2; exit 3", options=["--probe", "some_probe"])
    begin, intent, outcome = records(box.log)
    assert (begin["kind"], begin["seq"], begin["continues"]) == ("begin", 0, None)
    shell = next(path for path in (pathlib.Path(directory) / "sh" for directory in box.search_path) if path.exists())
    assert intent["tool"] == {"name": "sh", "path": str(shell),
                              "sha256": hashlib.sha256(shell.read_bytes()).hexdigest()}
    assert intent["argv"] == ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert intent["env"] == ["HOME", "LANG", "LC_ALL", "PATH"]
    assert intent["root"] == intent["cwd"] == str(box.root)
    assert intent["policy"] == {"path": str(box.policy),
                                "sha256": hashlib.sha256(box.policy.read_bytes()).hexdigest()}
    assert (intent["rule"], intent["jail"], intent["probe"], intent["timeout_ms"]) == ("tools.sh", "none", "some_probe",
                                                                                     30000)
    assert outcome["intent"] == intent["seq"] and outcome["context"] == intent["context"]
    assert (outcome["outcome"], outcome["exit_code"], outcome["signal"], outcome["error"]) == ("exited", 3, None, None)
    assert outcome["stdout"] == {"bytes": 4, "hash": audit.digest(b"out\n"), "truncated": False}
    assert outcome["stderr"] == {"bytes": 4, "hash": audit.digest(b"err\n"), "truncated": False}
    assert outcome["tool"] == {"name": "sh"} and outcome["kill"] and outcome["duration_us"] > 0


def test_hash_of_a_stream_is_of_all_that_was_written(box):
    answer = box.run("flood", "200000", "out", options=["--max-output", "1000"])
    assert answer["stdout"]["truncated"]
    assert records(box.log)[-1]["stdout"] == {"bytes": 200000, "hash": audit.digest(pattern(0, 200000)),
                                              "truncated": True}


def test_output_that_is_passed_on_is_hashed_too(box):
    box.run("say_args", "x", form="--stream")
    assert records(box.log)[-1]["stdout"] == {"bytes": 2, "hash": audit.digest(b"x\0"), "truncated": False}


@pytest.mark.parametrize("form", [None, "--stream", "--json --stream"])
def test_output_that_is_passed_on_is_not_recorded_as_truncated(user_box, form):
    user_box.run("flood", "3000000", "out", form=form)
    assert records(user_box.log)[-1]["stdout"] == {"bytes": 3000000, "hash": audit.digest(pattern(0, 3000000)),
                                                   "truncated": False}


@pytest.mark.parametrize("argv,shape,outcome,rule", [
    (["bash"], {}, "disallowed", "tools"),
    (["true"], {"cwd": "/"}, "cwd", "request.cwd"),
    (["true"], {"options": ["--env", "SOME_NAME=x"]}, "env_forbidden", "tools.true.env"),
    (["gone"], {}, "tool_missing", "search_path"),
    (["true"], {"options": ["--probe", "No Name"]}, "invalid", "request.probe")])
def test_refusal_is_recorded_with_its_rule(box, argv, shape, outcome, rule):
    policy = box.write_policy([box.entry("true"), box.entry("gone")])
    answer = box.run(*argv, policy=policy, **shape)
    _, refused = records(box.log)
    assert (answer.outcome, refused["kind"], refused["outcome"], refused["rule"]) == (outcome, "refused", outcome, rule)
    assert refused["error"] == answer["error"] and refused["argv"] == argv
    assert not answer["unrecorded"] and answer.status == EXPECTED_STATUS.get(outcome, 125)


@pytest.mark.parametrize("pad", [80, 90, 100])
def test_no_part_of_a_credential_in_a_long_path_is_recorded(user_box, pad):
    """A message quotes the beginning of a path, and half of a token does not look like a token."""
    answer = user_box.run("true", cwd="d/" * pad + "ghp_" + "aB3dE6" * 6)
    assert answer.outcome == "cwd"
    assert b"aB3" not in user_box.log.read_bytes()


@pytest.mark.parametrize("argv,timeout,outcome", [
    (["sh", "-c", "kill -9 $$"], 10, "signaled"), (["sleep", "20"], 0.1, "timeout")])
def test_other_ends_are_recorded(box, argv, timeout, outcome):
    answer = box.run(*argv, timeout=timeout)
    last = records(box.log)[-1]
    assert (last["kind"], last["outcome"], last["error"]) == ("outcome", outcome, answer["error"])


def test_tool_that_cannot_be_started_has_an_outcome(box):
    box.file("outside/tool", b"\x7fELF and nothing else", 0o755)
    policy = box.write_policy([box.entry("tool")], search_path=[str(box.outside)])
    answer = box.run("tool", policy=policy)
    assert answer.outcome == "spawn_failed" and kinds(box.log) == ["begin", "intent", "outcome"]
    assert records(box.log)[-1]["outcome"] == "spawn_failed"


def test_jail_layers_and_limits_are_recorded(box):
    policy = box.write_policy(true={"limits": {"open_files": 64, "timeout_s": 7}, "workspace": "rw"})
    box.run("true", policy=policy, timeout="default", options=["--jail", "native"])
    _, intent, _ = records(box.log)
    assert intent["jail"] == "native" and "landlock" in intent["layers"] and intent["workspace"] == "rw"
    assert intent["limits"] == {"open_files": 64} and intent["timeout_ms"] == 7000


def test_bytes_that_are_no_text_are_base64(box):
    box.run(*[b"say_args", b"\xff\xfe", "caf\u00e9\u202e\x1b\x7f\u0085".encode(), b"\"\\\n\t"])
    _, intent, _ = records(box.log)
    assert intent["argv"] == ["say_args", {"base64": "//4="}, "caf\u00e9\u202e\x1b\x7f\u0085", "\"\\\n\t"]
    assert not re.search(b"[\x00-\x09\x0b-\x1f\x7f]|\xc2\x85|\xe2\x80\xae", box.log.read_bytes())


def test_long_argv_is_cut_and_its_hash_covers_it(box):
    argv = ["say_args"] + [f"{number}-" + "x" * 500 for number in range(300)] + ["y" * 131000]
    box.run(*argv)
    _, intent, outcome = records(box.log)
    kept = len(intent["argv"])
    assert 20 < kept < 300 and intent["argv"] == argv[:kept] and intent["argv_cut"] == len(argv) - kept
    assert intent["argv_hash"] == audit.digest(b"".join(word.encode() + b"\0" for word in argv))
    assert outcome["outcome"] == "exited" and max(map(len, box.log.read_bytes().splitlines(True))) <= 65536


def test_the_longest_record_still_fits_into_a_line(box):
    """Each byte of the paths and of the arguments takes six bytes in JSON."""
    deep = box.root
    for _ in range(15):
        deep = deep / ("\x01" * 250)
        deep.mkdir()
        box.own(deep)
    box.run("say_args", *["\x01" * 60000] * 20, root=deep, cwd=deep)
    _, intent, _ = records(box.log)
    assert intent["root"] == {"bytes": len(str(deep)), "hash": audit.digest(str(deep).encode())}
    assert intent["argv"] == ["say_args"] and intent["argv_cut"] == 20


def test_digest_of_a_tool_is_remembered_until_it_changes(box):
    tool = box.file("outside/tool", "#!/bin/sh\nexit 0\n", 0o755)
    os.utime(tool, (1, 1))
    policy = box.write_policy([box.entry("tool")], search_path=[str(box.outside)])
    digests = []
    for text in ("#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 1\n"):
        tool.write_text(text, encoding="ascii")
        for _ in range(2):
            box.run("tool", policy=policy)
        digests.append(hashlib.sha256(text.encode()).hexdigest())
    found = [record["tool"]["sha256"] for record in records(box.log) if record["kind"] == "intent"]
    assert found == [digests[0]] * 2 + [digests[1]] * 2


def test_digest_of_a_settled_tool_comes_from_the_cache(box):
    """A wrong digest in the cache is believed, which shows that the file was not read."""
    box.run("true")
    cache = box.home / ".cache/chokepoint/tools.json"
    document = json.loads(cache.read_text(encoding="ascii"))
    (tool,) = document["policies"][0]["tools"]
    assert tool["sha256"] == records(box.log)[1]["tool"]["sha256"] and tool["version"] is None
    tool["sha256"] = "0" * 64
    cache.write_text(json.dumps(document), encoding="ascii")
    box.run("true")
    assert records(box.log)[3]["tool"]["sha256"] == "0" * 64


# ---- where ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable,directory", [("HOME", "home/.local/state"), ("XDG_STATE_HOME", "home/state")])
def test_log_is_in_the_callers_state_by_default(box, variable, directory):
    extra = {"XDG_STATE_HOME": str(box.home / "state")} if variable == "XDG_STATE_HOME" else {}
    assert box.run("true", audit="default", env=box.environment(**extra)).outcome == "exited"
    log = box.base / directory / "chokepoint/audit.jsonl"
    assert kinds(log) == ["begin", "intent", "outcome"]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600 and stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    assert log.stat().st_uid == box.actor.uid and not box.log.exists()
    verified = box.call([box.command, "audit", "verify"], env=box.environment(**extra))
    assert verified.status == 0 and verified.out == log.read_bytes()


def test_without_a_home_nothing_is_run(box):
    environment = {"PATH": "/usr/bin:/bin"}
    answer = box.run("sh", "-c", f": > {box.canary()}", audit="default", env=environment)
    assert answer.status == 125 and answer.outcome == "spawn_failed"
    assert "--no-audit" in answer.message and "--audit FILE" in answer.message and not box.canary().exists()
    assert box.run("true", options=["--no-audit"], env=environment).outcome == "exited"


def test_no_audit_writes_nothing(box):
    box.run("true", options=["--no-audit"])
    box.run("true", options=["--dry-run"])
    assert not box.log.exists() and list(box.home.iterdir()) == []


def test_audit_and_no_audit_exclude_each_other(box):
    answer = box.run("true", options=["--no-audit"], audit=box.log)
    assert answer.status == 125 and "exclude" in answer.message


def test_relative_log_is_taken_from_here(box):
    answer = box.run("true", audit="log.jsonl", popen={"cwd": box.log.parent})
    assert answer.outcome == "exited" and kinds(box.log.parent / "log.jsonl") == ["begin", "intent", "outcome"]


def test_log_beneath_a_root_that_the_tool_may_write_is_refused(box):
    policy = box.write_policy(true={"workspace": "rw"})
    log = box.root / "audit.jsonl"
    answer = box.run("true", policy=policy, audit=log, options=["--jail", "native"])
    assert (answer.outcome, answer["rule"], answer.status) == ("spawn_failed", "audit", 125)
    assert "inside the root" in answer.message and kinds(log) == ["begin", "refused"]
    policy = box.write_policy()
    assert box.run("true", policy=policy, audit=log, options=["--jail", "native"]).outcome == "exited"  # it may only read


# ---- how it is kept ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sync", ["none", "batched", "every"])
def test_every_durability_records_the_same(box, sync):
    for _ in range(2):
        assert box.run("true", audit=box.log, options=["--audit-sync", sync]).outcome == "exited"
    assert box.run("bash", audit=box.log, options=["--audit-sync", sync]).outcome == "disallowed"
    assert kinds(box.log) == ["begin", "intent", "outcome", "intent", "outcome", "refused"]


def synced(box, sync, *options):
    """The system calls of a run that concern the log, in order, and "plan": the message that starts the tool."""
    trace = box.base / "trace"
    args = box.run_argv(["true"], audit=box.log, options=["--audit-sync", sync, *options])
    subprocess.run(["strace", "-qq", "-y", "-e", "trace=write,fdatasync,sendmsg,/rename", "-o", trace, *args], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=box.root,
                   env=box.environment(ASAN_OPTIONS="detect_leaks=0"))  # only one tracer can trace a process
    names = []
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        name = line.split("(")[0]
        if name == "sendmsg" and 'iov_base="\\3\\0\\0\\0' in line:  # CK_WIRE_PLAN
            names.append("plan")
        elif str(box.log) in line or f'"{box.log.name}"' in line:
            names.append(name)
    return names


def test_intent_is_on_the_disk_before_the_launch_and_the_outcome_at_the_end(root_box):
    root_box.run("true")  # the log exists
    every, batched, none = (synced(root_box, sync) for sync in ("every", "batched", "none"))
    assert every == ["write", "fdatasync", "plan", "write", "fdatasync"]
    assert batched == ["write", "plan", "write", "fdatasync"]
    assert none == ["write", "plan", "write"]


@pytest.mark.parametrize("sync,calls", [("batched", ["fdatasync", "fdatasync", "renameat"]), ("none", ["renameat"])])
def test_file_is_on_the_disk_before_another_goes_on_from_it(root_box, sync, calls):
    """After a power failure a begin without the record that it follows would look like a tampered
    log."""
    root_box.run("true", audit=root_box.log, options=["--audit-sync", "none"])
    found = [name for name in synced(root_box, sync, "--audit-max", "100") if name in ("fdatasync", "renameat")]
    assert found[:found.index("renameat") + 1] == calls  # the old file, the new one, the new one's name


def test_rotation_keeps_the_chain_across_files(box):
    for _ in range(6):
        assert box.run("true", options=["--audit-max", "2000"]).outcome == "exited"
    names = sorted(path.name for path in box.log.parent.iterdir())
    assert len(names) > 2 and names[-1] == "audit.jsonl"
    assert all(re.fullmatch(r"audit-[0-9]{12}\.jsonl", name) for name in names[:-1])
    lines = [json.loads(line) for name in names for line in (box.log.parent / name).read_bytes().splitlines()]
    for before, record in zip([None, *lines], lines):
        VALIDATOR.validate(record)
        assert before is None or record["prev"] == before["hash"] and record["seq"] == before["seq"] + 1
    begins = [record for record in lines if record["kind"] == "begin"]
    assert [record["continues"] for record in begins] == [None, *names[:-1]]
    assert [record["seq"] for record in begins[:-1]] == [int(name[6:18]) for name in names[:-1]]
    assert sum(record["kind"] == "intent" for record in lines) == 6
    assert verify(box, *(box.log.parent / name for name in names)).status == 0
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in box.log.parent.iterdir())


def test_log_without_a_bound_is_not_rotated(box):
    for _ in range(3):
        box.run("true", options=["--audit-max", "0"])
    assert [path.name for path in box.log.parent.iterdir()] == ["audit.jsonl"]


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_torn_tail_is_repaired_and_reported(box, cut):
    box.run("true")
    text = box.log.read_bytes()
    torn = text[:-cut].rsplit(b"\n", 1)[1]
    box.log.write_bytes(text[:-cut])
    answer = box.run("true")
    assert answer.outcome == "exited" and box.log.read_bytes().startswith(text[:-cut])
    repairs = [event for event in box.events(answer) if event["event"] == "audit.repaired"]
    if cut == 1:  # only the newline was missing, so nothing is lost
        assert kinds(box.log) == ["begin", "intent", "outcome", "intent", "outcome"] and not repairs
        return
    assert [(event["level"], event["bytes"]) for event in repairs] == [("warning", str(len(torn) + 1))]
    lines = box.log.read_bytes().splitlines()
    repair = json.loads(lines[3])
    VALIDATOR.validate(repair)
    assert (repair["kind"], repair["torn_bytes"]) == ("repair", len(torn) + 1)
    assert repair["torn_hash"] == audit.digest(torn + b"\n") and repair["prev"] == json.loads(lines[1])["hash"]
    assert verify(box, box.log).status == 0


def test_record_that_was_edited_is_not_written_after(box):
    """A record after it would vouch for it."""
    box.run("true")
    text = box.log.read_bytes()
    box.log.write_bytes(text.replace(b'"exit_code":0', b'"exit_code":1'))
    answer = box.run("sh", "-c", f": > {box.canary()}")
    assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit") and "edited" in answer.message
    assert answer["unrecorded"] and not box.canary().exists()


def test_file_that_is_no_log_is_left_alone(box):
    other = box.file("audit/notes.txt", "dear diary\n", 0o600)
    answer = box.run("true", audit=other)
    assert (answer.outcome, answer["rule"]) == ("spawn_failed", "audit")
    assert other.read_text(encoding="ascii") == "dear diary\n"


def test_empty_file_becomes_a_log(box):
    box.file("audit/audit.jsonl", "", 0o600)
    box.run("true")
    assert kinds(box.log) == ["begin", "intent", "outcome"]


# ---- the library ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["deleted", "moved", "exchanged", "emptied", "late"])
def test_log_that_something_happens_to_is_not_written_to(box, mode):
    box.host("host_audit", box.log, mode)


def test_jobs_share_a_sync_and_exist_only_after_it(box):
    box.host("host_audit", box.log, "every", 40)
    found = records(box.log)
    intents = {record["seq"]: record for record in found if record["kind"] == "intent"}
    outcomes = [record for record in found if record["kind"] == "outcome"]
    assert len(intents) == 41 and sorted(record["intent"] for record in outcomes) == sorted(intents)
    assert [record["outcome"] for record in outcomes].count("cancelled") == 1
    assert found[1:41] == list(intents.values())[:40]


def test_job_that_ends_before_its_launch_is_waited_for(box):
    box.host("host_audit", box.log, "alone")
    assert [record.get("outcome") for record in records(box.log)] == [None, None, "cancelled"]


def test_jobs_that_wait_when_their_context_is_freed_are_recorded_as_cancelled(box):
    box.host("host_audit", box.log, "left")
    assert [record["outcome"] for record in records(box.log) if record["kind"] == "outcome"] == ["cancelled"] * 3


def test_fork_that_frees_its_copy_writes_nothing(box):
    box.host("host_audit", box.log, "forked")
    assert kinds(box.log) == ["begin", "intent", "outcome"]


def test_threads_with_contexts_of_their_own_keep_one_chain(box):
    box.host("host_audit", box.log, "write", 200, 8)
    found = [json.loads(line) for line in box.log.read_bytes().splitlines()]
    audit.check(box.log.read_bytes())
    contexts = {record["context"] for record in found[1:]}
    assert len(contexts) == 8 and len(found) == 1601
    for context in contexts:
        assert [record["argv"][0] for record in found[1:] if record["context"] == context] == [
            f"call-{number}" for number in range(200)]


# ---- golden files --------------------------------------------------------------------------------------------------

VOLATILE = ("log", "time", "prev", "hash", "context", "pid", "duration_us", "user_us", "system_us", "max_rss_kib", "kill")


def settled(box, line):
    """A record as text, with the parts that vary between runs replaced."""
    record = json.loads(line)
    for name in VOLATILE:
        if name in record:
            record[name] = f"({name})"
    if record.get("outcome") == "timeout" and record.get("signal") == signal.SIGKILL:
        record["signal"] = int(signal.SIGTERM)  # on a busy machine the tool did not run within its grace
    if record.get("tool", {}).get("sha256"):
        record["tool"]["sha256"] = "(sha256)"
    if "policy" in record:
        record["policy"]["sha256"] = "(sha256)"
    text = json.dumps(record)
    for path, name in ((box.base, "(place)"), (box.stage, "(stage)")):
        text = text.replace(str(path), name)
    return text


def test_records_are_as_the_golden_file_has_them(user_box):
    box = user_box
    policy = box.write_policy([box.entry("say_args", limits={"open_files": 64}), box.entry("sleep", env=["TZ"])])
    box.run("say_args", "one", "\u00e9\x1b", "--token=ghp_" + "a" * 36, policy=policy)
    box.run("say_args", "one", "\u00e9\x1b", policy=policy)
    box.run("sleep", "20", timeout=1, policy=policy, options=["--env", "TZ=UTC"])
    box.run("bash", policy=policy)
    with box.log.open("ab") as log:
        log.write(b'{"v":1,"log":"')
    box.run("bash", "-c", "x", policy=policy, options=["--probe", "some_probe"])
    found = [settled(box, line) for line in box.log.read_bytes().splitlines() if line.endswith(b"}")]
    golden = (GOLDEN / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    assert found == golden, "\n".join(found)
