"""Every example of README.md is executed, and what README shows is what happens.

A block marked "console" has commands after "$ " and what each prints, standard error included. A block marked "c" is
written to one.c. What varies is marked in README itself: "…" is any text within a line, and a line of "..." is any
number of lines. Nothing else is forgiven.

The examples assume a repository with one commit that has app.py. examples/policy.yaml and its decision records are
beside it, and git ignores them, as it does what the examples write.
"""
import pathlib
import re
import shutil

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
APP = 'import os\n\nos.system("ls")\n'
DATE = "2026-01-01T00:00:00+0000"  # so the commit has the same id each time
AUTHOR = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
          for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", DATE))}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = ("run", "policy", "doctor", "lock", "audit", "lint", "gather", "guard", "help", "completion")


def blocks(text, kind):
    return [body for name, body in FENCE.findall(text) if name == kind]


def examples(text):
    """Pairs of a command and the lines that it prints."""
    found = []
    for body in blocks(text, "console"):
        for line in body.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                assert found, f"output without a command: {line}"
                found[-1][1].append(line)
    return found


def executed(text):
    """make runs this test, so it is not run again here."""
    return [(command, shown) for command, shown in examples(text) if not command.startswith("make ")]


def pattern(shown):
    any_lines = r"(?:[^\n]*\n)*?"
    return re.compile("".join(any_lines if line == "..." else ".*".join(map(re.escape, line.split("…"))) + "\n"
                              for line in shown))


def matches(shown, printed):
    return pattern(shown).fullmatch(printed) is not None


def unexecuted(text):
    """Commands that README names and no example runs: in other blocks, and in the text."""
    done = [command for command, _ in executed(text)]
    inside = [line for kind, body in FENCE.findall(text) if kind not in ("console", "c") for line in body.splitlines()]
    prose = FENCE.sub("", text)
    inside += [line for line in prose.splitlines() if line.startswith("    ")]
    found = [line.strip() for line in inside if re.search(r"\bchokepoint\s", line)]
    for span in re.findall(r"`([^`]+)`", prose):
        argv = span.removeprefix("chokepoint ").split()
        if argv and argv[0] in COMMANDS:
            named = " ".join(word for word in argv if not word.isupper())
            if not any(f"chokepoint {named} " in f"{command} " for command in done):
                found.append(span)
    return found


@pytest.fixture
def reader(user_box):
    """A reader of README, in a repository as the examples assume it."""
    (user_box.root / "app.py").write_text(APP, encoding="utf-8")
    for argv in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "add the app"]):
        assert user_box.call(["git", *argv], env=user_box.environment(GIT_CONFIG_NOSYSTEM="1", **AUTHOR)).status == 0
    with (user_box.root / ".git/info/exclude").open("a", encoding="utf-8") as stream:
        stream.write("/docs\n/examples\n/one*\n")
    shutil.copytree(TOP / "docs/adr", user_box.root / "docs/adr")
    shutil.copytree(TOP / "examples", user_box.root / "examples")
    for path in user_box.root.rglob("*"):
        user_box.own(path)
    user_box.own(user_box.base)
    return user_box


def environment(box):
    """The built command is the first of its name, and the library is found as if installed."""
    include = box.base / "include"
    shutil.copytree(TOP / "include", include)
    libraries = box.stage / "src"
    box.file("chokepoint.pc", "Name: chokepoint\nDescription: as built\nVersion: 0\n"
             f"Cflags: -I{include}\nLibs: -L{libraries} -lchokepoint\n")
    return box.environment(PATH=f"{box.stage}:/usr/bin:/bin", PKG_CONFIG_PATH=str(box.base),
                           LD_LIBRARY_PATH=str(libraries))


def follow(box, text):
    """Does what README says; returns the differences."""
    programs = blocks(text, "c")
    assert len(programs) == 1, "README has one program in C"
    box.file("root/one.c", programs[0])
    env = environment(box)
    wrong = []
    for command, shown in executed(text):
        answer = box.call(["sh", "-c", f"exec 2>&1\n{command}"], env=env)
        printed = answer.out.decode()
        if not matches(shown, printed):
            wrong.append(f"$ {command}\n--- README shows\n" + "\n".join(shown) + f"\n--- but it prints\n{printed}")
    return wrong


def readme():
    return (TOP / "README.md").read_text(encoding="utf-8")


def test_every_example_does_what_readme_shows(reader):
    wrong = follow(reader, readme())
    assert not wrong, "\n\n".join(wrong)


def test_every_command_in_readme_is_executed():
    assert unexecuted(readme()) == []
    assert len(executed(readme())) >= 15


def test_make_targets_of_readme_exist():
    targets = {command.split()[1] for command, _ in examples(readme()) if command.startswith("make ")}
    targets |= set(re.findall(r"`make ([a-z]+)`", readme()))
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    assert {"run", "test"} <= targets
    assert [name for name in sorted(targets) if not re.search(rf"^{name}\b.*:", makefile, re.MULTILINE)] == []


def test_first_screen_has_a_run_and_a_refusal():
    shown = examples("\n".join(readme().splitlines()[:24]) + "\n")
    assert any(command.startswith("chokepoint run ") for command, _ in shown)
    assert any("125" in lines for _, lines in shown)
    assert "gather" not in "\n".join(readme().splitlines()[:24])


WRONG_PAGE = """```c
#include <chokepoint.h>
int main(void) { return choke_version()[0] == 0; }
```
```console
$ cc one.c -o one $(pkg-config --cflags --libs chokepoint) && ./one; echo $?
0
$ chokepoint run -- git log --oneline
0000000 another commit
$ chokepoint run -- bash -c id; echo $?
chokepoint: 'bash' is …
0
$ chokepoint run -- git log --format=%s
add the app
and more
```
"""


def test_a_wrong_example_is_noticed(reader):
    wrong = follow(reader, WRONG_PAGE)
    assert [text.splitlines()[0] for text in wrong] == [
        "$ chokepoint run -- git log --oneline", "$ chokepoint run -- bash -c id; echo $?",
        "$ chokepoint run -- git log --format=%s"], wrong


@pytest.mark.parametrize("text", [
    "    chokepoint run -- git log\n", "```\n$ chokepoint run -- git log\n```\n", "Try `chokepoint doctor --json`.\n",
    "Try `policy frob FILE`.\n", "```sh\nchokepoint lint\n```\n"])
def test_a_command_that_is_not_executed_is_noticed(text):
    assert unexecuted(text)


@pytest.mark.parametrize("shown, printed, same", [
    (["a"], "a\n", True), (["a"], "a\nb\n", False), (["a", "..."], "a\nb\nc\n", True), (["a", "..."], "a\n", True),
    (["a…"], "ab\n", True), (["a…"], "ab\nc\n", False), ([], "", True), ([], "a\n", False), (["a.c"], "abc\n", False),
    (["...", "c"], "a\nb\nc\n", True), (["...", "c"], "a\nb\n", False)])
def test_what_varies_is_marked(shown, printed, same):
    assert matches(shown, printed) is same
