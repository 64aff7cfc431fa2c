"""Promise: Tools in a hostile repository.
Attacker: the repository. Means: .npmrc, package.json and a lock file that would run scripts, start another git,
link the repository's programs into a directory of programs, or write log files where they like.

Expected: npm ci and npm install run nothing and write nothing outside the root. Plainly called, npm does.
"""
import json
import os
import shutil
import subprocess

import pytest

from escapes import fires

OFFLINE = ["--no-audit", "--no-fund", "--offline"]


@pytest.fixture
def project(user_box):
    trace = traces(user_box, "preinstall", "install", "postinstall", "prepublish", "dependencies")
    (user_box.root / "dep").mkdir()
    user_box.own(user_box.root / "dep")
    write_dependency(user_box, trace)
    write_package(user_box, {**trace, **traces(user_box, "prepare")})


def traces(box, *events):
    return {event: f": > '{box.canary()}'" for event in events}


def write_dependency(box, scripts):
    box.file("root/dep/package.json", json.dumps({"name": "dep", "version": "1.0.0", "scripts": scripts}))


def write_package(box, scripts, **more):
    document = {"name": "top", "version": "1.0.0", "dependencies": {"dep": "file:./dep"}, "scripts": scripts, **more}
    box.file("root/package.json", json.dumps(document))


def npm(box, *argv):
    answer = box.run("npm", *argv, policy="default", timeout=60, deadline=90)
    assert answer.outcome == "exited", answer.document
    return answer


def clean(box):
    for name in ("node_modules", "package-lock.json"):
        path = box.root / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


SETTINGS = ["", "ignore-scripts=false\nforeground-scripts=true", "ignore-scripts=false\ninstall-links=true",
            "ignore-scripts=false\nscript-shell={root}/evil"]


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_script_runs(user_box, project, settings):
    user_box.script("root/evil", user_box.canary())
    user_box.file("root/.npmrc", settings.format(root=user_box.root) + "\n")
    assert npm(user_box, "install")["exit_code"] == 0
    assert (user_box.root / "node_modules/dep").exists()
    assert npm(user_box, "ci")["exit_code"] == 0
    assert npm(user_box, "install", "--ignore-scripts", "--prefer-offline")["exit_code"] == 0
    assert not user_box.canary().exists()
    clean(user_box)
    fires(user_box, user_box.canary(), ["npm", "install", *OFFLINE], deadline=120)


def test_dependency_that_is_packed_is_not_prepared(user_box, project):
    """The attacker's lock file can ask for it, and npm before 11 does it whatever ignore-scripts says."""
    write_dependency(user_box, traces(user_box, "prepare"))
    write_package(user_box, {})
    user_box.file("root/.npmrc", "ignore-scripts=false\ninstall-links=true\n")
    npm(user_box, "install")
    npm(user_box, "ci")
    assert not user_box.canary().exists()
    clean(user_box)
    fires(user_box, user_box.canary(), ["npm", "install", *OFFLINE], deadline=120)


@pytest.mark.parametrize("settings", ["global=true", "location=global", "prefix=./prefix\nglobal=true",
                                      "link=true\nglobal=true"])
def test_no_program_is_linked_elsewhere(user_box, project, settings):
    """The prefix is in the user's .npmrc here, so that a success would harm nothing."""
    prefix = user_box.directory("prefix")
    user_box.file("home/.npmrc", f"prefix={prefix}\n")
    write_package(user_box, {}, bin={"planted": "planted.js"})
    user_box.file("root/planted.js")
    user_box.file("root/.npmrc", settings + "\n")
    npm(user_box, "install")
    npm(user_box, "ci")
    assert os.listdir(prefix) == []
    assert os.listdir(user_box.outside) == []


def test_plain_npm_links_programs_of_the_repository(user_box, project):
    """From npm 10 on; older ones end with an error."""
    prefix = user_box.directory("prefix")
    user_box.file("home/.npmrc", f"prefix={prefix}\n")
    write_package(user_box, {}, bin={"planted": "planted.js"})
    user_box.file("root/planted.js")
    user_box.file("root/.npmrc", "global=true\n")
    version = user_box.call(["npm", "--version"]).out
    answer = user_box.call(["npm", "install", "--ignore-scripts", *OFFLINE], deadline=120)
    assert (prefix / "bin/planted").is_symlink() or int(version.split(b".")[0]) < 10, answer.err


def test_git_of_the_repository_is_not_started(user_box, project):
    evil = user_box.script("root/evil", user_box.canary())
    there = user_box.outside / "dep"
    there.mkdir()
    user_box.own(there)
    (there / "package.json").write_text('{"name": "gitdep", "version": "1.0.0"}')
    for args in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *args], cwd=there, check=True, **user_box.actor.as_keywords(),
                       env=user_box.environment())
    write_package(user_box, {}, dependencies={"gitdep": f"git+file://{there}"})
    user_box.file("root/.npmrc", f"git={evil}\n")
    assert npm(user_box, "install")["exit_code"] != 0  # npm has no git
    assert not user_box.canary().exists()
    fires(user_box, user_box.canary(), ["npm", "install", "--ignore-scripts", *OFFLINE], deadline=120)


def test_no_log_is_written_where_the_repository_wants_it(user_box, project):
    logs = user_box.directory("logs")
    user_box.file("root/.npmrc", f"logs-dir={logs}\ntiming=true\n")
    npm(user_box, "ls")
    npm(user_box, "install")
    assert os.listdir(logs) == []
    user_box.call(["npm", "ls"], deadline=120)
    assert os.listdir(logs) != []


def test_directory_above_is_left_alone(user_box, project):
    """Without a package.json in the directory npm goes up until it finds one."""
    (user_box.root / "sub").mkdir()
    user_box.own(user_box.root / "sub")
    answer = user_box.run("npm", "install", policy="default", root=user_box.root / "sub", cwd=user_box.root / "sub",
                          timeout=60, deadline=90)
    assert answer.outcome == "exited"
    assert not (user_box.root / "node_modules").exists() and not (user_box.root / "package-lock.json").exists()
    user_box.call(["npm", "install", "--ignore-scripts", *OFFLINE], cwd=user_box.root / "sub", deadline=120)
    assert (user_box.root / "node_modules").exists()
