"""Promise: Only listed arguments.
Attacker: whoever writes the request. Means: everything that node does besides printing its
version: code on the command line, a script, the REPL, modules loaded first, a debugger, files that
hold options.

Expected: refused by the one rule that node has. Plainly called, -e runs the attacker's code.
"""
import pytest

from escapes import fires, refused, some

CODE = "require('fs').writeFileSync('{canary}', '')"
SPAWN = "require('child_process').spawn('/bin/sh', {{stdio: [0, 1, 2]}})"
VECTORS = [
    [], ["-"], ["-e", CODE], ["-e", SPAWN], ["--eval", CODE], ["--eval=" + CODE], ["-p", CODE], ["--print", CODE],
    ["-pe", CODE], ["-ep", CODE], ["-e" + CODE], ["script.js"], ["./script.js"], ["--", "script.js"],
    ["-r", "./script.js", "--version"], ["--require=./script.js", "--version"], ["--import", "./script.js"],
    ["--loader=./script.js"], ["--experimental-loader", "./script.js"], ["-i"], ["--interactive"], ["-c", "script.js"],
    ["--check", "script.js"], ["inspect", "script.js"], ["--inspect"], ["--inspect-brk=0.0.0.0:9229", "script.js"],
    ["--env-file=script.js"], ["--run", "x"], ["--test"], ["--watch", "script.js"], ["--build-snapshot", "script.js"],
    ["--prof-process"], ["--v8-options"], ["--version", "-e", CODE], ["-e", CODE, "--version"],
    ["--version", "--version"], ["-v", "-e", CODE], ["--version="], ["--version=-e"], ["--vers"], ["-ve", CODE],
    ["--VERSION"], ["--version", ""], ["", "--version"], ["--", "--version"],
    ["--redirect-warnings={canary}", "--version"], ["--heap-prof", "--version"], ["-h"], ["--help"],
    ["--completion-bash"], ["--title=x", "--version"], ["--openssl-config=script.js", "--version"],
    ["--icu-data-dir=.", "--version"], ["--report-on-signal", "--version"], ["--diagnostic-dir=.", "--version"],
]


@pytest.mark.parametrize("args", some(VECTORS), ids=lambda args: " ".join(args)[:60] or "nothing")
def test_nothing_but_the_version_is_allowed(user_box, args):
    canary = user_box.canary()
    user_box.file("root/script.js", CODE.format(canary=canary))
    answer = refused(user_box, "node", *(word.format(canary=canary) for word in args), named="--version")
    assert answer["rule"] == "tools.node.args.exact"
    assert not canary.exists()


def test_plain_node_runs_code(user_box):
    canary = user_box.canary()
    code = CODE.format(canary=canary)
    user_box.file("root/script.js", code)
    fires(user_box, canary, ["node", "-e", code])
    fires(user_box, canary, ["node", "script.js"])
    fires(user_box, canary, ["node", "-r", "./script.js", "-p", "1"])


def test_options_in_the_environment_do_not_pass(user_box):
    canary = user_box.canary()
    script = user_box.file("root/script.js", CODE.format(canary=canary))
    env = user_box.environment(NODE_OPTIONS=f"--require {script}")
    answer = user_box.run("node", "--version", policy="default", env=env)
    assert answer["exit_code"] == 0 and answer.stream("stdout").startswith(b"v")
    assert not canary.exists()
    fires(user_box, canary, ["node", "-p", "1"], env=env)
