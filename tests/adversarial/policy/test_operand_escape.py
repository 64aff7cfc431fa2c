"""Promise: Only listed arguments.
Attacker: whoever writes the request, or plants symlinks in the root. Means: an operand, or the
value of an option, that names a file outside of the root by "..", by an absolute path, by a
symlink, by a path that only the text or only the kernel shows to be outside, or by a scheme.

Expected: "disallowed" by the rule of that argument, exit 125, and nothing of the file in the
output. Each attack is shown to work: if the entry says "operands: any" the tool prints the file.
"""
import os

import pytest

WORDS = b"swordfish"


def plant(box):
    """root/{file, inner/deep/, links}, outside/secret."""
    box.directory("root/inner")
    box.directory("root/inner/deep")
    box.file("root/file", "plain\n")
    box.file("root/inner/b", "plain\n")
    box.file("outside/secret", WORDS + b"\n")
    for name, target in (("b", "../outside/secret"), ("in", "inner/deep"), ("out", "../outside"), ("abs", "/"),
                         ("chain", "out/secret"), ("self", "/proc/self/root")):
        os.symlink(target, box.root / name)
    os.symlink(box.root / "inner", box.outside / "way")


def use(box, operands, **more):
    box.write_policy(tools=[box.entry("cat", args={"options": ["-n"], "operands": operands, **more})])


# what is asked for, from which directory
ATTACKS = {
    "dotdot": ("../outside/secret", "."),
    "dotdot_behind_a_directory": ("inner/../../outside/secret", "."),
    "dotdot_through_the_own_name": ("../root/../outside/secret", "."),
    "dotdot_from_below": ("../../../outside/secret", "inner/deep"),
    "absolute": ("{outside}/secret", "."),
    "absolute_through_the_root": ("{root}/../outside/secret", "."),
    "absolute_with_two_slashes": ("/{outside}/secret", "."),
    "link": ("b", "."),
    "link_to_a_directory": ("out/secret", "."),
    "link_to_a_link": ("chain", "."),
    "link_to_everything": ("abs{outside}/secret", "."),
    "magic_link": ("self{outside}/secret", "."),
    "link_from_below": ("../../b", "inner/deep"),
    "link_by_absolute_path": ("{root}/b", "."),
    "link_behind_a_dot": ("./b", "."),
    "behind_the_end_of_options": ("--", "b", "."),
    "link_that_leads_in_and_dotdot_out": ("{outside}/way/../../outside/secret", "."),
}


def fill(box, given):
    return [word.format(root=box.root, outside=box.outside) for word in given]


@pytest.mark.parametrize("operands", ["inside", "existing"])
@pytest.mark.parametrize("name", ATTACKS)
def test_operand_that_leads_out_is_refused(box, name, operands):
    plant(box)
    *given, cwd = fill(box, ATTACKS[name])
    use(box, "any")
    assert WORDS in box.run("cat", *given, cwd=box.root / cwd).stream("stdout"), "this is no attack"
    use(box, operands)
    answer = box.run("cat", *given, cwd=box.root / cwd)
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.cat.args.operands")
    assert "leads out of the root" in answer.message and f"argument {len(given)}" in answer.message
    assert WORDS not in answer.out + answer.err


@pytest.mark.parametrize("path", ["nowhere/../b", "file/../b", "in/../b", "nowhere/../out/secret", "inner/../b"])
def test_detour_that_only_text_sees_through_is_refused(box, path):
    """Tools that work on the text open b. Others would not find it: they are not attacked by it."""
    plant(box)
    use(box, "any")
    assert WORDS in box.run("cat", os.path.normpath(path)).stream("stdout"), "this is no attack"
    use(box, "inside")
    answer = box.run("cat", path)
    assert (answer.status, answer.outcome) == (125, "disallowed"), answer.document


@pytest.mark.parametrize("given", [["-n{outside}/secret"], ["-n", "{outside}/secret"], ["-n=b"], ["-nb"],
                                   ["--number={outside}/secret"], ["--number", "b"]])
def test_value_that_leads_out_is_refused(box, given):
    """The path is an option's value, attached or apart."""
    plant(box)
    box.write_policy(tools=[box.entry("cat", args={"options": ["-n=<inside>", "--number=<inside>"]})])
    answer = box.run("cat", *fill(box, given))
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.cat.args.options")
    assert "leads out of the root" in answer.message


@pytest.mark.parametrize("source", ["{outside}", "../outside", "./out", "./b", "/", "./inner/../out", "{root}/../outside"])
def test_mount_that_leads_out_is_refused(box, source):
    plant(box)
    use(box, "mount")
    answer = box.run("cat", *fill(box, [f"{source}:/work"]))
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.cat.args.operands")


def test_scheme_is_no_existing_path(box):
    """A repository that holds "dir:/etc" does not make it one."""
    box.directory("root/dir:")
    box.directory("root/dir:/etc")
    use(box, "existing")
    answer = box.run("cat", "dir:/etc")
    assert (answer.status, answer.outcome) == (125, "disallowed")


@pytest.mark.parametrize("name", ["loop", "ping"])
def test_looping_links_are_refused(box, name):
    os.symlink("loop", box.root / "loop")
    os.symlink("pong", box.root / "ping")
    os.symlink("ping", box.root / "pong")
    for operands in ("inside", "existing"):
        use(box, operands)
        assert box.run("cat", name).outcome == "disallowed"


def test_dangling_link_that_leads_out_is_refused(box):
    """It does not exist yet: what the tool writes there would."""
    os.symlink(box.outside / "made", box.root / "dangling")
    os.symlink("../outside/made", box.root / "relative")
    use(box, "inside")
    for name in ("dangling", "relative"):
        answer = box.run("cat", name)
        assert (answer.status, answer.outcome) == (125, "disallowed"), answer.document


def test_file_that_the_caller_may_not_reach_is_refused(user_box):
    """Its target cannot be determined."""
    closed = user_box.directory("root/closed")
    os.symlink("../../outside", closed / "out")
    closed.chmod(0o000)
    try:
        use(user_box, "inside")
        assert user_box.run("cat", "closed/out").outcome == "disallowed"
    finally:
        closed.chmod(0o755)
