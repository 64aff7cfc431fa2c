"""Promise: Failure.
Attacker: circumstances, or a tool's host that leaks. Means: no descriptor is left, once at each
place.

Expected: spawn_failed or a negative errno, in time; nothing leaks, nothing hangs, and the next
run, with descriptors again, succeeds.
"""
import resource


def test_every_open_may_fail(box):
    assert box.host("host_nofd", deadline=120).out.startswith(b"ok ")


def test_every_open_may_fail_with_egress(box):
    """The proxy's, too: a run that cannot be given its way out is ended, and says why."""
    policy = box.write_policy([box.entry("sh", egress=["a.example.org"])])
    assert box.host("host_nofd", "native", deadline=120, policy=policy).out.startswith(b"ok ")


def test_command_without_descriptors_says_so(box):
    """From three descriptors up, until it runs: never a hang, a crash, or a status that looks like the tool's."""
    statuses = []
    for limit in range(3, 40):
        answer = box.call(box.run_argv(["sh", "-c", "exit 42"]),
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        statuses.append(answer.status)
        if answer.status == 42:
            break
    assert statuses[-1] == 42
    # 127 is the dynamic loader's, which cannot open the libraries either.
    assert set(statuses[:-1]) <= {125, 127}, statuses
