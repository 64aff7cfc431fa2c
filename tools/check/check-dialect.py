#!/usr/bin/python3
"""One dialect of C: the status of a call is `r`, pointers are tested as `p` and `!p`, and `sizeof(x)` has parentheses.

CONTRIBUTING has the rules. Comments and literals are not looked at, and the snippets of tests/lint are other people's C.
"""
import os
import re
import sys

import csource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIRECTORIES = ["src", "include", "tests", "bench", "examples", "tools", "bindings"]
RULES = (
    (re.compile(r"[=!]= *NULL\b|\bNULL *[=!]="), "compares with NULL; write p or !p"),
    (re.compile(r"\bsizeof +[^(]"), "has sizeof without parentheses; write sizeof(x)"),
    (re.compile(r"^ +(?:int|long|ssize_t) result\b", re.MULTILINE), "calls a status result; write r"),
)


def problems(path, source):
    stripped = csource.blank(source)
    for pattern, reason in RULES:
        for match in pattern.finditer(stripped):
            yield f"{path}:{stripped.count(chr(10), 0, match.start()) + 1}: {reason}"


def main():
    paths = [path for path in csource.find(ROOT, DIRECTORIES) if not path.startswith("tests/lint/")]
    found = [problem for path in paths for problem in problems(path, csource.read(ROOT, path))]
    print("\n".join(found + [f"{len(paths)} files, {len(found)} deviations"]))
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
