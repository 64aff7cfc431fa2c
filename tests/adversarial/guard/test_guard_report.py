"""Promise: A guarded program.
Attacker: a carrier. Means: the report of guard, if that is beneath the root: to write after its text, to put another file in
its place, or a symlink to a file of the caller.

Expected (R92): what stands in the report is what guard wrote, or guard says that it is not, and ends with 125.
"""
import json

import pytest


@pytest.fixture
def attacker(guarded):
    guarded.report_path = guarded.root / "report.json"
    return guarded


def test_text_of_the_program_is_not_left_behind_the_report(attacker):
    answer = attacker.box.call(attacker.argv("bash", "-c", "for ((i = 0; i < 10000; i++)); do echo '{\"status\": 7}'; done > report.json"))
    assert answer.status == 0, answer
    assert json.loads(attacker.report_path.read_text(encoding="utf-8"))["status"] == 0


@pytest.mark.parametrize("attack", ["rm report.json; echo '{}' > report.json", "rm report.json", "mv report.json r; ln -s ../outside/kept report.json"])
def test_report_that_was_replaced_is_an_error(attacker, attack):
    kept = attacker.box.file("outside/kept", "kept")
    attacker.set_policy(tools=["rm", "mv", "ln"])
    answer = attacker.box.call(attacker.argv("bash", "-c", attack))
    assert answer.status == 125 and b"report.json' is not that of guard" in answer.err, answer
    assert kept.read_text(encoding="utf-8") == "kept"
