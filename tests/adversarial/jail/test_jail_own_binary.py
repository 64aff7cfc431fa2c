"""Promise: What each jail holds.
Attacker: the tool. Means: /proc/self/exe leads to the host's file that it was started from. It
keeps that open, executes another program, so that the file is no longer busy, and overwrites it:
the next caller of the tool runs the attacker's code. The file belongs to the caller, so only the
jail prevents it.

Expected: refused; the file is unchanged.
"""
import shutil


def own_tool(cell):
    trusted = cell.box.directory("trusted")
    shutil.copy(cell.box.bin / "breach_processes", trusted / "breach_processes")
    cell.box.own(trusted / "breach_processes", 0o755)
    entry = {"breach_processes": {"execs": ["dd"]}}
    return trusted / "breach_processes", cell.write_policy(search_path=[str(trusted), str(cell.box.bin), "/usr/bin"],
                                                           **entry)


def test_tool_is_not_overwritten(cell):
    tool, policy = own_tool(cell)
    good = tool.read_bytes()
    attack = ["breach_processes", "replace", "/usr/bin/dd"]
    cell.succeeds_outside(*attack, policy=policy)
    assert tool.read_bytes() == b"\0" + good[1:], "the attack is not one"
    tool.write_bytes(good)
    answer = cell.inside(*attack, policy=policy)
    assert answer.status == 1 and b"dd: " in answer.stream("stderr"), answer.document
    assert tool.read_bytes() == good
