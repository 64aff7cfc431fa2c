#!/usr/bin/python3
"""The host's environment is read only in the files listed here. One filter, src/policy/sandbox.c, makes the environment
of a sandbox from it (R14).

The filter is pure and gets the host's variables from the plan. Only that file knows the members of struct ck_sandbox,
and only the plan makes an environment from one. The judge asks the filter about the caller's extra variables, without
the variables of the host.
"""
import os
import re
import sys

import csource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILTER = "src/policy/sandbox.c"
PLAN = "src/run/plan.c"

ANY = "*"

# The variables that a file may read by name.
NAMED = {
    PLAN: {"getenv": ["HOME", "LANG", "LC_ALL"]},
    "src/api/proof_memory.c": {"secure_getenv": ["XDG_RUNTIME_DIR"]},
    "src/sys/cachedir.c": {"secure_getenv": ["XDG_CACHE_HOME", "HOME"]},
    "src/sys/scratch.c": {"getenv": ["XDG_RUNTIME_DIR"]},
    "src/api/audit_place.c": {"secure_getenv": ["XDG_STATE_HOME", "HOME"]},
    "src/api/guard_state.c": {"secure_getenv": ["XDG_STATE_HOME", "HOME"]},
    "src/front/text.c": {"getenv": ["NO_COLOR", "TERM"]},
    "src/api/guard.c": {"getenv": [ANY]},  # those that the policy names for a cage
    "src/fleet/slurm_call.c": {"secure_getenv": ["SLURM_CONF"]},
    "src/run/upstream_plan.c": {"secure_getenv": ["HTTPS_PROXY", "https_proxy"]},
}
READER = re.compile(r"\b(?:secure_|__secure_)?getenv\b")
WHOLE = re.compile(r"\b(?:__|_)?environ\b")
COMMENT = re.compile(r"//(?:\\\n|[^\n])*|/\*.*?\*/", re.DOTALL)
MAKE = re.compile(r"\bck_sandbox_make\s*\(([^;{]*)")
BUILD = re.compile(r"\bck_sandbox_environment\b")
INSIDE = re.compile(r"\bstruct\s+ck_sandbox\s*\{")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def named(path, text, code):
    """Reads of single variables: the name must be a literal, and in the list of the file."""
    for match in READER.finditer(code):
        literal = re.match(r'\s*\(\s*"([A-Za-z_]+)"\s*\)', text[match.end():])
        allowed = NAMED.get(path, {}).get(match.group(), [])
        if ANY not in allowed and (literal is None or literal.group(1) not in allowed):
            yield match.start(), f"'{match.group()}' of a variable that this file must not read"


def whole(path, text, code):
    places = [match.start() for match in WHOLE.finditer(code)]
    places += [match.start() for match in re.finditer(r"/proc/[^\"\s]*environ", COMMENT.sub(
        lambda m: re.sub(r"[^\n]", " ", m.group()), text))]
    for at in places[1 if path == PLAN else 0:]:
        yield at, f"reads the whole environment; only {PLAN} may, once, for {FILTER}"


def sandbox(path, code):
    for match in INSIDE.finditer(code):
        if path != FILTER:
            yield match.start(), f"only {FILTER} may know the members of a sandbox"
    if path in (FILTER, FILTER[:-1] + "h", PLAN):
        return
    for match in MAKE.finditer(code):
        host = match.group(1).split(",")[1:2]
        if path != "src/policy/judge.c" or [word.strip() for word in host] != ["NULL"]:
            yield match.start(), f"only {PLAN} may make a sandbox"
    for match in BUILD.finditer(code):
        yield match.start(), f"only {PLAN} may make the environment of a sandbox"


def problems(path, text):
    code = csource.blank(text)
    for at, words in [*named(path, text, code), *whole(path, text, code), *sandbox(path, code)]:
        yield f"{path}:{line_of(text, at)}: {words}"


def main():
    files = csource.find(ROOT, ["src"])
    found = [problem for path in files for problem in problems(path, csource.read(ROOT, path))]
    found += [f"{path} does not exist" for path in (FILTER, PLAN, *NAMED) if path not in files]
    if FILTER in files and not INSIDE.search(csource.read(ROOT, FILTER)):
        found.append(f"{FILTER} does not define struct ck_sandbox")
    print("\n".join(found + [f"{len(files)} files, {len(found)} wrong uses of the environment"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
