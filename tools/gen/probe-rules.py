#!/usr/bin/python3
"""probe-rules.py [--check] - the rules of structural_patterns for TypeScript, from those for JavaScript.

ast-grep parses .ts and .tsx with grammars of their own, and a rule is for one grammar. So the calls scan_ts and scan_tsx of
policy/probes.yaml are the call scan_js with other names of rules and languages. Without --check they are rewritten. With
--check a difference is an error.
"""
import argparse
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBES = os.path.join(TOP, "policy", "probes.yaml")
# From "- id: scan_js" to the line before the next call or probe.
CALL = r"^      - id: {}\n(?:(?!      - id: |  - name: |\n  #).*\n)*"


def translate(call, prefix, language):
    call = re.sub(r"^      - id: scan_js$", f"      - id: scan_{prefix}", call, flags=re.M)
    call = re.sub(r"\bid: js-", f"id: {prefix}-", call)
    return call.replace("language: javascript", f"language: {language}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    with open(PROBES, encoding="utf-8") as file:
        before = file.read()
    text = before
    source = re.search(CALL.format("scan_js"), text, re.M).group()
    for prefix, language in (("ts", "typescript"), ("tsx", "tsx")):
        text = re.sub(CALL.format(f"scan_{prefix}"), lambda _: translate(source, prefix, language), text, flags=re.M)
    if text == before:
        return 0
    if given.check:
        print("policy/probes.yaml: scan_ts and scan_tsx are not what scan_js says; run tools/gen/probe-rules.py",
              file=sys.stderr)
        return 1
    with open(PROBES, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
