"""Promise: A guarded program.
Attacker: a carrier. Means: setuid programs: those of the system, and, where the caller is root, one that it makes.

Expected (R90): the kernel refuses their execution; where a listed file has the bit, it gives nothing (no_new_privs).
"""
import shutil

import pytest


@pytest.mark.parametrize("program", ["su", "mount", "passwd", "newgrp"])
def test_setuid_program_of_the_system(guarded, program):
    path = shutil.which(program, path="/usr/bin:/bin")
    assert guarded.outside("bash", "-c", f"{path} --help > /dev/null 2>&1; [ $? -ne 126 ]").status == 0
    answer = guarded.shell(f"{path} --help > /dev/null; echo $?")
    assert answer.out == b"126\n", answer


def test_no_program_gains_by_its_bits(guarded):
    """Also not one that may be executed: a file of the root, with workspace_code."""
    guarded.set_policy(section={"workspace_code": True})
    made = guarded.root / "made"
    shutil.copy("/usr/bin/id", made)
    guarded.box.own(made)
    made.chmod(0o6755)
    script = "./made > /dev/null; while read -r name value; do [ $name = NoNewPrivs: ] && echo $value; done < /proc/self/status"
    assert guarded.shell(script).out == b"1\n"
