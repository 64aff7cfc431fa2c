"""Outcomes, exit statuses and the JSON document (R21, R23, R26). Box.run checks the whole shape on every call."""
import glob
import json
import os
import signal

import pytest

from command import FIELDS
from feature import skip
from promises import given_time, is_in_time, returns_in_time, tried
from no_userns import on_fake_kernel


def test_document_of_a_plain_run(box):
    answer = box.run("sh", "-c", "echo out; echo err >&2; exit 0")
    assert answer.status == 0
    assert answer["stdout"] == {"text": "out\n", "bytes": 4, "truncated": False}
    assert answer["stderr"] == {"text": "err\n", "bytes": 4, "truncated": False}
    assert answer["tool"] == {"name": "sh", "path": "/usr/bin/sh"}
    assert answer["rule"] == "tools.sh"
    assert answer["jail"] == "none"
    assert answer.err == b""


def test_fields_come_in_the_documented_order(box):
    order = ["outcome", "exit_code", "signal", "stdout", "stderr", "output_incomplete", "duration_ms", "user_ms",
             "system_ms", "max_rss_kib", "jail", "layers", "kill", "tool", "rule", "error",
             "limits", "limit_hit", "changes", "changes_incomplete", "kept_incomplete", "egress", "unrecorded",
             "workspace_code", "loopback", "denied", "denied_more", "egress_offer"]
    assert set(order) == FIELDS
    assert list(box.run("true").document) == order
    assert list(box.run("no-such-tool").document) == order


@pytest.mark.parametrize("code", [0, 1, 2, 77, 124, 125, 126, 127, 128, 255])
def test_own_status_of_the_tool_is_passed_on(box, code):
    answer = box.run("sh", "-c", f"exit {code}")
    assert (answer.status, answer.outcome, answer["exit_code"]) == (code, "exited", code)
    assert box.run("sh", "-c", f"exit {code}", form=None).status == code


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, 40])
def test_death_by_a_signal(box, number):
    answer = box.run("sh", "-c", f"kill -{int(number)} $$")
    assert (answer.status, answer.outcome, answer["signal"]) == (128 + number, "signaled", number)
    assert str(int(number)) in answer.message or signal.Signals(number).name in answer.message


def test_timeout(box):
    answer = tried(lambda: box.run("sleep", "20", timeout=0.2),
                   lambda answer: is_in_time(answer, 0.2) and answer["signal"] == signal.SIGTERM)
    assert (answer.status, answer.outcome) == (124, "timeout")
    assert answer["duration_ms"] >= 200
    assert "0.2" in answer.message or "200" in answer.message


def test_timeout_from_the_policy(box):
    policy = box.write_policy(sleep={"limits": {"timeout_s": 1}})
    answer = returns_in_time(lambda: box.run("sleep", "20", timeout="default", policy=policy), 1)
    assert (answer.status, answer.outcome) == (124, "timeout")
    assert answer["duration_ms"] >= 1000


@pytest.mark.parametrize("timeout", [
    "0", "0.0", "-1", "abc", "", "1e3", "nan", "inf", "99999999999999999999", "0x10", " 1", "1s"])
def test_bad_timeout_is_invalid(user_box, timeout):
    """--json applies even if it comes after the fault."""
    for args in (["--json", "--timeout", timeout], ["--timeout", timeout, "--json"]):
        answer = user_box.call([user_box.command, "run", "--policy", user_box.policy, *args, "--", "true"])
        assert answer.status == 125
        assert json.loads(answer.out)["outcome"] == "invalid"
    answer = user_box.call(user_box.run_argv(["true"], timeout=timeout, form=None))
    assert answer.status == 125
    assert answer.err.startswith(b"chokepoint: ")


def test_disallowed(box):
    answer = box.run("bash", "-c", "id")
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools")
    assert "bash" in answer.message


def test_missing_tool_says_how_to_install_it(box):
    policy = box.write_policy([box.entry("gadget", install={"apt": "gadget-package"})])
    answer = box.run("gadget", policy=policy)
    assert (answer.status, answer.outcome) == (127, "tool_missing")
    assert "gadget-package" in answer.message and "apt" in answer.message
    plain = box.run("gadget", policy=policy, form=None)
    assert plain.status == 127
    assert b"gadget-package" in plain.err
    assert plain.out == b""


def trusted_file(box, data, mode):
    directory = box.base / "trusted"
    directory.mkdir(mode=0o755)
    path = directory / "gadget"
    path.write_bytes(data)
    path.chmod(mode)
    return box.write_policy([box.entry("gadget")], search_path=[str(directory), "/usr/bin"])


@pytest.mark.parametrize("data,mode", [
    (b"#!/bin/sh\necho no\n", 0o644), (b"\x7fELF but not really", 0o755), (b"no header at all\n", 0o755), (b"", 0o755),
    (b"#!/nonexistent/interpreter\n", 0o755), (b"#!\n", 0o755)])
