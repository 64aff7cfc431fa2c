"""Promise: The tree.
Attacker: the machine. Means: /proc belongs to another pid namespace, so that the numbers in it mean other processes, and an ordinary
user can make no cgroup. The tree can then be neither walked nor killed as a whole.

Expected: no stranger is signalled; the tool's process group is killed in time; the result says that only this held; a call does not
hang over a process that cannot be reached.
"""
import json
import subprocess

import pytest

from feature import skip
from processes import command_line, marked
from promises import none_left, returns_in_time


# A shell that stays as the first process of the namespace; its end would kill everything.
SHELL_FIRST = ("sh", "-c", '"$@"; read -r word', "sh")


def foreign_argv(box, argv, timeout=30, first=()):
    """chokepoint run by the box's actor in a new pid namespace under the old /proc, where the first process may be another."""
    return ["unshare", "--pid", "--fork", "--kill-child", *first, "setpriv", f"--reuid={box.actor.uid}",
            f"--regid={box.actor.gid}", "--clear-groups", "--", *box.run_argv(argv, timeout=timeout)]


def run_and_look(box, superuser, argv, look_for):
    """The document, and what is left while the namespace is still there."""
    process = box.popen(foreign_argv(box, argv, first=SHELL_FIRST), raw=True, stdin=subprocess.PIPE, user=superuser.uid,
                        group=superuser.gid)
    document = json.loads(process.stdout.readline())
    left = marked(look_for)
    process.communicate(b"go on\n", timeout=60)
    return document, left


@pytest.fixture
def foreign(user_box, superuser):
    def run(*argv, timeout=30):
        answer = user_box.call(foreign_argv(user_box, argv, timeout), user=superuser.uid, group=superuser.gid)
        answer.document = json.loads(answer.out)
        return answer
    return run


def test_run_says_that_only_the_group_is_reached(foreign):
    answer = foreign("sh", "-c", "echo hello; exit 3")
    assert (answer.status, answer.stream("stdout"), answer["kill"]) == (3, b"hello\n", "pgroup")


def test_group_is_killed_at_the_timeout(foreign):
    def attempt():
        answer = foreign("sh", "-c", "trap '' TERM; sleep 1000 & sleep 1000", timeout=1)
        assert (answer.status, answer.outcome, answer["kill"]) == (124, "timeout", "pgroup")
        return answer

    returns_in_time(attempt, 1)


def test_group_is_killed_when_the_tool_ends(user_box, superuser, marker):
    duration = f"1000.{int(marker[-6:], 16)}"
    document, left = run_and_look(user_box, superuser, ["sh", "-c", f"sleep {duration} & echo hello"], duration)
    assert (document["outcome"], document["stdout"]["text"], document["output_incomplete"]) == ("exited", "hello\n", True)
    assert not left
    none_left(duration)


def test_root_reaches_all_by_its_cgroup(root_box, superuser, marker):
    if root_box.run("true")["kill"] != "cgroup":
        skip("cgroup", "no cgroup v2 may be made here")
    document, left = run_and_look(root_box, superuser, ["escape", "double", marker], marker)
    assert (document["outcome"], document["exit_code"], document["kill"]) == ("exited", 0, "cgroup")
    assert not [pid for pid in left if command_line(pid).startswith(b"escape")]
    none_left(marker)


def test_call_does_not_hang_over_what_it_cannot_reach(foreign, marker):
    answer = foreign("escape", "double", marker)
    assert (answer.status, answer.outcome, answer["kill"]) == (0, "exited", "pgroup")
    assert answer["duration_ms"] < 20000
