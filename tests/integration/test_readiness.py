"""What is said at the start: tools that are missing, jails that were skipped, and what a jail has of the network."""
import json

import bwrapped
from gathered import gather, gather_argv
from no_userns import helper


def missing(box):
    """A policy with one tool that is there and some that are not."""
    return box.write_policy([
        box.entry("true", route="external"), box.entry("nosuchtool", install={"apt": "no-such-tool"}),
        box.entry("nopage", required=True, install={"url": "https://example.org/get"}), box.entry("nothing"),
        box.entry("elsewhere", path="/nonexistent/elsewhere"), box.entry("apple", platforms=["macos"])])


EXPECTED = [("nosuchtool", "apt-get install no-such-tool"), ("nopage", "see https://example.org/get"), ("nothing", "-"),
            ("elsewhere", "-")]


def lines(answer):
    return [line.split("\t") for line in answer.out.decode().splitlines()]


def test_a_new_context_reports_each_missing_tool_once(box):
    found = [line for line in lines(box.host("host_missing", policy=missing(box))) if line[1] == "tool.missing"]
    assert [(line[0], line[2], line[4]) for line in found] == [(number, *one) for number in ("0", "1") for one in EXPECTED]


def test_each_skipped_jail_is_reported_once_in_a_process(box):
    """Three contexts, six runs, and a kernel on which no jail holds."""
    command = [helper(box, "fake_kernel"), "seccomp", box.stage / "tests/helpers/host_missing", missing(box), box.root]
    answer = box.call(command, env=bwrapped.environment(box))
    assert answer.status == 0, answer
    assert [(line[1], line[3]) for line in lines(answer) if line[1].endswith(".skipped")] == [
        ("subproc.native.skipped", "not_permitted"), ("subproc.bwrap.skipped", "not_installed")]


def test_gather_says_it_at_the_start(user_box):
    policy = missing(user_box)
    answer = user_box.call(gather_argv(user_box, policy=policy))
    said = [line for line in answer.err.decode().splitlines() if "tool.missing" in line]
    assert said == ["chokepoint: warning: tool.missing tool=nosuchtool install=$'apt-get install no-such-tool'",
                    "chokepoint: warning: tool.missing tool=nopage required=true install=$'see https://example.org/get'",
                    "chokepoint: warning: tool.missing tool=nothing", "chokepoint: warning: tool.missing tool=elsewhere"]
    found = gather(user_box, policy=policy)
    events = [json.loads(line) for line in found.err.splitlines()]
    assert [(event["tool"], event["install"] or "-") for event in events if event["event"] == "tool.missing"] == EXPECTED


def test_the_event_of_a_jail_has_the_hosts_that_were_asked_for(cell):
    policy = cell.write_policy(say_args={"egress": ["*.example.org"]})
    hosts = ["a.example.org", "b.example.org:8443"]
    answer = cell.run("say_args", policy=policy, options=["--verbose", "--probe", "some_probe", "--egress", hosts[0], "--egress", hosts[1]])
    wrapped, = [event for event in cell.box.events(answer) if event["event"] == f"subproc.{cell.jail}.wrapped"]
    assert (wrapped["level"], wrapped["probe_name"], wrapped["egress"]) == ("debug", "some_probe", ",".join(hosts))
    answer = cell.run("say_args", options=["--verbose"])
    wrapped, = [event for event in cell.box.events(answer) if event["event"] == f"subproc.{cell.jail}.wrapped"]
    assert (wrapped["probe_name"], wrapped["egress"]) == ("", "")
