"""Attacker: another user. Means: /tmp, where anybody can make the directory first that the caller's scratch directories
are to be in; again and again, while tools are launched in the jail that bwrap makes. What appears in it is exchanged
for a link to what belongs to the caller. It succeeds against a program that takes the directory as it finds it.

Expected: nothing of the caller's is written or removed. A tool runs in a directory that is the caller's own, or it is
refused.
"""
import contextlib
import os
import shutil
import subprocess

import pytest

import bwrapped

CALLER, ATTACKER = 64997, 64998
PLACE = f"/tmp/chokepoint-{CALLER}"
LAUNCHES = 40

# Makes the directory, open to all; whatever is made in it becomes a link. Then it is gone for a moment.
SQUAT = """
import os, random, shutil, sys, time
place, precious = sys.argv[1:]
os.umask(0)
while True:
    try:
        os.mkdir(place, 0o777)
    except FileExistsError:
        time.sleep(random.random() / 500)
        continue
    end = time.monotonic() + random.random() / 50
    while time.monotonic() < end:
        for name in os.listdir(place):
            if not os.path.islink(f"{place}/{name}"):
                try:
                    os.rename(f"{place}/{name}", f"{place}/stolen-{random.random()}")
                    os.symlink(precious, f"{place}/{name}")
                except OSError:
                    pass
    shutil.rmtree(place, ignore_errors=True)
    try:
        os.rename(place, f"/tmp/squatted-{os.getpid()}-{random.random()}")
    except OSError:
        pass
    time.sleep(random.random() / 50)
"""

NAIVE = """
import os, sys, time
place, precious = sys.argv[1:]
end = time.monotonic() + 60
while not os.path.exists(precious + "/word") and time.monotonic() < end:
    try:
        os.makedirs(f"{place}/run", exist_ok=True)
        time.sleep(0.001)
        open(f"{place}/run/word", "w").close()
        os.unlink(f"{place}/run/word") if not os.path.islink(f"{place}/run") else None
        os.rmdir(f"{place}/run")
        os.rmdir(place)
    except OSError:
        pass
"""


def python(user, script, *arguments):
    words = ["/usr/bin/python3", "-c", script, *map(str, arguments)]
    return subprocess.Popen(words, user=user, group=user, extra_groups=[], cwd="/")


@pytest.fixture
def precious(root_box):
    path = root_box.directory("precious")
    root_box.file("precious/file", "content")
    for one in (path, path / "file"):
        os.chown(one, CALLER, CALLER)
    path.chmod(0o755)
    return path


@pytest.fixture
def squatter(precious):
    process = python(ATTACKER, SQUAT, PLACE, precious)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for name in os.listdir("/tmp"):
            if name.startswith(f"squatted-{process.pid}-") or f"/tmp/{name}" == PLACE:
                shutil.rmtree(f"/tmp/{name}")


@pytest.mark.usefixtures("squatter")
def test_race_is_won_against_who_takes_what_is_there(precious):
    assert python(CALLER, NAIVE, PLACE, precious).wait(90) == 0
    assert (precious / "word").exists()


def test_race_is_never_won(root_box, precious, squatter):
    box = root_box
    bwrapped.need_bwrap()
    bwrapped.write_policy(box, box.entry("breach_files"))
    box.policy.parent.chmod(0o755)
    box.policy.chmod(0o644)
    os.chown(box.policy, CALLER, CALLER)
    os.chown(box.policy.parent, CALLER, CALLER)
    words = box.words(["breach_files", "write", "/tmp/probe/word"], options=["--jail", "bwrap"])
    outcomes = []
    for _ in range(LAUNCHES):
        answer = box.call(words, user=CALLER, group=CALLER, extra_groups=[], env=box.environment())
        assert answer.out.startswith(b'{"outcome"'), answer
        outcomes.append(answer.out.split(b'"')[3])
        with contextlib.suppress(OSError):  # the caller's own, or it is for the attacker to remove
            if os.stat(PLACE).st_uid == CALLER:
                os.rmdir(PLACE)
    assert sorted(os.listdir(precious)) == ["file"] and (precious / "file").read_text() == "content"
    assert set(outcomes) == {b"exited", b"spawn_failed"}, outcomes
    assert squatter.poll() is None
