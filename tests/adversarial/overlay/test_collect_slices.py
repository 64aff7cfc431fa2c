"""Promise: Time.
Attacker: a tool that leaves much work for its caller: many files in an overlay, large ones that
are kept, files that have to be read to be judged, a scratch directory full of entries. Means: the
caller lists, copies and removes it.

Expected: no dispatch does more than one slice (256 entries read or removed, 8 made, 1 MiB), every
job gets its turn, the call has returned by 1.5 times its timeout with a list that says that it was
cut, and what is kept is whole files. A context that is freed meanwhile stops copying.
"""
import math
import os
import pathlib

import pytest

import bwrapped
from feature import scaled
from overlays import OverlayBox, listed
from promises import TRIES

ENTRIES, MADE, BYTES = 256, 8, 1 << 20
FILES = "import os\nfor i in range({count}):\n with open(f'f{{i}}', 'wb') as file: file.write(b'x' * {size})"


@pytest.fixture
def overlay_box(box):
    return OverlayBox(box)


@pytest.fixture
def once(once_box):
    """The list is made, ordered and cut by the same code for root."""
    return OverlayBox(once_box)


def once_within(attempt, seconds):
    """A promise about time holds in one of some tries; all else holds in each."""
    taken = []
    for number in range(TRIES):
        taken.append(attempt(number))
        if taken[-1] <= seconds:
            return
    raise AssertionError(f"not once within {seconds} s: {taken}")


class Report:
    """What host_slices says."""

    def __init__(self, text):
        lines = [line.split() for line in text.decode().splitlines()]
        self.jobs = [(int(count), cut == "1", lacking == "1", float(seconds))
                     for word, count, cut, lacking, seconds in (line for line in lines if line[0] == "job")]
        numbers = next(line for line in lines if line[0] == "most")[1:]
        self.entries, self.bytes, self.removed, self.gap, self.dispatches = map(int, numbers[:5])
        self.dispatch, self.total, self.free = map(float, numbers[5:])


def slices(overlay_box, script, what, jobs=1, timeout_ms=60000):
    watched = overlay_box.box.home / "kept"
    watched.mkdir(mode=0o700)
    os.chown(watched, overlay_box.box.actor.uid, overlay_box.box.actor.gid)
    return watched, Report(overlay_box.box.host("host_slices", "native", jobs, watched, timeout_ms, what, "python3", "-I", "-S",
                                            "-c", script, policy=overlay_box.policy).out)


def test_large_files_are_kept_in_slices_and_jobs_take_turns(overlay_box):
    """Three jobs with 24 MiB in 6 files each."""
    watched, report = slices(overlay_box, FILES.format(count=6, size=4 << 20), "keep", jobs=3)
    assert [job[:3] for job in report.jobs] == [(6, False, False)] * 3
    assert report.bytes <= BYTES and report.entries <= MADE
    assert report.gap <= 2 * 3 + 2 and report.dispatches >= 3 * 24
    for number in range(3):
        sizes = {path.name: path.stat().st_size for path in (watched / str(number)).iterdir()}
        assert sizes == {f"f{i}": 4 << 20 for i in range(6)}


def test_many_files_are_kept_in_slices(overlay_box):
    count = scaled(400, 200)
    watched, report = slices(overlay_box, FILES.format(count=count, size=10), "keep", jobs=2)
    assert [job[:3] for job in report.jobs] == [(count, False, False)] * 2
    assert report.entries <= MADE and report.gap <= 2 * 2 + 2
    assert len(os.listdir(watched / "0")) == len(os.listdir(watched / "1")) == count


def test_many_files_are_listed_in_slices(once):
    count = scaled(20000, 5000)
    _, report = slices(once, FILES.format(count=count, size=0), "list")
    assert [job[:3] for job in report.jobs] == [(count, False, False)]
    assert report.dispatches >= count / ENTRIES


def test_files_that_have_to_be_read_are_compared_in_slices(overlay_box):
    """The same bytes again, in files of 4 MiB: only a comparison shows that nothing changed."""
    for i in range(6):
        overlay_box.box.file(f"root/f{i}", "x" * (4 << 20))
    _, report = slices(overlay_box, FILES.format(count=6, size=4 << 20), "list")
    assert [job[:3] for job in report.jobs] == [(0, False, False)]
    assert report.dispatches >= 24


@pytest.mark.parametrize("keep", [False, True])
def test_package_files_do_not_hold_the_caller_up(overlay_box, keep):
    """48 files of 1 MiB called package.json took three seconds at a timeout of one."""
    script = """
import math
import os
text = '{"scripts": {' + ",".join(f'"{i}": "x"' for i in range(80000)) + "}}"
for i in range(48):
    os.mkdir(str(i))
    with open(f"{i}/package.json", "w") as file: file.write(text[:1 << 20])
"""
    options = ["--keep", str(overlay_box.box.home / "kept")] if keep else []
    answer = overlay_box.python(script, timeout=10, deadline=60, options=options)
    assert {why for path, (_, _, why) in listed(answer).items() if path.endswith("json")} == {"package script"}
    assert answer.seconds < 10


