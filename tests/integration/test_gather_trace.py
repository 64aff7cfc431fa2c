"""The runtime trace builds the repository's image and reports what its program does, with a daemon
of the test.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import time
import uuid

import pytest

import processes
from processes import wait_until
from promises import given_time
from tracing import Tracing, report_of, without_timing

NOBODY = 65534


@pytest.fixture
def tracing(box, docker_socket):
    return Tracing(box, docker_socket)


@pytest.fixture
def root_tracing(root_box, docker_socket):
    return Tracing(root_box, docker_socket)


def pick(items, **wanted):
    return [item for item in items if all(item[key] == value for key, value in wanted.items())]


@pytest.mark.parametrize("word, name", [("die=segv", "SIGSEGV"), ("die=kill", "SIGKILL")])
def test_end_by_a_signal_is_reported(tracing, word, name):
    """Of the program, and of a child before it. No part of the trace is lost."""
    tracing.image(word)
    found = tracing.look()["evidence"]
    assert (found["ended"], found["signal"], found["exit_code"], found["complete"]) == ("program", name, None, True), found


def test_what_a_program_does_is_reported(tracing):
    tracing.image("read=/etc/hosts", "read=/bin/traced", "read=there", "write=/etc/new", "write=/tmp/new",
                  "read=/proc/1/maps", "write=/kept/new", "connect=10.1.2.3", "path=/run/docker.sock", "exec=/bin/traced",
                  "exec=/bin/sh", more="WORKDIR /data\nVOLUME /kept\nUSER 1234\nEXPOSE 80\n")
    (tracing.box.root / "A").mkdir()
    tracing.box.file("root/A/Dockerfile", "NOTHING\n")  # the one nearest to the root is built
    first = tracing.gather()
    report = report_of(first)
    assert (report["state"], report["reason"]) == ("ok", None)
    found = report["evidence"]
    assert found["image"] | {"command": 0} == {
        "os": "linux", "architecture": found["image"]["architecture"], "user": "1234", "working_dir": "/data",
        "entrypoint": ["traced"], "command": 0, "env": ["PATH", "SECRET"], "volumes": ["/kept"], "ports": ["80/tcp"],
        "layers": found["image"]["layers"]}
    assert (found["started"], found["ended"], found["exit_code"], found["signal"]) == (True, "program", 3, None)
    assert found["complete"] and found["image_files"] == 1
    assert found["programs"][0] == {"path": "/bin/sh", "argv": ["/bin/sh", "nothing", 'a "quoted"\nword'],
                                    "error": "ENOENT"}
    assert found["programs"][1]["argv"] == ["/bin/traced", "nothing", 'a "quoted"\nword']
    assert found["programs"][2]["argv"][:2] == ["traced", "read=/etc/hosts"] and len(found["programs"]) == 3
    assert found["files"] == [
        {"path": "/data/there", "place": "absent", "access": "read", "error": "ENOENT"},
        {"path": "/etc/hosts", "place": "engine", "access": "read", "error": None},
        {"path": "/etc/new", "place": "image", "access": "write", "error": "EROFS"},
        {"path": "/kept/new", "place": "volume", "access": "write", "error": "EACCES"},
        {"path": "/proc/[pid]/maps", "place": "kernel", "access": "read", "error": "EACCES"},
        {"path": "/tmp/new", "place": "scratch", "access": "write", "error": None}]
    assert sorted(pick(found["sockets"], call="connect"), key=lambda item: item["address"]) == [
        {"call": "connect", "family": "AF_UNIX", "address": "/run/docker.sock", "port": None, "error": "ENOENT"},
        {"call": "connect", "family": "AF_INET", "address": "10.1.2.3", "port": 443, "error": "ENETUNREACH"}]
    assert "xyz" not in json.dumps(found)
    assert not tracing.left() and tracing.containers() == []
    again = tracing.gather()
    assert without_timing(again) == without_timing(first)


def test_program_that_stays_is_ended_when_its_time_is_over(root_tracing):
    root_tracing.image("write=/run/ready", "stay=")
    report = given_time(lambda seconds: root_tracing.look("--probes", root_tracing.probes(seconds)),
                        lambda report: pick(report["evidence"]["files"], path="/run/ready", error=None), (1, 5, 25))
    assert (report["state"], report["evidence"]["ended"], report["evidence"]["exit_code"]) == ("ok", "time", None)
    assert pick(report["evidence"]["files"], path="/run/ready", error=None)
    assert root_tracing.running() == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_container_ends_with_the_command(root_tracing, how):
    root_tracing.image("stay=")
    process = root_tracing.box.popen(root_tracing.gather_argv("--probes", root_tracing.probes(600)), raw=True)
    wait_until(root_tracing.running, "the container runs")
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    if how == signal.SIGINT:
        document = json.loads(out)
        assert process.returncode == 130 and document["cancelled"] and report_of(document)["state"] == "cancelled"
        assert not root_tracing.left()
    wait_until(lambda: not root_tracing.containers(), "the container is gone")
    for stage in root_tracing.left():  # a killed command cannot remove it; the next one does
        assert how == signal.SIGKILL
        shutil.rmtree(stage)


def client():
    """The process of docker run."""
    for pid in processes.of_this_test():
        with contextlib.suppress(OSError):
            argv = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if argv[:2] == [b"docker", b"run"]:
                return pid
    raise AssertionError("there is no client")


def test_container_ends_with_its_client(root_tracing):
    """After SIGKILL it cannot pass a signal on."""
    root_tracing.image("stay=")
    process = root_tracing.box.popen(root_tracing.gather_argv("--probes", root_tracing.probes(600)), raw=True)
    wait_until(root_tracing.running, "the container runs")
    os.kill(client(), signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and report_of(json.loads(out))["state"] == "failed"
    wait_until(lambda: not root_tracing.containers(), "the container is gone")


def test_container_that_does_not_end_in_time_is_a_timeout(root_tracing):
    root_tracing.image("stay=")
    report = given_time(lambda seconds: root_tracing.look("--probes", root_tracing.probes(600), "--timeout", seconds),
                        lambda report: report["calls"][-1]["id"] == "run", (6, 20, 60))
    assert report["state"] == "timeout" and report["calls"][-1]["id"] == "run"
    wait_until(lambda: not root_tracing.containers(), "the container is gone")


def test_image_without_a_program_is_reported(root_tracing):
    root_tracing.box.file("root/Dockerfile", "FROM scratch\nLABEL a=b\n")
    report = root_tracing.look()
    assert report["state"] == "failed" and "neither ENTRYPOINT nor CMD" in report["reason"]


def test_program_that_is_not_there_is_reported(root_tracing):
    root_tracing.image("x")
    dockerfile = root_tracing.box.root / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text(encoding="utf-8").replace('["traced"]', '["no_such_program"]'),
                          encoding="utf-8")
    evidence = root_tracing.look()["evidence"]
    assert (evidence["started"], evidence["exit_code"], evidence["programs"]) == (False, None, [])


def test_image_is_built_on_one_that_is_here(root_tracing):
    root_tracing.image()
    assert root_tracing.look()["state"] == "ok"
    name = f"choke/{uuid.uuid4().hex}"
    newest = root_tracing.docker("images", "--quiet", "--filter=label=chokepoint.probe").split()[0]
    root_tracing.docker("tag", newest, name)
    root_tracing.box.file("root/Dockerfile", f'FROM docker.io/{name}\nCMD ["read=/behind"]\n')
    report = root_tracing.look()
    assert report["state"] == "ok", report["reason"]
    assert pick(report["evidence"]["files"], path="/behind")


def test_build_that_fails_is_reported(root_tracing):
    root_tracing.box.file("root/Dockerfile", "FROM scratch\nCOPY missing /\n")
    report = root_tracing.look()
    assert report["state"] == "failed" and report["calls"][-1]["id"] == "build"
    assert report["reason"].startswith("docker: status 1: COPY failed"), report["reason"]  # not the note about its old builder


# ---- without a daemon, without strace ----

@contextlib.contextmanager
def mute_daemon(box):
    path = box.base / "mute.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        box.own(path, 0o666)
        yield path


def test_no_daemon_is_reported(user_box):
    tracing = Tracing(user_box, user_box.base / "none.sock")
    tracing.image("x")
    report = tracing.look()
    assert report["state"] == "failed"
    assert f"no docker daemon answers: Cannot connect to the Docker daemon at unix://{tracing.socket}" in report["reason"]
    assert not tracing.left()


def test_daemon_that_does_not_answer_is_a_timeout(user_box):
    with mute_daemon(user_box) as path:
        tracing = Tracing(user_box, path)
        tracing.image("x")
        began = time.monotonic()
        report = tracing.look("--timeout", 1)
        assert report["state"] == "timeout" and time.monotonic() - began < 30


@pytest.fixture
def make_stage(user_box):
    """Makes the leftovers of a killed command."""
    made = []

    def make(age_s, own=True, kind="trace"):
        path = pathlib.Path(f"/tmp/chokepoint-{kind}-{uuid.uuid4().hex[:6]}")
        (path / "lib").mkdir(parents=True)
        made.append(path)
        for file in (path / "lib" / "x", path / "witness"):
            file.touch()
        for item in (path / "lib" / "x", path / "lib", path / "witness", path):
            uid = user_box.actor.uid if own else NOBODY  # not root: another test may be gathering as root now
            os.chown(item, uid, uid)
        os.utime(path, (time.time() - age_s,) * 2)
        return path
    yield make
    for path in made:
        shutil.rmtree(path, ignore_errors=True)


def test_what_a_killed_command_left_is_removed(user_box, make_stage):
    """But not a locked one, a young one that may not be locked yet, or another user's."""
    tracing = Tracing(user_box, user_box.base / "none.sock")
    tracing.image("x")
    left, held, young, foreign = make_stage(3600), make_stage(3600), make_stage(0), make_stage(3600, own=False)
    kept = make_stage(3600, kind="kept")
    lock = os.open(held, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tracing.look()
    finally:
        os.close(lock)
    assert [path.exists() for path in (left, kept, held, young, foreign)] == [False, False, True, True, True]


def test_strace_that_is_missing_is_reported(user_box):
    tracing = Tracing(user_box, user_box.base / "none.sock")
    entry = "  - name: strace\n"
    tracing.policy = user_box.default_policy(replace=[(entry, entry + "    path: /nonexistent/strace\n")])
    tracing.image("x")
    report = tracing.look()
    assert report["state"] == "tool_missing" and "strace" in report["reason"]


def test_repository_without_a_dockerfile_is_skipped(user_box):
    assert Tracing(user_box, user_box.base / "none.sock").look()["state"] == "skipped"
