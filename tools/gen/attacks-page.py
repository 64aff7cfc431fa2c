#!/usr/bin/python3
"""attacks-page.py COMMAND [--check] - docs/attacks.md, from the heads of the attacks in tests/adversarial.

A head names the promise of SECURITY.md that is attacked, the attacker, the means and what is expected:

    Promise: The tree.
    Attacker: the tool. Means: a fork bomb.

    Expected: all of it is dead when the call returns.

COMMAND lists the attempts of its "doctor --attack". With --check nothing is written and a difference is an error.
"""
import argparse
import ast
import glob
import json
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(TOP, "docs", "attacks.md")
TESTS = os.path.join(TOP, "tests", "adversarial")
HEAD = re.compile(r"Promise: (.+?)\.\s+(Attacker:.*?)\s+Expected\b(?:\s*\(R\d+\))?: (.+)", re.DOTALL)
INTRODUCTION = """# Attacks

Every attack that the tests make, by the promise of [SECURITY.md](../SECURITY.md) that it is made on. Each is a file in
`tests/adversarial`: it succeeds without the protection and fails with it, as root and as an ordinary user, in every
jail where that matters. `make test` runs them all; `chokepoint doctor --attack` makes those of the last section on your
own machine.

This page is written by `tools/gen/attacks-page.py` from the first lines of the tests.
"""


def promises():
    """The promises of SECURITY.md, in its order."""
    with open(os.path.join(TOP, "SECURITY.md"), encoding="utf-8") as stream:
        text = stream.read()
    return re.findall(r"^\*\*(.+?)\.\*\* ", text, re.MULTILINE) + ["What each jail holds"]


def flat(text):
    return " ".join(text.split())


def attack(path):
    """Promise, attacker and means, expectation."""
    with open(path, encoding="utf-8") as stream:
        head = ast.get_docstring(ast.parse(stream.read())) or ""
    found = HEAD.match(head)
    if not found:
        sys.exit(f"{os.path.relpath(path, TOP)}: its first lines do not name promise, attacker and expectation")
    return tuple(flat(part) for part in found.groups())


def attacks():
    found = {}
    known = promises()
    for path in sorted(glob.glob(os.path.join(TESTS, "**", "test_*.py"), recursive=True), key=os.path.basename):
        promise, means, expected = attack(path)
        if promise not in known:
            sys.exit(f"{path}: SECURITY.md makes no promise that is called '{promise}'")
        found.setdefault(promise, []).append((os.path.relpath(path, TESTS), means, expected))
    return [(promise, found[promise]) for promise in known if promise in found]


def cell(text):
    return text.replace("|", "\\|")


def table(rows):
    yield "| test | attacker and means | expected |"
    yield "|---|---|---|"
    for name, means, expected in rows:
        link = f"[{os.path.basename(name)[5:-3]}](../tests/adversarial/{name})"
        yield f"| {link} | {cell(means.removeprefix('Attacker: '))} | {cell(expected)} |"


def attempts(command):
    """The attempts of doctor --attack, which are the same for every jail."""
    said = subprocess.run([command, "doctor", "--attack", "--json"], capture_output=True, text=True, check=False)
    document = json.loads(said.stdout)
    yield "| promise | attempts |"
    yield "|---|---|"
    for promise in document["jails"][0]["promises"]:
        names = "; ".join(attempt["attempt"] for attempt in promise["attempts"])
        yield f"| {promise['promise']} | {cell(names)} |"


def page(command):
    lines = [INTRODUCTION]
    for promise, rows in attacks():
        lines += [f"## {promise}", "", *table(rows), ""]
    lines += ["## What `chokepoint doctor --attack` tries", "", *attempts(command), ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Write docs/attacks.md from the heads of the attacks.")
    parser.add_argument("command")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page differs")
    options = parser.parse_args()
    made = page(options.command)
    if not options.check:
        with open(PAGE, "w", encoding="utf-8") as stream:
            stream.write(made)
        return 0
    with open(PAGE, encoding="utf-8") as stream:
        if stream.read() == made:
            return 0
    print("docs/attacks.md is not what the tests say: run 'tools/gen/attacks-page.py build/chokepoint'")
    return 1


if __name__ == "__main__":
    sys.exit(main())
