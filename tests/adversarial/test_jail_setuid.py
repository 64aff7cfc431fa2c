"""Attacker: the tool, of an ordinary user. Means: set-user-ID programs: those of the system, and one of root's in the repository; and
as root, another user's identity.

Expected: none is executed, and one that was listed would gain nothing: no_new_privs, nosuid.
"""
import os
import shutil

import pytest

from feature import skip


def test_system_program_is_not_executed(cell):
    program = shutil.which("passwd") or "/bin/su"
    assert os.stat(program).st_mode & 0o4000, "it is not set-user-ID; the test would prove nothing"
    cell.succeeds_outside("attempt", "plain", program, "--help")
    cell.refused_inside("attempt", "plain", program, "--help", errnos="EACCES EPERM")


def test_listed_program_gains_nothing(cell):
    if os.geteuid() != 0:
        skip("root", "only root can make a program of root's")
    shown = cell.box.place / "trusted"
    shown.mkdir(mode=0o755)
    shutil.copy("/usr/bin/id", shown / "whoami-root")
    (shown / "whoami-root").chmod(0o4755)
    plain = cell.box.call([str(shown / "whoami-root"), "-u"])
    assert plain.out == b"0\n", "the program is not set-user-ID; the test would prove nothing"
    search_path = [str(shown), str(cell.box.bin), "/usr/bin"]
    policy = cell.write_policy(attempt={"execs": [str(shown / "whoami-root")]}, search_path=search_path)
    answer = cell.inside("attempt", "plain", inside_path(cell, policy), "-u", policy=policy)
    assert answer.stream("stdout").strip() in (str(cell.box.actor.uid).encode(), b"refused: ENOENT (execute)")


def inside_path(cell, policy):
    """Tools of /tmp stand elsewhere inside."""
    more = cell.box.entry("find", route="external")
    found = cell.inside("find", "/.tool", "-name", "whoami-root", policy=cell.write_policy(
        more=[{**more, "execs": [str(cell.box.place / "trusted/whoami-root")]}],
        search_path=[str(cell.box.place / "trusted"), str(cell.box.bin), "/usr/bin"]))
    return found.stream("stdout").decode().strip() or "/.tool/none"


@pytest.mark.parametrize("jail_user", [0])
def test_root_does_not_become_another_user(root_cell, jail_user):
    root_cell.breaks_out_only_outside("breach_files", "identity", errnos="EPERM EINVAL")
