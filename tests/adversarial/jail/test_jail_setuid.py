"""Promise: What each jail holds.
Attacker: the tool, of an ordinary user. Means: set-user-ID programs: those of the system, and one
of root in the repository; and as root, another user's identity.

Expected: none is executed, and one that was listed would gain nothing: no_new_privs, nosuid.
"""
import os
import shutil

from feature import skip


def test_system_program_is_not_executed(cell):
    program = shutil.which("passwd") or "/bin/su"
    assert os.stat(program).st_mode & 0o4000, "it is not set-user-ID; the test would prove nothing"
    cell.succeeds_outside("attempt", "plain", program, "--help")
    cell.refused_inside("attempt", "plain", program, "--help", errnos="EACCES EPERM")


def test_tool_that_is_set_user_id_gains_nothing(cell):
    if os.geteuid() != 0:
        skip("root", "only root can make a program of root's")
    trusted = cell.box.base / "trusted"
    trusted.mkdir(mode=0o755)
    shutil.copy(cell.box.bin / "say_state", trusted / "elevator")
    (trusted / "elevator").chmod(0o4755)
    assert b"\neuid=0\n" in cell.box.call([str(trusted / "elevator")]).out, "it is not set-user-ID"
    policy = cell.write_policy(more=[cell.box.entry("elevator", route="external")],
                               search_path=[str(trusted), str(cell.box.bin), "/usr/bin"])
    said = cell.succeeds_inside("elevator", policy=policy).stream("stdout")
    assert f"\neuid={cell.box.actor.uid}\n".encode() in said


def test_root_does_not_become_another_user(root_cell):
    root_cell.breaks_out_only_outside("breach_files", "identity", errnos="EPERM EINVAL")
