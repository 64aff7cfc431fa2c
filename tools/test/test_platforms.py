"""The tables of docs/platforms.md name all places that the suite `kernels` tries, and --check finds every difference."""
import importlib.util
import json
import pathlib
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


PLACES = module(TOP / "tests/kernels/places.py").WHOLE


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The script, with a page of its own."""
    script = module(TOP / "tools/gen/platforms-page.py")
    script.PAGE = tmp_path / "page.md"
    script.PAGE.write_text(f"before\n{script.MARK}{script.MARK}after\n", encoding="utf-8")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["platforms-page.py", str(tmp_path), *words])
        script.main()
    script.call = call
    return script


def leave(directory, script, name, **missing):
    """What the suite leaves of a place."""
    layers = {key: {"holds": key not in missing, "detail": "Landlock ABI 9", "cause": missing.get(key)} for _, key in script.COLUMNS}
    found = {"title": f"the {name}", "kernel": "9.9 (1)", "callers": {"root": {"layers": layers, "attempts": None}},
             "tests": {"sample": {"passed": 3, "failed": 0, "skipped": 0}}}
    (directory / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


def test_each_place_is_in_the_order_of_the_page(page):
    assert sorted(page.ORDER) == sorted(place.name for place in PLACES)


def test_page_has_no_place_that_is_not_tried(page):
    """Which of them it lacks, a full run says: --check."""
    text = (TOP / "docs/platforms.md").read_text(encoding="utf-8").split(page.MARK)[1]
    known = {(place.title, caller) for place in PLACES for caller in place.callers}
    named = {key for key in page.states(text) if not key[1].startswith("tests ")}
    assert named and named <= known


def test_what_was_written_is_found_again(page, tmp_path):
    leave(tmp_path, page, "5.10", **{"jail.native": "too old"})
    leave(tmp_path, page, "6.1")
    page.call()
    page.call("--check")
    assert "| native | the 5.10 (root) | too old |" in page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("change", ["state", "place", "gone"])
def test_difference_is_found(page, tmp_path, change):
    leave(tmp_path, page, "5.10")
    page.call()
    if change == "state":
        leave(tmp_path, page, "5.10", **{"jail.guard": "x"})
    elif change == "place":
        leave(tmp_path, page, "6.1")
    else:
        (tmp_path / "5.10.json").unlink()
    with pytest.raises(SystemExit, match="differs from what was found"):
        page.call("--check")
