#!/usr/bin/python3
"""Every requirement that a file of the project cites (R33) is explained in docs/requirements.md, once."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "docs/requirements.md"
CITED = re.compile(r"(?<![\w.\-/])R(\d{1,3})\b(?!\.)")
LISTED = re.compile(r"^- \*\*R(\d+)\*\* ", re.MULTILINE)
PLACES = ("src", "include", "tests", "bench", "tools", "docs", "policy", "lint", "examples", "bindings", "*.md")
# Pictures, the page itself, inputs of tests, and output of git, where an R and a number are the score of a rename.
LEFT_ALONE = ("docs/images/", "tests/fuzz/corpus/", "tests/lint/", "tests/unit/test_evidence_git.c", PAGE)


def cited(root):
    """(number, file and line) of every citation in what git tracks."""
    names = subprocess.run(["git", "-C", root, "ls-files", "-z", "--", *PLACES], capture_output=True, check=True)
    for name in names.stdout.decode().split("\0"):
        path = os.path.join(root, name)
        if not name or name.startswith(LEFT_ALONE) or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                for match in CITED.finditer(line):
                    yield int(match[1]), f"{name}:{number}"


def problems(root):
    with open(os.path.join(root, PAGE), encoding="utf-8") as stream:
        listed = [int(number) for number in LISTED.findall(stream.read())]
    for number in sorted({number for number in listed if listed.count(number) > 1}):
        yield f"{PAGE}: R{number} is listed twice"
    for number, place in cited(root):
        if number not in listed:
            yield f"{place}: R{number} is not in {PAGE}"


def main():
    found = list(problems(ROOT))
    print("\n".join(found + [f"{len(found)} requirements without an explanation"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
