"""Attacker: the machine. Means: /proc belongs to another pid namespace, so that the numbers in it mean other processes, and an ordinary
user can make no cgroup. The tree can then be neither walked nor killed as a whole.

Expected: no stranger is signalled; the tool's process group is killed in time; the result says that only this held; a call does not
hang over a process that cannot be reached.
"""
import json
import subprocess

import pytest

from processes import marked
from promises import none_left, returned_in_time


def foreign_words(box, argv, timeout=10, first=()):
    """chokepoint run as the ordinary user in a new pid namespace under the old /proc, whose first process may be another."""
    return ["unshare", "--pid", "--fork", "--kill-child", *first, "setpriv", f"--reuid={box.actor.uid}",
            f"--regid={box.actor.gid}", "--clear-groups", "--", *box.words(argv, timeout=timeout)]


@pytest.fixture
def foreign(user_box, superuser):
    def run(*argv, timeout=10):
        answer = user_box.call(foreign_words(user_box, argv, timeout), user=superuser.uid, group=superuser.gid)
        answer.document = json.loads(answer.out)
        return answer
    return run


def test_run_says_that_only_the_group_is_reached(foreign):
    answer = foreign("sh", "-c", "echo hello; exit 3")
    assert (answer.status, answer.stream("stdout"), answer["kill"]) == (3, b"hello\n", "pgroup")


def test_group_is_killed_at_the_timeout(foreign):
    answer = foreign("sh", "-c", "trap '' TERM; sleep 1000 & sleep 1000", timeout=1)
    assert (answer.status, answer.outcome, answer["kill"]) == (124, "timeout", "pgroup")
    returned_in_time(answer, 1)


def test_group_is_killed_when_the_tool_ends(user_box, superuser, marker):
    """A shell stays behind as the namespace's first process, or the end of the namespace would kill everything."""
    duration = f"1000.{int(marker[-6:], 16)}"
    first = ("sh", "-c", '"$@"; read -r word', "sh")
    words = foreign_words(user_box, ["sh", "-c", f"sleep {duration} & echo hello"], first=first)
    process = user_box.popen(words, raw=True, stdin=subprocess.PIPE, user=superuser.uid, group=superuser.gid)
    document = json.loads(process.stdout.readline())
    assert (document["outcome"], document["stdout"]["text"], document["output_incomplete"]) == ("exited", "hello\n", True)
    left = marked(duration)
    process.communicate(b"go on\n", timeout=10)
    assert not left
    none_left(duration)


def test_call_does_not_hang_over_what_it_cannot_reach(foreign, marker):
    answer = foreign("escape", "double", marker)
    assert (answer.status, answer.outcome, answer["kill"]) == (0, "exited", "pgroup")
    assert answer["duration_ms"] < 5000
