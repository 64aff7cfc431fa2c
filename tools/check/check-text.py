#!/usr/bin/python3
"""Every text file is finished: no note of unfinished work, trailing space or conflict mark, and a newline at the end."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Written so that this file does not find itself.
NOTES = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
MARKS = re.compile(r"^(<{7}|>{7})( |$)")
LEFT_ALONE = ("tests/fuzz/corpus/",)  # arbitrary bytes, from the fuzzer
SKIPPED_DIRECTORIES = re.compile(r"(^|/)(\.git|build|build-[a-z]+|__pycache__|\.pytest_cache|\.hypothesis)(/|$)")


def project_files():
    """All files that git tracks or would add; without git, all but build output."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
    else:
        names = [os.path.relpath(os.path.join(place, name), ROOT)
                 for place, _, files in os.walk(ROOT) for name in files]
    kept = (name for name in names if name and not SKIPPED_DIRECTORIES.search(name))
    return sorted({name for name in kept if os.path.isfile(os.path.join(ROOT, name))})


def problems(path, data):
    if b"\0" in data or path.startswith(LEFT_ALONE):
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield f"{path}: is not UTF-8"
        return
    if text and not text.endswith("\n"):
        yield f"{path}: does not end in a newline"
    for number, line in enumerate(text.split("\n"), 1):
        if NOTES.search(line):
            yield f"{path}:{number}: a note of unfinished work"
        if line != line.rstrip():
            yield f"{path}:{number}: trailing space"
        if MARKS.match(line):
            yield f"{path}:{number}: a conflict mark"
        if "\t" in line and path.endswith((".c", ".h", ".py", ".sh")):
            yield f"{path}:{number}: a tab"


def main():
    files = project_files()
    found = []
    for path in files:
        with open(os.path.join(ROOT, path), "rb") as stream:
            found += problems(path, stream.read())
    print("\n".join(found + [f"{len(files)} files, {len(found)} unfinished"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
