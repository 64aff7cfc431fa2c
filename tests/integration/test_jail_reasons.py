"""A file that a jail cannot contain is refused with the reason, and not with an errno from a later
step.
"""
import json
import os
import pathlib
import shutil
import tempfile

import pytest

from feature import needs_machine
from no_userns import NoUserns

LOADER = b"/lib64/ld-linux-x86-64.so.2"


@pytest.fixture
def short(cell):
    """A directory with a short name beneath /tmp, which a jail covers with its own /tmp."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o755)
        os.chown(name, cell.box.actor.uid, cell.box.actor.gid)
        yield pathlib.Path(name)


def policy_for(cell, tool, **more):
    """The tool is in a separate directory, and is found there."""
    return cell.box.write_policy([cell.box.entry(tool, route="external", **more), cell.box.entry("bwrap", route="jail")],
                                 search_path=[str(cell.box.base / "tools"), "/usr/bin", "/bin"], name="policy/r.yaml")


def test_loader_beneath_tmp_is_named(cell, short):
    box = cell.box
    needs_machine("x86_64")
    data = pathlib.Path("/bin/true").read_bytes()
    other = str(short / "l").encode()
    assert len(other) <= len(LOADER)
    shutil.copy(LOADER.decode(), short / "l")
    box.own(short / "l", 0o755)
    box.directory("tools")
    box.file("tools/truth", data.replace(LOADER, other.ljust(len(LOADER), b"\0")), 0o755)
    policy = policy_for(cell, "truth")
    assert cell.run("truth", jail="none", policy=policy).outcome == "exited"
    answer = cell.run("truth", policy=policy)
    assert answer.outcome == "spawn_failed"
    assert f"'{other.decode()}' does not exist in a jail" in answer.message and "/tmp" in answer.message


def test_interpreter_beneath_tmp_is_named(cell, short):
    box = cell.box
    shutil.copy("/bin/sh", short / "sh")
    box.own(short / "sh", 0o755)
    box.directory("tools")
    box.file("tools/script", f"#!{short}/sh\nexit 0\n", 0o755)
    policy = policy_for(cell, "script")
    assert cell.run("script", jail="none", policy=policy).outcome == "exited"
    answer = cell.run("script", policy=policy)
    assert answer.outcome == "spawn_failed" and f"'{short}/sh' does not exist in a jail" in answer.message


def test_directory_of_execs_outside_of_the_system_is_named(cell):
    """By a run, and by policy check before; a directory of the system is fine, and so is a file
    anywhere."""
    box = cell.box
    box.directory("tools")
    shutil.copy("/bin/true", box.base / "tools/helper")
    box.own(box.base / "tools/helper", 0o755)
    box.directory("policy/adr", 0o755)
    box.file("policy/adr/0001-a-test.md", "a record\n")

    def check(policy):
        answer = box.call([box.command, "policy", "check", "--json", str(policy)])
        return [found for found in json.loads(answer.out)["findings"] if found["rule"] == "tools.true.execs"]
    bad = policy_for(cell, "true", execs=[str(box.base / "tools")])
    answer = cell.run("true", policy=bad)
    said = f"'{box.base / 'tools'}' in 'execs' is a directory outside /usr"
    assert answer.outcome == "jail_unavailable" and said in answer.message
    findings = check(bad)
    assert len(findings) == 1 and findings[0]["severity"] == "error" and said in findings[0]["message"]
    good = policy_for(cell, "true", execs=["/usr/lib", str(box.base / "tools/helper"), "/nonexistent"])
    assert cell.run("true", policy=good).outcome == "exited" and check(good) == []


def test_interpreter_beneath_tmp_is_found_where_the_jail_has_no_root(box):
    """Without namespaces every file keeps its path."""
    no_userns = NoUserns(box, "switch")
    box.directory("tools")
    shutil.copy("/bin/sh", box.base / "tools/sh")
    box.own(box.base / "tools/sh", 0o755)
    box.file("tools/script", f"#!{box.base}/tools/sh\nexit 0\n", 0o755)
    no_userns.policy = box.write_policy([box.entry("script", route="external")],
                                   search_path=[str(box.base / "tools"), "/usr/bin"], name="policy/shut.yaml")
    answer = no_userns.run("script", jail="native")
    assert (answer.outcome, answer["jail"]) == ("exited", "native"), answer.document
