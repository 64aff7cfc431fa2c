#!/usr/bin/python3
"""Which layer may include which. An include that is not in ARROWS is an error; ARCHITECTURE has the diagram."""
import os
import re
import sys

import csource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PUBLIC = "chokepoint.h"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)

# The command, gather, mcp, report and fleet are users of the library: they include the public header, src/base, and src/front.
ARROWS = {
    "cli": {"fleet", "gather", "guard", "mcp", "report", "front", "base"},
    "mcp": {"gather", "front", "base"},  # one of its tools is a gather, which it starts as the command does
    "fleet": {"gather", "front", "base"},  # a worker of it gathers, in a thread
    "gather": {"front", "base"},
    "guard": {"front", "base"},
    "report": {"front", "base"},
    "front": {"base"},  # text output, signals, JSON values: what needs the public header or jansson
    "api": {"run", "policy", "audit", "ready", "egress", "lint", "jail", "overlay", "sys", "base"},
    "run": {"jail", "policy", "overlay", "sys", "base"},
    "jail": {"sys", "base"},
    "overlay": {"sys", "base"},
    "sys": {"base"},
    "policy": {"base"},
    "audit": {"sys", "base"},  # sys/trust checks that only the caller can write the log
    "ready": {"sys", "base"},  # compares and explains the state of files and machine; sys reads it
    "egress": {"base"},
    "lint": {"base"},
    "base": set(),
}


def wrong_arrow(path, bracket, target):
    """Why path must not include target, or None. Both are relative to src/."""
    layer = path.split("/")[0] if "/" in path else None
    if layer not in ARROWS:
        return "the file is not in a known layer"
    if target == PUBLIC:
        return None
    if bracket == "<":
        return "includes a header of the project as if it were the system's" if target.split("/")[0] in ARROWS and (
            os.path.exists(os.path.join(ROOT, "src", target))) else None
    if target.startswith((".", "/")) or "/" not in target:
        return "must name a header from src/ down, as \"layer/name.h\""
    other = target.split("/")[0]
    if other != layer and other not in ARROWS[layer]:
        allowed = ", ".join(sorted(ARROWS[layer])) or "nothing but " + PUBLIC
        return f"{layer} must not use {other} (it may use {allowed})"
    return None


def problems(path, text):
    # Only comments are removed: the name of a header is in quotes, like a literal.
    for match in INCLUDE.finditer(re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL)):
        reason = wrong_arrow(path, *match.groups())
        if reason is not None:
            yield f"src/{path}: '{match.group(2)}': {reason}"


def customer_problems(path, text):
    """Examples use only what is installed."""
    for match in INCLUDE.finditer(text):
        if match.group(1) == '"' or match.group(2).split("/")[0] in ARROWS:
            yield f"{path}: '{match.group(2)}': an example includes <{PUBLIC}> and system headers only"


def binding_problems(path, text, own):
    """A binding uses the public header, system headers and its own: what it lacks is missing in the API. own: the names of
    the headers beside it."""
    for match in INCLUDE.finditer(text):
        bracket, target = match.groups()
        internal = target.split("/")[0] in ARROWS and os.path.exists(os.path.join(ROOT, "src", target))  # not <sys/eventfd.h>
        if (bracket == '"' and target not in own) or (bracket == "<" and internal):
            yield f"{path}: '{target}': a binding includes <{PUBLIC}>, system headers and its own only"


def main():
    sources = csource.find(os.path.join(ROOT, "src"), ["."])
    found = [p for path in sources for p in problems(path, csource.read(os.path.join(ROOT, "src"), path))]
    for path in csource.find(ROOT, ["examples"]):
        found += customer_problems(path, csource.read(ROOT, path))
    for path in csource.find(ROOT, ["bindings"]):
        own = set(os.listdir(os.path.dirname(os.path.join(ROOT, path))))
        found += binding_problems(path, csource.read(ROOT, path), own)
    print("\n".join(found + [f"{len(sources)} files, {len(found)} wrong arrows"]))
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
