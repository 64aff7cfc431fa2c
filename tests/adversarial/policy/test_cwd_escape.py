"""Promise: The directory.
Attacker: whoever writes the request, or plants symlinks in the root. Means: a working directory
that leaves the root by "..", by a symlink, by an absolute path, by /proc, or that is not a
directory.

Expected: "cwd", exit 125, and nothing ran.
"""
import json
import os

import pytest


def refused(box, cwd, **shape):
    canary = box.canary()
    answer = box.run("sh", "-c", f": > '{canary}'", cwd=cwd, **shape)
    assert (answer.status, answer.outcome) == (125, "cwd"), answer.document
    assert not canary.exists()
    return answer


def test_dotdot_is_refused(box):
    box.directory("root/sub")
    refused(box, f"{box.root}/..")
    refused(box, f"{box.root}/sub/../..")
    refused(box, f"{box.root}/sub/../../outside")


def test_dotdot_that_stays_inside_is_fine(box):
    box.directory("root/sub")
    answer = box.run("say_state", cwd=f"{box.root}/sub/../sub")
    assert f"cwd={box.root}/sub\n".encode() in answer.stream("stdout")


@pytest.mark.parametrize("target", ["{outside}", "../outside", "/", "/proc/self/cwd", "/proc/self/root"])
def test_link_that_leads_out_is_refused(box, target):
    os.symlink(target.format(outside=box.outside), box.root / "link")
    refused(box, box.root / "link", popen={"cwd": box.outside})


def test_link_in_the_middle_is_refused(box):
    box.directory("outside/deep")
    os.symlink(box.outside, box.root / "link")
    refused(box, box.root / "link" / "deep")


def test_link_that_stays_inside_is_fine(box):
    box.directory("root/sub")
    os.symlink("sub", box.root / "link")
    answer = box.run("say_state", cwd=box.root / "link")
    assert answer.status == 0
    assert f"cwd={box.root}/sub\n".encode() in answer.stream("stdout")


def test_absolute_path_outside_is_refused(box):
    refused(box, box.outside)
    refused(box, "/")


def test_sibling_with_the_same_prefix_is_refused(box):
    refused(box, box.directory("root-but-not-it"))


def test_file_is_refused(box):
    refused(box, box.file("root/file", "x"))


def test_missing_directory_is_refused_and_named(box):
    answer = refused(box, box.root / "nowhere")
    assert "nowhere" in answer.message


def test_missing_root_is_refused(box):
    refused(box, box.base / "nowhere", root=box.base / "nowhere")
    refused(box, box.root, root=box.base / "nowhere")


def test_root_that_is_a_file_is_refused(box):
    path = box.file("root/file", "x")
    refused(box, path, root=path)


def test_directory_that_the_caller_may_not_enter_is_refused(user_box):
    closed = user_box.directory("root/closed", 0o000)
    try:
        refused(user_box, closed)
    finally:
        closed.chmod(0o755)


def test_looping_links_are_refused(box):
    os.symlink("b", box.root / "a")
    os.symlink("a", box.root / "b")
    refused(box, box.root / "a")


def test_path_longer_than_the_kernel_takes_is_refused(box):
    answer = box.run("true", cwd=f"{box.root}/" + "x/" * 3000)
    assert answer.status == 125
    assert answer.outcome in ("cwd", "invalid")


def tool_cwd(box, root, here, *cwd):
    """Where the tool runs, for a caller in this directory with --root, and perhaps --cwd."""
    args = [box.command, "run", "--no-audit", "--policy", str(box.policy), "--root", str(root), "--json"]
    answer = box.call([*args, *(["--cwd", *cwd] if cwd else []), "--", "say_state"], cwd=here)
    document = json.loads(answer.out)
    if document["outcome"] != "exited":
        return document["outcome"]
    lines = document["stdout"]["text"].splitlines()
    return next(line.removeprefix("cwd=") for line in lines if line.startswith("cwd="))


def test_root_without_cwd_is_the_cwd_of_a_caller_outside_of_it(box):
    """The library resolves a relative directory from the root; so does the command, unless the caller is inside."""
    sub = box.directory("root/sub")
    box.directory("root/sub/deep")
    (box.base / "link").symlink_to(box.root)
    assert tool_cwd(box, box.root, box.outside) == str(box.root)
    assert tool_cwd(box, "../root", box.outside) == str(box.root)
    assert tool_cwd(box, box.base / "link", box.outside) == str(box.root)
    assert tool_cwd(box, box.root, box.outside, "sub") == str(sub)
    assert tool_cwd(box, box.root, sub) == str(sub)
    assert tool_cwd(box, "..", sub) == str(sub)
    assert tool_cwd(box, box.base / "link", sub, "deep") == str(sub / "deep")
    assert tool_cwd(box, box.root, sub, "..") == str(box.root)
    for out in ("..", "../outside", "sub/../../outside", str(box.outside)):
        assert tool_cwd(box, box.root, box.outside, out) == "cwd"
    assert tool_cwd(box, box.root, sub, "../..") == "cwd"
    assert tool_cwd(box, "root", box.base, "root/sub") == str(sub)
    assert tool_cwd(box, "root", box.base, "link/sub") == str(sub)
    assert tool_cwd(box, "root", box.base, "root/../outside") == "cwd"
    similar = box.directory("root-and-more")
    assert tool_cwd(box, box.root, similar) == str(box.root)
