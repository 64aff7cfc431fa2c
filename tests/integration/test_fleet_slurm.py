"""chokepoint fleet run --engine slurm, on a cluster of four nodes on this machine.

The result is that of the engine local, byte by byte but for times, whatever happens to the nodes and the controller."""
import json
import os
import re
import signal
import subprocess
import tempfile

import pytest

from cluster import need_programs, running
from feature import full
from fleets import Fleet
from gathered import probe
from hostile import IDENTITY
from processes import command_line, marked, wait_until
from terminal import on_terminal

COUNT = 1000 if full() else 60  # each takes 0.3 s of a processor, twice
TOOLS = ["sbatch", "scancel", "scontrol", "squeue"]
PROBES = "snapshot,curated_patterns"


@pytest.fixture
def cluster(superuser):  # pylint: disable=unused-argument
    """The nodes need root."""
    with tempfile.TemporaryDirectory(prefix="cluster-") as top, running(top) as started:
        yield started


@pytest.fixture
def fleet(root_box, cluster):
    made = Fleet(root_box, count=12)
    made.cluster = cluster
    made.policy = root_box.file("policy/slurm.yaml", json.dumps({
        "version": 1, "extends": "default", "catalog": [*TOOLS, "cat"], "tools": [
            root_box.entry("ignore_signals", path=str(root_box.bin / "ignore_signals"))]}), 0o600)
    return made


def submit(fleet, *options, **shape):
    return fleet.box.popen(fleet.argv("--engine", "slurm", *options, policy=fleet.policy, **shape), raw=True,
                           env=fleet.box.environment(SLURM_CONF=str(fleet.cluster.configuration)))


def finish(process, seconds=240):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"it does not end: {process.communicate()}") from None
    return process.returncode, out.decode(), err.decode()


def queue(fleet):
    return fleet.cluster.call("squeue", "-h", "-r", "-o", "%i %j").split("\n")[:-1]


def same_as_local(fleet, *options):
    local = fleet.box.outside / "local"
    answer = fleet.run(*options, out=local, policy=fleet.policy, deadline=max(600, 3 * COUNT))
    assert answer.status == 0, answer
    assert fleet.documents() == fleet.documents(local)
    assert sorted(os.listdir(fleet.out / "documents")) == sorted(os.listdir(local / "documents"))
    assert fleet.claims() == []


def repositories(fleet, count):
    """Small ones, with a commit each. They are copies: a commit by git costs more than to gather it."""
    box = fleet.box
    first = box.directory("outside/first")
    box.file(first / "a.js", "eval(x)\n")
    for argv in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        assert box.call(["git", "-C", first, *argv], env=box.environment(**IDENTITY)).status == 0
    top = box.directory("outside/many")
    script = f'for i in $(seq {count}); do cp -a "{first}" "{top}/r$i" && echo "eval($i)" > "{top}/r$i/b.js"; done'
    assert box.call(["/bin/sh", "-c", script], deadline=300).status == 0
    fleet.write_list(*(top / f"r{number + 1}" for number in range(count)))


