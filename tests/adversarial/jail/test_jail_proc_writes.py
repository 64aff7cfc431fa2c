"""Promise: What each jail holds.
Attacker: the tool, also as root. Means: files of /proc that change a process or the machine: those
of itself, of the first process, and /proc/sys (core_pattern names a program that the kernel runs
as root outside of every jail).

Expected: /proc is read-only, and Landlock allows no writing there either; the kernel checks the
mount first, so EROFS shows that the mount is read-only. The attack writes what is there already,
so nothing changes where it succeeds.
"""
import os
import pathlib

import pytest

import kernel
from processes import wait_until

SETTINGS = ["kernel/core_pattern", "kernel/hostname", "kernel/randomize_va_space", "vm/overcommit_memory", "fs/suid_dumpable",
            "kernel/modprobe", "net/ipv4/ip_forward"]
SYSRQ = ["/proc/sysrq-trigger", "/proc/sys/kernel/sysrq"]


@pytest.mark.parametrize("path", ["/proc/self/oom_score_adj", "/proc/self/comm"])
def test_nothing_about_itself_is_written(cell, path):
    cell.breaks_out_only_outside("breach_processes", "rewrite", path, errnos="EROFS")


def test_nothing_about_the_first_process_is_written(root_cell):
    root_cell.succeeds_outside("breach_processes", "rewrite", f"/proc/{os.getpid()}/oom_score_adj")
    root_cell.refused_inside("breach_processes", "rewrite", "/proc/1/oom_score_adj", errnos="EROFS")


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_of_the_machine_is_written(root_cell, name):
    path = f"/proc/sys/{name}"
    if os.path.exists(path):
        root_cell.succeeds_outside("breach_processes", "rewrite", path)
    root_cell.refused_inside("breach_processes", "rewrite", path, errnos="EROFS ENOENT")


@pytest.mark.parametrize("path", SYSRQ)
def test_machine_is_not_commanded(root_cell, path):
    """Not written, also not outside: what it would do cannot be taken back. Nobody may read sysrq-trigger, so an open for
    reading would be refused by its mode, whatever the mount allows."""
    root_cell.refused_inside("breach_processes", "open_to_write", kernel.itself_or_beside(path), errnos="EROFS")


@pytest.mark.parametrize("name", ["mem", "root/etc/shadow", "cwd/.", "fd/0", "exe", "environ", "maps", "auxv"])
def test_first_process_is_not_read(cell, name):
    """The attacker outside reads the same of a process of the same user; the init inside has this user too."""
    way = "list" if name == "cwd/." else "read"
    other = cell.box.popen(["sleep", "20"], raw=True)
    # Before it executes sleep it changes its user, and nobody may read of it then.
    wait_until(lambda: pathlib.Path(f"/proc/{other.pid}/comm").read_text(encoding="ascii") == "sleep\n")
    if name not in ("mem", "fd/0") and not (name == "root/etc/shadow" and cell.box.actor.uid != 0):
        cell.succeeds_outside("breach_files", way, f"/proc/{other.pid}/{name}")
    cell.refused_inside("breach_files", way, f"/proc/1/{name}", errnos="EACCES EPERM ENOENT")


@pytest.mark.parametrize("path", ["/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/1/ns/mnt"])
def test_machine_is_not_in_proc(cell, path):
    cell.refused_inside("breach_processes", "rewrite", path, errnos="EROFS EACCES EPERM ENOENT EIO")
