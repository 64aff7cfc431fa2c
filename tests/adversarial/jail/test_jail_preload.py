"""Promise: What it may execute.
Attacker: the repository, or whoever sets the caller's environment. Means: LD_PRELOAD and
LD_LIBRARY_PATH with a library of the repository, set for the command and, by the tool, for its
helpers.

Expected: neither variable is passed on, and a library of the repository could not be mapped as
code (noexec).
"""
import pytest


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"])
def test_variable_does_not_arrive(cell, name):
    answer = cell.succeeds_inside("say_env", env=cell.box.environment(**{name: "/nonexistent/library.so"}))
    assert name.encode() not in answer.stream("stdout")


@pytest.mark.parametrize("way", ["mapped", "protected"])
def test_library_of_the_repository_is_no_code(cell, way):
    (cell.box.root / "library.so").write_bytes((cell.box.bin / "say_args").read_bytes())
    (cell.box.root / "library.so").chmod(0o755)
    cell.breaks_out_only_outside("attempt", way, "./library.so", errnos="EACCES EPERM")


def test_preload_set_by_a_tool_is_not_mapped(cell):
    """env may set what it likes for its helper: the loader is not allowed to map it, and says so."""
    (cell.box.root / "library.so").write_bytes((cell.box.bin / "say_args").read_bytes())
    env = cell.box.entry("env", route="external", execs=["true"])
    policy = cell.write_policy(more=[env])
    answer = cell.succeeds_inside("env", "LD_PRELOAD=/work/library.so", "true", policy=policy)
    assert b"library.so" in answer.stream("stderr") and b"cannot be preloaded" in answer.stream("stderr")
