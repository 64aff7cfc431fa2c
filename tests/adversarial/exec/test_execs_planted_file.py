"""Promise: What it may execute.
Attacker: a hostile repository, or a tool that can write. Means: a program in the working
directory, which the tool puts there as a copy or a link, or which replaces the tool.

Expected: none of them is among the files that the run may execute; its name does not matter.
"""
import shutil

import pytest

from execs import bounded, refused_with, run_bounded, succeeds_without


def target(box):
    """A program that the caller owns, so that even a hard link to it can be made."""
    path = box.outside / "say_args"
    shutil.copy(box.bin / "say_args", path)
    return str(box.own(path, 0o755))


def test_script_in_the_working_directory_is_refused(box):
    box.file("root/planted", "#!/bin/sh\necho escaped\n", 0o755)
    assert succeeds_without(box, "plain", "./planted").stream("stdout") == b"escaped\n"
    refused_with(box, "plain", "./planted")


def test_script_is_refused_where_its_interpreter_is_allowed(box):
    """The script is a file that is executed, too. (A shell that only reads it needs no right to execute it.)"""
    box.file("root/planted", "#!/bin/sh\necho escaped\n", 0o755)
    refused_with(box, "plain", "./planted", policy=bounded(box, ["sh"]))


def test_binary_in_the_working_directory_is_refused(box):
    shutil.copy(box.bin / "say_args", box.root / "planted")
    box.own(box.root / "planted", 0o755)
    assert succeeds_without(box, "plain", "./planted", "word").stream("stdout") == b"word\0"
    refused_with(box, "plain", "./planted", "word")


@pytest.mark.parametrize("way", ["copy", "hardlink", "symlink"])
def test_another_name_or_copy_of_a_program_is_refused(box, way):
    program = target(box)
    assert succeeds_without(box, way, program, "word").stream("stdout") == b"word\0"
    for name in ("copied", "linked"):
        (box.root / name).unlink(missing_ok=True)
    refused_with(box, way, program, "word")


def test_copy_of_the_tool_itself_is_refused(box):
    """It could be changed first; only the file that was found and checked is the tool."""
    refused_with(box, "copy", str(box.bin / "attempt"), "plain", "/bin/true")


def test_program_put_at_the_path_of_the_tool_is_refused(box):
    tools = box.directory("tools")

    def replaceable():
        shutil.copy(box.bin / "attempt", tools / "attempt")
        return str(box.own(tools / "attempt", 0o755))
    free = box.write_policy([box.entry("attempt", path=replaceable())], name="policy/free.yaml")
    assert box.run("attempt", "rename", str(tools / "attempt"), policy=free).status == 0
    (tools / "attempt").unlink()
    refused_with(box, "rename", replaceable(), policy=bounded(box, path=str(tools / "attempt")))


def test_work_with_files_goes_on(box):
    """Landlock would forbid to rename from one directory to another; the ruleset gives that back."""
    box.directory("root/one")
    box.directory("root/two")
    policy = box.write_policy([box.entry("sh", execs=["mv", "ln", "mkdir"])])
    answer = run_bounded(box, "sh", "-c", "echo x > one/a && mv one/a two/b && ln two/b one/c && mkdir one/d "
                         "&& mv one/d two/d && read line < one/c && echo $line", policy=policy)
    assert (answer.status, answer.stream("stdout")) == (0, b"x\n"), answer.document
