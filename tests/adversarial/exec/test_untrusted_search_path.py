"""Promise: The file that is meant.
Attacker: another user of the machine, or the repository. Means: write access to a directory of the search path, to
a tool's file, or to a directory that a link on the way to the tool goes through.

Expected: disallowed by the rule search_path, exit 125, the place named in the message; nothing runs. A relative or
empty entry makes the whole policy unusable.
"""
import os

import pytest


class Trap:
    """A tool "gadget" that leaves a trace if it runs, in a directory that is good until a test spoils it."""

    def __init__(self, box):
        self.box, self.canary = box, box.canary()
        self.bin = self.make("trusted")
        self.tool = box.script("trusted/gadget", self.canary)
        self.policy([self.bin])

    def make(self, name, mode=0o755):
        path = self.box.base / name
        path.mkdir()
        path.chmod(mode)
        return path

    def policy(self, search_path):
        self.file = self.box.write_policy([self.box.entry("gadget")], search_path=[str(path) for path in search_path])

    def refused(self, named=None, **shape):
        answer = self.box.run("gadget", policy=self.file, **shape)
        assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "search_path"), answer.document
        assert str(named or self.bin) in answer.message
        assert not self.canary.exists()


@pytest.fixture
def trap(box):
    made = Trap(box)
    assert box.run("gadget", policy=made.file).status == 0
    made.canary.unlink()
    return made


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o1777])
def test_directory_that_others_may_write_is_refused(trap, mode):
    trap.bin.chmod(mode)
    trap.refused()


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o4777])
def test_file_that_others_may_write_is_refused(trap, mode):
    trap.tool.chmod(mode)
    trap.refused(trap.tool)


def test_directory_inside_the_root_is_refused(trap):
    trap.box.directory("root/bin")
    trap.box.script("root/bin/gadget", trap.canary)
    trap.policy([trap.box.root / "bin"])
    trap.refused(trap.box.root / "bin")


def test_directory_that_is_the_root_is_refused(trap):
    trap.refused(root=trap.bin, cwd=trap.bin)


def test_link_to_a_directory_inside_the_root_is_refused(trap):
    trap.box.directory("root/bin")
    trap.box.script("root/bin/gadget", trap.canary)
    link = trap.box.base / "innocent"
    link.symlink_to(trap.box.root / "bin")
    trap.policy([link])
    trap.refused(link)


def test_link_to_a_file_inside_the_root_is_refused(trap):
    trap.tool.unlink()
    trap.tool.symlink_to(trap.box.script("root/gadget", trap.canary))
    trap.refused("gadget")


def test_link_through_a_directory_that_others_may_write_is_refused(trap):
    opened = trap.make("open", 0o777)
    (opened / "gadget").symlink_to(trap.tool)
    other = trap.make("other")
    (other / "gadget").symlink_to(opened / "gadget")
    trap.policy([other])
    trap.refused("gadget")


def test_directory_reached_through_one_that_others_may_write_is_refused(trap):
    opened = trap.make("open", 0o777)
    inner = trap.make("open/bin")
    trap.box.script("open/bin/gadget", trap.canary)
    trap.policy([inner])
    trap.refused(inner)
    opened.chmod(0o755)
    assert trap.box.run("gadget", policy=trap.file).status == 0


def test_file_of_another_user_is_refused(root_box, ordinary):
    trap = Trap(root_box)
    os.chown(trap.tool, ordinary.uid, ordinary.gid)
    trap.refused(trap.tool)


def test_directory_of_another_user_is_refused(root_box, ordinary):
    trap = Trap(root_box)
    os.chown(trap.bin, ordinary.uid, ordinary.gid)
    trap.refused()


def test_untrusted_directory_is_not_skipped_in_favour_of_the_next(trap):
    opened = trap.make("open", 0o777)
    trap.box.script("open/gadget", trap.canary)
    trap.policy([opened, trap.bin])
    trap.refused(opened)


@pytest.mark.parametrize("entry", ["", ".", "..", "bin", "./bin", "~/bin", "$HOME/bin"])
def test_entry_that_is_not_absolute_spoils_the_policy(box, entry):
    policy = box.write_policy(search_path=["/usr/bin", entry])
    answer = box.run("sh", "-c", "echo no", policy=policy)
    assert (answer.status, answer.outcome) == (125, "policy")
    assert answer.stream("stdout") == b""


def test_directory_that_does_not_exist_is_passed_over(box):
    policy = box.write_policy(search_path=["/nonexistent/bin", "/usr/bin"])
    assert box.run("sh", "-c", "echo yes", policy=policy).stream("stdout") == b"yes\n"
