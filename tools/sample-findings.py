#!/usr/bin/python3
"""sample-findings.py [--seed N] [--count N] [--skip ID]... DIRECTORY DOCUMENT... - a sample of findings to judge by hand.

Each DOCUMENT is what `chokepoint gather --out` wrote for the directory of its name (without .json) in DIRECTORY. Findings
above info are sampled without replacement and in a random order, the same for the same seed. One line of JSON each: the
package, rule, severity, file, line and five lines around it; no judgement. docs/gather.md has the result.
"""
import argparse
import json
import os
import random
import sys

AROUND = 2  # lines before and after


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--skip", action="append", default=[], help="a package that is left out")
    parser.add_argument("directory")
    parser.add_argument("documents", nargs="+")
    given = parser.parse_args()
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
