"""R37: a tool that may write, and the list of its changes."""
import json
import os
import stat
import subprocess

import pytest

from overlays import OverlayBox, listed
from promises import given_time


@pytest.fixture
def overlay_box(box):
    return OverlayBox(box)


def test_tool_that_writes_nothing_has_an_empty_list(overlay_box):
    answer = overlay_box.sh("ls > /dev/null; cat package.json > /dev/null")
    assert answer["changes"] == [] and not answer["changes_incomplete"] and not answer["kept_incomplete"]


def test_changes_are_listed_and_thrown_away(overlay_box):
    answer = overlay_box.sh("echo x > new; echo y >> d/old; rm e/old; mkdir f; ln -s d link; chmod 600 tool; cat new d/old")
    assert answer.stream("stdout") == b"x\nd\ny\n"
    assert listed(answer) == {
        "new": ("added", "file", None),
        "d/old": ("modified", "file", None),
        "e/old": ("deleted", "file", None),
        "f": ("added", "dir", None),
        "link": ("added", "link", None),
        "tool": ("mode", "file", "script"),
    }


def test_next_run_begins_from_the_repository_again(overlay_box):
    overlay_box.sh("echo x > new")
    answer = overlay_box.sh("! cat new 2> /dev/null; ls /.old")
    assert answer["changes"] == [] and answer.stream("stdout") == b""


def test_what_was_written_back_is_no_change(overlay_box):
    answer = overlay_box.sh("cp d/old /tmp/kept; rm d/old; cp /tmp/kept d/old; touch package.json")
    assert answer["changes"] == []


def test_directory_made_anew_hides_what_was_in_it(overlay_box):
    answer = overlay_box.sh("rm -r d; mkdir d; echo x > d/new")
    assert listed(answer) == {"d/old": ("deleted", "file", None), "d/new": ("added", "file", None)}


def test_renamed_directory_is_a_deletion_and_an_addition(overlay_box):
    assert listed(overlay_box.sh("mv d moved")) == {"d": ("deleted", "dir", None), "moved": ("added", "dir", None),
                                                "moved/old": ("added", "file", None)}


def test_what_will_run_later_is_named(overlay_box):
    answer = overlay_box.sh("""
        echo x > .git/hooks/pre-commit
        git config core.pager x
        echo '{"name": "x", "scripts": {"test": "b"}}' > package.json
        echo x > Makefile
        mkdir -p .github/workflows && echo x > .github/workflows/ci.yml
        printf '#!/bin/sh\\n' > run
        cp /usr/bin/true elf
        echo x > plain && chmod +x plain
        ln -s /etc/passwd link
        echo x > README""")
    reasons = {path: why for path, (_, _, why) in listed(answer).items() if why}
    assert reasons == {
        ".git/hooks/pre-commit": "git hook", ".git/config": "git settings", "package.json": "package script",
        "Makefile": "build file", ".github/workflows/ci.yml": "pipeline", "run": "script", "elf": "program",
        "plain": "executable", "link": "leads out of the root"}


def test_git_commits_over_the_repository(overlay_box):
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    overlay_box.ends_well(overlay_box.run("git", *settings, "commit", "-q", "--allow-empty", "-m", "second"))
    answer = overlay_box.sh("git add -A; git -c user.name=a -c user.email=a@example.org commit -q -m x; git log --oneline")
    assert len(answer.stream("stdout").splitlines()) == 2
    changes = listed(answer)
    assert changes[".git/index"][0] == "modified" and not any(path.startswith("d") for path in changes)


def test_what_is_written_cannot_be_executed(overlay_box):
    answer = overlay_box.run("sh", "-c", "cp /usr/bin/true mine; chmod +x mine; ./mine")
    assert answer.outcome == "exited" and answer.status == 126, answer.document
    answer = overlay_box.run("sh", "-c", "./tool")
    assert answer.status == 126, answer.document


def test_overlay_is_mounted_without_programs_devices_and_setuid(overlay_box):
    mounts = [line.split() for line in overlay_box.sh("cat /proc/mounts").stream("stdout").decode().splitlines()]
    options = [fields[3].split(",") for fields in mounts if fields[1:3] == ["/work", "overlay"]]
    assert len(options) == 1 and {"nosuid", "nodev", "noexec"} <= set(options[0])
    assert not [fields for fields in mounts if fields[1].startswith("/.old")]


def test_run_that_was_timed_out_still_has_a_list(overlay_box):
    answer = given_time(lambda timeout: overlay_box.run("sh", "-c", "echo x > new; while :; do :; done", timeout=timeout),
                        listed, (3, 15, 60))
    assert answer.outcome == "timeout" and "new" in listed(answer)
    overlay_box.nothing_changed()


def test_list_is_null_with_any_other_workspace(overlay_box):
    assert overlay_box.run("ls")["changes"] is None
    answer = overlay_box.run("cp", "package.json", "copy")
    assert answer.status == 0 and answer["changes"] is None
    assert (overlay_box.box.root / "copy").exists()


