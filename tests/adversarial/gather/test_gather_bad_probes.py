"""Promise: A look at a repository.
Attacker: the repository, through a tool that reads it. Means: the tool hangs and ignores signals,
crashes, prints without end, leaves daemons, or prints what no reader understands.

Expected: only its own probe is lost, within bounded memory, and nothing is left.
"""
import select

import pytest

from command import Answer
from feature import sanitized
from gathered import Gathered, gather, probe, gather_argv, write_probes
from processes import peak_kib
from promises import none_left

MIB = 1 << 20

CASES = {
    "hung": (["ignore_signals", "{marker}"], {"timeout_s": 1}, "timeout", "1"),
    "crashing": (["sh", "-c", "kill -SEGV $$"], {}, "failed", "signal 11"),
    "failing": (["sh", "-c", "exit 99"], {}, "failed", "status 99"),
    "daemon": (["escape", "setsid", "{marker}"], {"timeout_s": 1}, "timeout", "1"),
    "not_understood": (["true"], {"output": "node"}, "failed", "node"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_probe_costs_only_itself(box, marker, case):
    argv, more, state, reason = CASES[case]
    bad = probe("bad", *(word.format(marker=marker) for word in argv), **more)
    found = gather(box, "--jobs", "2", probes=[bad, probe("good", "say_args", "x"), probe("late", "true", needs=["good"]),
                                               probe("behind", "true", needs=["bad"])])
    assert found.status == 0
    assert found.states == {"bad": state, "good": "ok", "late": "ok", "behind": "skipped"}
    assert reason in found.probes["bad"]["reason"]
    none_left(marker)


def test_a_flood_is_kept_within_its_bound(box):
    """Far more than is kept of it, from eight at once; the memory is the command's own."""
    floods = [probe(f"flood{i}", "flood", 64 * MIB, "both", timeout_s=60, max_output_mib=1) for i in range(8)]
    probes = write_probes(box, *floods, probe("good", "true"))
    process = box.popen(gather_argv(box, "--json", "--jobs", "8", "--probes", probes), raw=True)
    most = 0
    while not select.select([process.stdout], [], [], 0.005)[0]:
        most = max(most, peak_kib(process.pid))
    out, err = process.communicate()
    found = Gathered(Answer(process.returncode, out, err, 0))
    assert set(found.states.values()) == {"ok"}
    assert found.probes["flood0"]["evidence"]["calls"]["one"]["cut"] is True
    assert found.probes["flood0"]["calls"][0]["timing"]["stdout_bytes"] == 64 * MIB
    assert 0 < most < 96 * 1024 or sanitized()


def test_truncated_output_is_not_passed_on(user_box):
    """Half an SBOM would be an answer about half of the packages."""
    probes = [probe("flood", "flood", 2 * MIB, "out", max_output_mib=1),
              probe("reader", "cat", needs=["flood"], call={"stdin": {"probe": "flood", "call": "one"}})]
    found = gather(user_box, probes=probes)
    assert found.states == {"flood": "ok", "reader": "failed"}
    assert "too large" in found.probes["reader"]["reason"]


def test_many_hung_probes_do_not_add_up(box, marker):
    """Eight that hang for a second, four at a time: each has its own deadline, and the good ones still come."""
    bad = [probe(f"bad{i}", "ignore_signals", marker, timeout_s=1) for i in range(8)]
    good = [probe(f"good{i}", "true") for i in range(4)]
    found = gather(box, "--jobs", "8", probes=bad + good)
    assert {found.states[each["name"]] for each in bad} == {"timeout"}
    assert {found.states[each["name"]] for each in good} == {"ok"}
    assert found.document["timing"]["duration_ms"] < 8 * 1000
    none_left(marker)


def test_a_timeout_on_the_command_line_holds_for_each_call(user_box, marker):
    found = gather(user_box, "--timeout", "0.3", probes=[probe("bad", "ignore_signals", marker, timeout_s=60)])
    assert found.states == {"bad": "timeout"}
    none_left(marker)
