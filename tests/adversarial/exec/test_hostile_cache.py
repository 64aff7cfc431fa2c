"""Promise: The file that is meant.
Attacker: whoever can write next to the caller's cache, or filled the caller's disk.

Means: a symlink, a pipe, a directory, another owner, wide modes, garbage, a huge file or a cut one
instead of tools.json; a cache directory that is a symlink; no home at all.

Expected: doctor answers as without a cache, in time, with at most one line about it; nothing is
written through what was planted, and no planted answer is used.
"""
import hashlib
import json
import os
import shutil

import pytest
from feature import scaled
from readiness import Toolbox

FALSE_VERSION = "9.9.9"


@pytest.fixture
def toolbox(box):
    made = Toolbox(box)
    made.settled("teller", required=True)
    return made


@pytest.fixture
def remembered(toolbox):
    """A cache that is in use."""
    toolbox.remember("teller")
    return toolbox


def truth(toolbox, note, **keywords):
    """doctor still reports the truth; note: whether it mentions the cache."""
    tool = toolbox.found("teller", **keywords)
    assert (tool["state"], tool["version"], tool["cached"]) == ("ready", "1.2.3", False)
    answer = toolbox.text("doctor", **keywords)
    assert len(answer.err.splitlines()) == (1 if note else 0), answer.err
    if note:
        assert answer.err.startswith(b"chokepoint: the cache is not used: ")
    return answer


def lying(toolbox) -> bytes:
    """The cache with another version in it."""
    text = toolbox.cache.read_bytes()
    assert b"1.2.3" in text
    return text.replace(b"1.2.3", FALSE_VERSION.encode())


def test_a_link_instead_of_the_file_is_not_followed(remembered):
    target = remembered.box.file("outside/target", lying(remembered), 0o600)
    remembered.cache.unlink()
    remembered.cache.symlink_to(target)
    assert remembered.found("teller")["version"] == "1.2.3"
    assert FALSE_VERSION.encode() in target.read_bytes()  # nothing was written through it


def test_a_link_instead_of_the_directory_is_not_followed(remembered):
    elsewhere = remembered.box.directory("elsewhere", 0o700)
    remembered.box.file(elsewhere / "tools.json", lying(remembered), 0o600)
    shutil.rmtree(remembered.cache.parent)
    remembered.cache.parent.symlink_to(elsewhere)
    truth(remembered, note=True)
    assert FALSE_VERSION.encode() in (elsewhere / "tools.json").read_bytes()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(remembered, mode):
    remembered.box.file(remembered.cache, lying(remembered), mode)
    assert remembered.found("teller")["version"] == "1.2.3"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_directory_that_others_may_write_is_not_used(remembered, mode):
    remembered.box.file(remembered.cache, lying(remembered), 0o600)
    os.chmod(remembered.cache.parent, mode)
    truth(remembered, note=True)


def test_a_file_of_another_user_is_not_believed(remembered, superuser):
    remembered.box.file(remembered.cache, lying(remembered), 0o600)
    os.chown(remembered.cache, 54321, 54321)
    assert remembered.found("teller")["version"] == "1.2.3"


def test_a_home_of_another_user_is_not_used(remembered, superuser):
    remembered.box.file(remembered.cache, lying(remembered), 0o644)
    for path in (remembered.box.home, remembered.cache.parent.parent, remembered.cache.parent):
        os.chmod(path, 0o755)
    os.chown(remembered.cache.parent.parent, 54321, 54321)
    truth(remembered, note=True)


@pytest.mark.parametrize("text", [
    b"", b"{", b"null", b"[]", b"\0" * 100, b"\xff\xfe", b"{}" * 1000, b"[" * 100000,
    b'{"version":1,"policies":[{"policy":1}]}', b'{"version":2,"policies":[]}',
], ids=range(10))
def test_garbage_is_ignored_and_replaced(remembered, text):
    remembered.box.file(remembered.cache, text, 0o600)
    answer = remembered.text("doctor")
    assert len(answer.err.splitlines()) == 1 and b"1.2.3" in answer.out
    json.loads(remembered.cache.read_bytes())
    assert remembered.found("teller")["cached"]  # the new one is good


def test_a_huge_file_costs_no_memory_and_no_time(remembered):
    with open(remembered.cache, "wb") as stream:
        stream.truncate(1 << 40)
    assert remembered.found("teller")["version"] == "1.2.3"
    assert remembered.cache.stat().st_size < 1 << 20


def test_a_fifo_instead_of_the_file_does_not_hang(remembered):
    remembered.cache.unlink()
    os.mkfifo(remembered.cache, 0o600)
    remembered.box.own(remembered.cache)
    assert remembered.found("teller")["version"] == "1.2.3"


