"""What `make run` does: the demo looks at this repository with every tool that is there, and its last line is the path of a page
that a browser opens. On a copy, because other suites make and remove files in build directories.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from browser import browser

TOP = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["CHOKE_BUILD"]).resolve()


@pytest.fixture
def window():
    with browser() as made:
        yield made


def copy_of_this_repository(place):
    if (TOP / ".git").exists():
        subprocess.run(["git", "clone", "-q", TOP, place], check=True)
    else:
        shutil.copytree(TOP, place, symlinks=True, ignore=shutil.ignore_patterns("build*", "third_party", "node_modules", "__pycache__"))


def test_demo_ends_with_a_page_that_says_what_was_found_and_what_was_not_looked_at(tmp_path, window):
    copy_of_this_repository(tmp_path / "chokepoint")
    made = subprocess.run([TOP / "tools/demo.sh", BUILD / "chokepoint", tmp_path / "chokepoint"], cwd=TOP, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="backslashreplace", timeout=1200)
    assert made.returncode == 0, made.stdout
    page = pathlib.Path(re.fullmatch(r"Report +(/.+)", made.stdout.splitlines()[-1])[1])
    assert page == BUILD / "report.html"
    for width, height in ((1280, 800), (390, 844)):
        window.size(width, height)
        window.open_ready(page)
        for selector in (".lead-found .figure", ".lead-found .legend", ".lead-gaps .figure", ".lead-gaps .gaps"):
            assert window.sees(selector), (width, selector)
        assert window.value("document.documentElement.scrollWidth <= innerWidth")
        window.screenshot(BUILD / f"report-screenshots/make-run-{width}.png")
    assert window.text("h1") == "chokepoint"
    assert re.fullmatch(r"[\d,]+ findings?( and [\d,]+ info)?", window.text(".lead-found .figure")), window.text(".lead-found .figure")
    assert re.fullmatch(r"\d+ of \d+ probes did not run", window.text(".lead-gaps .figure")), window.text(".lead-gaps .figure")
    window.check_quiet()
