"""Behaviour that only the system calls of the command show: what is on the disk before a file gets
its name, how often a call is planned, and how the machine's policy is looked for.
"""
import re

import pytest

from gathered import gather

STRACE = "/usr/bin/strace"


def traced(box, args, calls):
    """The calls of the command itself, in order."""
    log = box.base / "calls"
    answer = box.call([STRACE, "-y", "-o", str(log), "-e", f"trace={calls}", *args])
    assert answer.status == 0, answer
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


def first(lines, pattern, after=-1):
    found = [i for i, line in enumerate(lines) if i > after and re.search(pattern, line)]
    assert found, (pattern, lines[-20:])
    return found[0]


def test_document_is_on_the_disk_before_it_has_its_name(root_box):
    """A disk that proves full at fsync or close costs the new document, and not the old one."""
    out = root_box.base / "document.json"
    gather(root_box, "--only", "node_version", "--out", str(out))
    args = [root_box.command, "gather", "--no-audit", "--only", "node_version", "--out", str(out), str(root_box.root)]
    lines = traced(root_box, args, "fsync,close,renameat,renameat2,rename")
    synced = first(lines, r"fsync\(\d+<.*/\.chokepoint-")
    closed = first(lines, r"close\(\d+<.*/\.chokepoint-", synced)
    renamed = first(lines, r"rename\w*\(.*document\.json", closed)
    first(lines, rf"fsync\(\d+<{re.escape(str(root_box.base))}>", renamed)


def test_streaming_plans_once(root_box):
    policy = root_box.write_policy([root_box.entry("true")], search_path=["/usr/bin"])
    counts = []
    for form in ([], ["--stream"]):
        args = [root_box.command, "run", "--no-audit", *form, "--policy", str(policy), "--root", str(root_box.root), "--", "true"]
        lines = traced(root_box, args, "openat,openat2")
        counts.append(len([line for line in lines if '"true"' in line]))
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("command", [["run", "--no-audit", "--", "git", "--version"], ["doctor", "--no-cache"],
                                     ["policy", "show"], ["policy", "explain", "--", "git", "--version"]])
def test_without_a_policy_of_the_machine_there_is_one_look(root_box, command):
    """R8, R9: nothing but the look for it, and that once."""
    lines = traced(root_box, [root_box.command, *command], "%file")
    assert len([line for line in lines if "/etc/chokepoint" in line]) == 1, lines
    (line,) = [line for line in lines if "/etc/chokepoint" in line]
    assert line.startswith("openat2(") and "RESOLVE_NO_SYMLINKS" in line and "ENOENT" in line
