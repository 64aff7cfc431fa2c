#!/usr/bin/python3
"""Every file, decision record and internal function that a document names exists in the tree.

A path counts if it begins with a directory of the project (`src/run/plan.c`) or of src (`run/plan.c`). In ARCHITECTURE.md
a bare `plan.c` counts too. A word in capitals is a placeholder (`cmd_NAME.c`): then one file of that form is enough, and
for a file that is still to be written (`NNNN-shellcheck.md`) its directory. Text between ``` fences
and text that is indented by four spaces is an example and is not read.
"""
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "README.md", "docs")
TOP = ("src", "include", "tests", "tools", "docs", "policy", "lint", "bench", "examples", "bindings", "packaging")
PATH = re.compile(r"(?<![\w./~$}-])(?:\.\./)?([a-z_]+(?:/[\w*.-]+)+/?|[a-z_*]+\.[ch])(?![\w/])")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])[A-Z]{2,}(?![A-Za-z])")
FUNCTION = re.compile(r"\bck_\w+\b")
# Files that a user or a releaser writes.
LEFT_ALONE = {"tools/policy-gate.sh", "packaging/release-key.pem"}


def tracked(root, *places):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--", *places], capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and os.path.isfile(os.path.join(root, name))]


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def outside_fences(text):
    """(line number, line) of everything that is not an example. A man page has neither fences nor indented lines."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


class Tree:
    def __init__(self, root):
        self.files = set(tracked(root))
        self.places = {name[:at] for name in self.files for at, letter in enumerate(name) if letter == "/"}
        self.source = {name.split("/")[1] for name in self.files if name.startswith("src/") and name.count("/") > 1}
        self.code = "".join(read(root, name) for name in self.files if name.startswith(("src/", "include/")))

    def has(self, pattern):
        """Whether a file or a directory of this form exists. A record may be named by its number alone."""
        if re.fullmatch(r"docs/adr/\d{4}", pattern):
            pattern += "-*.md"
        exact = not set("*[") & set(pattern)
        return pattern in self.files | self.places if exact else bool(fnmatch.filter(self.files, pattern))

    def exists(self, path, bare):
        path = path.rstrip("/.")
        new = PLACEHOLDER.search(path)
        places = [""] if path.split("/")[0] in TOP and "/" in path else []
        places += ["src/"] if path.split("/")[0] in self.source and path.endswith((".c", ".h")) else []
        if not places:
            return "/" in path or not bare or any(fnmatch.fnmatch(os.path.basename(name), path) for name in self.files)
        forms = [place + form for place in places for form in (path, os.path.dirname(path) if new else path)]
        return any(self.has(PLACEHOLDER.sub("*", form)) for form in forms)


def problems(root):
    tree = Tree(root)
    for name in tracked(root, *DOCUMENTS):
        if name.endswith(".json"):
            continue
        for number, line in outside_fences(read(root, name)):
            for found in PATH.finditer(line):
                if found[1] not in LEFT_ALONE and not tree.exists(found[1], name == "ARCHITECTURE.md"):
                    yield f"{name}:{number}: {found[1]} does not exist"
            for found in FUNCTION.finditer(line):
                if not re.search(rf"\b{found[0]}\b", tree.code):
                    yield f"{name}:{number}: {found[0]} is not in src"


def main():
    found = list(problems(ROOT))
    print("\n".join(found + [f"{len(found)} names in documents that do not exist"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
