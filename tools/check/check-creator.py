#!/usr/bin/python3
"""One source file creates processes: no other file in src/ and bindings/ may name a call that creates or replaces one (R25)."""
import os
import re
import sys

import csource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CREATOR = "src/run/create.c"
CALL = re.compile(
    r"_?_?(v?fork|_Fork|clone[23]?|posix_spawnp?|exec(v|ve|vp|vpe|veat|l|le|lp)|fexecve|system|popen|wordexp)$"
    r"|(SYS|__NR)_(v?fork|clone3?|execve|execveat)$"
)
POISON = re.compile(r"^#pragma GCC poison .*$", re.MULTILINE)


def problems(path, text):
    text = POISON.sub("", text)  # names that are banned everywhere
    before = ""
    previous = ""
    for line, token in csource.tokens(text):
        # A member may have any name. A plain name is a call, or a pointer to the function.
        if CALL.match(token) and previous not in (".", "->"):
            yield f"{path}:{line}: '{token}' may be used only in {CREATOR}"
        if token[0].isdigit() and previous == "(" and before in ("syscall", "ck_raw"):
            yield f"{path}:{line}: name the system call, do not use its number"
        before, previous = previous, token


def main():
    files = [path for path in csource.find(ROOT, ["src", "bindings"]) if path != CREATOR]
    found = [problem for path in files for problem in problems(path, csource.read(ROOT, path))]
    if not os.path.exists(os.path.join(ROOT, CREATOR)):
        found.append(f"{CREATOR} does not exist")
    print("\n".join(found + [f"{len(files)} files, {len(found)} calls that belong in {CREATOR}"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