def test_found_but_not_executable(box, data, mode):
    answer = box.run("gadget", policy=trusted_file(box, data, mode))
    assert answer.outcome == "spawn_failed"
    assert "gadget" in answer.message
    missing_interpreter = data.startswith(b"#!/nonexistent")
    assert answer.status == 126 or missing_interpreter and answer.status in (125, 126)


def test_no_shell_runs_what_has_no_header(box):
    """execvp would pass such a file to sh."""
    canary = box.canary()
    answer = box.run("gadget", policy=trusted_file(box, f": > '{canary}'\n".encode(), 0o755))
    assert (answer.status, answer.outcome) == (126, "spawn_failed")
    assert not canary.exists()


def test_truncated_elf_is_not_executable(box):
    with open("/bin/true", "rb") as stream:
        data = stream.read(100)
    answer = box.run("gadget", policy=trusted_file(box, data, 0o755))
    assert answer.outcome in ("spawn_failed", "signaled")
    assert answer.status != 0


def test_directory_with_a_tools_name_is_not_executable(box):
    directory = box.base / "trusted"
    (directory / "gadget").mkdir(parents=True)
    policy = box.write_policy([box.entry("gadget")], search_path=[str(directory)])
    answer = box.run("gadget", policy=policy)
    assert answer.outcome in ("spawn_failed", "tool_missing")
    assert answer.status in (126, 127)


def test_tool_that_only_root_may_execute(user_box):
    if os.geteuid() != 0:
        skip("root", "a file of root's is needed")
    policy = trusted_file(user_box, b"#!/bin/sh\n", 0o700)
    answer = user_box.run("gadget", policy=policy)
    assert (answer.status, answer.outcome) == (126, "spawn_failed")


@pytest.mark.parametrize("route,options,outcome", [
    ("external", ["--require-jail"], "jail_unavailable"), ("direct", ["--require-jail"], "jail_unavailable"),
    ("direct", ["--jail", "native"], "jail_unavailable"), ("direct", ["--jail", "bwrap"], "jail_unavailable"),
    ("external", ["--egress", "example.org"], "jail_unavailable"),
    ("direct", ["--jail", "none", "--require-jail"], "invalid")])
def test_jail_that_is_not_to_be_had(box, route, options, outcome):
    policy = box.write_policy(true={"route": route, "egress": ["example.org"]})
    answer = on_fake_kernel(box, "seccomp", "true", policy=policy, options=options)
    assert (answer.status, answer.outcome) == (125, outcome)


def test_external_tool_runs_uncaged_with_one_warning_for_each_jail(box):
    policy = box.write_policy(say_args={"route": "external"})
    answer = on_fake_kernel(box, "seccomp", "say_args", "x", policy=policy)
    assert answer.stream("stdout") == b"x\0"
    assert answer["jail"] == "none"
    assert [(event["event"], event["level"], event["reason"]) for event in box.events(answer)] == [
        ("subproc.native.skipped", "warning", "not_permitted"), ("subproc.bwrap.skipped", "warning", "not_installed")]
    assert (box.events(answer)[0]["jail"], box.events(answer)[0]["layers"]) == ("none", "no_new_privs")


def test_direct_tool_runs_without_a_warning(box):
    assert box.run("true").err == b""


def test_resources_are_measured(box):
    script = f"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; '{box.bin}/flood' 100000000 out"
    answer = box.run("sh", "-c", script)
    assert answer.status == 0
    # The kernel splits it by clock ticks in its own way; the sum is what was used.
    assert answer["user_ms"] + answer["system_ms"] > 10
    assert answer["max_rss_kib"] > 200
    assert answer["duration_ms"] >= 10


def test_killing_is_promised_by_the_strongest_means(box):
    """An ordinary user has no own cgroup here; root has one if cgroup v2 is mounted."""
    kill = box.run("true")["kill"]
    assert kill in ("cgroup", "subreaper")


def test_cgroup_holds_for_root(root_box):
    if not glob.glob("/sys/fs/cgroup/cgroup.procs") + glob.glob("/sys/fs/cgroup/unified/cgroup.procs"):
        skip("cgroup", "no cgroup v2 is mounted")
    if root_box.run("true")["kill"] != "cgroup":
        skip("cgroup", "no cgroup v2 may be made here")
    assert root_box.run("sh", "-c", "cat /proc/self/cgroup").stream("stdout").count(b"chokepoint-") == 1


def test_text_form_passes_streams_apart(box):
    answer = box.run("sh", "-c", "echo out; echo err >&2; exit 3", form=None)
    assert (answer.status, answer.out, answer.err) == (3, b"out\n", b"err\n")


def test_text_form_prints_the_tools_output_before_the_message(box):
    answer = given_time(lambda timeout: box.run("sh", "-c", "echo out; echo err >&2; exec sleep 1000", timeout=timeout, form=None),
                        lambda answer: answer.err.startswith(b"err\n"))
    assert (answer.status, answer.out) == (124, b"out\n")
    assert answer.err.startswith(b"err\nchokepoint: ")
    assert answer.err.count(b"\n") == 2