def test_a_lost_node_and_a_restarted_controller_lose_nothing(fleet):
    repositories(fleet, COUNT)
    fleet.probes = None
    process = submit(fleet, "--only", PROBES, "--chunk", str(COUNT // 20))
    wait_until(lambda: (fleet.out / "documents").exists() and len(os.listdir(fleet.out / "documents")) > COUNT // 10,
               "a tenth is done", seconds=max(120, COUNT))
    fleet.cluster.lose("n1")
    fleet.cluster.end("slurmctld", signal.SIGTERM)
    fleet.cluster.start_controller()
    try:
        status, out, err = finish(process, max(600, 3 * COUNT))
        assert status == 0 and f"{COUNT} repositories, {COUNT} done, 0 failed, 0 left" in out, (out, err)
    finally:
        fleet.cluster.start_node("n1")
    same_as_local(fleet, "--only", PROBES)


def test_progress_counts_the_tasks_that_are_listed(fleet):
    """However often it is looked."""
    env = fleet.box.environment(TERM="xterm", SLURM_CONF=str(fleet.cluster.configuration))
    argv = fleet.argv("--engine", "slurm", "--chunk", "3", policy=fleet.policy)
    status, text = on_terminal(fleet.box, argv, streams=("stderr",), env=env)
    running = [int(number) for number in re.findall(rb"(\d+) running", text)]
    assert status == 0 and len(running) > 2 and 0 < max(running) <= 4, text


def test_the_watch_may_be_killed_and_started_again(fleet):
    """Once right after the submission, and once before anything is done; nothing is submitted twice."""
    for _ in range(2):
        process = submit(fleet, "--chunk", "3")
        wait_until(lambda: queue(fleet) or (fleet.out / "slurm/1.log").exists(), "it is submitted")
        process.kill()
        process.communicate()
    status, out, err = finish(submit(fleet, "--chunk", "3"))
    assert status == 0, (out, err)
    assert [name for name in os.listdir(fleet.out / "slurm") if name.endswith(".json")] == ["1.json"]
    same_as_local(fleet)


def test_two_starts_with_different_lists_share_a_directory(fleet):
    """A task finds its repositories in the index, so the second start must not take out those of the first."""
    starts = []
    for number, half in enumerate((fleet.repositories[:6], fleet.repositories[6:])):
        fleet.write_list(*half)
        starts.append(submit(fleet, "--chunk", "1"))
        wait_until((fleet.out / f"slurm/{number + 1}.json").exists, "it is submitted")
    for process in starts:
        status, out, err = finish(process)
        assert status == 0 and "6 repositories, 6 done" in out, (out, err)
    fleet.write_list(*fleet.repositories)
    same_as_local(fleet)


def test_a_signal_leaves_the_jobs_and_cancel_ends_them(fleet, marker):
    fleet.probes = Fleet(fleet.box, 0, [probe("one", "ignore_signals", marker, "x", timeout_s=60)]).probes
    fleet.write_list(*fleet.repositories)
    process = submit(fleet, "--chunk", "4")
    wait_until(lambda: len(marked(marker, "ignore_signals")) == 3, "three tasks work")
    process.send_signal(signal.SIGINT)
    status, _, err = finish(process, 10)
    assert status == 130 and "the jobs go on" in err, err
    assert len(marked(marker, "ignore_signals")) == 3 and fleet.status()["running"] == 3
    answer = fleet.box.call([fleet.box.command, "fleet", "cancel", fleet.out],
                            env=fleet.box.environment(SLURM_CONF=str(fleet.cluster.configuration)))
    assert answer.status == 0, answer
    wait_until(lambda: not marked(marker, "ignore_signals") and not queue(fleet), "everything has ended")
    assert fleet.documents() == {} and fleet.failures() == {}


def test_a_repository_with_which_tasks_die_is_a_failure_and_the_others_are_done(fleet, marker):
    """Each task that works on it is killed, as for want of memory."""
    fleet.write_list(*fleet.repositories[:3])
    killer = fleet.repositories[1]
    fleet.box.file(killer / "poison", "")
    fleet.probes = Fleet(fleet.box, 0, [
        probe("one", "ignore_signals", marker, "x", timeout_s=60, applies_when=["poison"]), probe("two", "cat", "file")]).probes
    fleet.write_list(*fleet.repositories[:3])
    process = submit(fleet, "--chunk", "3")
    for _ in range(3):
        wait_until(lambda: marked(marker, "ignore_signals"), "a task works on it", seconds=60)
        for pid in marked("work", "chokepoint"):
            if str(fleet.out) in command_line(pid).decode(errors="replace"):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not marked(marker, "ignore_signals"), "it is gone")
    status, out, err = finish(process)
    assert status == 1 and "2 done, 1 failed" in out, (out, err)
    assert "3 tasks ended while they gathered it" in fleet.failures()[str(killer)]["message"]


def test_an_array_larger_than_the_cluster_allows_has_larger_tasks(root_box, tmp_path_factory):
    with tempfile.TemporaryDirectory(prefix="cluster-") as top, running(top, nodes=2, array=3) as small:
        made = Fleet(root_box, count=10)
        made.cluster, made.policy = small, root_box.file("policy/slurm.yaml", json.dumps(
            {"version": 1, "extends": "default", "catalog": [*TOOLS, "cat"], "tools": [root_box.entry("true")]}), 0o600)
        status, out, err = finish(submit(made, "--chunk", "1"))
        assert status == 0 and "10 repositories in 3 tasks" in err, (out, err)
        assert len(made.documents()) == 10


def test_a_cluster_that_does_not_answer_begins_nothing(user_box):
    need_programs()
    made = Fleet(user_box)
    policy = user_box.file("policy/slurm.yaml", json.dumps(
        {"version": 1, "extends": "default", "catalog": [*TOOLS, "cat"], "tools": [user_box.entry("true")]}), 0o600)
    damaged = user_box.file("outside/slurm.conf", "Nonsense=1\n")  # one that is missing is looked for by DNS, for a minute
    answer = made.run("--engine", "slurm", policy=policy, env=user_box.environment(SLURM_CONF=str(damaged)))
    assert (answer.status, answer.out) == (125, b"") and b"scontrol exited with 1" in answer.err, answer
    assert made.documents() == {}


def test_without_the_entries_the_engine_is_refused(user_box):
    made = Fleet(user_box)
    answer = made.run("--engine", "slurm", policy="default")
    assert (answer.status, answer.out) == (125, b"") and b"catalog: [sbatch, scancel, scontrol, squeue]" in answer.err
    assert not made.out.exists()
