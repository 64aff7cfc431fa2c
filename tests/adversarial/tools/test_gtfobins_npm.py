"""Promise: Only listed arguments.
Attacker: whoever writes the request, or the repository. Means: npm's commands that run programs,
its options that name one or another directory, and its parser, which takes the argument after a
flag as its value, abbreviations, and one dash for two, so that --ignore-scripts can be undone.

Expected: refused, with the argument named. Plainly called they run the attacker's script.
"""
import json

import pytest

from escapes import fires, refused, some

SUBCOMMANDS = [
    ["exec", "sh"], ["exec", "/bin/sh"], ["exec", "--", "sh"], ["exec", "-c", "sh"], ["x", "sh"], ["run", "evil"],
    ["run-script", "evil"], ["rum", "evil"], ["urn", "evil"], ["start"], ["stop"], ["restart"],
    ["explore", "dep", "--", "sh"], ["init", "x"], ["create", "x"], ["innit", "x"], ["edit", "dep"],
    ["config", "edit"], ["config", "set", "script-shell", "sh"], ["set", "script-shell=sh"], ["get", "registry"],
    ["c", "list"], ["help", "exec"], ["docs", "x"], ["repo"], ["bugs"], ["publish"], ["pack"], ["version", "patch"],
    ["rebuild"], ["rb"], ["link"], ["ln"], ["i"], ["in"], ["ins"], ["inst"], ["add", "x"], ["isntall"],
    ["install-test"], ["it"], ["cit"], ["install-ci-test"], ["clean-install"], ["ic"], ["t"], ["tst"], ["update"],
    ["up"], ["audit", "fix"], ["dedupe"], ["prune"], ["uninstall", "x"], ["cache", "clean"], ["login"],
    ["token", "list"], ["whoami"], ["root"], ["prefix"], ["bin"], ["view", "x"], ["list"], ["la"], ["ll"],
    ["set-script", "a", "b"], ["CI"], ["Install"], ["ci "], [""], [], ["--", "ci"], ["-C", ".", "ci"],
    ["--prefix", ".", "i"], ["--unsafe-perm", "i"],
]

UNDONE = [
    ["--no-ignore-scripts"], ["--ignore-scripts=false"], ["--ignore-scripts", "false"], ["--ignore-scripts", "true"],
    ["--ignore-scripts="], ["--ignore-scripts=0"], ["--ignore-scripts=null"], ["--ignore-scripts=no"],
    ["--no-ignore-scr"], ["--ignore-scr=false"], ["--ignore-s", "false"], ["--ig=false"], ["-ignore-scripts=false"],
    ["-no-ignore-scripts"], ["---ignore-scripts=false"], ["--ignore-scripts", "--no-ignore-scripts"],
    ["--ignoreScripts=false"], ["--IGNORE-SCRIPTS=false"], ["--ignore_scripts=false"],
    ["--no-no-ignore-scripts", "false"], ["--ignore-scripts=true", "false"], ["--json", "false"],
    ["--no-no-no-ignore-scripts"], ["--", "false"], ["--ignore-scripts", "--", "x"], ["--foreground-scripts"],
    ["--allow-scripts=x"], ["--dangerously-allow-all-scripts"],
]

OPTIONS = [
    ["--script-shell=./evil"], ["--script-shell", "./evil"], ["--shell=./evil"], ["--node-options=-r./evil.js"],
    ["--git=./evil"], ["--editor=./evil"], ["--viewer=./evil"], ["--browser=./evil"], ["--init-module=./evil.js"],
    ["--node-gyp=./evil"], ["--prefix=/"], ["--prefix", "/"], ["-C", "/"], ["-C/"], ["--global"], ["-g"],
    ["--location=global"], ["-L", "global"], ["--glob"], ["-sg"], ["-gs"], ["--userconfig=./npmrc"],
    ["--globalconfig=./npmrc"], ["--registry=http://localhost:1"], ["--reg=http://localhost:1"],
    ["-reg", "http://localhost:1"], ["--cache=/"], ["--logs-dir=/"], ["--cafile=/etc/shadow"],
    ["--proxy=http://localhost:1"], ["--force"], ["-f"], ["--call=sh"], ["-c", "sh"], ["--package=x"],
    ["--workspace=../outside"], ["-w", "../outside"], ["--unsafe-perm"], ["--loglevel=x"], ["--omit=x"], ["--timing"],
    ["--color=always"], ["-d"], ["-dd"], ["-ddd"], ["--usage"], ["-h"], ["--versions"], ["-v"], ["--yes"], ["-y"],
]


@pytest.mark.parametrize("args", some(SUBCOMMANDS), ids=lambda args: " ".join(args) or "nothing")
def test_subcommand_is_refused(user_box, args):
    refused(user_box, "npm", *args)


@pytest.mark.parametrize("command", ["ci", "install"])
@pytest.mark.parametrize("args", some(UNDONE), ids=" ".join)
def test_scripts_stay_off(user_box, command, args):
    refused(user_box, "npm", command, *args)
    refused(user_box, "npm", *args, command)
    refused(user_box, "npm", command, "--ignore-scripts", *args)


@pytest.mark.parametrize("args", some(OPTIONS), ids=" ".join)
def test_option_is_refused(user_box, args):
    for command in ("ci", "install", "test", "ls"):
        refused(user_box, "npm", command, *args)
    refused(user_box, "npm", *args, "ci")


@pytest.mark.parametrize("word", ["x", "./evil", "/", "git+file:///x", "file:../outside", "x@npm:y",
                                  "http://localhost/x.tgz",
                                  "true", "false", "null", "-"])
def test_install_takes_no_package(user_box, word):
    refused(user_box, "npm", "install", word, named=word)
    refused(user_box, "npm", "ci", "--offline", word, named=word)


def project(box):
    """A project with scripts, also in its dependency, that leave a trace."""
    trace = {event: f": > '{box.canary()}'" for event in ("preinstall", "install", "postinstall", "prepare")}
    (box.root / "dep").mkdir()
    box.own(box.root / "dep")
    box.file("root/dep/package.json", json.dumps({"name": "dep", "version": "1.0.0", "scripts": trace}))
    box.file("root/package.json", json.dumps({"name": "top", "version": "1.0.0", "dependencies": {"dep": "file:./dep"},
                                              "scripts": {"evil": trace["install"], **trace}}))


QUIET = ["--no-audit", "--no-fund", "--offline"]
REAL = [["exec", "-c", ": > '{canary}'"], ["run", "evil"], ["install", *QUIET],
        ["install", *QUIET, "--ignore-scripts", "false"], ["install", *QUIET, "--ignore-scripts=true",
                                                           "--no-ignore-scr"],
        ["install", *QUIET, "--ignore-scripts=true", "-ignore-scripts=false"]]


@pytest.mark.parametrize("args", REAL, ids=" ".join)
def test_plain_npm_runs_scripts(user_box, args):
    project(user_box)
    argv = [word.format(canary=user_box.canary()) if "{" in word else word for word in args]
    fires(user_box, user_box.canary(), ["npm", *argv], deadline=120)
    if args != ["install", *QUIET]:  # that one is allowed, and runs nothing: tests/integration has it
        refused(user_box, "npm", *argv)
