"""chokepoint audit show: one row per call, filters, follow; readable at 80 columns, whatever the
log contains.
"""
import datetime
import json
import os
import re
import signal

import pytest
from audit import Log, usual
from processes import wait_until
from terminal import on_terminal

ROW = re.compile(r"(\d\d:\d\d:\d\d)  +(\d+)([ ?]) (\S+) +(\S+) +(-|[\d.]+m?s)  (.*)")


class Viewer:
    def __init__(self, box):
        self.box = box
        self.path = box.outside / "audit.jsonl"

    def write(self, log):
        return self.box.file("outside/audit.jsonl", log if isinstance(log, bytes) else log.text(), 0o600)

    def show_argv(self, *args):
        return [self.box.command, "audit", "show", str(self.path), *map(str, args)]

    def show(self, *args, status=0):
        answer = self.box.call(self.show_argv(*args))
        assert answer.status == status, answer
        return answer

    def rows(self, *args, status=0):
        """(outcome, command) of each."""
        found = [ROW.fullmatch(line) for line in self.show(*args, status=status).out.decode().splitlines()]
        return [(row[4], row[7]) for row in found if row]


@pytest.fixture
def viewer(user_box):
    return Viewer(user_box)


def some_calls():
    log = Log()
    log.call("git", "status", probe="snapshot")
    log.call("rg", "-n", "a b")
    log.call("semgrep", "--metrics=off", outcome="timeout", exit_code=None)
    log.refused("bash", "-c", "id", outcome="disallowed")
    log.intent("git", "gc")
    return log


# ---- rows ----

def test_a_call_is_one_row_with_its_arguments(viewer):
    viewer.write(some_calls())
    assert viewer.rows() == [("(begin)", "log 0123456789abcdef"), ("exited", "[snapshot] git status"),
                             ("exited", "rg -n $'a b'"), ("timeout", "semgrep --metrics=off"),
                             ("disallowed", "bash -c id"), ("unfinished", "git gc")]
    lines = viewer.show().out.decode().splitlines()
    assert lines[0] == "2026-11-15" and lines[1].split() == "TIME UTC SEQ OUTCOME CODE TOOK COMMAND".split()
    assert lines[3] == "16:00:02       2  exited           0   12ms  [snapshot] git status"


def test_calls_at_one_time_find_their_own_intents(viewer):
    log = Log()
    intents = [log.intent("git", str(number)) for number in range(50)]
    for number in reversed(range(50)):
        log.outcome(intents[number], "git", exit_code=number)
    viewer.write(log)
    found = [ROW.fullmatch(line) for line in viewer.show("--tool", "git").out.decode().splitlines()[2:]]
    assert [(row[5], row[7]) for row in found] == [(str(number), f"git {number}") for number in reversed(range(50))]


def test_intents_that_nobody_finished_are_shown_at_last_however_many(viewer):
    log = Log()
    for number in range(5000):
        log.intent("git", str(number))
    viewer.write(log)
    rows = viewer.rows("--outcome", "unfinished")
    assert rows == [("unfinished", f"git {number}") for number in range(5000)]


def test_every_day_has_a_heading(viewer):
    log = Log(step=86400)
    log.refused("bash")
    viewer.write(log)
    answer = viewer.show()
    assert answer.out.startswith(b"2026-11-15\nTIME UTC") and b"\n\n2026-11-16\nTIME UTC" in answer.out


def test_what_follows_a_damage_is_shown_and_marked(viewer):
    log = some_calls()
    log.lines[4] = log.lines[4].replace(b"exited", b"exitEd")
    viewer.write(log)
    answer = viewer.show(status=1)
    assert b":5: edited: " in answer.err
    marks = {int(row[2]): row[3] for line in answer.out.decode().splitlines() if (row := ROW.fullmatch(line))}
    assert marks[2] == " " and marks[6] == marks[7] == "?"
    assert ("timeout", "semgrep --metrics=off") in viewer.rows(status=1)


# ---- filters ----

