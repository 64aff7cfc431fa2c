"""Promise: Time.
Attacker: whoever can make a file that the command opens: in the repository, in /tmp, as a symlink.
Means: a FIFO, which the kernel opens only when its other end is opened, a socket, or a device.

Expected: nothing waits without a deadline. The tool waits for a FIFO on standard input, and ends
as timeout; a file that must be regular is refused; a file that is only searched for is skipped.
"""
import os
import socket
import threading
import time

import pytest

SECONDS = 20  # for what ends at once, on a busy machine
BYTES = 300000  # more than a pipe holds


def fifo(box, path):
    os.mkfifo(path)
    return box.own(path, 0o600)


def cat_policy(box):
    return box.write_policy([box.entry("cat"), box.entry("bwrap", route="jail")], name="policy/cat.yaml")


@pytest.fixture(params=["none", "native", "bwrap"])
def cat(request, box):
    """Runs cat with this standard input."""
    policy = cat_policy(box)

    def run(path, timeout=60):
        return box.run("cat", policy=policy, options=["--jail", request.param, "--stdin", str(path)], timeout=timeout)
    return run


def test_stdin_that_nobody_writes_ends_at_the_timeout(box, cat):
    path = fifo(box, box.outside / "fifo")
    began = time.monotonic()
    answer = cat(path, timeout=1)
    assert answer.outcome == "timeout" and answer.stream("stdout") == b""
    assert time.monotonic() - began < SECONDS


def test_stdin_of_a_writer_that_comes_later_arrives(box, cat):
    path = fifo(box, box.outside / "fifo")
    data = os.urandom(BYTES)

    def write():
        with open(path, "wb") as stream:  # waits for the reader
            stream.write(data)
    writer = threading.Thread(target=write)
    writer.start()
    answer = cat(path)
    writer.join()
    assert answer.outcome == "exited" and answer.stream("stdout") == data


def test_stdin_of_a_writer_that_says_nothing_is_empty(box, cat):
    path = fifo(box, box.outside / "fifo")
    writer = threading.Thread(target=lambda: open(path, "wb").close())
    writer.start()
    answer = cat(path)
    writer.join()
    assert answer.outcome == "exited" and answer.stream("stdout") == b""


def test_stdin_that_is_not_read_delays_nothing(box):
    """The tool ends without a look at its input, which has no end."""
    path = fifo(box, box.outside / "fifo")
    kept = os.open(path, os.O_RDWR)
    try:
        os.write(kept, b"x" * 4096)
        answer = box.run("true", options=["--stdin", str(path)])
    finally:
        os.close(kept)
    assert answer.outcome == "exited"


def test_stdin_by_a_link_is_the_same(user_box):
    path = fifo(user_box, user_box.outside / "fifo")
    link = user_box.outside / "link"
    link.symlink_to(path)
    answer = user_box.run("cat", policy=cat_policy(user_box), options=["--stdin", str(link)], timeout=1)
    assert answer.outcome == "timeout"


@pytest.mark.parametrize("kind", ["directory", "socket"])
def test_stdin_that_cannot_be_read_is_refused(user_box, kind):
    path = user_box.outside / "it"
    if kind == "directory":
        path.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    user_box.own(path)
    answer = user_box.run("cat", policy=cat_policy(user_box), options=["--stdin", str(path)])
    assert answer.outcome == "invalid" and "--stdin" in answer.message


def test_dry_run_does_not_wait(user_box):
    path = fifo(user_box, user_box.outside / "fifo")
    answer = user_box.run("cat", policy=cat_policy(user_box), options=["--stdin", str(path), "--dry-run"], deadline=SECONDS)
    assert answer.status == 0


# Each names the FIFO where a file is expected; the last item is part of the message.
FILES = {
    "lint --config": (["lint", "--config", "{}", "."], "not a regular file"),
    "policy check": (["policy", "check", "{}"], "not a regular file"),
    "policy diff": (["policy", "diff", "{}", "{}"], "not a regular file"),
    "doctor --policy": (["doctor", "--policy", "{}"], "not a regular file"),
    "run --policy": (["run", "--no-audit", "--policy", "{}", "--", "true"], "not a regular file"),
    "run --audit": (["run", "--policy", "POLICY", "--audit", "{}", "--", "true"], "not a regular file"),
    "gather --probes": (["gather", ".", "--no-audit", "--probes", "{}"], "not a regular file"),
    "lock --check": (["lock", "--policy", "POLICY", "--check", "{}"], "not a regular file"),
    "audit head": (["audit", "head", "{}"], "not a regular file"),
    "audit verify": (["audit", "verify", "{}"], "neither a regular file nor a pipe"),
    "audit show": (["audit", "show", "{}"], "neither a regular file nor a pipe"),
}


@pytest.mark.parametrize("name", FILES)
def test_file_that_is_a_fifo_is_refused_at_once(user_box, name):
    box = user_box
    box.directory("private", 0o700)
    path = fifo(box, box.base / "private/fifo")
    args, said = FILES[name]
    args = [word.replace("{}", str(path)).replace("POLICY", str(box.policy)) for word in args]
    answer = box.call([box.command, *args], deadline=SECONDS)
    assert answer.status != 0 and said in (answer.err + answer.out).decode(), answer


def test_lint_passes_fifos_over(user_box):
    """As sources, as .gitignore, in a directory; as its configuration it is refused."""
    box = user_box
    box.file("root/a.py", "import os\nos.system(x)\n")
    for name in (".gitignore", "b.py", "c.sh"):
        fifo(box, box.root / name)
    box.directory("root/d")
    fifo(box, box.root / "d/.gitignore")
    answer = box.call([box.command, "lint", "."], deadline=SECONDS)
    assert answer.status == 1 and b"a.py" in answer.out, answer
    fifo(box, box.root / ".chokepoint-lint.yaml")
    answer = box.call([box.command, "lint", "."], deadline=SECONDS)
    assert b"not a regular file" in answer.err and answer.status not in (0, 1), answer


def test_cache_that_is_a_fifo_is_not_waited_for(user_box):
    box = user_box
    for path in (box.home / ".cache", box.home / ".cache/chokepoint"):
        path.mkdir()
        box.own(path, 0o700)
    fifo(box, box.home / ".cache/chokepoint/tools.json")
    answer = box.call([box.command, "doctor", "--policy", str(box.policy)], deadline=60)
    assert b"the cache is not used" in answer.err, answer


def test_record_that_is_a_fifo_is_none(user_box):
    box = user_box
    box.directory("policy/adr", 0o755)
    fifo(box, box.base / "policy/adr/0001-a-test.md")
    answer = box.call([box.command, "policy", "check", str(box.policy)], deadline=SECONDS)
    assert answer.status == 1 and b"0001" in answer.out + answer.err, answer
