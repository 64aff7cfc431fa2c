"""Promise: The file that is meant.
Attacker: the repository, or whoever sets the caller's PATH. Means: a program with a tool's name in the working
directory, in the root, in a directory of the caller's PATH.

Expected: the policy's search path decides alone. The real tool runs; one that is not installed is missing, however
many are planted.
"""
import pytest


def plant(box, directory, name):
    canary = box.canary()
    box.script(directory / name, canary)
    return canary


@pytest.mark.parametrize("path", ["", ".", "{root}", "{outside}", "{root}:{outside}:.::", "{outside}:/usr/bin"])
def test_planted_tool_is_not_run(box, path):
    canary = plant(box, box.root, "sh")
    plant(box, box.outside, "sh")
    env = box.environment(PATH=path.format(root=box.root, outside=box.outside))
    answer = box.run("sh", "-c", "echo real", env=env)
    assert answer.stream("stdout") == b"real\n"
    assert answer["tool"] == {"name": "sh", "path": "/usr/bin/sh"}
    assert not canary.exists()


def test_tool_that_is_only_planted_is_missing(box):
    policy = box.write_policy([box.entry("gadget", install={"apt": "gadget-package"})])
    canary = plant(box, box.root, "gadget")
    plant(box, box.outside, "gadget")
    answer = box.run("gadget", policy=policy, env=box.environment(PATH=f".:{box.outside}:/usr/bin"))
    assert (answer.status, answer.outcome) == (127, "tool_missing")
    assert not canary.exists()


def test_no_path_at_all_changes_nothing(box):
    env = box.environment()
    del env["PATH"]
    assert box.run("sh", "-c", "echo real", env=env).stream("stdout") == b"real\n"


def test_interpreter_of_a_script_is_not_looked_up_in_the_callers_path(box):
    """A tool that is a script with "#!/usr/bin/env sh" finds the policy's sh: the environment is not the caller's."""
    canary = plant(box, box.outside, "sh")
    trusted = box.base / "trusted"
    trusted.mkdir(mode=0o755)
    script = trusted / "tool"
    script.write_text("#!/usr/bin/env sh\necho real\n")
    script.chmod(0o755)
    policy = box.write_policy([box.entry("tool")], search_path=[str(trusted), "/usr/bin"])
    answer = box.run("tool", policy=policy, env=box.environment(PATH=f"{box.outside}:/usr/bin"))
    assert answer.stream("stdout") == b"real\n"
    assert not canary.exists()
