"""Promise: The machine's policy.
Attacker: a program of an ordinary user that links the library. Means: every option of a context and
of a request that would weaken a run; a context that root made before it became that user; real and
effective user ids that differ.

Expected (R9): nothing runs by another policy, without a jail or without the machine's log. Who has
not root as real and as effective user is bound.
"""
import os


def prepare(box, other):
    """A policy that the other user can read too, and a home for that user."""
    home = box.directory("elsewhere", 0o700)
    os.chown(home, other.uid, other.gid)
    box.passwd_of(other, home)
    return box.write_policy(name="outside/policy.yaml", mode=0o644)


def test_options_of_a_program_are_refused(machine_box):
    machine_box.install(locked=True)
    answer = machine_box.host("host_locked", "bound")
    assert answer.out.decode().strip() == str(machine_box.machine_log)
    kinds = [record["kind"] for record in machine_box.recorded()]
    assert kinds.count("intent") == kinds.count("outcome") == 12 and kinds.count("refused") == 14, kinds


def test_context_of_root_is_of_no_use_to_another_user(root_machine_box, ordinary):
    box = root_machine_box
    box.install(locked=True)
    box.host("host_locked", "dropped", ordinary.uid, policy=prepare(box, ordinary))


def test_real_and_effective_user_must_be_root(root_machine_box, ordinary):
    box = root_machine_box
    box.install(locked=True)
    box.host("host_locked", "ids", ordinary.uid, policy=prepare(box, ordinary))
