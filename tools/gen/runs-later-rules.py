#!/usr/bin/python3
"""Writes policy/runs-later.txt as a table in C: runs-later-rules.py INPUT OUTPUT. A malformed line is an error."""
import sys

KINDS = ("UNDER", "NAME", "BEGINS", "ENDS")  # in the order of enum ck_runs_later_kind


def parse(pattern):
    """(kind, directories, text)"""
    if pattern.endswith("/**"):
        return "UNDER", pattern[:-2], ""
    if "/**/" in pattern:
        directories, _, name = pattern.partition("/**/")
        return "UNDER", directories + "/", name
    if pattern.endswith("*"):
        return "BEGINS", "", pattern[:-1]
    if pattern.startswith("*"):
        return "ENDS", "", pattern[1:]
    return "NAME", "", pattern


def rules(source):
    seen = set()
    for number, line in enumerate(source, 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 3 or not all(fields):
            raise SystemExit(f"line {number}: not 'PATTERN | reason | source': {line}")
        kind, directories, text = parse(fields[0])
        if set(directories + text) & set('*"\\|') or (not directories and "/" in text) or directories.startswith("/"):
            raise SystemExit(f"line {number}: invalid pattern: {fields[0]}")
        if fields[0].lower() in seen:
            raise SystemExit(f"line {number}: {fields[0]} is listed twice")
        seen.add(fields[0].lower())
        yield KINDS.index(kind), text.lower(), directories, text, fields[1], fields[2]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(source_path, target_path):
    with open(source_path, encoding="ascii") as source:
        table = sorted(rules(source))
    with open(target_path, "w", encoding="ascii") as out:
        out.write('/* Generated at build time by tools/gen/runs-later-rules.py. */\n#include "overlay/runs_later_rules.h"\n\n')
        out.write("const struct ck_runs_later_rule ck_runs_later_rules[] = {\n")
        for _, _, directories, text, reason, source in table:
            out.write(f"    {{{quoted(directories)}, {quoted(text)}, {quoted(reason)}, {quoted(source)}}},\n")
        out.write("};\n\nconst size_t ck_runs_later_starts[] = {")
        starts = [sum(row[0] < kind for row in table) for kind in range(len(KINDS) + 1)]
        out.write(", ".join(map(str, starts)) + "};\n")


main(*sys.argv[1:])
