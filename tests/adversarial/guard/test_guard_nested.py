"""Promise: A guarded program.
Attacker: a carrier that may execute chokepoint itself. Means: a guard or a run of its own, with a policy that it wrote.

Expected (R90): chokepoint does not run in a cage and says so: nothing is executed by it, and all is counted by the guard outside.
"""
import shutil

import pytest

from guards import counts


@pytest.fixture
def attacker(guarded):
    place = guarded.victims / f"nested-of-{guarded.box.actor.uid}"
    place.mkdir()
    shutil.copy(guarded.box.command, place / "chokepoint")
    for path in (place, place / "chokepoint"):
        guarded.box.own(path)
        path.chmod(0o755)
    guarded.command = str(place / "chokepoint")
    guarded.set_policy(carriers=["bash", "chokepoint"], tools=["cat"], chokepoint={"path": guarded.command})
    yield guarded
    shutil.rmtree(place)


@pytest.mark.parametrize("call", ["guard --policy policy.json -- bash -c 'echo ran'", "run --policy policy.json --jail none -- id", "run -- git version"])
def test_chokepoint_in_a_cage_runs_nothing(attacker, call):
    attacker.box.file("root/policy.json", attacker.policy.read_text(encoding="utf-8").replace('"cat"', '"id"'), 0o600)
    answer = attacker.shell(f"{attacker.command} {call}; echo $?")
    assert answer.out == b"125\n" and b"inside a jail or cage of chokepoint" in answer.err, answer
    assert counts(answer) == {"attempts": 2, "door": 0, "carrier": 2, "workspace": 0, "refused": 0, "not_found": 0, "failed": 0}
