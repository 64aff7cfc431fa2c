#!/usr/bin/python3
"""check-lint.py BUILD - the linter on this repository (R25): it finds nothing, and one file creates processes.

The second is checked without the permission of that file: then all findings in src/ must be in that file.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CREATOR = "src/run/create.c"
FEWEST = 100  # files that must have been scanned: a linter that scans nothing must not pass


def lint(build, *words):
    done = subprocess.run([os.path.join(build, "chokepoint"), "lint", "--format", "json", *words], cwd=ROOT,
                          capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"check-lint.py: the linter ended with {done.returncode}: {done.stdout.decode()}{done.stderr.decode()}")
    return json.loads(done.stdout)


def counting(document):
    """Findings except notes, which the linter does not count either."""
    return [one for one in document["findings"] if one["severity"] != "note"]


def main():
    build = sys.argv[1]
    own = lint(build)
    bare = lint(build, "--config", "/dev/null", "src")
    wrong = [f"{one['name']}:{one['line']}: {one['message']} [{one['rule']}]" for one in counting(own)]
    files = sorted({one["name"] for one in counting(bare)})
    if files != [CREATOR]:
        wrong.append(f"processes must be created in {CREATOR} alone, but these are found in src/: {', '.join(files)}")
    if own["allowed"] == 0 or bare["files"] < FEWEST:
        wrong.append(f"{bare['files']} files of src/ were looked at, and {own['allowed']} calls were allowed: too few")
    print("\n".join([*wrong, f"{own['files']} files, {own['allowed']} calls in {CREATOR}, {len(wrong)} problems"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
