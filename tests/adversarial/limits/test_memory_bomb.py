"""Promise: Limits.
Attacker: the tool. Means: more memory than its limit, private, shared, or in four processes that each stay below it.

Expected: it does not get it. By a cgroup the kernel ends it and the result says so; by a resource limit each process is
refused, which four of them together get around, and the result says that it was one.
"""
import signal

import pytest

from limits import JAILS, limited, mechanisms, need_cgroup

LIMIT = {"memory_mib": 64}


@pytest.mark.parametrize("what", ["memory", "shared"])
@pytest.mark.parametrize("jail", JAILS)
def test_process_does_not_get_more_than_its_limit(box, jail, what):
    answer = limited(box, "hog", what, "256", jail=jail, limits=LIMIT, timeout=60)
    if mechanisms(answer)["memory_mib"] == "rlimit":
        assert (answer.outcome, answer["limit_hit"]) == ("exited", None)
        assert 0 < int(answer.stream("stdout")) < 64
    else:
        assert (answer.outcome, answer["signal"], answer["limit_hit"]) == ("signaled", signal.SIGKILL, "oom")
        assert answer.stream("stdout") == b""
        assert answer["max_rss_kib"] < 100 * 1024
        assert "oom" in answer.message


@pytest.mark.parametrize("jail", JAILS)
def test_same_memory_is_available_without_the_limit(box, jail):
    answer = limited(box, "hog_free", "memory", "256", jail=jail, limits=LIMIT, timeout=60)
    assert (answer.stream("stdout"), answer["limits"], answer["limit_hit"]) == (b"full\n", [], None)


@pytest.mark.parametrize("jail", JAILS)
def test_processes_below_it_are_bounded_together(root_box, jail):
    need_cgroup(root_box)
    assert limited(root_box, "hog", "family", "4", jail=jail, limits=LIMIT).stream("stdout") == b"full\n"
    answer = limited(root_box, "hog", "family", "40", jail=jail, limits=LIMIT, timeout=60)
    assert answer["limit_hit"] == "oom"
    assert answer.stream("stdout") != b"full\n"
