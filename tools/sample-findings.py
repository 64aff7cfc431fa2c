#!/usr/bin/python3
"""sample-findings.py [--seed N] [--count N] [--skip ID]... DIRECTORY DOCUMENT... - a sample of findings to judge by hand.
sample-findings.py --table JUDGED...                                       - how often each rule was useful.

Each DOCUMENT is what `chokepoint gather --out` wrote for the directory of its name (without .json) in DIRECTORY. Findings
above info are sampled without replacement and in a random order, the same for the same seed. One line of JSON each: the
package, rule, severity, file, line and five lines around it; no judgement. docs/gather.md has the result.

JUDGED has a header and one line per finding, with tabs: package, rule, severity, file, line, and "y" (useful) or "n" of each
reader. Lines that begin with "#" are comments. Several lists with the same readers are one table. With two readers a line of
the table has their agreement and Cohen's kappa ("-" for a rule with less than ten findings, and where both readers gave one
answer throughout). Rules that "# info now: RULE..." names were above info when they were judged: they are in the table, and
not in the counts of what is above info now.
"""
import argparse
import collections
import csv
import json
import os
import random
import sys

AROUND = 2  # lines before and after
COLUMNS = 5  # of a judged finding, before those of the readers
ENOUGH = 10  # findings, for kappa to say something about a rule
QUIET = "# info now: "


def context(directory, finding):
    if not isinstance(finding["path"], str) or not finding["line"]:
        return []
    try:
        with open(os.path.join(directory, finding["path"]), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    first = max(finding["line"] - 1 - AROUND, 0)
    return [f"{first + number + 1}: {line[:300]}" for number, line in enumerate(lines[first:finding["line"] + AROUND])]


def sample(given):
    found = []
    for path in sorted(given.documents):
        package = os.path.basename(path).removesuffix(".json")
        if package in given.skip:
            continue
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        found += [(package, finding) for finding in document["findings"] if finding["severity"] != "info"]
    chosen = random.Random(given.seed).sample(found, min(given.count, len(found)))
    for number, (package, finding) in enumerate(chosen, 1):
        print(json.dumps({"number": number, "package": package, "rule": finding["id"], "severity": finding["severity"],
                          "place": finding["place"], "message": finding["message"], "file": finding["path"],
                          "line": finding["line"], "context": context(os.path.join(given.directory, package), finding)}))
    print(f"{len(chosen)} of {len(found)} findings above info", file=sys.stderr)


def agreement(rows):
    """The share of equal judgements of the first two readers, and Cohen's kappa if there was anything to disagree on."""
    pairs = [(row[COLUMNS] == "y", row[COLUMNS + 1] == "y") for row in rows]
    same = sum(one == other for one, other in pairs) / len(pairs)
    useful = [sum(pair[reader] for pair in pairs) / len(pairs) for reader in (0, 1)]
    by_luck = useful[0] * useful[1] + (1 - useful[0]) * (1 - useful[1])
    return same, (same - by_luck) / (1 - by_luck) if by_luck < 1 else None


def judged(path):
    """The readers, a row for each finding, and the rules that are info since."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    quiet = {rule for line in lines if line.startswith(QUIET) for rule in line.removeprefix(QUIET).split()}
    header, *rows = csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t")
    wrong = [row for row in rows if len(row) != len(header) or set(row[COLUMNS:]) - {"y", "n"}]
    if not header[COLUMNS:] or not rows or wrong:
        sys.exit(f"{path}: not a list of judged findings" + (f": {wrong[0]}" if wrong else ""))
    return header[COLUMNS:], rows, quiet


def line_of(name, rows, readers, enough=0):
    cells = [name, len(rows)] + [sum(row[COLUMNS + number] == "y" for row in rows) for number in range(readers)]
    if readers > 1:
        same, kappa = agreement(rows)
        cells += [f"{same:.0%}", "-" if kappa is None or len(rows) < enough else f"{kappa:.2f}"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def kinds(rows, column):
    """The kinds in a column, the most frequent first, each with its rows."""
    counts = collections.Counter(row[column] for row in rows)
    for kind, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield kind, [row for row in rows if row[column] == kind]


def table(paths):
    lists = [judged(path) for path in paths]
    readers = lists[0][0]
    if any(names != readers for names, _, _ in lists):
        sys.exit(f"{', '.join(paths)}: not judged by the same readers, so they are not one table")
    rows = [row for _, some, _ in lists for row in some]
    quiet = set().union(*(rules for _, _, rules in lists))
    left = [row for row in rows if row[1] not in quiet]
    heads = ["rule", "judged", *(f"useful, {reader}" for reader in readers), *(["agree", "kappa"] if len(readers) > 1 else [])]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for rule, some in kinds(rows, 1):
        print(line_of(f"`{rule}`" + (", info now" if rule in quiet else ""), some, len(readers), ENOUGH))
    for severity, some in kinds(left, 2):
        print(line_of(f"*{severity}*", some, len(readers)))
    if quiet:
        print(line_of("*all that was judged*", rows, len(readers)))
    print(line_of("*all*", left, len(readers)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--skip", action="append", default=[], help="a package that is left out")
    parser.add_argument("--table", metavar="JUDGED", nargs="+", help="lists of judged findings")
    parser.add_argument("directory", nargs="?")
    parser.add_argument("documents", nargs="*")
    given = parser.parse_args()
    if given.table:
        table(given.table)
    elif given.directory and given.documents:
        sample(given)
    else:
        parser.error("a directory and documents, or --table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
