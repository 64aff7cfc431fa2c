"""Promise: What each jail holds.
Attacker: the tool, with a repository that it may write. Means: leave a set-user-ID or set-group-ID
program there, in every way that a mode can be given. Nothing in the jail could execute it; outside
it would give everyone the caller's rights.

Expected: no such file is made, while ordinary modes can be set.
"""
import glob
import os

import pytest

WAYS = {
    "chmod": "os.chmod('file', {mode})",
    "fchmod": "os.fchmod(os.open('file', os.O_RDONLY), {mode})",
    "fchmodat": "os.chmod('file', {mode}, dir_fd=os.open('.', os.O_RDONLY))",
    "fchmodat2": "call(452, -100, b'file', {mode}, 0)",
    "open": "os.open('new', os.O_CREAT | os.O_WRONLY, {mode})",
    "openat2": "call(437, -100, b'new', (ctypes.c_ulonglong * 3)(os.O_CREAT | os.O_WRONLY, {mode}, 0), 24)",
    "creat": "call(85, b'new', {mode})",
    "mknod": "os.mknod('new', 0o100000 | {mode})",
}
SCRIPT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    if libc.syscall(*words) < 0:
        raise OSError(ctypes.get_errno(), "syscall")
os.umask(0)
open('file', 'w').close()
try:
    WAY
except OSError as refusal:
    print(refusal.errno)
"""


def python(cell):
    modules = [path for pattern in ("/usr/lib/python3*", "/usr/lib/*-linux-gnu") for path in glob.glob(pattern)]
    entry = cell.box.entry("python3", route="external", workspace="rw", execs=modules)
    return cell.write_policy(more=[entry], search_path=[str(cell.box.bin), "/usr/bin"])


def modes(cell):
    return [os.lstat(path).st_mode & 0o7000 for path in map(str, cell.box.root.iterdir())]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["0o4755", "0o2755"])
def test_no_program_with_set_id_is_left(cell, way, mode):
    script = SCRIPT.replace("WAY", WAYS[way].format(mode=mode))
    cell.succeeds_inside("python3", "-c", script, policy=python(cell))
    assert not any(modes(cell))
    for name in ("file", "new"):
        (cell.box.root / name).unlink(missing_ok=True)
    cell.succeeds_outside("python3", "-c", script, policy=python(cell))
    assert any(modes(cell)), "it is no attack"


def test_ordinary_modes_can_be_given(cell):
    script = SCRIPT.replace("WAY", "os.chmod('file', 0o1755)")
    assert cell.succeeds_inside("python3", "-c", script, policy=python(cell)).stream("stdout") == b""
    assert (cell.box.root / "file").stat().st_mode & 0o7777 == 0o1755