# ---- kept ----

def test_changes_are_kept_where_they_were_asked_to_be(overlay_box):
    directory = overlay_box.box.home / "kept"
    overlay_box.sh("umask 0; mkdir -p f/g; echo x > f/g/new; chmod 755 f/g/new; echo y >> d/old; rm e/old; ln -s /etc z; "
               "mkfifo fifo; mkdir shut; chmod 0 shut", options=["--keep", str(directory)])
    found = {str(path.relative_to(directory)): stat.S_IMODE(path.lstat().st_mode) for path in directory.rglob("*")}
    assert found == {"f": 0o777, "f/g": 0o777, "f/g/new": 0o755, "d": 0o755, "d/old": 0o644, "z": 0o777, "shut": 0o700}
    assert (directory / "f/g/new").read_text() == "x\n" and (directory / "d/old").read_text() == "d\ny\n"
    assert os.readlink(directory / "z") == "/etc"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert all(path.lstat().st_uid == overlay_box.box.actor.uid for path in [directory, *directory.rglob("*")])


def test_empty_directory_can_be_kept_in(overlay_box):
    directory = overlay_box.box.directory("home/kept", 0o700)
    overlay_box.sh("echo x > new", options=["--keep", str(directory)])
    assert [path.name for path in directory.iterdir()] == ["new"]


@pytest.mark.parametrize("name", ["root", "root/new", "root/d/new", "full", "open", "none/new"])
def test_unfit_directory_is_refused(overlay_box, name):
    box = overlay_box.box
    box.directory("full")
    box.file("full/x")
    box.directory("open", 0o777)
    answer = overlay_box.run("sh", "-c", "echo x > new", options=["--keep", str(box.base / name)])
    assert (answer.outcome, answer["rule"]) == ("invalid", "request.keep"), answer.document
    overlay_box.nothing_changed()


def test_nothing_is_kept_of_another_workspace(overlay_box):
    for args in (["ls"], ["cp", "package.json", "copy"]):
        answer = overlay_box.run(*args, options=["--keep", str(overlay_box.box.home / "kept")])
        assert (answer.outcome, answer["rule"]) == ("invalid", "request.keep"), answer.document
    assert not (overlay_box.box.home / "kept").exists()
    overlay_box.nothing_changed()


def test_refused_or_dry_run_makes_no_directory(overlay_box):
    directory = overlay_box.box.home / "kept"
    overlay_box.run("sh", "-c", ":", options=["--keep", str(directory), "--dry-run"])
    assert not directory.exists()
    overlay_box.run("nothing", options=["--keep", str(directory)])
    assert not directory.exists()


# ---- without the native jail ----

@pytest.mark.parametrize("jail", ["none", "bwrap"])
def test_overlay_is_refused_without_the_native_jail(overlay_box, jail):
    answer = overlay_box.run("sh", "-c", "echo x > new", jail=jail)
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.sh.workspace"), answer.document
    overlay_box.nothing_changed()


def test_direct_tool_with_an_overlay_is_in_the_native_jail(overlay_box):
    answer = overlay_box.ends_well(overlay_box.box.run("touch", "new", policy=overlay_box.policy))
    assert answer["jail"] == "native" and listed(answer) == {"new": ("added", "file", None)}


def test_doctor_asks_for_a_version_without_an_overlay(overlay_box):
    """Nothing is written then, and the root of the request has other filesystems in it."""
    tools = [overlay_box.box.entry("git", workspace="overlay", version_args=["--version"])]
    policy = overlay_box.box.write_policy(tools, search_path=["/usr/bin"], name="policy/doctor.yaml")
    answer = overlay_box.box.call([overlay_box.box.command, "doctor", "--no-cache", "--json", "--policy", str(policy)])
    assert [tool["state"] for tool in json.loads(answer.out)["tools"]] == ["ready"], answer.out


def test_root_with_another_filesystem_in_it_is_refused(root_box):
    """The kernel does not stack overlays for a user who could then look beneath a mount."""
    overlay_box = OverlayBox(root_box)
    subprocess.run(["mount", "-t", "tmpfs", "none", root_box.root / "d"], check=True)
    try:
        answer = overlay_box.run("sh", "-c", "echo x > new")
    finally:
        subprocess.run(["umount", root_box.root / "d"], check=True)
    assert answer.outcome == "jail_unavailable" and "overlay" in answer.message, answer.document
    overlay_box.nothing_changed()


def test_repository_of_somebody_else_is_not_written_by_root(root_box, ordinary):
    """The jail maps only one user: a file of another cannot be copied up, and the kernel refuses
    it."""
    overlay_box = OverlayBox(root_box)
    for parent, directories, files in os.walk(root_box.root):
        for name in directories + files + ["."]:
            os.chown(os.path.join(parent, name), ordinary.uid, ordinary.gid)
    answer = overlay_box.run("sh", "-c", "echo x >> d/old")
    assert answer.outcome == "exited" and answer.status != 0 and answer["changes"] == []
