"""Promise: What it may execute.
Attacker: the attacker's code inside the tool. Means: everything that makes a process out of a
file: a shell, a file that it wrote to its scratch directory or to the repository, a memory file,
the loader, which must be executable and maps any file, an interpreter named by a script, a
descriptor without any right to the content.

Expected (R33): what runs is the tool, its `execs`, and nothing else. Outside the jail each of
these works.
"""
import re

import pytest

REFUSALS = "EACCES EPERM ENOENT"
ALLOWED = "/usr/bin/true"


def loader_of(cell):
    with open(cell.box.bin / "attempt", "rb") as stream:
        return re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()


def loader_is_stopped(cell, attack, **shape):
    """The loader of the jail exits with 126 if it is executed itself: src/jail/stub_code.S. Where only
    listed files are code it has no stub, and cannot map the program."""
    answer = cell.inside(*attack, **shape)
    if cell.STUB:
        assert (answer.status, answer.stream("stdout"), answer.stream("stderr")) == (126, b"", b""), answer.document
    else:
        assert answer.status == 127 and b"map segment" in answer.stream("stderr"), answer.document


@pytest.mark.parametrize("way", ["plain", "child", "thread", "procfd", "execveat", "opath"])
@pytest.mark.parametrize("program", ["/bin/sh", "/usr/bin/env", "/usr/bin/python3", "/bin/busybox", "/usr/bin/perl"])
def test_program_that_is_not_listed(cell, program, way):
    attack = ["attempt", way, program, "--version"]
    if program == "/usr/bin/env":
        cell.succeeds_outside(*attack)
    cell.refused_inside(*attack, errnos=REFUSALS)


@pytest.mark.parametrize("way", ["memory", "sealed"])
def test_memory_file(cell, way):
    if way == "memory":
        cell.succeeds_outside("attempt", way, ALLOWED)
    cell.refused_inside("attempt", way, ALLOWED, errnos=REFUSALS)


@pytest.mark.parametrize("program", ["/usr/bin/true", "/usr/bin/env"])
def test_file_written_to_scratch(cell, program):
    cell.breaks_out_only_outside("attempt", "home", program, errnos=REFUSALS)


@pytest.mark.parametrize("way", ["copy", "symlink"])
def test_file_written_to_the_repository(cell, way):
    cell.policy = cell.write_policy(attempt={"workspace": "rw"})
    cell.succeeds_outside("attempt", way, ALLOWED)
    for name in ("copied", "linked"):
        (cell.box.root / name).unlink(missing_ok=True)
    answer = cell.refused_inside("attempt", way, ALLOWED, errnos=REFUSALS)
    assert b"(execute)" in answer.stream("stdout"), "it was not written; the test would prove nothing"


def test_file_of_the_repository(cell):
    cell.box.file("root/planted", "#!/bin/sh\nexit 0\n", 0o755)
    cell.breaks_out_only_outside("attempt", "plain", "./planted", errnos=REFUSALS)


@pytest.mark.parametrize("program", ["/bin/ls", "/usr/bin/env", "/usr/bin/git"])
def test_program_by_the_loader(cell, program):
    attack = ["attempt", "plain", loader_of(cell), program, "--version"]
    cell.succeeds_outside(*attack)
    loader_is_stopped(cell, attack)


def test_written_program_by_the_loader(cell):
    """The same with a copy, in the only directories that can be written."""
    policy = cell.write_policy(more=[cell.box.entry("cp", route="external", workspace="rw")], attempt={"workspace": "rw"})
    cell.succeeds_inside("cp", "/bin/ls", "copied", policy=policy)
    attack = ["attempt", "plain", loader_of(cell), "./copied", "--version"]
    cell.succeeds_outside(*attack, policy=policy)
    loader_is_stopped(cell, attack, policy=policy)


@pytest.mark.parametrize("way", ["mapped", "protected"])
@pytest.mark.parametrize("path", ["/usr/bin/ls", "planted"])
def test_mapping_as_code(cell, way, path):
    """What a loader does, without one."""
    cell.box.file("root/planted", "x" * 4096, 0o755)
    cell.breaks_out_only_outside("attempt", way, path, errnos=REFUSALS)


def test_interpreter_that_is_not_listed(cell):
    """The tool may execute its helper; the script that the helper is names python, which is not the tool's to run."""
    script = cell.box.file("root/script", "#!/usr/bin/python3\nprint('ran')\n", 0o755)
    cell.breaks_out_only_outside("attempt", "plain", f"./{script.name}", errnos=REFUSALS)


def test_listed_helper_runs(cell):
    """Without this all of the above could be refused for a reason that has nothing to do with lists."""
    policy = cell.write_policy(attempt={"execs": ["true"]})
    cell.succeeds_inside("attempt", "plain", ALLOWED, policy=policy)
    cell.succeeds_inside("attempt", "opath", ALLOWED, policy=policy)
    cell.refused_inside("attempt", "plain", "/usr/bin/env", policy=policy, errnos=REFUSALS)
    cell.refused_inside("attempt", "home", ALLOWED, policy=policy, errnos=REFUSALS)
    cell.refused_inside("attempt", "memory", ALLOWED, policy=policy, errnos=REFUSALS)


@pytest.mark.parametrize("way", ["plain", "execveat", "numbers", "opath"])
def test_nothing_is_executed_where_the_list_is_empty(cell, way):
    """Not even the tool itself, nor its loader, whatever the descriptor's number is."""
    sealed = cell.write_policy(attempt={"execs": []})
    for program in ("/proc/self/exe", loader_of(cell)):
        attack = ["attempt", way, program, "plain", "/usr/bin/true"]
        cell.refused_inside(*attack, policy=sealed, errnos="EACCES")


def itself(cell, **keys):
    """env executes env; and, where it may, true, which is another program."""
    policy = cell.write_policy(more=[cell.box.entry("env", route="external", **keys)])
    other = cell.inside("env", "/usr/bin/env", "/usr/bin/true", policy=policy)
    assert other.status == 126 and b"Permission denied" in other.stream("stderr"), other.document
    answer = cell.inside("env", "/usr/bin/env", "--version", policy=policy)
    return answer.status, answer.stream("stdout")[:5]


def test_without_the_key_a_tool_executes_itself_and_nothing_else(cell):
    assert itself(cell) == (0, b"env (")


def test_tool_that_lists_its_name_executes_itself_and_nothing_else(cell):
    assert itself(cell, execs=["env"]) == (0, b"env (")


def test_empty_list_does_not_have_the_tool_itself(cell):
    assert itself(cell, execs=[]) == (126, b"")