@pytest.mark.parametrize("args,commands", [
    (["--outcome", "timeout"], ["semgrep --metrics=off"]),
    (["--outcome", "timeout", "--outcome", "disallowed"], ["semgrep --metrics=off", "bash -c id"]),
    (["--outcome", "unfinished"], ["git gc"]),
    (["--tool", "git"], ["[snapshot] git status", "git gc"]),
    (["--tool", "git", "--outcome", "exited"], ["[snapshot] git status"]),
    (["--probe", "snapshot"], ["[snapshot] git status"]),
    (["--tool", "jq"], []),
    (["--since", "2026-11-15T16:00:07"], ["bash -c id", "git gc"]),
    (["--since", "2026-11-15 16:00:07Z", "--until", "2026-11-15T16:00:07"], ["bash -c id"]),
    (["--until", "2026-11-14"], []),
    (["--since", "2026-11-16"], []),
    (["--tool", "git", "--until", "2026-11-15"], ["[snapshot] git status", "git gc"]),
    (["--tool", "git", "--since", "2026-11-15T16:00:07.5"], ["git gc"]),
])
def test_filters_leave_the_calls_that_fit(viewer, args, commands):
    viewer.write(some_calls())
    assert [command for _, command in viewer.rows(*args)] == commands


@pytest.mark.parametrize("age,longer,shorter", [(90, "2m", "60s"), (7200, "3h", "100m"), (86400 * 3, "4d", "48h")])
def test_an_age_is_counted_from_now(viewer, age, longer, shorter):
    log = Log(began=datetime.datetime.utcnow() - datetime.timedelta(seconds=age))
    log.refused("bash")
    viewer.write(log)
    every = viewer.rows()
    assert viewer.rows("--since", longer) == viewer.rows("--until", shorter) == every and every
    assert viewer.rows("--since", shorter) == viewer.rows("--until", longer) == []


@pytest.mark.parametrize("args", [["--since", "yesterday"], ["--since", "2026-11"], ["--until", "16:00"],
                                   ["--outcome", "fine"], ["--since", "5"], ["--since", "99999999999d"]])
def test_a_filter_that_cannot_be_read_is_an_error(viewer, args):
    viewer.write(some_calls())
    assert b"give one" in viewer.show(*args, status=125).err


def test_json_prints_the_records_unchanged(viewer):
    log = some_calls()
    viewer.write(log)
    assert viewer.show("--json").out == log.text()
    (record,) = map(json.loads, viewer.show("--json", "--outcome", "timeout").out.splitlines())
    assert record["kind"] == "outcome" and record["tool"] == "semgrep"
    kinds = [json.loads(line)["kind"] for line in viewer.show("--json", "--tool", "git").out.splitlines()]
    assert kinds == ["intent", "outcome", "intent"]


# ---- on a terminal ----

def shown(viewer, columns):
    """The output on a terminal of this width."""
    status, said = on_terminal(viewer.box, viewer.show_argv(), columns)
    assert status == 0
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 132])
def test_no_row_is_wider_than_the_terminal(viewer, columns):
    log = Log()
    log.call("git", *("argument" * 20 for _ in range(10)))
    log.call("git", "ä" * 200, probe="p" * 64)
    log.call("x")
    viewer.write(log)
    lines = shown(viewer, columns).splitlines()
    assert max(map(len, lines)) == columns
    assert [line[-3:] for line in lines if len(line) == columns] == ["...", "..."]


def test_what_the_caller_gave_is_shown_rather_than_what_the_policy_puts_in(viewer):
    log = Log()
    log.call("git", "--no-pager", *(word for i in range(20) for word in ("-c", f"core.option{i}=false")), "log", "-1")
    log.call("git", "-" * 100, "--", "ä" * 10, probe="snapshot")
    log.call("git", "log", "--" + "x" * 100)
    viewer.write(log)
    for columns in (70, 82, 83, 84, 120):
        lines = shown(viewer, columns).splitlines()
        assert max(map(len, lines)) <= columns
        first, second, third = (ROW.fullmatch(line)[7] for line in lines[-3:])
        assert re.fullmatch(r"git \.\.\. ((-c )?core\.option\d+=false )*log -1", first)
        assert columns == 70 or second == "[snapshot] git ... -- $'" + "ä" * 10 + "'"
        assert third.startswith("git log --xx") and third.endswith("x...") and len(lines[-1]) == columns


HOSTILE = ["\x1b[2J\x1b]0;owned\x07", "\u009b31m", "\u202egit status", "a\nb\tc", "\x7f", "\u2066x"]


