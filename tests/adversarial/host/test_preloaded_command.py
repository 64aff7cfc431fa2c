"""Promise: What it may execute.
Attacker: whoever sets the environment of the command. Means: LD_PRELOAD and LD_AUDIT with a library of
their own; LD_LIBRARY_PATH with libraries of the names that the command is built with.

Expected: the command has no loader, so none of these is read (docs/adr/0096). A program that is linked
dynamically runs the code.
"""
import subprocess

import pytest

LIBRARY = """#include <unistd.h>
__attribute__((constructor)) static void begin(void) { (void)!write(2, "loaded\\n", 7); }
unsigned int la_version(unsigned int version) { return version; }
"""
NAMES = ("libc.so.6", "libcyaml.so.1", "libyaml-0.so.2", "libsodium.so.23", "libjansson.so.4", "libseccomp.so.2", "libsqlite3.so.0")


@pytest.fixture
def library(tmp_path):
    (tmp_path / "library.c").write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "library.so", tmp_path / "library.c"], check=True)
    for name in NAMES:
        (tmp_path / name).symlink_to("library.so")
    return tmp_path / "library.so"


def variables(library):
    return {"LD_PRELOAD": str(library), "LD_AUDIT": str(library), "LD_LIBRARY_PATH": str(library.parent)}


def call(program, name, library):
    return subprocess.run([program, "--version"], env={name: variables(library)[name]}, check=False, capture_output=True)


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"])
def test_no_variable_puts_code_into_the_command(stage, library, name):
    other = call("/usr/bin/true", name, library)
    assert b"loaded" in other.stderr or (name == "LD_LIBRARY_PATH" and other.returncode != 0)
    answer = call(stage / "chokepoint", name, library)
    assert (answer.returncode, answer.stderr) == (0, b"") and answer.stdout.startswith(b"chokepoint ")


def test_command_needs_no_other_file(stage, tmp_path):
    (tmp_path / "chokepoint").write_bytes((stage / "chokepoint").read_bytes())
    (tmp_path / "chokepoint").chmod(0o755)
    answer = subprocess.run(["/usr/sbin/chroot", tmp_path, "/chokepoint", "policy", "show"], env={}, check=True, capture_output=True)
    assert b"git" in answer.stdout and answer.stderr == b""
