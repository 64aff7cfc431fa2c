"""Promise: The file that is meant.
Attacker: another process of the same user, or an upgrade at the wrong moment. Means: it puts another file in the place
of a pinned tool, or writes into it (same size, mtime put back), before, during and after the check of its digest.

Expected: the evil content never runs. A run is "exited" with the good content, or "disallowed"; or, where the writer
opens the file at the moment of its execution, the kernel refuses that. Without `sha256` the same attack does run the
evil one, so it is a real one.
"""
import hashlib
import shutil

import pytest

from feature import scaled

KINDS = ["binary", "script"]
WAYS = ["rename", "write"]
GOOD = "#!/bin/sh\necho \"$1\"\n"
EVIL = "#!/bin/sh\necho evil\n"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(params=KINDS)
def pair(box, request):
    """Two tools of the same size with different output; bytes appended to an ELF file do not matter."""
    box.directory("tools")
    good, evil = box.base / "tools/tool", box.base / "tools/other"
    if request.param == "binary":
        shutil.copy(box.bin / "say_args", good)
        shutil.copy(box.bin / "say_state", evil)
    else:
        good.write_text(GOOD)
        evil.write_text(EVIL)
    size = max(good.stat().st_size, evil.stat().st_size)
    for path in (good, evil):
        path.write_bytes(path.read_bytes().ljust(size, b"\n" if request.param == "script" else b"\0"))
        box.own(path, 0o755)
    return good, evil


def attack(box, pair, way, swaps, runs, **pin):
    good, evil = pair
    policy = box.write_policy([box.entry("tool", path=str(good), **pin)])
    answer = box.host("host_swap", "tool", way, good, evil, swaps, runs, policy=policy, deadline=120)
    fields = answer.out.split()
    return dict(zip(fields[::2], map(int, fields[1::2])))


@pytest.mark.parametrize("way, swaps", [("rename", 10000), ("write", 1000)])
def test_race_is_never_won(box, pair, way, swaps):
    swaps = swaps if box.actor.uid else swaps // 5  # root's run goes the same way
    count = attack(box, pair, way, scaled(swaps, 300, swaps // 4), scaled(1000, 100, 250), sha256=digest(pair[0]))
    assert count[b"evil"] == 0 and count[b"otherwise"] == 0, count
    assert way == "write" or count[b"busy"] == 0, count
    assert count[b"good"] > 0 and count[b"disallowed"] > 0, f"the race was not run: {count}"


@pytest.mark.parametrize("way", WAYS)
def test_same_attack_wins_without_a_digest(box, pair, way):
    count = attack(box, pair, way, 100, 200)
    assert count[b"evil"] > 0, count


def test_swap_before_the_run_is_refused_with_both_digests(box, pair):
    good, evil = pair
    expected, found = digest(good), digest(evil)
    policy = box.write_policy([box.entry("tool", path=str(good), sha256=expected)])
    assert box.run("tool", "good", policy=policy).stream("stdout")[:4] == b"good"
    evil.rename(good)
    answer = box.run("tool", "good", policy=policy)
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.tool.sha256")
    assert expected in answer.message and found in answer.message and str(good) in answer.message
