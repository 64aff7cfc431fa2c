"""Promise: A guarded program.
Attacker: a carrier. Means: the working directory of a tool: outside of the root, deleted, unreadable, or swapped for a
symlink while the door waits.

Expected (R16): the tool runs beneath the root, the shared /tmp or a state directory, or not at all.
"""
import pytest


@pytest.fixture
def attacker(guarded):
    guarded.box.file("outside/secret", "secret\n")
    guarded.set_policy(tools=["cat", "mkdir", "mv", "ln", "rmdir", "ls", "pwd", "rm"])
    return guarded


@pytest.mark.parametrize("where", ["/etc", "/", "/usr", "/proc/self", "/dev"])
def test_outside_of_the_root(attacker, where):
    assert attacker.outside("bash", "-c", f"cd {where}; ls > /dev/null").status == 0
    answer = attacker.shell(f"cd {where} && ls > /dev/null; echo $?")
    assert answer.out == b"126\n", answer


def test_deleted(attacker):
    answer = attacker.shell("mkdir d; cd d; rmdir ../d; cat /dev/null; echo $?")
    assert answer.out == b"126\n", answer


def test_shared_temporary_directory(attacker):
    """That of the cage, not of the machine."""
    assert attacker.shell("mkdir /tmp/d; cd /tmp/d; echo x > f; cat f; ls").out == b"x\nf\n"
    names = attacker.shell("ls -A /tmp").out.split()
    assert set(names) <= {str(attacker.root).split("/")[2].encode()}, "what leads to the root, and nothing else"


def test_swapped_for_a_symlink(attacker):
    """The tool must never be where the link leads, however the swap meets the call."""
    swap = f"while [ ! -e end ]; do mv d e && ln -s {attacker.box.outside} d && rm d; mv e d; done 2> /dev/null &"
    calls = "for ((i = 0; i < 60; i++)); do (cd d 2>/dev/null && cat secret 2>/dev/null); done; : > end; wait"
    answer = attacker.shell(f"mkdir d; {swap} {calls}")
    assert b"secret" not in answer.out, answer
