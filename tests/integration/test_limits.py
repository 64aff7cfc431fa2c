"""Limits on memory, processes, CPU time, file size and open files (R24): the result names the
mechanism.
"""
import os
import signal

import pytest

import cgroups
from feature import scaled
from limits import JAILS, entries, limited, mechanisms, need_cgroup, without_cgroups
from processes import command_line, descendants, nothing_runs, wait_until

ALL = {"memory_mib": 64, "processes": 20, "cpu_s": 5, "file_size_mib": 8, "open_files": 64}


@pytest.mark.parametrize("jail", JAILS)
def test_every_limit_is_in_the_result(box, jail):
    answer = limited(box, "hog", "memory", "1", jail=jail, limits=ALL)
    assert answer.outcome == "exited"
    assert [(limit["name"], limit["value"]) for limit in answer["limits"]] == list(ALL.items())
    assert mechanisms(answer)["file_size_mib"] == mechanisms(answer)["open_files"] == "rlimit"
    assert answer["limit_hit"] is None


def test_ordinary_user_without_a_cgroup_has_resource_limits(user_box):
    answer = limited(user_box, "hog", "memory", "1", limits=ALL)
    assert set(mechanisms(answer).values()) <= {"rlimit", "cgroup1", "cgroup2"}


def test_root_is_held_by_cgroups(root_box):
    for name in ("memory_mib", "processes", "cpu_s"):
        need_cgroup(root_box, name)


def test_without_a_cgroup_memory_is_a_resource_limit(root_box):
    limits = {"memory_mib": 64, "cpu_s": 1}
    policy = root_box.write_policy(entries(root_box, **limits))
    answer = root_box.call(without_cgroups(root_box.run_argv(["hog", "memory", "256"], policy=policy)))
    assert answer.status == 0
    assert answer.out.count(b'"mechanism":"rlimit"') == 2
    assert b'"text":"full' not in answer.out


def test_limit_of_a_nested_tool_holds_where_it_is_less(box):
    outer = box.entry("nice", args={"options": ["-n=<number>"], "command": "after_options"},
                      limits={"open_files": 64, "cpu_s": 5})
    inner = box.entry("hog", limits={"open_files": 32, "cpu_s": 9})
    policy = box.write_policy([outer, inner])
    answer = box.run("nice", "-n", "1", "hog", "files", "100", policy=policy)
    assert {limit["name"]: limit["value"] for limit in answer["limits"]} == {"open_files": 32, "cpu_s": 5}
    assert answer.stream("stdout") == b"29\n"


def test_limits_of_a_run_are_not_those_of_the_next(root_box):
    """One warden serves all three tools, one after another."""
    need_cgroup(root_box)
    hog = str(root_box.bin / "hog")
    tools = [root_box.entry("small", path=hog, limits={"memory_mib": 32}),
             root_box.entry("large", path=hog, limits={"memory_mib": 256}),
             root_box.entry("other", path=hog, limits={"open_files": 64})]
    policy = root_box.write_policy(tools)
    root_box.host("host_hog", "5", "small:64:oom", "large:64:-", "other:300:-", "small:16:-", "small:64:oom",
                  policy=policy)
    assert not cgroups.stale()


def test_no_cgroup_is_left_after_many_runs(root_box):
    need_cgroup(root_box)
    policy = root_box.write_policy(entries(root_box, **ALL))
    root_box.host("host_hog", str(scaled(1000, 100)), "hog:1:-", policy=policy, deadline=240)
    assert not cgroups.stale()


def test_no_cgroup_is_left_of_many_runs_when_the_caller_is_killed(root_box):
    need_cgroup(root_box)
    limits = {"limits": {"memory_mib": 64, "processes": 20, "cpu_s": 5}}
    policy = root_box.write_policy(say_args=limits, sleep=limits)
    process = root_box.popen([root_box.stage / "tests/helpers/host_inflight", policy, root_box.root, "50", "hold"],
                             raw=True)
    assert process.stdout.readline() == b"holding\n"
    assert len(cgroups.of_ours(lambda pid: int(pid) in descendants(process.pid))) >= 2
    process.kill()
    process.wait(60)
    wait_until(nothing_runs, "all are dead")
    assert not cgroups.stale()


@pytest.mark.parametrize("jail", ["none", "native"])
def test_leftovers_of_killed_keepers_are_swept_by_the_next_run(root_box, jail):
    """The command, its keeper and its wardens are stopped and then killed, so no process can clean
    up after another."""
    need_cgroup(root_box)
    endless = {**ALL, "cpu_s": 1000}
    policy = root_box.write_policy([root_box.entry("hog", limits=endless), root_box.entry("true", limits=endless)])
    process = root_box.popen(["hog", "cpu"], shape={"policy": policy, "timeout": 90, "options": ["--jail", jail]})
    family = wait_until(lambda: any(is_hog(command_line(pid)) for pid in descendants(process.pid))
                        and descendants(process.pid), "it runs")
    for pid in [process.pid, *family]:
        signal_if_there(pid, signal.SIGSTOP)
    for pid in [process.pid, *descendants(process.pid)]:
        signal_if_there(pid, signal.SIGKILL)
    process.wait(60)
    wait_until(nothing_runs, "all are dead")
    assert cgroups.stale(), "the massacre left nothing to sweep"
    assert root_box.run("true", policy=policy).outcome == "exited"
    assert not cgroups.stale()


def is_hog(line):
    """Until it executes, the keeper has the command line of the command, with the same end: so the
    count of arguments decides."""
    return line.endswith(b"hog\0cpu\0") and line.count(b"\0") == 2


def signal_if_there(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
