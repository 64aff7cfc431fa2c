"""Promise: A guarded program.
Attacker: a carrier. Means: every way to make a process out of a file that is not listed, or that it made: a copy, a hard
link, a symlink, a renamed file, a memory file, a descriptor, in the root, in /tmp, in HOME and in /dev/shm.

Expected (R90): EACCES, EPERM or ENOENT from the kernel. Outside each of these works.
"""
import pytest

REFUSALS = (b"EACCES", b"EPERM", b"ENOENT", b"EXDEV", b"EROFS")
UNLISTED = "/usr/bin/id"


@pytest.fixture
def attacker(guarded):
    guarded.set_policy(carriers=["bash", "sh", "attempt", "breach_code"], tools=["cat", "cp", "ln", "rm", "true"])
    return guarded


def refused(attacker, *argv):
    assert attacker.outside(*argv).status == 0, "the attack does not work at all"
    for path in attacker.root.iterdir():
        path.unlink()
    answer = attacker.inside(*argv)
    assert answer.status == 113 and any(b"refused: " + name in answer.out for name in REFUSALS), answer


@pytest.mark.parametrize("way", ["plain", "child", "thread", "procfd", "execveat", "copy", "symlink", "memory", "numbers",
                                 "opath", "home"])
def test_unlisted_program(attacker, way):
    refused(attacker, "attempt", way, UNLISTED)


@pytest.mark.parametrize("way", ["copy", "memory", "home"])
def test_copy_of_a_tool_of_the_policy(attacker, way):
    """What is at its path in the cage is the door. A copy of that is no door."""
    refused(attacker, "attempt", way, "/usr/bin/true")


@pytest.mark.parametrize("where", ["$PWD", "/tmp", "/dev/shm"])
def test_file_that_a_tool_made(attacker, where):
    """cp runs outside of the cage and copies the real program."""
    script = f"cp /usr/bin/id {where}/copied.$$ && {where}/copied.$$; echo $?; rm -f {where}/copied.$$"
    assert b"uid=" in attacker.outside("bash", "-c", script).out
    answer = attacker.shell(script)
    assert b"uid=" not in answer.out and answer.out.strip() in (b"126", b"127", b"1"), answer


def test_hard_link_and_symlink_to_a_program(attacker):
    script = "ln -s /usr/bin/id linked; ./linked; ln /usr/bin/id hard 2>/dev/null && ./hard; echo end"
    assert b"uid=" in attacker.outside("bash", "-c", script).out
    for path in attacker.root.iterdir():
        path.unlink()
    answer = attacker.shell(script)
    assert answer.out == b"end\n", answer


def test_script_of_the_root_needs_its_interpreter(attacker):
    attacker.box.file("root/script", "#!/bin/sh\necho ran\n", 0o755)
    assert attacker.outside("bash", "-c", "./script").out == b"ran\n"
    answer = attacker.shell("./script; echo $?; sh script")
    assert answer.out == b"126\nran\n", "the strict form refuses the file, and 'sh FILE' is what the message says"
    attacker.set_policy(tools=["cat"], section={"workspace_code": True})
    assert attacker.shell("./script; echo $?").out == b"ran\n0\n"
