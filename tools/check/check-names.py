#!/usr/bin/env python3
"""Checks names: a ck_ function begins with its module, and a struct tag is defined once.

The module of a function is the file that defines it, or its directory. `src/audit/log.c` may define `ck_log_append` and
`ck_audit_append`; `src/lint/lang/python_scope.c` may define `ck_python_find`. So a reader finds the file of a function
by its name.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r"^(?:static inline |extern )?[a-z_][\w ]*[ *]ck_(\w+)\((?!.*\);$)", re.M)
TAG = re.compile(r"^(?:struct|union|enum) (\w+) \{", re.M)


def modules(path):
    """Prefixes that a function of this file may have: its name, the first parts of it, and its directories."""
    parts = path.stem.split("_")
    found = {"_".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return found | {name.replace("-", "_") for name in path.relative_to(TOP / "src").parts[:-1]}


def code(path):
    """The file without its comments, line for line."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)


def misnamed(path, text):
    for found in FUNCTION.finditer(text):
        end = text.find("{", found.end())
        semicolon = text.find(";", found.end())
        is_definition = end != -1 and (semicolon == -1 or end < semicolon)
        if is_definition and not any(f"{found[1]}_".startswith(f"{name}_") for name in modules(path)):
            yield f"{path.relative_to(TOP)}: ck_{found[1]} begins with none of: {', '.join(sorted(modules(path)))}"


def main():
    problems, tags = [], {}
    for path in sorted((TOP / "src").rglob("*.[ch]")):
        text = code(path)
        problems += misnamed(path, text)
        for found in TAG.finditer(text):
            tags.setdefault(found[1], []).append(str(path.relative_to(TOP)))
    problems += [f"struct tag {tag} is defined in {', '.join(paths)}" for tag, paths in sorted(tags.items()) if len(paths) > 1]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
