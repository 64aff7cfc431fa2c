#!/usr/bin/python3
"""adr-index.py [--check] - docs/adr/README.md, the list of the decision records, from their first lines.

A record is docs/adr/NNNN-*.md. Its first line is "# NNNN Title", its third "Status: WORD, YYYY-MM-DD." With --check
nothing is written and a difference is an error.
"""
import argparse
import os
import re
import sys

PLACE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "adr")
HEAD = re.compile(r"# (\d{4}) (.+)\n\nStatus: (accepted|superseded by \d{4}|amended), (\d{4}-\d{2}-\d{2})\.\n")
INTRODUCTION = """# Decision records

Why things are as they are, one page each, under the number that sources, tests and policies cite. A record is amended
when its decision changes, and superseded when another takes its place. Written by `tools/gen/adr-index.py`.

| number | title | status | date |
|---|---|---|---|
"""


def records():
    """(number, file, title, status, date) of each, in the order of the numbers."""
    for name in sorted(os.listdir(PLACE)):
        if not re.fullmatch(r"\d{4}-.*\.md", name):
            continue
        with open(os.path.join(PLACE, name), encoding="utf-8") as stream:
            found = HEAD.match(stream.read())
        if not found or found[1] != name[:4]:
            sys.exit(f"docs/adr/{name}: its first lines must be '# {name[:4]} Title', nothing, 'Status: accepted, YYYY-MM-DD.'")
        yield found[1], name, found[2], found[3], found[4]


def rows():
    last = 0
    for number, name, title, status, date in records():
        if last + 1 < int(number):
            first, end = f"{last + 1:04}", f"{int(number) - 1:04}"
            yield f"| {first if first == end else f'{first} to {end}'} | (not used) | | |"
        last = int(number)
        yield f"| [{number}]({name}) | {title} | {status} | {date} |"


def main():
    parser = argparse.ArgumentParser(description="Write the list of the decision records.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the list differs")
    options = parser.parse_args()
    page = os.path.join(PLACE, "README.md")
    made = INTRODUCTION + "\n".join(rows()) + "\n"
    if not options.check:
        with open(page, "w", encoding="utf-8") as stream:
            stream.write(made)
        return 0
    with open(page, encoding="utf-8") as stream:
        if stream.read() == made:
            return 0
    print("docs/adr/README.md is not what the records say: run 'tools/gen/adr-index.py'")
    return 1


if __name__ == "__main__":
    sys.exit(main())
