"""Promise: What each jail holds.
Attacker: another process of the same user, and a tool that is run again and again in the native
jail. Means: to kill the init that waits for the next plan, or its tool; another root or workspace
than the init was prepared for; a run that never ends, in a prepared jail.

Expected: a prepared run inherits exactly what an unprepared one does, and is restricted in the same
way by capabilities, filter and Landlock; a dead or unfit init costs
time, and never a layer or a root; nothing is left when the context is idle or freed.
"""


def test_prepared_runs_are_like_all_others(box):
    other = box.directory("other")
    box.file(box.root / "name", "root\n")
    box.file(other / "name", "other\n")
    policy = box.write_policy([box.entry("say_state", route="external", limits={"processes": 50, "memory_mib": 256}),
                               box.entry("sh", route="external"),
                               box.entry("bash", route="external", workspace="rw")])
    box.host("host_prepared", other, policy=policy)
    assert (box.root / "written").read_text() == "root\n" * 8
    assert (other / "written").read_text() == "other\n" * 4
