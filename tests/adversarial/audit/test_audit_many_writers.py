"""Promise: The record.
Attacker: mere traffic. Means: eight processes write a thousand records each to one log at once, which is rotated meanwhile.

Expected: one chain, no record lost, doubled or out of its writer's order.
"""
import json

import pytest

from feature import scaled

WRITERS = 8


@pytest.mark.parametrize("begun", [True, False])
def test_eight_processes_keep_one_chain(user_box, begun):
    box = user_box
    count = scaled(1000, 100)
    if begun:
        box.run("true")
    args = [str(box.stage / "tests/helpers/host_audit"), str(box.policy), str(box.root), str(box.log), "write",
             str(count), "1"]
    processes = [box.popen(args, raw=True) for _ in range(WRITERS)]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    verified = box.call([box.command, "audit", "verify", str(box.log)], deadline=120)
    assert verified.status == 0, verified.err
    calls = {}
    for line in verified.out.splitlines():
        record = json.loads(line)
        if record["kind"] == "refused":
            calls.setdefault(record["pid"], []).append(record["argv"][0])
    assert len(calls) == WRITERS
    assert all(names == [f"call-{number}" for number in range(count)] for names in calls.values())


def test_rotation_under_traffic_forks_nothing(user_box):
    box = user_box
    runs = scaled(12, 6)
    args = box.run_argv(["true"], options=["--audit-max", "3000"])
    processes = [box.popen(["sh", "-c", 'for i in $(seq %d); do "$0" "$@" > /dev/null || exit 1; done' % runs, *args],
                           raw=True) for _ in range(4)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    names = sorted(box.log.parent.iterdir())
    assert len(names) > 3
    verified = box.call([box.command, "audit", "verify", *map(str, names)])
    assert verified.status == 0, verified.err
    kinds = [json.loads(line)["kind"] for line in verified.out.splitlines()]
    assert kinds.count("intent") == kinds.count("outcome") == 4 * runs and kinds.count("begin") == len(names)
