"""Promise: What it may execute.
Attacker: the tool, or what it runs. Means: a setuid program, by which it gets another uid, so that
the caller cannot signal it.

Expected: no_new_privs is set and inherited: the program runs without the privilege.
"""
import os
import re
import shutil

import pytest

from feature import skip


def state(data):
    return dict(re.findall(rb"(\w[\w.]*)=(.*)\n", data))


@pytest.fixture
def elevator(user_box):
    if os.geteuid() != 0:
        skip("root", "a setuid program for root can only be made by root")
    path = user_box.base / "bin"
    path.mkdir(mode=0o755)
    path = path / "elevator"
    shutil.copy(user_box.bin / "say_state", path)
    path.chmod(0o4755)
    direct = user_box.call([path])
    if state(direct.out)[b"euid"] != b"0":
        skip("setuid", "set-user-ID has no effect here, even without chokepoint")
    return user_box, path


def test_privileges_are_frozen(box):
    assert state(box.run("say_state").stream("stdout"))[b"no_new_privs"] == b"1"
    assert "no_new_privs" in box.run("true")["layers"]


def test_setuid_tool_gains_nothing(elevator):
    box, path = elevator
    policy = box.write_policy([box.entry("elevator")], search_path=[str(path.parent)])
    answer = box.run("elevator", policy=policy)
    assert state(answer.stream("stdout"))[b"euid"] == str(box.actor.uid).encode()


def test_setuid_program_run_by_the_tool_gains_nothing(elevator):
    box, path = elevator
    answer = box.run("sh", "-c", str(path))
    assert state(answer.stream("stdout"))[b"euid"] == str(box.actor.uid).encode()
