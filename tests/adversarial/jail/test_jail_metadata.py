"""Promise: What each jail holds.
Attacker: the tool, as root or as the owner of the file. Means: chmod, chown, utimensat, setxattr,
inode flags, leases, by a path or by a descriptor. Landlock checks none of them. They reach
whatever inode of the host is open in the tool or can be named by it: its own file
(/proc/self/exe), the device nodes, /dev/null on stdin, the file that is given with --stdin, the
read-only repository, the first process of the jail.

Expected: refused (EROFS, EPERM), and nothing about the file has changed on the host. Outside the
jail the same calls succeed.
"""
import os
import shutil
import stat

import pytest

from jails import JAILS, Cell
from no_userns import NoUserns

# What every file system and kernel of the tests can do outside.
SURE = {"mode", "owner", "times", "empty_owner", "lease"}
DEVICES = ("null", "zero", "full", "random", "urandom")


def facts(path):
    """ctime changes with every change of an inode, whatever it was."""
    status = os.stat(path)
    return status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, status.st_ctime_ns, os.listxattr(path)


def own_tool(cell):
    trusted = cell.box.directory("trusted")
    shutil.copy(cell.box.bin / "breach_metadata", trusted / "breach_metadata")
    tool = cell.box.own(trusted / "breach_metadata", 0o755)
    return tool, cell.write_policy(search_path=[str(trusted), str(cell.box.bin), "/usr/bin"])


@pytest.fixture(params=[*JAILS, "alone"])
def any_cell(request, box):
    """Every jail, and the native one where namespaces are forbidden."""
    return NoUserns(box, "container") if request.param == "alone" else Cell(box, request.param)


def changes_outside(cell, target, **shape):
    said = cell.succeeds_outside("breach_metadata", "any", target, **shape).stream("stdout").decode()
    assert SURE <= {line.split()[0] for line in said.splitlines()}, said


@pytest.mark.parametrize("path", ["/proc/self/exe", "/proc/self/root/proc/self/exe"])
def test_own_file_is_not_changed(any_cell, path):
    tool, policy = own_tool(any_cell)
    changes_outside(any_cell, path, policy=policy)
    before = facts(tool)
    any_cell.refused_inside("breach_metadata", "any", path, policy=policy)
    assert facts(tool) == before


def test_a_script_changes_neither_itself_nor_its_interpreter(any_cell):
    trusted = any_cell.box.directory("trusted")
    script = any_cell.box.file("trusted/changer", "#!/usr/bin/python3\nimport os\n"
                            "for path in ('/proc/self/exe', __file__):\n"
                            "    try:\n        os.chmod(path, 0o755)\n        print('done')\n"
                            "    except OSError:\n        print('refused')\n", 0o755)
    policy = any_cell.write_policy(more=[any_cell.box.entry("changer", route="external")],
                                search_path=[str(trusted), str(any_cell.box.bin), "/usr/bin"])
    before = facts(script)
    answer = any_cell.succeeds_inside("changer", policy=policy)
    assert answer.stream("stdout") == b"refused\nrefused\n", answer.document
    assert facts(script) == before


@pytest.mark.parametrize("name", DEVICES)
def test_devices_are_not_changed(cell, name):
    """They can be used all the same."""
    cell.refused_inside("breach_metadata", "mode", f"/dev/{name}", errnos="EROFS")
    cell.refused_inside("breach_metadata", "any", f"/dev/{name}")
    if name in ("null", "zero"):
        cell.succeeds_inside("breach_files", "write", f"/dev/{name}")


def test_devices_can_be_opened_as_a_shell_does(cell):
    policy = cell.write_policy(more=[cell.box.entry("sh", route="external")])
    cell.succeeds_inside("sh", "-c", "echo word > /dev/null && echo word >> /dev/zero && read word < /dev/urandom",
                         policy=policy)


def test_devices_are_not_changed_without_namespaces(root_box):
    before = os.stat("/dev/full").st_mode
    no_userns = NoUserns(root_box, "container")
    no_userns.refused_inside("breach_metadata", "any", "/dev/full")
    assert os.stat("/dev/full").st_mode == before


@pytest.mark.parametrize("target", ["fd:0", "/proc/self/fd/0", "/dev/stdin"])
def test_default_stdin_is_not_a_node_of_the_host(cell, target):
    cell.refused_inside("breach_metadata", "mode", target, errnos="EROFS")
    cell.refused_inside("breach_metadata", "any", target)


def test_default_stdin_is_not_changed_without_namespaces(box):
    no_userns = NoUserns(box, "container")
    no_userns.refused_inside("breach_metadata", "any", "fd:0")


@pytest.mark.parametrize("target", ["fd:0", "/proc/self/fd/0"])
def test_file_on_stdin_is_not_changed(any_cell, target):
    given = any_cell.box.file("given", "word\n")
    options = ["--stdin", str(given)]
    changes_outside(any_cell, target, options=options)
    before = facts(given)
    any_cell.inside("breach_metadata", "any", target, options=options)  # a pipe is the run's own: its mode may be set
    assert facts(given) == before


def test_repository_that_may_be_read_is_not_changed(any_cell):
    kept = any_cell.box.file("root/kept", "word\n")
    changes_outside(any_cell, "kept")
    before = facts(kept)
    any_cell.refused_inside("breach_metadata", "any", "kept")
    for directory in (".", "/proc/self/cwd"):
        any_cell.refused_inside("breach_metadata", "mode", directory)
    assert facts(kept) == before


def test_flags_and_leases_are_refused_where_writing_is_allowed(any_cell):
    """Nothing that builds or tests a repository needs them, and a lease makes others wait."""
    kept = any_cell.box.file("root/kept", "word\n")
    policy = any_cell.write_policy(breach_metadata={"workspace": "rw"})
    for call in ("flags", "project", "version", "lease"):
        any_cell.refused_inside("breach_metadata", call, "kept", policy=policy, errnos="EPERM ENOTTY EOPNOTSUPP")
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o644


@pytest.mark.parametrize("path", ["/proc/1/exe", "/proc/1/root", "/proc/1/fd/0", "/proc/1/cwd"])
def test_first_process_is_not_a_way_to_shared_files(cell, path):
    """Its image serves every run."""
    cell.refused_inside("breach_metadata", "any", path)


def test_system_and_root_are_not_changed(cell):
    for path in ("/", "/usr", "/dev", "/proc", "/etc/passwd", "/usr/bin/env", "/proc/self", "/proc/cpuinfo", "/proc/keys"):
        cell.refused_inside("breach_metadata", "mode", path, errnos="EROFS")
