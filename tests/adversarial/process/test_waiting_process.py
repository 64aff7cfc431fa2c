"""Promise: The tree.
Attacker: another process of the same user, and a tool that is run again and again without a jail.
Means: to kill or stop the process that waits for the next plan; plans of other kinds than it waits for;
a run that never ends, in a process that waited; a file that cannot be executed.

Expected: a tool whose process waited inherits exactly what any other does, and its failures have the
same words; a dead or stopped process costs time and no run; nothing is left when the context is idle
or freed.
"""
import resource


def test_runs_of_a_waiting_process_are_like_all_others(box):
    broken = box.file(box.directory("bin") / "broken", "\x7fELF and nothing else\n", mode=0o755)
    policy = box.write_policy([box.entry("say_state"), box.entry("sh"),
                               box.entry("sealed_sh", path="/bin/dash", execs=[]),
                               box.entry("limited_sh", path="/bin/dash", limits={"open_files": 64}),
                               box.entry("broken", path=str(broken))])
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 64
    box.host("host_waiting", policy=policy)
