"""Promise: What it may execute.
Attacker: the repository, whose file an entry names with `path: ./REL`. Means: links at every place of
that path, to files of the host; a link that is swapped while a run starts; a program that names
files of the host as its interpreter or its libraries, or an unlisted program as a library, for the
loader to run; a loader of its own; a set-user-ID file.

Expected (R86): the file is found beneath the root or not at all. Only the last link may lead out, to
a trusted program in a system tree that is not set-user-ID. What the program names is not shown, and becomes no code.
"""
import json
import os
import re
import shutil
import subprocess
import threading

import pytest

from feature import scaled
from jails import JAILS, OPENED, WorkspaceCell
from plugins import over
from processes import wait_until

SECRET = b"what the owner keeps to himself"
PACKAGES = "/usr/lib/python3/dist-packages"


@pytest.fixture(params=["native", "bwrap"])
def cell(request, box):
    return WorkspaceCell(box, request.param)


def entry(cell, path="./tool", **keys):
    keys = {**OPENED, "path": path, **keys}
    return cell.write_policy(more=[cell.box.entry("tool", route="external", **keys)])


def disallowed(cell, policy, outcome="disallowed"):
    answer = cell.run("tool", policy=policy)
    assert (answer.outcome, answer["rule"]) == (outcome, "tools.tool.path"), answer.document
    return answer


@pytest.fixture
def outside(cell):
    """A program of the caller, in a directory that only the caller can change."""
    target = cell.box.directory("own")
    shutil.copy(cell.box.bin / "say_state", target / "tool")
    cell.box.own(target / "tool", 0o755)
    return target


def test_link_to_a_program_of_the_caller(cell, outside):
    (cell.box.root / "tool").symlink_to(outside / "tool")
    assert str(outside) in disallowed(cell, entry(cell)).message


def test_directory_that_leads_out(cell, outside):
    (cell.box.root / "bin").symlink_to(outside)
    disallowed(cell, entry(cell, path="./bin/tool"))


def test_link_that_climbs(cell, outside):
    (cell.box.root / "tool").symlink_to("../own/tool")
    disallowed(cell, entry(cell))


@pytest.mark.parametrize("target", ["/proc/self/exe", "/proc/1/exe", "/proc/self/fd/0", "/dev/null", "/usr", "/etc/passwd"])
def test_link_to_what_is_no_program(cell, target):
    (cell.box.root / "tool").symlink_to(target)
    answer = cell.run("tool", policy=entry(cell))
    assert answer.outcome in ("disallowed", "spawn_failed", "tool_missing"), answer.document


def test_link_that_climbs_from_a_system_tree(cell):
    """The look-up judges the real path."""
    shared = cell.box.directory("shared", 0o777)
    shutil.copy(cell.box.bin / "say_state", shared / "tool")
    (cell.box.root / "tool").symlink_to(f"/usr/../{str(shared).lstrip('/')}/tool")
    disallowed(cell, entry(cell))


@pytest.mark.parametrize("mode, owner, good", [(0o755, 0, True), (0o757, 0, False), (0o775, 0, False), (0o755, 65534, False)])
@pytest.mark.parametrize("jail", JAILS)
def test_link_to_a_program_that_others_can_write(root_box, jail, mode, owner, good):
    """In a system tree, so that its path says nothing. Only root can put a tree there, so only root's runs see one."""
    cell = WorkspaceCell(root_box, jail)
    tree = root_box.directory("tree", 0o755)
    shutil.copy(root_box.bin / "say_args", tree / "tool")
    os.chown(tree / "tool", owner, owner)
    os.chmod(tree / "tool", mode)
    (root_box.root / "tool").symlink_to(f"{PACKAGES}/tool")
    command = root_box.run_argv(["tool", "x"], options=["--jail", jail], policy=entry(cell))
    document = json.loads(root_box.call(over(tree, PACKAGES, *command)).out)
    assert document["outcome"] == ("exited" if good else "disallowed"), document
    assert good or document["rule"] == "tools.tool.path", document


@pytest.mark.parametrize("path", ["./../tool", "./", "./a//b", "./.", "tool", "./a/../b"])
def test_path_that_is_not_plain_is_not_loaded(cell, path):
    cell.box.file("root/tool", "#!/bin/sh\n", 0o755)
    answer = cell.run("tool", policy=entry(cell, path=path))
    assert answer.outcome == "policy" and "path" in answer.message, answer.document


@pytest.mark.parametrize("program", ["/usr/bin/passwd", "/usr/bin/su", "/usr/bin/chage"])
def test_link_to_a_set_id_program(cell, program):
    """It would gain nothing in the jail; but such a program is for no repository to choose."""
    assert os.stat(program).st_mode & 0o6000, f"{program} is not set-user-ID or set-group-ID"
    (cell.box.root / "tool").symlink_to(program)
    assert program in disallowed(cell, entry(cell)).message


@pytest.fixture
def swapping(cell):
    """Replaces the tool by links to these targets, in turns, until the test ends."""
    stop, other = threading.Event(), cell.box.root / "other"
    threads = []

    def swap(targets):
        while not stop.is_set():
            for target in targets:
                other.symlink_to(target)
                os.replace(other, cell.box.root / "tool")

    def start(*targets):
        (cell.box.root / "tool").symlink_to(targets[0])
        threads.append(threading.Thread(target=swap, args=[targets]))
        threads[0].start()
    yield start
    stop.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("target", ["outside", "/usr/bin/passwd", "set-id", "fifo", "/proc/self/exe", "missing"])
