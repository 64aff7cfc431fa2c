"""The default policy allows npm to install, list and test a project, offline, and runs no script
of a package.

tests/adversarial/tools/test_hostile_npmrc.py has a repository that attacks this.
"""
import json

import pytest


@pytest.fixture
def npm(user_box):
    """A project with a dependency in one of its directories, and scripts that leave traces."""
    canary = user_box.canary()
    trace = {event: f": > '{canary}'" for event in ("preinstall", "postinstall")}
    (user_box.root / "dep").mkdir()
    user_box.own(user_box.root / "dep")
    user_box.file("root/dep/package.json", json.dumps({"name": "dep", "version": "1.2.3", "scripts": trace}))
    user_box.file("root/check.js", "console.log('tested', process.argv.slice(2).join('|'))\n")
    user_box.file("root/package.json", json.dumps({
        "name": "top", "version": "1.0.0", "dependencies": {"dep": "file:./dep"},
        "scripts": {**trace, "test": "node check.js", "pretest": trace["preinstall"],
                    "posttest": trace["preinstall"]}}))

    def run(*argv, expected=0):
        answer = user_box.run("npm", *argv, policy="default", timeout=60, deadline=90)
        assert (answer.outcome, answer["exit_code"]) == ("exited", expected), answer.document
        assert not canary.exists(), argv
        return answer.stream("stdout").decode()
    return run


INSTALL = [[], ["--ignore-scripts"], ["--ignore-scripts=true"], ["--omit=dev", "--no-audit", "--no-fund"],
           ["--omit", "dev", "--offline"],
           ["--loglevel=error", "--prefer-offline", "--no-progress"], ["--silent", "--legacy-peer-deps"]]


def test_install_then_ci(npm, user_box):
    for args in INSTALL[:4]:
        npm("install", *args)
        assert (user_box.root / "node_modules/dep/package.json").exists()
    for args in INSTALL:
        npm("ci", *args)
        assert (user_box.root / "node_modules/dep/package.json").exists()


def test_lock_file_alone(npm, user_box):
    npm("install", "--package-lock-only")
    assert (user_box.root / "package-lock.json").exists() and not (user_box.root / "node_modules").exists()
    npm("install", "--no-save", "--no-package-lock", "--dry-run")
    assert not (user_box.root / "node_modules").exists()


def test_ls(npm):
    npm("install")
    listed = json.loads(npm("ls", "--all", "--json"))
    assert listed["dependencies"]["dep"]["version"] == "1.2.3"
    assert "dep@1.2.3" in npm("ls", "dep") and "node_modules/dep" in npm("ls", "--parseable", "--depth=0")
    assert "dep@1.2.3" in npm("ls", "--long", "--omit=dev", "--no-unicode")


def test_test_runs_the_test_script_and_nothing_around_it(npm):
    assert "tested \n" in npm("test")
    assert "tested a|--b\n" in npm("test", "--silent", "--", "a", "--b")
    assert "tested a\n" in npm("test", "--if-present", "a")


SERVES = """#!/usr/bin/env node
const http = require('http');
const server = http.createServer((_, answer) => answer.end('served')).listen(0, '127.0.0.1', () =>
  http.get({host: 'localhost', port: server.address().port}, answer => answer.on('data', text => {
    console.log(String(text)); server.close(); })));
"""


def test_test_runs_programs_of_the_project_that_listen(npm, user_box):
    for name in ("root/node_modules", "root/node_modules/.bin"):
        user_box.directory(name)
    user_box.file("root/node_modules/.bin/runner", SERVES, 0o755)
    user_box.file("root/package.json", json.dumps({"name": "top", "version": "1.0.0", "scripts": {"test": "runner"}}))
    assert "served\n" in npm("test")


def test_version_is_reported(npm):
    assert npm("--version").count(".") == 2
