"""Every test belongs to a suite, and what tests/conftest.py names exists."""
import ast
import importlib.util
import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
import suites  # noqa: E402

TESTS = pathlib.Path(harness.ROOT) / "tests"
FILES = [path for place in ("integration", "adversarial") for path in (TESTS / place).rglob("test_*.py")]


def run_tests():
    spec = importlib.util.spec_from_file_location("run_tests", pathlib.Path(__file__).parent / "run-tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables():
    """The sets and tuples of names in tests/conftest.py, without importing it: it changes the process."""
    found = {}
    for node in ast.parse((TESTS / "conftest.py").read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id in ("APART", "TOGETHER", "LONG", "TIMED", "PLAIN", "ALONE"):
                found.setdefault(target.id, set()).update(
                    part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
    return found


def test_each_file_is_in_one_suite():
    placed = [path for suite in suites.ALL.values() if suite.session == "tests" for path in suite.function()]
    assert sorted(placed) == sorted(os.path.relpath(path, harness.ROOT) for path in FILES)


def test_what_the_sanitizers_run_is_a_part_of_it():
    placed = [path for suite in suites.ALL.values() if suite.session == "asan-tests" for path in suite.function()]
    assert len(set(placed)) == len(placed) > 100 and set(placed) <= {os.path.relpath(path, harness.ROOT) for path in FILES}


def test_each_name_in_conftest_is_a_file_or_a_test():
    """A test that was renamed would silently leave TIMED, and be late on a busy machine."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    known = {path.name for path in FILES} | set(re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)) | {"docker", "node"}
    assert {kind: sorted(names - known) for kind, names in tables().items()} == {
        kind: [] for kind in ("APART", "TOGETHER", "LONG", "TIMED", "PLAIN", "ALONE")}


def test_each_suite_has_a_lane_and_what_it_needs():
    for suite in suites.ALL.values():
        assert suite.lane in suites.LANES and set(suite.needs) <= set(suites.ALL), suite
        assert not suite.session or suite.session in suites.SESSIONS


@pytest.mark.parametrize("names", [[], ["jails"], ["asan-unit", "jails", "asan-linter"], ["timed"]])
def test_each_suite_runs_once_after_what_it_needs(names):
    module = run_tests()
    chosen = module.select(names)
    lanes = {lane: module.lane_of(chosen, lane) for lane in suites.LANES}
    jobs = [job for lane in lanes.values() for job in lane]
    assert sorted(suite.name for job in jobs for suite in job) == sorted(suite.name for suite in chosen)
    for lane in lanes.values():
        order = [suite.name for job in lane for suite in job]
        for suite in (suite for job in lane for suite in job):
            assert all(order.index(need) < order.index(suite.name) for need in suite.needs if need in order)
