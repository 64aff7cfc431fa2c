"""Promise: Limits.
Attacker: the tool. Means: as many processes or threads as it can get, and a fork bomb.

Expected: exactly as many as its limit, whoever runs it and whatever else the user has; a bomb stays small and dies.
"""
import pytest

from limits import JAILS, limited, mechanisms, need_cgroup, without_cgroups, entries
from promises import times_out

LIMIT = {"processes": 12}


@pytest.mark.parametrize("what", ["processes", "threads"])
@pytest.mark.parametrize("jail", JAILS)
def test_tool_gets_as_many_as_its_limit(box, jail, what):
    answer = limited(box, "hog", what, "100", jail=jail, limits=LIMIT)
    got = int(answer.stream("stdout"))
    if mechanisms(answer)["processes"] == "rlimit":
        # The processes of the user are counted when the run begins; those of bwrap come and go meanwhile.
        assert 9 <= got <= 13 and answer["limit_hit"] is None
    else:
        assert (got, answer["limit_hit"]) == (11, "pids")


def test_same_number_is_available_without_the_limit(box):
    assert limited(box, "hog_free", "processes", "100", limits=LIMIT).stream("stdout") == b"full\n"


def test_bomb_stays_small(root_box, marker):
    need_cgroup(root_box, "processes")
    policy = root_box.write_policy([root_box.entry("bomb", limits={"processes": 30})])
    answer = times_out(root_box.run, "bomb", "5000", marker=marker, timeout=1, said=b"", policy=policy)
    assert answer["limit_hit"] == "pids"


def test_root_without_a_cgroup_is_refused(root_box):
    """The kernel does not count root's processes: nothing would hold the limit."""
    policy = root_box.write_policy(entries(root_box, **LIMIT))
    answer = root_box.run("hog", "processes", "1", policy=policy)
    assert answer.outcome == "exited"
    args = without_cgroups(root_box.run_argv(["hog", "processes", "1"], policy=policy))
    answer = root_box.call(args)
    assert answer.status == 125
    assert b"'processes' of 'hog' cannot be enforced here" in answer.out
    assert b'"rule":"tools.hog.limits.processes"' in answer.out and b'"jail_unavailable"' in answer.out
