"""Promise: A guarded program.
Attacker: a carrier. Means: the dynamic loader, which must be executable and runs the program that is its argument: one of
the system, a copy, or a tool of the policy.

Expected (R90): the loader of the cage refuses to be executed itself, or cannot map the program.
"""
import pytest

from guards import loader


@pytest.mark.parametrize("program", ["/usr/bin/id", "./copied"])
def test_program_by_the_loader(guarded, program):
    copy = "cp /usr/bin/id copied; "
    script = f"{copy}{loader()} {program}; echo $?"
    assert b"uid=" in guarded.outside("bash", "-c", script).out
    (guarded.root / "copied").unlink()
    answer = guarded.shell(script)
    assert b"uid=" not in answer.out and answer.out.strip() in (b"126", b"127"), answer


def test_tool_by_the_loader(guarded):
    """The file that is mapped would be the door, which is no dynamic program."""
    script = f"{loader()} /usr/bin/cat /etc/hostname; echo $?"
    assert guarded.outside("bash", "-c", script).out.endswith(b"\n0\n")
    assert not guarded.shell(script).out.endswith(b"\n0\n")
