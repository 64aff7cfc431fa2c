"""The linter on this repository (R25): tools/check/check-lint.py passes, and fails if a file
bypasses the library.
"""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path):
    """A copy of the files that the check reads, which a test can change."""
    for name in ("src", "include", "docs/adr"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in (".chokepoint-lint.yaml", "tools/check/check-lint.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".git").mkdir()
    return tmp_path


def check(copy):
    done = subprocess.run(["/usr/bin/python3", copy / "tools/check/check-lint.py", os.environ["CHOKE_BUILD"]], check=False,
                          capture_output=True)
    return done.returncode, done.stdout.decode()


def spoil(copy, name, text):
    with open(copy / name, "a", encoding="utf-8") as stream:
        stream.write(text)


def test_the_repository_keeps_to_its_own_rule(copy):
    status, said = check(copy)
    assert status == 0 and "0 problems" in said, said


@pytest.mark.parametrize("name, text", [
    ("src/base/fd.c", "int f(void) { return fork(); }\n"),
    ("src/run/keeper/child.c", "long f(void) { return syscall(SYS_clone, 0); }\n"),
    ("src/cli/main.c", "#include <spawn.h>\nstatic int (*go)() = posix_spawn;\nint f(void) { return go(); }\n"),
    ("src/lint/top.c", "void f(char **v) { execv(v[0], v); }\n"),
])
def test_a_second_creator_is_found(copy, name, text):
    spoil(copy, name, text)
    status, said = check(copy)
    assert status == 1 and f"{name}:" in said and "src/run/create.c alone" in said, said


def test_a_shell_is_found_in_the_allowed_file_itself(copy):
    spoil(copy, "src/run/create.c", "int f(void) { return system(\"ls\"); }\n")
    status, said = check(copy)
    assert status == 1 and "src/run/create.c:" in said, said


def test_a_linter_that_sees_nothing_is_not_believed(copy):
    (copy / "src/run/create.c").write_text("\n", encoding="ascii")
    assert check(copy)[0] == 1
