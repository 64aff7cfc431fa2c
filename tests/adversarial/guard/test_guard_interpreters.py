"""Promise: A guarded program.
Attacker: the repository. Means: a file that names another program to run it: a #! line with an interpreter that is not
listed, a chain of such files, a #! line with a tool of the policy, and a registered binary format (binfmt_misc).

Expected (R90): the kernel refuses the interpreter as it refuses its execution; formats cannot be registered from inside.
"""
import pytest

from guards import needs


@pytest.mark.parametrize("code", [False, True], ids=["strict", "workspace_code"])
def test_interpreter_that_is_not_listed(guarded, code):
    needs("perl")
    guarded.set_policy(section={"workspace_code": code})
    guarded.box.file("root/one", "#!/usr/bin/perl\nprint \"ran\\n\";\n", 0o755)
    guarded.box.file("root/two", f"#!{guarded.root}/one\n", 0o755)
    for name in ("one", "two"):
        assert guarded.outside("bash", "-c", f"./{name}").out == b"ran\n"
        answer = guarded.shell(f"./{name}; echo $?")
        assert b"ran" not in answer.out and answer.out.strip() in (b"126", b"127"), answer


def test_tool_as_an_interpreter_goes_through_the_door(guarded):
    """A script of cat: the door hands over what the kernel made of it, and the entry judges that."""
    guarded.box.file("root/script", "#!/usr/bin/cat\nline\n", 0o755)
    guarded.set_policy(section={"workspace_code": True})
    guarded.same("bash", "-c", "./script; echo $?")
    guarded.set_policy(section={"workspace_code": True}, cat={"args": {"options": ["-n"], "operands": "none"}})
    answer = guarded.shell("./script; echo $?")
    assert answer.out == b"126\n", answer


def test_no_format_is_registered(guarded):
    answer = guarded.shell(": >> /proc/sys/fs/binfmt_misc/register; echo $?")
    assert answer.out == b"1\n", answer
