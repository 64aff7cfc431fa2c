"""semgrep in a jail, by a stand-in of its shape (tests/stand_ins/semgrep), as each installer places it."""
import pytest

from gathered import gather
from jails import JAILS

INSTALLERS = ["pip", "venv", "pipx"]
RULES = """rules:
  - id: py-temporary-name
    languages: [python]
    severity: WARNING
    message: another can make a file of this name first
    pattern: tempfile.mktemp(...)
"""


@pytest.fixture(params=INSTALLERS)
def installed(request, scanners_box):
    getattr(scanners_box, f"semgrep_by_{request.param}")()
    scanners_box.file("root/a.py", "import tempfile\n\nname = tempfile.mktemp()\n")
    scanners_box.file("root/b.py", "print(1)\n")
    return scanners_box


def test_gather_says_ok(installed):
    report = gather(installed, "--only", "semgrep", policy="default").probes["semgrep"]
    assert report["state"] == "ok", report
    found = report["evidence"]
    assert [(one["id"], one["severity"], one["path"], one["line"]) for one in found["findings"]] == [
        ("py-temporary-name", "medium", "a.py", 3)]
    assert found["files_scanned"] == 2 and report["calls"][0]["jail"] == "native"


@pytest.mark.parametrize("jail", [*JAILS, "none"])
def test_it_runs_everywhere(scanners_box, jail):
    scanners_box.semgrep_by_venv()
    scanners_box.file("root/a.py", "import tempfile\n\nname = tempfile.mktemp()\n")
    answer = scanners_box.run("semgrep", "scan", "--config=-", "--json", policy="default", input=RULES.encode(),
                              options=["--jail", jail, "--stdin", "-"])
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert b"py-temporary-name" in answer.stream("stdout") and not list(scanners_box.root.glob(".semgrep*"))


def test_its_version_is_found(scanners_box):
    scanners_box.semgrep_by_pip()
    answer = scanners_box.run("semgrep", "--version", policy="default")
    assert answer.stream("stdout") == b"1.90.0\n", answer.document


def test_from_another_place_the_reason_names_the_program(scanners_box):
    """Its native program is in no directory that the policy has."""
    scanners_box.semgrep_by_venv("elsewhere")
    scanners_box.file("root/a.py", "print(1)\n")
    report = gather(scanners_box, "--only", "semgrep", policy="default").probes["semgrep"]
    assert report["state"] == "failed" and "/opt/elsewhere/" in report["reason"], report


def test_it_executes_nothing_else(installed):
    """Its native program tries to."""
    for path in installed.base.glob("*/**/semgrep/bin/semgrep-core"):
        path.write_text("#!/usr/bin/python3\nimport os\nos.execv('/usr/bin/id', ['id'])\n", encoding="ascii")
    report = gather(installed, "--only", "semgrep", policy="default").probes["semgrep"]
    assert report["state"] == "failed", report
    assert report["reason"].endswith("Permission denied; the jail refused to execute '/usr/bin/id'"), report
