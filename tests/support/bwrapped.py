"""Helpers for the tests of the bwrap jail."""
import os
import pathlib
import shutil

from feature import skip

JAIL_HELPER = {"name": "bwrap", "why": "a test jails with it", "adr": "0001", "route": "jail"}


def need_bwrap():
    if not shutil.which("bwrap", path="/usr/bin:/bin"):
        skip("bwrap", "bubblewrap is not installed")


def shell_entry(box, execs=("ls", "cat", "id", "sleep", "touch", "mkdir", "ln", "chmod", "env", "python3"), **more):
    return box.entry("sh", execs=list(execs), **more)


def write_policy(box, *tools, helper=JAIL_HELPER, **keywords):
    return box.write_policy(tools=[helper, *tools], **keywords)


def runtime(box) -> pathlib.Path:
    """The runtime directory of the caller; scratch directories are in it."""
    directory = box.base / "runtime"
    return directory if directory.exists() else box.directory("runtime", 0o700)


def environment(box, **extra) -> dict:
    return box.environment(XDG_RUNTIME_DIR=str(runtime(box)), **extra)


def scratch_parent(box) -> pathlib.Path:
    return runtime(box) / "chokepoint"


def scratches(box) -> list:
    parent = scratch_parent(box)
    return sorted(os.listdir(parent)) if parent.exists() else []
