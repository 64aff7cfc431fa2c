"""Promise: What it may execute.
Attacker: an allowed tool that was talked into running something (a hook, a pager, a filter). Means: it executes a
program of the system, itself, in a child that left its session, or in a thread.

Expected: with `execs` the kernel refuses whatever is not listed; the tool itself and what is listed work.
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
    assert str(box.place) in answer.message


def test_listed_helper_inside_the_root_refuses_the_run(box):
    helper = box.script("root/helper", box.canary())
    answer = run_bounded(box, "attempt", "plain", str(helper), policy=bounded(box, [str(helper)]))
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.attempt.execs")
    assert not box.canary().exists()


@pytest.mark.parametrize("way", WAYS + ["symlink"])
def test_tool_may_execute_itself(box, way):
    """Many tools are one file with many names; a fork of itself is not an escape."""
    own = os.path.realpath(box.bin / "attempt")
    answer = run_bounded(box, "attempt", way, own, "plain", "/bin/sh", "-c", "echo escaped")
    assert answer.stream("stdout").startswith(b"refused: EACCES"), answer.document


def test_dry_run_shows_the_layer(box):
    answer = run_bounded(box, "attempt", "plain", "/bin/sh")
    assert answer["layers"] == ["no_new_privs", "execs"]
    shown = box.run("attempt", "plain", "/bin/sh", policy=bounded(box), options=["--dry-run"])
    assert shown["layers"] == ["no_new_privs", "execs"]
