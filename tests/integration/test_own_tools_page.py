"""docs/own-tools.md: every command in it is executed, and what the page shows is what happens (see test_readme.py)."""
import pathlib
import re

import pytest

from test_readme import examples, matches

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/own-tools.md"
FILES = {"Makefile": "check: hello\n\t./check.sh\n\nhello: hello.c\n\tcc -o hello hello.c\n",
         "hello.c": '#include <stdio.h>\n\nint main(void) { return puts("hello") < 0; }\n',
         "check.sh": "#!/bin/sh\n./hello | grep -q hello\n"}


@pytest.fixture
def reader(box):
    """The project. The reader owns the directory above it, for the policy."""
    for name, text in FILES.items():
        box.file(f"root/{name}", text, 0o755 if name.endswith(".sh") else 0o644)
    box.own(box.base)
    return box


def page():
    return PAGE.read_text(encoding="utf-8")


def test_every_command_does_what_the_page_shows(reader):
    env = reader.environment(PATH=f"{reader.stage}:/usr/bin:/bin")
    for command, shown in examples(page()):
        answer = reader.call(["sh", "-c", f"exec 2>&1\n{command}"], env=env)
        printed = answer.out.decode()
        assert matches(shown, printed), f"$ {command}\n--- the page shows\n" + "\n".join(shown) + f"\n--- but it prints\n{printed}"


def test_the_page_has_five_steps():
    assert re.findall(r"^## (\d)\. ", page(), re.MULTILINE) == ["1", "2", "3", "4", "5"]
