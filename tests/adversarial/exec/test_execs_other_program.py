"""Promise: What it may execute.
Attacker: an allowed tool that was talked into running something (a hook, a pager, a filter). Means: it executes a
program of the system, itself, in a child that left its session, or in a thread.

Expected: with `execs` the kernel refuses whatever is not listed, and what is listed works. An empty list is nothing at
all, the tool itself included; a tool that starts itself lists its name.
"""
import os

import pytest

from execs import bounded, refused_with, run_bounded, succeeds_without

WAYS = ["plain", "child", "thread", "procfd", "execveat"]


@pytest.mark.parametrize("way", WAYS)
def test_shell_is_refused(box, way):
    attack = [way, "/bin/sh", "-c", "echo escaped"]
    assert succeeds_without(box, *attack).stream("stdout") == b"escaped\n"
    refused_with(box, *attack)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_listed_works(box, way):
    answer = run_bounded(box, "attempt", way, "/bin/sh", "-c", "echo listed", policy=bounded(box, ["sh"]))
    assert (answer.status, answer.stream("stdout")) == (0, b"listed\n")


def test_what_is_listed_by_path_works(box):
    policy = bounded(box, [str(box.bin / "say_args")])
    answer = run_bounded(box, "attempt", "plain", str(box.bin / "say_args"), "word", policy=policy)
    assert (answer.status, answer.stream("stdout")) == (0, b"word\0")
    refused_with(box, "plain", "/bin/sh", "-c", ":", policy=policy)


def test_what_is_listed_is_bound_too(box):
    """A helper cannot do more than the tool."""
    policy = bounded(box, ["sh"])
    answer = run_bounded(box, "attempt", "plain", "/bin/sh", "-c", "/bin/cat /dev/null || echo no", policy=policy)
    assert answer.stream("stdout") == b"no\n"


def test_listed_helper_that_is_missing_is_no_error(box):
    answer = run_bounded(box, "attempt", "plain", "/bin/sh", "-c", "echo ran",
                         policy=bounded(box, ["no-such-helper", "/no/such/file", "sh"]))
    assert (answer.status, answer.stream("stdout")) == (0, b"ran\n")


def test_listed_helper_that_others_may_write_refuses_the_run(box):
    box.directory("open", 0o777)
    helper = box.script("open/helper", box.canary())
    answer = run_bounded(box, "attempt", "plain", "/bin/sh", policy=bounded(box, [str(helper)]))
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.attempt.execs")
    assert str(box.base) in answer.message


def test_listed_helper_inside_the_root_refuses_the_run(box):
    helper = box.script("root/helper", box.canary())
    answer = run_bounded(box, "attempt", "plain", str(helper), policy=bounded(box, [str(helper)]))
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.attempt.execs")
    assert not box.canary().exists()


def itself(box, way):
    """Arguments with which the tool executes itself; what was executed prints "mapped"."""
    own = os.path.realpath(box.bin / "attempt")
    return [way, own, "mapped", own]


@pytest.mark.parametrize("way", [*WAYS, "symlink"])
def test_empty_list_does_not_have_the_tool_itself(box, way):
    refused_with(box, *itself(box, way))


@pytest.mark.parametrize("way", WAYS)
def test_tool_that_lists_its_name_may_execute_itself(box, way):
    answer = run_bounded(box, "attempt", *itself(box, way), policy=bounded(box, ["attempt"]))
    assert (answer.status, answer.stream("stdout")) == (0, b"mapped\n"), answer.document


def test_without_the_key_and_without_a_jail_nothing_is_restricted(box):
    assert succeeds_without(box, *itself(box, "plain")).stream("stdout") == b"mapped\n"
    assert succeeds_without(box, "plain", "/bin/sh", "-c", "echo ran").stream("stdout") == b"ran\n"


def test_dry_run_shows_the_layer(box):
    answer = run_bounded(box, "attempt", "plain", "/bin/sh")
    assert answer["layers"] == ["no_new_privs", "execs"]
    shown = box.run("attempt", "plain", "/bin/sh", policy=bounded(box), options=["--dry-run"])
    assert shown["layers"] == ["no_new_privs", "execs"]
