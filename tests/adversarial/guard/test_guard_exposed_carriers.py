"""Promise: A guarded program.
Attacker: a carrier. Means: the file that a carrier, or a tool, is executed from, or a helper or interpreter of one: a file that has
a second name, which may be in a directory that the cage can write, or that is beneath the root.

Expected (R90): guard does not start with such a carrier; such a tool has no door, or its call is refused.
"""
import pathlib
import shutil

import pytest

from guards import Guarded


@pytest.fixture
def attacker(guarded):
    """A shell that is a file of its own, in a directory that is the caller's. Root owns what it installs: nobody else links to it."""
    place = guarded.victims / f"of-{guarded.box.actor.uid}"
    place.mkdir()
    shutil.copy("/usr/bin/dash", place / "own-shell")
    for path in (place, place / "own-shell"):
        guarded.box.own(path)
        path.chmod(0o755)
    guarded.set_policy(carriers=["bash", "own-shell"], tools=["cat"], **{"own-shell": {"path": str(place / "own-shell")}})
    guarded.place = place
    yield guarded
    shutil.rmtree(place)


def test_carrier_with_a_second_name_is_refused(attacker):
    assert attacker.inside("own-shell", "-c", "echo ran").out == b"ran\n", "as long as it has one"
    (attacker.place / "other").hardlink_to(attacker.place / "own-shell")
    answer = attacker.inside("bash", "-c", "echo ran")
    if attacker.box.actor.uid == 0:
        assert answer.out == b"ran\n", "what root owns only root can link to"
    else:
        assert answer.status == 125 and b"has a second name" in answer.err and answer.out == b"", answer


def test_carrier_beneath_the_root_is_refused(attacker):
    shutil.copy("/usr/bin/dash", attacker.root / "own-shell")
    attacker.box.own(attacker.root / "own-shell")
    attacker.set_policy(carriers=["bash", "own-shell"], **{"own-shell": {"path": str(attacker.root / "own-shell")}})
    answer = attacker.inside("own-shell", "-c", "echo ran")
    assert answer.status == 125 and answer.out == b"", answer


@pytest.fixture
def planter(user_box, cage_victims):
    """A helper of the user, with another name in the root, by which the cage makes another program of it. Both are on one file
    system, which that of the box may not be."""
    guarded = Guarded(user_box, cage_victims)
    place, guarded.root = (cage_victims / f"{name}-of-{user_box.actor.uid}" for name in ("helpers", "root"))
    for path in (place, guarded.root):
        path.mkdir()
        guarded.box.own(path)
        path.chmod(0o755)

    def plant(source):
        helper = place / "helper"
        shutil.copy(source, helper)
        guarded.box.own(helper)
        helper.chmod(0o755)
        (guarded.root / "planted").hardlink_to(helper)
        return str(helper)
    guarded.plant = plant
    yield guarded
    shutil.rmtree(place)
    shutil.rmtree(guarded.root)


def test_helper_of_a_carrier_with_a_second_name(planter):
    helper = planter.plant("/usr/bin/true")
    planter.set_policy(carriers=["bash"], tools=["cat"], bash={"execs": [helper]})
    answer = planter.shell(f"cat /usr/bin/id > planted; {helper}", cwd=planter.root)
    assert b"uid=" not in answer.out, "the cage has run a program that it wrote"
    assert answer.status == 125 and b"has a second name" in answer.err, answer


def test_helper_of_a_tool_with_a_second_name(planter):
    helper = planter.plant("/usr/bin/true")
    planter.set_policy(carriers=["bash"], tools=["cat", "sh"], sh={"execs": [helper]})
    answer = planter.shell(f"cat /usr/bin/id > planted; sh -c {helper}; echo $?", cwd=planter.root)
    assert b"uid=" not in answer.out, "a tool has run, with its rights, a program that the cage wrote"
    assert answer.out == b"126\n" and b"has a second name" in answer.err, answer


def test_interpreter_of_a_helper_with_a_second_name(planter):
    interpreter = planter.plant("/usr/bin/dash")
    script = pathlib.Path(interpreter).with_name("script")
    script.write_text(f"#!{interpreter}\n", encoding="ascii")
    planter.box.own(script)
    script.chmod(0o755)
    planter.set_policy(carriers=["bash"], tools=["cat"], bash={"execs": [str(script)]})
    answer = planter.shell(f"cat /usr/bin/basename > planted; {script}", cwd=planter.root)
    assert answer.out == b"", "the cage has run a program that it wrote, with the script as its argument"
    assert answer.status == 125 and b"has a second name" in answer.err, answer
