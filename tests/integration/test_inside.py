"""Operands and values that are paths: a path inside passes, whatever its name, and from any
directory (R4).
"""
import os

import pytest


def use(box, operands):
    box.write_policy(tools=[box.entry("say_args", args={"options": ["-o=<inside>"], "operands": operands})])


def passes(box, *args, cwd="."):
    answer = box.run("say_args", *args, cwd=box.root / cwd)
    assert answer.outcome == "exited", answer.message
    return answer


NAMES = ["plain", "with blank", "line\nbreak", "tab\there", "-", "..a", "a..", "...", "a..b", "~", "$HOME", "*", "'", '"',
         "\\", "ünïcödé", "a=b", "@x", "%s", "#", "a:b", "x" * 255]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_file_inside_passes(user_box, name):
    user_box.file(f"root/{name}", "x")
    for operands in ("inside", "existing"):
        use(user_box, operands)
        passes(user_box, f"./{name}")
        passes(user_box, "--", f"{user_box.root}/{name}")
        if name != "a:b" or operands == "inside":
            passes(user_box, name)


@pytest.mark.parametrize("word", ["HEAD", "HEAD~3", "main..topic", "v1.0^{commit}", "@{u}", ":/fix", "HEAD:src/a.c", "nowhere",
                                  "nowhere/at/all", "x" * 300, "src/*.c", ":(top)src", "-"])
def test_what_does_not_exist_may_still_be_inside(user_box, word):
    """Revisions of git are such; the types say which must exist."""
    use(user_box, "inside")
    passes(user_box, word)
    use(user_box, "existing")
    assert user_box.run("say_args", word).outcome == "disallowed"


def test_name_that_begins_with_a_dash_is_no_option_after_two(user_box):
    user_box.file("root/-rf", "x")
    use(user_box, "existing")
    passes(user_box, "--", "-rf")
    passes(user_box, "./-rf")
    answer = user_box.run("say_args", "-rf")
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.say_args.args.options")


def test_dotdot_that_stays_inside_passes(user_box):
    user_box.directory("root/a")
    user_box.directory("root/a/b")
    user_box.file("root/file", "x")
    for operands in ("inside", "existing"):
        use(user_box, operands)
        passes(user_box, "../file", cwd="a")
        passes(user_box, "../../file", cwd="a/b")
        passes(user_box, "..", cwd="a")
        passes(user_box, "a/../file")
        passes(user_box, "-o", "../file", cwd="a")


def test_relative_path_is_taken_from_the_working_directory(user_box):
    user_box.directory("root/a")
    user_box.file("root/a/file", "x")
    use(user_box, "existing")
    passes(user_box, "file", cwd="a")
    assert user_box.run("say_args", "file").outcome == "disallowed"


def test_link_that_stays_inside_passes(user_box):
    user_box.directory("root/a")
    user_box.file("root/a/file", "x")
    os.symlink("a", user_box.root / "link")
    os.symlink("nowhere", user_box.root / "dangling")
    use(user_box, "existing")
    passes(user_box, "link/file")
    passes(user_box, "link/../a/file")
    assert user_box.run("say_args", "dangling").outcome == "disallowed"
    use(user_box, "inside")
    passes(user_box, "dangling")


def test_root_that_is_reached_by_a_link_passes(user_box):
    """The caller's path to the root, as in the working directory."""
    user_box.file("root/file", "x")
    os.symlink(user_box.root, user_box.base / "way")
    use(user_box, "existing")
    passes(user_box, f"{user_box.base}/way/file")


@pytest.mark.parametrize("word", ["https://example.org/x", "file:///etc/passwd", "ext::sh://x", "a/b://c", "://"])
def test_address_is_no_path(user_box, word):
    for operands in ("inside", "existing"):
        use(user_box, operands)
        answer = user_box.run("say_args", word)
        assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.say_args.args.operands")


def test_empty_operand_is_no_path(user_box):
    for operands in ("inside", "existing", "mount", "name", "number"):
        use(user_box, operands)
        assert user_box.run("say_args", "").outcome == "disallowed"


def test_path_as_long_as_the_kernel_takes_passes(user_box):
    use(user_box, "inside")
    passes(user_box, "x/" * 2047)
    assert user_box.run("say_args", "x/" * 2048).outcome == "disallowed"


@pytest.mark.parametrize("word", ["./a:/work", "./a:/work:ro", ".:/work", "{root}/a:/work:ro,z", "{root}:/x", "./a/../a:/w"])
def test_mount_of_what_is_inside_passes(user_box, word):
    user_box.directory("root/a")
    use(user_box, "mount")
    passes(user_box, word.format(root=user_box.root))


@pytest.mark.parametrize("word", ["a:/work", "./nowhere:/work", "./a", "./a:", "./a:work", "./a:/work:", "./a:/work:ro:z", ":/work",
                                  "./a:/work:RO", "volume:/work", "type=bind,src=/", "~/a:/work", "./a:/work:ro;x"])
def test_an_invalid_mount_is_refused(user_box, word):
    user_box.directory("root/a")
    use(user_box, "mount")
    answer = user_box.run("say_args", word)
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.say_args.args.operands")


def test_refusal_names_argument_rule_and_line(user_box):
    use(user_box, "inside")
    answer = user_box.run("say_args", "good", "../bad")
    lines = user_box.policy.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"name": "say_args"' in text) - 1
    assert answer["rule"] == "tools.say_args.args.operands"
    assert "argument 2" in answer.message and "'../bad'" in answer.message and f"line {line}" in answer.message