def test_nothing_in_the_log_moves_the_terminal(viewer):
    log = Log()
    log.call("git", *HOSTILE, probe="\x1b[1m")
    log.refused("\x1b[31mbash", outcome="\x1b[32mexited")
    log.torn(b"\x1b[0m", reason="\x1b[7m")
    viewer.write(log)
    for said in (viewer.show().out.decode(), shown(viewer, 80)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", said), repr(said)
        assert len(said.splitlines()) == 6


def test_arguments_that_are_no_text_are_shown_as_what_they_are(viewer):
    log = Log()
    log.outcome(log.add("intent", tool={"name": "git"}, argv=["git", {"base64": "/w=="}, {"bytes": 99999, "hash": "0" * 64}],
                        argv_cut=7), "git")
    viewer.write(log)
    assert viewer.rows("--tool", "git") == [("exited", "git <base64:/w==> <99999 bytes> ... and 7 more")]


# ---- follow ----

class Follower:
    def __init__(self, viewer, *args):
        self.process = viewer.box.popen(viewer.show_argv("--follow", *args), raw=True)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.said = b""

    def lines(self):
        self.said += self.process.stdout.read() or b""
        return self.said.splitlines()

    def wait_for(self, count):
        wait_until(lambda: len(self.lines()) >= count, f"{count} lines")
        assert len(self.lines()) == count


def append(viewer, log, start):
    with open(viewer.path, "ab", buffering=0) as stream:
        for line in log.lines[start:]:
            stream.write(line + b"\n")
    return len(log.lines)


def rotate(viewer, log, name):
    """As a writer does it: a second name, then another file at the first name."""
    os.link(viewer.path, viewer.path.with_name(name))
    fresh = log.rotate(name)
    made = viewer.box.file("outside/made", fresh.text(), 0o600)
    os.rename(made, viewer.path)
    return fresh


def test_follow_goes_on_across_rotations(viewer):
    log = some_calls()
    viewer.write(log)
    follower = Follower(viewer, "--json")
    follower.wait_for(9)
    count = len(log.lines)
    log.call("git", "later")
    count = append(viewer, log, count)
    follower.wait_for(11)
    log.call("git", "last")
    append(viewer, log, count)
    second = rotate(viewer, log, "audit-000000000000.jsonl")
    second.call("rg", "second")
    append(viewer, second, 1)
    third = rotate(viewer, second, "audit-000000000013.jsonl")
    third.call("rg", "third")
    append(viewer, third, 1)
    follower.wait_for(19)
    assert [json.loads(line)["seq"] for line in follower.lines()] == list(range(19))
    follower.process.send_signal(signal.SIGINT)
    assert follower.process.wait(60) == -signal.SIGINT
    assert follower.process.stderr.read() == b""


def test_follow_waits_for_the_rest_of_a_line(viewer):
    log = some_calls()
    text = log.text()
    viewer.write(text[:-40])
    follower = Follower(viewer, "--json")
    follower.wait_for(8)
    with open(viewer.path, "ab", buffering=0) as stream:
        stream.write(text[-40:])
    follower.wait_for(9)
    follower.process.kill()


def test_follow_reports_damage_at_once_and_once(viewer):
    log = usual()
    viewer.write(log)
    follower = Follower(viewer)
    wait_until(lambda: b"bash -c id" in (follower.lines() or [b""])[-1], "the table")
    with open(viewer.path, "ab", buffering=0) as stream:
        stream.write(log.lines[50] + b"\n")
    os.set_blocking(follower.process.stderr.fileno(), False)
    said = []
    wait_until(lambda: said.append(follower.process.stderr.read() or b"") or b"\n" in b"".join(said), "the damage")
    assert b"".join(said).count(b":101: duplicated: record 50") == 1
    follower.process.send_signal(signal.SIGTERM)
    follower.process.wait(60)


def test_follow_ends_when_nobody_reads_any_more(viewer):
    viewer.write(some_calls())
    follower = Follower(viewer)
    follower.wait_for(7)
    follower.process.stdout.close()
    follower.process.wait(60)


# ---- what the command itself writes ----

def test_a_log_of_real_runs_is_followed_and_filtered_across_its_rotations(viewer):
    box = viewer.box
    viewer.path = box.log
    box.run("true", options=["--audit-max", "3000"])
    follower = Follower(viewer, "--json")
    for number in range(4):
        box.run("sh", "-c", f"exit {number}", options=["--audit-max", "3000", "--probe", "some_probe"])
        box.run("bash", "-c", "id", options=["--audit-max", "3000"])
    assert len(list(box.log.parent.iterdir())) > 2  # it was rotated
    proven = box.call([box.command, "audit", "verify", "--rotated", str(box.log)])
    assert proven.status == 0
    follower.wait_for(proven.out.count(b"\n"))
    assert follower.said == proven.out
    follower.process.kill()
    assert viewer.rows("--rotated", "--outcome", "disallowed") == [("disallowed", "bash -c id")] * 4
    assert viewer.rows("--rotated", "--probe", "some_probe") == [
        ("exited", f"[some_probe] sh -c $'exit {number}'") for number in range(4)]
    assert viewer.rows("--rotated", "--tool", "true") == [("exited", "true")]