def test_link_swapped_while_a_run_starts(cell, outside, swapping, target):
    """The name leads to a program of the root and to something else, in turns. Whatever was found, and whatever is
    there when it is executed: only a program of the root is run, and it gains nothing."""
    shutil.copy(cell.box.bin / "say_args", cell.box.root / "inside")
    shutil.copy(cell.box.bin / "say_state", cell.box.root / "set-id")
    os.chmod(cell.box.root / "set-id", 0o6755)
    os.mkfifo(cell.box.root / "fifo")
    policy = entry(cell)
    swapping("inside", outside / "tool" if target == "outside" else target)

    def ran():
        answer = cell.run("tool", "inside", policy=policy)
        if answer.outcome != "exited":
            assert answer.outcome in ("disallowed", "spawn_failed", "tool_missing"), answer.document
        elif target == "set-id" and b"euid=" in answer.stream("stdout"):
            assert f"\neuid={cell.box.actor.uid}\n".encode() in answer.stream("stdout"), answer.document
        else:
            assert answer.stream("stdout") == b"inside\0", answer.document
        return answer.outcome == "exited"
    if not any([ran() for _ in range(scaled(60, 5, 12))]):  # all of them, not until the first
        wait_until(ran, "a program of the root is run", 60)


def loader_of(cell):
    with open(cell.box.bin / "attempt", "rb") as stream:
        return re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()


def build(cell, *flags):
    source = cell.box.file("tool.c", '#include <stdio.h>\nint main(void) { FILE *f = fopen(NAMED, "r"); '
                                     'char line[99] = ""; if (f) fgets(line, 99, f); puts(line); return !f; }\n')
    subprocess.run(["gcc", "-o", cell.box.root / "tool", source, *flags], check=True)
    cell.box.own(cell.box.root / "tool", 0o755)


def test_interpreter_outside_of_the_system_is_not_shown(cell):
    named = cell.box.file("secret", SECRET, 0o755)
    cell.box.file("root/tool", f"#!{named}\n", 0o755)
    answer = cell.run("tool", policy=entry(cell))
    assert answer.outcome == "spawn_failed" and SECRET not in answer.stream("stdout"), answer.document


def test_library_outside_of_the_system_is_not_shown(cell):
    place = cell.box.directory("libraries")
    source = cell.box.file("lib.c", "int one(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-o", place / "libown.so", source], check=True)
    build(cell, f'-DNAMED="{place}/libown.so"', "-Wl,--no-as-needed", f"-L{place}", "-lown", f"-Wl,-rpath,{place}")
    answer = cell.run("tool", policy=entry(cell))
    assert answer.outcome == "exited" and answer.status == 127, answer.document
    assert b"cannot open shared object file" in answer.stream("stderr"), answer.document


def test_unlisted_program_named_as_a_library_is_no_code(cell):
    """The loader maps what a program needs. If that were made code, `ld.so /usr/bin/env` would run it."""
    fake = cell.box.directory("fake")
    source = cell.box.file("lib.c", "int one(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-Wl,-soname,/usr/bin/env", "-o", fake / "libenv.so", source], check=True)
    build(cell, '-DNAMED="/usr/bin/env"', "-Wl,--no-as-needed", f"-L{fake}", "-lenv")
    answer = cell.run("tool", policy=entry(cell))
    assert answer.outcome == "exited" and answer.status == 127, answer.document
    assert b"/usr/bin/env" in answer.stream("stderr") and b"map segment" in answer.stream("stderr"), answer.document


def test_loader_does_not_run_an_unlisted_program(cell):
    attack = ["attempt", "plain", loader_of(cell), "/usr/bin/env", "--version"]
    cell.succeeds_outside(*attack)
    answer = cell.inside(*attack)
    assert answer.status == 127 and b"map segment" in answer.stream("stderr"), answer.document


@pytest.mark.parametrize("uses", [[], ["python-tools", "node-scripts"]], ids=["plain", "sets"])
@pytest.mark.parametrize("program", ["/usr/lib/git-core/git", "/usr/bin/id"])
def test_loader_of_the_repository_does_not_run_an_unlisted_program(cell, program, uses):
    """It has no stub, as the loader of the jail has (ADR 0051). So library directories are no code, and the sets list
    only those that have libraries."""
    policy = cell.write_policy(attempt={"uses": uses} if uses else {})
    shutil.copy(loader_of(cell), cell.box.root / "loader")
    cell.box.own(cell.box.root / "loader", 0o755)
    attack = ["attempt", "plain", cell.box.root / "loader", program, "--version"]
    cell.succeeds_outside(*attack)
    answer = cell.inside(*attack, policy=policy)
    assert answer.status == 127 and b"map segment" in answer.stream("stderr"), answer.document


@pytest.mark.parametrize("jail", JAILS)
def test_set_user_id_program_of_the_root_gains_nothing(user_box, jail):
    """For a user: root has nothing to gain."""
    cell = WorkspaceCell(user_box, jail)
    shutil.copy(cell.box.bin / "say_state", cell.box.root / "tool")
    os.chmod(cell.box.root / "tool", 0o4755)
    assert b"\neuid=0\n" in cell.box.call([str(cell.box.root / "tool")]).out, "it is not set-user-ID"
    answer = cell.run("tool", policy=entry(cell))
    assert f"\neuid={cell.box.actor.uid}\n".encode() in answer.stream("stdout"), answer.document
