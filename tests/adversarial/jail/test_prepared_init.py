"""Promise: What each jail holds.
Attacker: another process of the same user, and a tool that is run again and again in the native
jail. Means: to kill the init that waits for the next plan, or its tool; another root or workspace
than the init was prepared for; a run that never ends, in a prepared jail. Each without a network,
with egress and with loopback.

Expected: a prepared run inherits exactly what an unprepared one does, and is restricted in the same
way by capabilities, filter and Landlock; a dead or unfit init costs
time, and never a layer or a root; nothing is left when the context is idle or freed.
"""
import pytest


@pytest.mark.parametrize("network", ["none", "egress", "loopback"])
def test_prepared_runs_are_like_all_others(box, network):
    grants = {"none": {}, "egress": {"egress": ["files.example.org"]}, "loopback": {"loopback": True}}[network]
    other = box.directory("other")
    box.file(box.root / "name", "root\n")
    box.file(other / "name", "other\n")
    limits = {"processes": 50, "memory_mib": 256}
    policy = box.write_policy([box.entry("say_state", route="external", limits=limits, **grants),
                               box.entry("sh", route="external", **grants),
                               box.entry("bash", route="external", workspace="rw", **grants)])
    box.host("host_prepared", other, *grants.get("egress", []), policy=policy)
    assert (box.root / "written").read_text() == "root\n" * 8
    assert (other / "written").read_text() == "other\n" * 4
