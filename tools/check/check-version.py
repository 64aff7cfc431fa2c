#!/usr/bin/python3
"""Every file that has the version of the project has the one in meson.build."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# File, and where in it the version is: the first group.
PLACES = (
    ("action.yml", r'^    description: The release to install\n    default: "([^"]*)"$'),
    (".pre-commit-hooks.yaml", r"^# +rev: v(\S+)$"),
    ("bindings/node/package.json", r'^  "version": "([^"]*)",$'),
    ("bindings/python/meson.build", r"^project\('chokepoint-python', 'c', version: '([^']*)'"),
    ("bindings/python/pyproject.toml", r'^version = "([^"]*)"$'),
    ("docs/lint.md", r"^ +rev: v(\S+)$"),
    ("docs/install.md", r"chokepoint-(\d+\.\d+\.\d+)-linux"),
    ("packaging/Containerfile", r"^#.* VERSION=(\S+) "),
    # Notes on the newest release.
    ("CHANGELOG.md", r"^## (\d\S*)$"),
)


def problems(root, version):
    for name, pattern in PLACES:
        with open(os.path.join(root, name), encoding="utf-8") as stream:
            found = re.findall(pattern, stream.read(), re.MULTILINE)
        if name == "CHANGELOG.md":
            found = found[:1]  # the newest release
        if not found:
            yield f"{name}: the version was not found"
        yield from (f"{name}: the version is {other}, and that of meson.build is {version}" for other in sorted(set(found) - {version}))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else ROOT
    version = subprocess.run([os.path.join(root, "tools/version.sh")], capture_output=True, text=True, check=True).stdout.strip()
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit("meson.build: the version was not found")
    found = list(problems(root, version))
    print("\n".join([*found, f"version {version} in {len(PLACES)} files, {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
