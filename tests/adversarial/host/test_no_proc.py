"""Promise: Failure.
Attacker: whoever can have a program run where no /proc is mounted (a chroot, a container without one).

Means: something else mounted over /proc; an operand that leads out of the root.

Expected: what needs /proc is refused and the message says that it is missing; a path that cannot be checked is not passed on.
"""
import pytest

HIDDEN = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


def run(box, *argv, jail="none", policy=None, cwd=None):
    command = box.run_argv(argv, options=["--jail", jail], policy=policy, form=None, cwd=cwd)
    return box.call([*HIDDEN, *command])


@pytest.mark.parametrize("cwd", [None, "."], ids=["absolute", "relative"])
@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_the_message_says_that_proc_is_missing(root_box, jail, cwd):
    policy = root_box.write_policy([root_box.entry("true", route="external"), root_box.entry("bwrap", route="jail")],
                                   name="policy/proc.yaml")
    answer = run(root_box, "true", jail=jail, policy=policy, cwd=cwd)
    assert answer.status == 125 and b"no /proc" in answer.err, answer


def test_an_operand_that_cannot_be_checked_is_refused(root_box):
    entry = root_box.entry("cat", args={"operands": "inside"})
    policy = root_box.write_policy([entry], name="policy/proc.yaml")
    root_box.file("outside/file", "text")
    answer = run(root_box, "cat", "../outside/file", policy=policy, cwd=".")
    assert answer.status == 125 and b"no /proc" in answer.err and b"text" not in answer.out, answer
