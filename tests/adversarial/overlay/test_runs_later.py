"""Promise: An overlay and its changes.
Attacker: a tool with `workspace: overlay` whose changes are copied to the repository. Means: it
writes what another program runs later by itself, under names and in forms that do not look like
it: a symlink instead of a directory of hooks or settings, a symlink instead of an executable,
compiled code next to its source, settings that load code.

Expected: each such change has a reason in `runs_later`, and what does not run has none.
"""
import os
import subprocess

import pytest

from overlays import OverlayBox, listed

LINKS = {
    ".vscode": "editor task", ".cargo": "build file", ".github": "pipeline", ".husky": "git hook",
    ".devcontainer": "editor task", "node_modules": "installed package", "sub/.idea": "editor task",
    ".Claude": "agent settings", "__pycache__": "compiled code"}
FILES = {
    ".gitea/workflows/a.yml": "pipeline", ".forgejo/workflows/a.yml": "pipeline", ".woodpecker.yaml": "pipeline",
    "bitbucket-pipelines.yml": "pipeline", "azure-pipelines.yml": "pipeline", "compose.override.yml": "build file",
    "Dockerfile.prod": "build file", "BUILD": "build file", "WORKSPACE.bazel": "build file", "Taskfile.yaml": "build file",
    ".justfile": "build file", "SConstruct": "build file", "build.xml": "build file", "a/b.csproj": "build file",
    "Directory.Build.props": "build file", "gradle.properties": "build file", ".pylintrc": "build file",
    "mypy.ini": "build file", ".flake8": "build file", ".mocharc.json": "build file", ".eslintrc": "build file",
    ".babelrc": "build file", "vite.config.mts": "build file", "knexfile.js": "build file", ".pnp.cjs": "package settings",
    "lefthook.yaml": "git hook", ".claude/settings.json": "agent settings", ".cursor/rules/a.mdc": "agent settings",
    ".mcp.json": "agent settings", ".bash_login": "shell settings", ".zprofile": "shell settings",
    ".Rprofile": "shell settings", ".ghci": "shell settings", "a.desktop": "desktop entry", "a.service": "desktop entry",
    "a.ps1": "script", ".eleventy.js": "build file", "hatch_build.py": "build file", "a/schema.prisma": "build file",
    "captainhook.json": "git hook", "rakefile.rb": "build file", "project/Evil.scala": "build file", ".sbtrc": "build file",
    ".puppeteerrc.cjs": "build file", "vitest.workspace.ts": "test settings", "src/Makevars": "build file",
    "config/runtime.exs": "build file", "deps/build.jl": "build file", "BUILD.pants": "build file",
    "requirements/base.txt": "package settings", "dev-requirements.txt": "package settings", "alembic/env.py": "build file",
    "nextflow.config": "build file", "rescript.json": "build file", "analysis_options.yaml": "editor task",
    "tauri.conf.json": "build file", "_plugins/a.rb": "build file", "Procfile.dev": "pipeline", "amplify.yml": "pipeline",
    ".ebextensions/a.config": "pipeline", "group_vars/all.yml": "build file", ".oxlintrc.json": "build file",
    ".config/systemd/user/a.service.d/b.conf": "shell settings", ".config/mpv/scripts/a.lua": "shell settings",
    "startup.m": "shell settings", "devfile.yaml": "editor task", "README": None, "src/main.c": None, "notes.txt": None}


@pytest.fixture
def overlay_box(box):
    return OverlayBox(box)


def reasons(answer) -> dict:
    return {path: why for path, (_, _, why) in listed(answer).items()}


def test_linked_hooks_are_named_and_would_have_run(overlay_box):
    directory = overlay_box.box.home / "kept"
    answer = overlay_box.sh("""mkdir scripts; printf '#!/bin/sh\\ntouch ran\\n' > scripts/pre-commit; chmod 755 scripts/pre-commit
                           rm -r .git/hooks; ln -s ../scripts .git/hooks""", options=["--keep", str(directory)])
    assert reasons(answer)[".git/hooks"] == "git hook"
    # What it warns of: taken over, the next commit runs it.
    work = overlay_box.box.base / "taken"
    subprocess.run(["cp", "-a", overlay_box.box.root, work], check=True)
    subprocess.run(["rm", "-rf", work / ".git/hooks"], check=True)
    subprocess.run(["cp", "-a", f"{directory}/.", work], check=True)
    subprocess.run(["git", "-c", "safe.directory=*", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q",
                    "--allow-empty", "-m", "x"], cwd=work, check=True, env={**os.environ, "HOME": str(overlay_box.box.home)})
    assert (work / "ran").exists()


def test_links_count_as_what_they_would_become(overlay_box):
    answer = overlay_box.sh("mkdir -p elsewhere sub; "
                        + "; ".join(f"ln -s {'../' * path.count('/')}elsewhere {path}" for path in LINKS))
    found = reasons(answer)
    assert {path: found[path] for path in LINKS} == LINKS


def test_link_instead_of_an_executable(overlay_box):
    answer = overlay_box.sh("echo x > other; rm tool; ln -s other tool; ln -s tool another; ln -s d plain; rm -r e; ln -s d e")
    found = reasons(answer)
    assert found["tool"] == "executable" and found["e"] == "replaced directory" and found["plain"] is None


def test_link_to_a_script_of_the_repository(overlay_box):
    assert reasons(overlay_box.sh("ln -s tool run; ln -s run again"))["run"] in ("script", "executable")


def test_link_instead_of_a_package(overlay_box):
    """What it leads to has a name that nothing is known of, and the scripts that npm runs."""
    answer = overlay_box.sh("""echo '{"scripts": {"test": "touch ran"}}' > notes.txt; mkdir sub
                           rm package.json; ln -s notes.txt package.json; ln -s ../notes.txt sub/package.json""")
    found = reasons(answer)
    assert (found["package.json"], found["sub/package.json"], found["notes.txt"]) == ("package script", "package script", None)


def test_compiled_code_is_named(overlay_box):
    answer = overlay_box.python("""
import os, struct, marshal, importlib.util
os.mkdir("__pycache__")
code = marshal.dumps(compile("print('ran')", "m.py", "exec"))
with open("__pycache__/m.cpython-311.pyc", "wb") as file:  # an unchecked hash: the source is not looked at
    file.write(importlib.util.MAGIC_NUMBER + struct.pack("<I", 1) + b"x" * 8 + code)
with open("loose.pyc", "wb") as file: file.write(b"x")
""")
    found = reasons(answer)
    assert found["__pycache__/m.cpython-311.pyc"] == found["loose.pyc"] == "compiled code"


def test_names_that_other_programs_load(overlay_box):
    lines = "\n".join(f"make('{path}')" for path in FILES)
    answer = overlay_box.python(f"""
import os
def make(path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file: file.write("x")
{lines}
""")
    found = reasons(answer)
    assert {path: found[path] for path in FILES} == FILES
