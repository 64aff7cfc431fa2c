"""Promise: The directories of bwrap's jail.
Attacker: a tool in the jail that bwrap makes. Means: what it leaves in its scratch directory,
which is a directory of the host: symlinks out of it, directories without permissions, a tree
deeper than any path; and SIGKILL to the caller, so that it cannot clean up.

Expected: the directory is gone when the call returns, the targets of the symlinks are untouched;
what a killed caller left is gone after the next call.
"""
import os
import signal

import pytest

import bwrapped
from processes import wait_until

ATTACKS = {
    "links": "import os; [os.symlink(p, f'{n}') for n, p in enumerate(['PRECIOUS', 'PRECIOUS/file', '/', '..', '/work'])];"
             "os.mkdir('d'); os.symlink('../../..', 'd/up'); os.symlink('PRECIOUS', 'd/0')",
    "shut": "import os; os.makedirs('a/b/c'); open('a/b/f', 'w'); os.chmod('a/b/c', 0); os.chmod('a/b', 0o500);"
            "os.chmod('a', 0); os.chmod('.', 0)",
    "deep": "import os\nfor i in range(1500):\n os.mkdir('x' * 200); os.chdir('x' * 200)",
    "many": "import os\nfor i in range(3000): open(str(i), 'w')\nos.mkdir('d')\nfor i in range(2000): os.mkdir(f'd/{i}')",
    "names": "import os\nfor n in (b'\\xff\\n', b'-rf', b' ', b'\\\\', b'0', b'1'): os.makedirs(n + b'/' + n + b'/0')",
    "nodes": "import os; os.mkfifo('fifo'); os.link('fifo', 'other'); open('s', 'w').close(); os.truncate('s', 1 << 30)",
}


@pytest.fixture(autouse=True)
def bwrap(box):
    bwrapped.need_bwrap()
    bwrapped.write_policy(box, box.entry("python3"), box.entry("sleep"))


def attack(box, name):
    precious = box.directory("precious")
    box.file("precious/file", "content")
    script = "import os; os.chdir('/tmp/probe')\n" + ATTACKS[name].replace("PRECIOUS", str(precious))
    answer = box.run("python3", "-c", script, options=["--jail", "bwrap"], env=bwrapped.environment(box),
                     timeout=60, deadline=90)
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer["stderr"]
    assert (precious / "file").read_text() == "content"


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_left_and_nothing_else_is_touched(box, name):
    attack(box, name)
    assert bwrapped.scratches(box) == []


def test_a_tool_cannot_exchange_the_directory_itself(box):
    script = ("import os\nfor act in (lambda: os.rmdir('/tmp/probe'), lambda: os.rename('/tmp/probe', '/tmp/moved')):\n"
              " try: act(); print('done')\n except OSError as error: print(type(error).__name__)")
    answer = box.run("python3", "-c", script, options=["--jail", "bwrap"], env=bwrapped.environment(box))
    assert "done" not in answer["stdout"]["text"] and answer["exit_code"] == 0
    assert bwrapped.scratches(box) == []


def start_and_see(box, timeout):
    """A run, and whether its directory was seen before it ended."""
    process = box.popen(["sleep", "1000"], env=bwrapped.environment(box),
                        shape={"options": ["--jail", "bwrap"], "timeout": timeout})
    wait_until(lambda: bwrapped.scratches(box) or process.poll() is not None, "the directory is there")
    return process, process.poll() is None


@pytest.mark.parametrize("ending", ["timeout", "cancel"])
def test_gone_when_the_tool_was_ended(box, ending):
    for timeout in (0.4, 3, 20) if ending == "timeout" else (90,):  # more where this process was too late to see it
        process, seen = start_and_see(box, timeout)
        if seen:
            break
    assert seen
    if ending == "cancel":
        process.send_signal(signal.SIGINT)
    process.wait(60)
    assert bwrapped.scratches(box) == []


def test_what_a_killed_caller_left_is_swept_by_the_next(box):
    processes = [box.popen(["sleep", "1000"], env=bwrapped.environment(box),
                           shape={"options": ["--jail", "bwrap"], "timeout": 300})
                 for _ in range(2)]
    wait_until(lambda: len(bwrapped.scratches(box)) == 2, "the directories are there")
    processes[0].kill()
    processes[0].wait(60)
    assert len(bwrapped.scratches(box)) in (1, 2)  # the other may still be sweeping
    box.run("python3", "-c", "pass", options=["--jail", "bwrap"], env=bwrapped.environment(box))
    assert len(bwrapped.scratches(box)) == 1  # the other's is in use
    processes[1].terminate()
    processes[1].wait(60)
    assert bwrapped.scratches(box) == []


def test_a_directory_that_somebody_else_prepared_is_refused(root_box):
    """In /tmp, where anybody can make a directory of that name first."""
    box = root_box
    bwrapped.write_policy(box, box.entry("python3"))
    parent = "/tmp/chokepoint-64999"
    os.mkdir(parent, 0o755)
    try:
        args = box.run_argv(["python3", "-c", "pass"], options=["--jail", "bwrap", "--no-audit"])
        os.chmod(box.policy.parent, 0o755)
        os.chmod(box.policy, 0o644)
        answer = box.call(args, user=64999, group=64999, extra_groups=[], env=box.environment())
        assert b"spawn_failed" in answer.out and b"scratch" in answer.out, answer
        assert os.listdir(parent) == []
    finally:
        os.rmdir(parent)
