"""Promise: A guarded program.
Attacker: a carrier. Means: a door that is executed by another name: a forged argv[0], a link in the root with the name of
another tool, a descriptor, and an empty list of arguments.

Expected (R90): the tool is the one whose file was executed. The name that the program chose only counts among the tools
of one file.
"""
import pytest

from guards import needs


def test_forged_argument(guarded):
    guarded.set_policy(tools=["cat"], more=[guarded.tool("head", args={"options": [], "operands": "none"})])
    guarded.box.file("root/f", "line\n")
    script = "(exec -a cat head f); echo $?; (exec -a head cat f); (exec -a /usr/bin/cat /usr/bin/head f); echo $?"
    assert guarded.outside("bash", "-c", script).out == b"line\n0\nline\nline\n0\n"
    assert guarded.shell(script).out == b"126\nline\n126\n"


@pytest.mark.parametrize("made", ["ln -s /usr/bin/head cat", "ln /usr/bin/head cat"])
def test_link_with_the_name_of_another_tool(guarded, made):
    guarded.set_policy(tools=["cat", "ln"], more=[guarded.tool("head", args={"options": [], "operands": "none"})])
    guarded.box.file("root/f", "line\n")
    answer = guarded.shell(f"{made} 2>/dev/null; ./cat f; echo $?")
    assert answer.out in (b"126\n", b"127\n"), answer


def test_by_a_descriptor(guarded):
    needs("python3")
    guarded.set_policy(carriers=["python3"], tools=["cat"], more=[guarded.tool("head", args={"options": [], "operands": "none"})])
    guarded.box.file("root/f", "line\n")
    guarded.box.file("root/a.py", """
import os, sys
for name, argv in (("head", ["cat", "f"]), ("cat", ["head", "f"]), ("cat", ["cat"])):
    fd = os.open("/usr/bin/" + name, os.O_PATH if sys.argv[1] == "path" else os.O_RDONLY)
    if (pid := os.fork()) == 0:
        os.execve(fd, argv, {})
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
""")
    for way in ("path", "read"):
        answer = guarded.inside("python3", "a.py", way, input=b"in\n")
        assert answer.out == b"126\nline\n0\nin\n0\n", answer
