#!/usr/bin/python3
"""Writes the schema and the named queries into docs/fleet.md, from src/fleet/schema.sql and src/fleet/queries.sql: fleet-page.py
[--check]."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs/fleet.md"


def schema():
    """Without what is only for who changes it: the first comment and the marks of versions."""
    text = (ROOT / "src/fleet/schema.sql").read_text(encoding="utf-8")
    text = re.sub(r"\n-- version ([2-9]|\d\d+)\n", r"\n-- Since version \1:\n", text.split("-- version 1\n", 1)[1])
    return f"\n```sql\n{text.strip()}\n```\n"


def queries():
    text = (ROOT / "src/fleet/queries.sql").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {summary} |" for name, summary in re.findall(r"^-- query (.+)\n-- (.+)$", text, re.MULTILINE)]
    return "\n| query | what it answers |\n|---|---|\n" + "\n".join(rows) + "\n"


def written(page):
    for name, text in (("schema", schema()), ("queries", queries())):
        head, rest = page.split(f"<!-- {name} -->", 1)
        page = f"{head}<!-- {name} -->{text}<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    return page


def main():
    before = PAGE.read_text(encoding="utf-8")
    after = written(before)
    if sys.argv[1:] == ["--check"]:
        if after != before:
            print("docs/fleet.md differs from src/fleet/*.sql: run tools/gen/fleet-page.py")
        return after != before
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
