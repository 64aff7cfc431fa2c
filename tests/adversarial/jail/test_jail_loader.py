"""Promise: What it may execute.
Attacker: the attacker's code inside the tool. Means: the loader, which may be executed, gets a
program that is not on a noexec mount: a memory file (also one that is sealed against execve: that
does not stop mmap), huge pages, secret memory, a pipe, a file without a name, shared memory, or
what the caller gives on stdin.

Expected (R33): the loader cannot map it. Outside the jail it runs.
"""
import re
import shutil

import pytest

from jails import Cell

PROGRAM = "/usr/bin/echo"


def loader_of(cell):
    with open(cell.box.bin / "breach_code", "rb") as stream:
        return re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()


@pytest.mark.parametrize("way", ["memory", "sealed"])
def test_memory_file(cell, way):
    attack = ["breach_code", way, loader_of(cell), PROGRAM]
    answer = cell.succeeds_outside(*attack)
    assert answer.stream("stdout") == b"ran\ndone\n"
    cell.refused_inside(*attack, errnos="EPERM")


@pytest.mark.parametrize("way", ["huge", "secret", "pipe"])
def test_other_memory(cell, way):
    cell.refused_inside("breach_code", way, loader_of(cell), PROGRAM, errnos="EPERM EACCES")


@pytest.mark.parametrize("way", ["named", "unnamed"])
def test_files_where_they_may_be_written(cell, way):
    attack = ["breach_code", way, loader_of(cell), PROGRAM]
    cell.succeeds_outside(*attack, str(cell.box.root))
    policy = cell.write_policy(breach_code={"workspace": "rw"})
    (cell.box.root / "code").unlink(missing_ok=True)
    for directory in ("/tmp", "/tmp/probe", "/dev/shm", "/work"):
        answer = cell.refused_inside(*attack, directory, policy=policy)
        assert directory == "/tmp" or b"(map)" in answer.stream("stdout"), "it was not written; nothing is proven"


def test_files_of_an_overlay(box):
    cell = Cell(box, "native")
    policy = cell.write_policy(breach_code={"workspace": "overlay"})
    for way in ("named", "unnamed"):
        cell.refused_inside("breach_code", way, loader_of(cell), PROGRAM, "/work", policy=policy)


def test_what_is_given_on_stdin(cell):
    given = cell.box.base / "given"
    shutil.copy(PROGRAM, given)
    cell.box.own(given, 0o755)
    attack, options = ["breach_code", "stdin", loader_of(cell)], ["--stdin", str(given)]
    cell.succeeds_outside(*attack, options=options)
    cell.refused_inside(*attack, options=options, errnos="EACCES")


@pytest.mark.parametrize("seal", [0, 8])
def test_from_an_interpreter(cell, seal):
    """As code of a repository would do it, with nothing but python3 in the policy."""
    text = (f"import os\nfd = os.memfd_create('code', {seal})\n"
            f"os.write(fd, open('{PROGRAM}', 'rb').read())\n"
            f"os.execv('{loader_of(cell)}', ['ld.so', f'/proc/self/fd/{{fd}}', 'ran'])\n")
    cell.box.file("root/attack.py", text)
    policy = cell.write_policy(more=[cell.box.entry("python3", route="external")])
    answer = cell.succeeds_outside("python3", "attack.py", policy=policy)
    assert answer.stream("stdout") == b"ran\n"
    answer = cell.inside("python3", "attack.py", policy=policy)
    assert answer.status != 0 and b"PermissionError" in answer.stream("stderr"), answer.document
