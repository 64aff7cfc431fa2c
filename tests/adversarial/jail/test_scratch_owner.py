"""Promise: The directories of bwrap's jail.
Attacker: another user. Means: /tmp, where anyone can first make the directory for the caller's
scratch directories; repeatedly, while tools are launched in bwrap's jail. What appears in it is
replaced by a symlink to what belongs to the caller. It succeeds against a program that uses the
directory without a check.

Expected: nothing of the caller is written or removed. A tool runs in a directory that belongs to
the caller, or it is refused.
"""
import contextlib
import os
import shutil
import subprocess
import time

import pytest

import bwrapped

ATTACKER = 64998
LAUNCHES = 40
PATIENCE_S = 240  # until the attacker had its turn

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
end = time.monotonic() + 240
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
    args = ["/usr/bin/python3", "-c", script, *map(str, arguments)]
    return subprocess.Popen(args, user=user, group=user, extra_groups=[], cwd="/")


@pytest.fixture
def precious(user_box):
    path = user_box.directory("precious")
    user_box.file("precious/file", "content")
    return path


@pytest.fixture
def directory(user_box):
    """Where the scratch directories of the caller are, who exists for this session only."""
    return f"/tmp/chokepoint-{user_box.actor.uid}"


@pytest.fixture
def squatter(superuser, directory, precious):
    shutil.rmtree(directory, ignore_errors=True)
    process = python(ATTACKER, SQUAT, directory, precious)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for name in os.listdir("/tmp"):
            if name.startswith(f"squatted-{process.pid}-") or f"/tmp/{name}" == directory:
                shutil.rmtree(f"/tmp/{name}")


@pytest.mark.usefixtures("squatter")
def test_race_is_won_against_who_takes_what_is_there(user_box, directory, precious):
    assert python(user_box.actor.uid, NAIVE, directory, precious).wait(300) == 0
    assert (precious / "word").exists()


def test_race_is_never_won(user_box, directory, precious, squatter):
    bwrapped.need_bwrap()
    policy = bwrapped.write_policy(user_box, user_box.entry("breach_files"))
    outcomes, launches, end = set(), 0, time.monotonic() + PATIENCE_S
    # Until both have happened: on a busy machine the attacker may not have its turn for a while.
    while launches < LAUNCHES or len(outcomes) < 2 and time.monotonic() < end:
        launches += 1
        answer = user_box.run("breach_files", "write", "/tmp/probe/word", options=["--jail", "bwrap"], policy=policy)
        outcomes.add((answer.outcome, answer["exit_code"]))
        with contextlib.suppress(OSError):  # the caller's own, or it is for the attacker to remove
            if os.stat(directory).st_uid == user_box.actor.uid:
                os.rmdir(directory)
    assert sorted(os.listdir(precious)) == ["file"] and (precious / "file").read_text() == "content"
    assert outcomes == {("exited", 0), ("spawn_failed", None)}
    assert squatter.poll() is None
