"""Promise: The policy that is meant.
Attacker: another user of the machine. Means: write access to the policy, to its directory, or the
attacker's own policy offered to the caller.

Expected: refused as "policy", exit 125, the file named; nothing runs.
"""
import os

import pytest

from feature import skip


def refused(box, policy):
    answer = box.run("sh", "-c", "echo no", policy=policy)
    assert (answer.status, answer.outcome) == (125, "policy"), answer.document
    assert answer.stream("stdout") == b""
    assert os.path.basename(policy) in answer.message
    return answer


@pytest.mark.parametrize("mode", [0o666, 0o660, 0o606, 0o620, 0o602, 0o777])
def test_file_that_others_may_write_is_refused(box, mode):
    os.chmod(box.policy, mode)
    refused(box, box.policy)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o444])
def test_file_that_only_its_owner_may_write_is_fine(box, mode):
    os.chmod(box.policy, mode)
    assert box.run("true").outcome == "exited"


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_directory_that_others_may_write_is_refused(box, mode):
    """They could replace it by another file."""
    os.chmod(box.policy.parent, mode)
    refused(box, box.policy)


def test_policy_of_another_user_is_refused(root_box, ordinary):
    os.chown(root_box.policy, ordinary.uid, ordinary.gid)
    refused(root_box, root_box.policy)


def test_policy_of_root_is_fine_for_a_user(user_box):
    if os.geteuid() == 0:
        os.chown(user_box.policy, 0, 0)
        os.chmod(user_box.policy, 0o644)
    assert user_box.run("true").outcome == "exited"


def test_policy_of_a_stranger_is_refused_for_a_user(user_box):
    if os.geteuid() != 0:
        skip("root", "only root can make a file of another user's")
    os.chown(user_box.policy, 12345, 12345)
    os.chmod(user_box.policy, 0o644)
    refused(user_box, user_box.policy)


def test_link_through_a_directory_that_others_may_write_is_refused(box):
    opened = box.base / "open"
    opened.mkdir()
    opened.chmod(0o777)
    link = opened / "policy.yaml"
    link.symlink_to(box.policy)
    refused(box, link)


def test_fifo_does_not_hang_the_command(box):
    path = box.base / "policy" / "fifo.yaml"
    os.mkfifo(path)
    box.own(path, 0o600)
    refused(box, path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/proc/self/mem", "/"])
def test_anything_but_a_regular_file_is_refused(box, path):
    answer = box.run("true", policy=path)
    assert (answer.status, answer.outcome) == (125, "policy")
