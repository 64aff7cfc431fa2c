"""Other versions of Python, from other suites of Debian: unpacked beside the build and never installed.

The extension is built once, with this machine's Python and C library. An interpreter of an older suite therefore runs with this
machine's C library, and one of a newer suite with the C library of its own suite.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

import debian
from feature import needs_machine
from registry import kept_as

LIBRARIES = "usr/lib/x86_64-linux-gnu"
TESTERS = ("python3-exceptiongroup", "python3-tomli")  # pytest needs them before Python 3.11
VERSIONS = {"3.9": "bullseye", "3.13": "trixie"}  # the oldest that is supported, and one newer than this machine's
WITH_OWN_LIBC = ("3.13",)


def make_root(directory) -> pathlib.Path:
    """An empty system with a merged /usr."""
    root = directory / "root"
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    return root


def fetch_python(version):
    def fetch(directory):
        needs_machine("x86_64")
        root = make_root(directory)
        debian.unpack(debian.installed([f"python{version}"], VERSIONS[version], "amd64", directory), root)
        return root
    return fetch


def fetch_testers(directory):
    debian.fetch(["download"], TESTERS, "bookworm", "amd64", directory)
    root = make_root(directory)
    debian.unpack(sorted(directory.glob("*.deb")), root)
    return root


def with_own_libc(root, program):
    """A copy of the program that starts with the loader of its root: the program, not the loader, is then sys.executable."""
    made = program.with_name(f"{program.name}-own-libc")
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=program.parent) as directory:
            copy = pathlib.Path(directory) / program.name
            shutil.copy2(program, copy)
            subprocess.run(["patchelf", "--set-interpreter", root / "lib64/ld-linux-x86-64.so.2", "--force-rpath", "--set-rpath",
                            f"{root / LIBRARIES}:/{LIBRARIES}", copy], check=True)
            os.rename(copy, made)
    return made


def interpreter(version):
    """The program, and the variables that it needs to find its own library and this machine's pytest."""
    root = kept_as(f"python-{version}", fetch_python(version))
    testers = kept_as("python-testers", fetch_testers)
    program = root / f"usr/bin/python{version}"
    if version in WITH_OWN_LIBC:
        program = with_own_libc(root, program)
    path = f"/usr/lib/python3/dist-packages:{testers / 'usr/lib/python3/dist-packages'}"
    return program, {"PYTHONHOME": str(root / "usr"), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
