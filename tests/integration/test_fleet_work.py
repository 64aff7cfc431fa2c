"""chokepoint fleet work --index: one task of another scheduler, as an indexed job of Kubernetes is."""
import pytest

from fleets import Fleet
from gathered import probe
from processes import marked, wait_until


def work(fleet, *options):
    return [fleet.box.command, "fleet", "work", fleet.out, "--no-audit", *options]


def task(fleet, index, of, *options):
    return fleet.box.call(work(fleet, "--job", "monday", "--index", str(index), "--of", str(of), *options))


def prepared(fleet):
    """`fleet run --limit 1` makes the directory, as docs/fleet.md says."""
    assert fleet.run("--limit", "1").status == 0
    assert len(fleet.documents()) == 1
    return fleet


def test_all_tasks_together_do_what_local_does(user_box):
    fleet = prepared(Fleet(user_box, count=10))
    for index in range(3):
        answer = task(fleet, index, 3)
        assert answer.status == 0, answer
    local = fleet.box.outside / "local"
    assert fleet.run(out=local).status == 0
    assert fleet.documents() == fleet.documents(local) and fleet.claims() == []
    assert fleet.index() == fleet.index(local)


def slow(box, marker):
    """The first repository of a list that must never be gathered to its end."""
    fleet = Fleet(box, count=3, probes=[
        probe("one", "ignore_signals", marker, "x", timeout_s=60, applies_when=["poison"]), probe("two", "cat", "file")])
    prepared(fleet)
    (left, _) = [path for path in fleet.repositories if str(path) not in fleet.documents()]
    box.file(left / "poison", "")
    return fleet, left


def test_a_pod_takes_over_from_the_one_before_it_and_a_third_loss_is_a_failure(user_box, marker):
    """A repository that ends its pod each time must not hold up the others for ever."""
    fleet, poisoned = slow(user_box, marker)
    for count in range(1, 4):
        process = user_box.popen(work(fleet, "--job", "monday", "--index", "0", "--of", "1", "--jobs", "1"), raw=True)
        wait_until(lambda: marked(marker, "ignore_signals"), "it works on the repository")
        process.kill()
        process.communicate()
        wait_until(lambda: not marked(marker, "ignore_signals"), "the tool is gone")
        assert len([name for name in fleet.claims() if name.startswith(fleet.name_of(poisoned))]) == count
    answer = task(fleet, 0, 1)
    assert answer.status == 0, answer
    assert "3 tasks ended while they gathered it" in fleet.failures()[str(poisoned)]["message"]
    assert len(fleet.documents()) == 2 and fleet.claims() == []


def test_what_another_task_holds_is_left_to_it(user_box, marker):
    """A pod that is cut off may live: only its own index may take over."""
    fleet, poisoned = slow(user_box, marker)
    process = user_box.popen(work(fleet, "--job", "monday", "--index", "0", "--of", "1", "--jobs", "1"), raw=True)
    wait_until(lambda: marked(marker, "ignore_signals"), "it works on the repository")
    answer = fleet.box.call(work(fleet, "--job", "tuesday", "--index", "0", "--of", "1"))
    assert answer.status == 0 and str(poisoned) not in fleet.documents() and fleet.failures() == {}, answer
    process.kill()
    process.communicate()


@pytest.mark.parametrize("options, named", [
    (["--index", "0", "--of", "1"], "--job"), (["--job", "a b", "--index", "0", "--of", "1"], "--job"),
    (["--job", "x", "--index", "1", "--of", "1"], "--index"), (["--job", "x", "--index", "0"], "--of and --submission"),
    (["--job", "x", "--of", "1", "--submission", "1"], "--of and --submission"), (["--job", "x", "--submission", "7"], "slurm/7.json"),
])
def test_bad_options(user_box, options, named):
    fleet = prepared(Fleet(user_box, count=2))
    answer = fleet.box.call(work(fleet, *options))
    assert answer.status == 125 and named.encode() in answer.err, answer
    assert len(fleet.documents()) == 1
