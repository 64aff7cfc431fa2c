"""Promise: The tree.
Attacker: a tool that ends by itself in the moment in which it is cancelled, or in which its time is
over. Means: many runs with such moments. In the native jail the init of a run reports its end, or
its warden does; a report of both, or of none, would give a run the end of another one, or none.

Expected: each run has one end, whole, with its own output; the runs after it have theirs.
"""


def test_a_run_has_one_end(box):
    policy = box.write_policy([box.entry("sh", route="external", execs=["sleep"]),
                               box.entry("bash", route="external", limits={"processes": 50})])
    box.host("host_one_end", policy=policy)