def test_a_directory_instead_of_the_file_is_left_alone(remembered):
    remembered.cache.unlink()
    remembered.cache.mkdir()
    remembered.box.own(remembered.cache, 0o700)
    truth(remembered, note=True)
    assert os.listdir(remembered.cache.parent) == ["tools.json"]  # and nothing is left beside it


def test_no_beginning_of_a_cache_is_believed(remembered):
    text = remembered.cache.read_bytes()
    step = len(text) // scaled(12, 6)
    for length in range(0, len(text) - 1, step):
        remembered.box.file(remembered.cache, text[:length], 0o600)
        assert not remembered.found("teller")["cached"]


def test_a_read_only_home_is_no_failure(user_box):
    toolbox = Toolbox(user_box)
    toolbox.tool("teller")
    os.chmod(toolbox.box.home, 0o555)
    truth(toolbox, note=True)
    assert os.listdir(toolbox.box.home) == []


@pytest.mark.parametrize("settings", [
    {"HOME": None}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "/nonexistent/home"},
    {"HOME": "/proc/self"}, {"XDG_CACHE_HOME": "/dev/null"}, {"XDG_CACHE_HOME": "/nonexistent/x"},
    {"XDG_CACHE_HOME": "/" + "x" * 5000}, {"XDG_CACHE_HOME": "/nonexistent/\033[31m"},
])
def test_an_unusable_home_is_not_a_failure(user_box, settings):
    toolbox = Toolbox(user_box)
    toolbox.tool("teller")
    env = toolbox.box.environment(**{name: value for name, value in settings.items() if value is not None})
    for name, value in settings.items():
        if value is None:
            del env[name]
    answer = truth(toolbox, note=True, env=env)
    assert b"\033" not in answer.err


FULL_DISK = """
set -e
mount -t tmpfs -o size=16k,mode=700 none "$1"
cp "$2" "$1/tools.json"
chmod 600 "$1/tools.json"
cat /dev/zero > "$1/filler" 2>/dev/null || true
"$3" doctor --policy "$4"
cmp "$2" "$1/tools.json"
ls "$1"
"""


def test_a_full_disk_is_no_failure_and_the_old_cache_stays(root_box):
    toolbox = Toolbox(root_box)
    toolbox.settled("teller", required=True)
    toolbox.remember("teller")
    old = toolbox.box.file("outside/old", toolbox.cache.read_bytes())
    with open(toolbox.box.policy, "ab") as stream:
        stream.write(b"\n")  # another policy, so there is something to write
    args = ["unshare", "-m", "sh", "-c", FULL_DISK, "sh", toolbox.cache.parent, old, toolbox.box.command, toolbox.box.policy]
    answer = toolbox.box.call([str(word) for word in args])
    assert answer.status == 0 and b"1.2.3" in answer.out, answer
    assert answer.out.endswith(b"\nfiller\ntools.json\n")
    assert answer.err == b"chokepoint: the cache is not used: cannot write 'tools.json': No space left on device\n"


def test_doctors_at_the_same_time_leave_one_good_cache(remembered):
    remembered.cache.unlink()
    args = [remembered.box.command, "doctor", "--policy", str(remembered.box.policy)]
    running = [remembered.box.popen(args, raw=True) for _ in range(8)]
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0 and err == b""
    assert os.listdir(remembered.cache.parent) == ["tools.json"]
    assert remembered.found("teller")["cached"]


@pytest.mark.parametrize("there", [True, False])
def test_a_cache_inside_the_root_is_not_used(box, there):
    """XDG_CACHE_HOME leads into the repository, which planted digests of tools there. The record has the true one, and
    nothing is made in the repository."""
    elsewhere = box.environment(XDG_CACHE_HOME=str(box.home / "elsewhere"))
    inside = box.environment(XDG_CACHE_HOME=str(box.root / "cache"))
    answer = box.run("true", env=elsewhere)
    assert answer.outcome == "exited"
    planted = box.home / "elsewhere/chokepoint/tools.json"
    with open(answer["tool"]["path"], "rb") as stream:
        true = hashlib.sha256(stream.read()).hexdigest()
    assert true.encode() in planted.read_bytes(), "it is not remembered, and there is no attack"
    if there:
        for path in (box.root / "cache", box.root / "cache/chokepoint"):
            path.mkdir(0o700)
            box.own(path, 0o700)
        box.file("root/cache/chokepoint/tools.json", planted.read_bytes().replace(true.encode(), b"0" * 64), 0o600)
    assert box.run("true", env=inside).outcome == "exited"
    assert json.loads(box.log.read_bytes().splitlines()[-2])["tool"]["sha256"] == true
    assert (box.root / "cache").exists() == there
