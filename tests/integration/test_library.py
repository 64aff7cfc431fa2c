"""The library as a program uses it: the host programs of tests/helpers check what the header promises (R22)."""
import os
import resource
import subprocess

from feature import scaled, skip
from promises import none_left


def test_header_keeps_its_promises(box):
    assert box.host("host_api").out == b"ok\n"


def test_two_contexts_in_two_threads(box):
    assert box.host("host_threads", scaled(200, 50)).out == b"ok\n"


def test_context_is_not_used_after_fork(box):
    assert box.host("host_fork").out == b"ok\n"


def test_event_loop_gets_what_the_header_promises(box):
    assert box.host("host_loop").out == b"ok\n"


def test_paused_stream_is_not_read_and_loses_nothing(box):
    assert box.host("host_pause", box.log).out == b"ok\n"


def test_events_below_the_level_are_not_made(box):
    assert box.host("host_level").out == b"ok\n"


def test_discarded_context_leaves_nothing_and_does_not_wait(box, marker):
    assert box.host("host_discard", marker).out == b"ok\n"
    none_left(marker)


def test_programs_of_other_versions_are_understood_or_refused(box):
    for name in "abcde":
        (box.root / f"{name}.py").write_text("print(1)\n")
    assert box.host("host_versions").out == b"ok\n"


def test_jobs_can_be_cancelled_and_freed(box, marker):
    assert box.host("host_cancel", marker).out == b"ok\n"
    none_left(marker)


def test_run_is_not_the_worse_for_the_one_before(box):
    assert box.host("host_after_kill", scaled(10, 3)).out == b"ok\n"


def test_thousand_in_flight(box):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 8192:
        skip("nofile", "fewer than 8192 descriptors may be open")
    assert box.host("host_inflight", scaled(1000, 200), deadline=120).out.startswith(b"ok ")


def test_blocking_example_prints_the_commit(user_box):
    head = user_box.repository()
    answer = user_box.call([str(user_box.stage / "examples/run-one")])
    assert (answer.status, answer.out) == (0, head)


def test_example_runs_a_hundred_at_once(user_box):
    answer = user_box.call([str(user_box.stage / "examples/run-hundred")])
    assert (answer.status, answer.out) == (0, b"100 runs: 100 succeeded, 0 failed\n"), answer.err


SANITIZERS = ("__asan", "__ubsan", "__odr_asan", "__start___sancov", "__stop___sancov")


def symbols(kind, library):
    return subprocess.run(["nm", kind, "--defined-only", library], check=True, capture_output=True, text=True).stdout


def test_only_public_names_are_exported(stage):
    library = next(path for path in (stage / "src").iterdir() if path.name.startswith("libchokepoint.so"))
    out = symbols("-D", library)
    names = [line.split()[-1] for line in out.splitlines() if line.split()[-2] != "A"]  # A: the name of a version
    names = [name.partition("@")[0] for name in names if not name.startswith(SANITIZERS)]
    assert "choke_run" in names
    assert [name for name in names if not name.startswith("choke_")] == []


def test_static_library_exports_only_public_names():
    library = os.path.join(os.environ["CHOKE_BUILD"], "src", "libchokepoint.a")
    out = symbols("-g", library)
    names = [line.split()[-1] for line in out.splitlines() if len(line.split()) == 3]
    names = [name for name in names if not name.startswith(SANITIZERS)]
    assert "choke_run" in names
    assert [name for name in names if not name.startswith("choke_")] == []