@pytest.mark.parametrize("what", ["late-list", "late"])
def test_returned_by_one_and_a_half_times_the_timeout(overlay_box, what):
    """More than can be listed or kept in the time that is left. Its own end uses a part of it."""
    script = """
import os, time
try:
    for i in range(150_000):
        if time.monotonic() > begin + 1.2: break
        os.close(os.open(f"{i}", os.O_CREAT))
    for i in range(300):
        if time.monotonic() > begin + 1.6: break
        with open(f"large{i}", "wb") as file: file.write(b"x" * (2 << 20))
except OSError: pass
"""
    def promise(attempt):
        watched = overlay_box.box.home / f"kept{attempt}"
        watched.mkdir(mode=0o700)
        os.chown(watched, overlay_box.box.actor.uid, overlay_box.box.actor.gid)
        try:
            answer = overlay_box.box.host("host_slices", "native", 1, watched, 2000, what, "python3", "-I", "-S", "-c",
                                          "import time; begin = time.monotonic()\n" + script, policy=overlay_box.policy)
        except AssertionError as error:
            if "was ended at its timeout" in str(error):  # it had no turn before its time was over
                return math.inf
            raise
        report = Report(answer.out)
        (count, cut, lacking, seconds), = report.jobs
        if what == "late":
            assert cut or lacking or count < 3000
            whole(watched / "0")
        return seconds
    once_within(promise, 3.0)


def whole(directory: pathlib.Path):
    """Nothing is half there."""
    sizes = {path.name: path.stat().st_size for path in directory.iterdir()}
    assert all(size == (2 << 20 if name.startswith("large") else 0) for name, size in sizes.items()), sizes


def test_freed_context_does_not_go_on_copying(overlay_box):
    """Three copies of 200 MiB: one that is under way is left, and nothing of it remains under the name of a whole one."""
    def promise(attempt):
        watched = overlay_box.box.home / f"kept{attempt}"
        watched.mkdir(mode=0o700)
        os.chown(watched, overlay_box.box.actor.uid, overlay_box.box.actor.gid)
        report = Report(overlay_box.box.host("host_slices", "native", 3, watched, 60000, "free", "python3", "-I", "-S", "-c",
                                         FILES.format(count=100, size=2 << 20), policy=overlay_box.policy).out)
        for path in watched.rglob("*"):
            assert path.is_dir() or (path.name.startswith("f") and path.stat().st_size == 2 << 20), path
        kept = sum(path.is_file() for path in watched.rglob("*"))
        assert kept < 30 and not report.jobs
        return report.free
    once_within(promise, 1.5)


def test_cancel_ends_the_collection(overlay_box):
    watched, report = slices(overlay_box, FILES.format(count=100, size=2 << 20), "cancel")
    (_, cut, lacking, _), = report.jobs
    assert cut and lacking and len(os.listdir(watched / "0")) < 10
    assert all(path.stat().st_size == 2 << 20 for path in (watched / "0").iterdir())


@pytest.mark.parametrize("script", ["for i in range(1200): open(str(i), 'w')",
                                    "for i in range(1200): os.mkdir(str(i))"])
def test_scratch_is_removed_in_slices(box, script):
    bwrapped.need_bwrap()
    bwrapped.write_policy(box, box.entry("python3"))
    report = Report(box.host("host_slices", "bwrap", 1, bwrapped.scratch_parent(box), 60000, "scratch", "python3", "-c",
                             "import os; os.chdir('/tmp/probe')\n" + script, env=bwrapped.environment(box)).out)
    assert len(report.jobs) == 1 and report.removed <= ENTRIES
    assert bwrapped.scratches(box) == []


# ---- what runs later comes first ----

def test_cut_list_still_has_what_runs_later(once):
    """More entries than are listed, made before and after."""
    directories = {".git/hooks/post-commit": "git hook", "deep/er/.husky/pre-push": "git hook", "zzz/Makefile": "build file"}
    script = f"""
import math
import os
def many(name):
    os.mkdir(name)
    for i in range(51_000): os.mkfifo(f"{{name}}/{{i}}")
many("a")
for place in {list(directories)}:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    open(place, "w").close()
many("z")
"""
    answer = once.python(script, timeout=60, deadline=90)
    found = listed(answer)
    assert answer["changes_incomplete"] and {directory: found[directory][2] for directory in directories} == directories
