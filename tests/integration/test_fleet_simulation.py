"""tools/fleet-simulate.py, whose figures are in docs/fleet.md: every repository is done once whatever dies, and a claim that ends by
age would break that.
"""
import json
import pathlib
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "tools/fleet-simulate.py"
HARSH = ("--repositories", 3000, "--nodes", 10, "--slots", 8, "--mtbf-hours", 0.3, "--repair-s", 200, "--kill", 0.02)


def simulate(*arguments, status=0):
    done = subprocess.run([SCRIPT, "--json", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == status, done
    return json.loads(done.stdout) if done.stdout else done.stderr


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_repository_is_done_once(seed):
    report = simulate(*HARSH, "--seed", seed)
    assert report["documents"] == 3000 and report["done_twice"] == 0
    assert report["node_deaths"] > 3 and report["tasks_killed"] > 20, "it must be harsh"
    assert 0 < report["gathered_again"] <= report["requeued"], "only what was in flight is gathered again"
    assert report == simulate(*HARSH, "--seed", seed)


def test_without_failures_nothing_is_gathered_again():
    report = simulate("--repositories", 3000, "--nodes", 10, "--mtbf-hours", 0, "--kill", 0, "--restarts", 0)
    assert report["gathered_again"] == report["node_deaths"] == report["requeued"] == 0 and report["lost"] == 0


def test_a_claim_that_ends_by_age_does_work_twice():
    assert simulate(*HARSH, "--stale-age", 120, status=1)["done_twice"] > 0


def test_the_fleet_of_the_document():
    """100,000 repositories on 100 nodes. docs/fleet.md has these figures."""
    report = simulate()
    assert report["documents"] == 100000 and report["done_twice"] == 0 and report["lost"] < 0.005
    page = (SCRIPT.parents[1] / "docs/fleet.md").read_text(encoding="utf-8")
    for text in (f"{report['hours']:.2f} hours", f"{report['useful']:.0%} of the", f"{report['gathered_again']} were gathered again"):
        assert text.replace("%", " %") in page, text


def test_numbers_that_make_no_fleet_are_refused():
    assert "must be positive" in simulate("--nodes", 0, status=2)
