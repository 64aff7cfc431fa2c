"""The form in which the default policy lists an option is the form in the tool, according to the
tool itself.

A wrong form is a hole: if the policy takes an argument for the value of an option and the tool
takes it for an operand, the argument was judged by the wrong rule. Options that this version of
a tool does not know are skipped: the tool refuses them.
"""
import json
import os
import re
import shutil
import subprocess

import pytest

import grammar
from feature import skip

POLICY = grammar.default_policy()
NEEDS = re.compile(r"requires a value|requires an argument|requires a reference|takes one parameter|takes two param")
REFUSES = re.compile(r"takes no value|unrecognized|unknown|invalid option|usage:|no longer supported|Unknown|"
                     r"wasn't expected|doesn't allow|option requires")
WORD = "zz-word"


def need(tool):
    if not shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin"):
        skip(tool, f"{tool} is not installed")


def levels(tool):
    return [rules for rules in POLICY[tool] if rules.subcommand or len(POLICY[tool]) == 1]


class Probe:
    """Calls a tool in a small repository and reads its first message."""

    def __init__(self, box):
        box.repository()
        box.file("root/file", "{}\n")
        self.cwd = box.root
        self.env = box.environment(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", LC_ALL="C",
                                   GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*",
                                   PATH="/usr/local/bin:/usr/bin:/bin", DOCKER_CONFIG="/nonexistent")

    def call(self, *argv):
        return subprocess.run(argv, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=30)

    def says(self, *argv):
        finished = self.call(*argv)
        lines = (finished.stderr or finished.stdout).decode(errors="replace").strip().splitlines()
        return lines[0] if lines else ""


# ---- git ----

# What these need before they parse their options.
GIT_OPERANDS = {"rev-list": ["HEAD"], "diff-tree": ["HEAD"], "diff-index": ["HEAD"]}
# An argument after these is a commit; without one it is HEAD.
GIT_LAST_WORD = ("--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
# It opens no file, and prints what it does not know.
GIT_PRINTS = "rev-parse"


def git_fault(probe, rules, option):
    args = ["git", *rules.subcommand, *GIT_OPERANDS.get(rules.subcommand[0], [])]
    alone = probe.says(*args, option.name)
    if option.form == "value":
        if option.name in GIT_LAST_WORD:
            said = probe.says(*args, option.name, WORD)
            return None if "malformed object name" in said or "no such commit" in said else f"a value: {said}"
        return None if NEEDS.search(alone) or REFUSES.search(alone) else f"a value, but alone it says: {alone!r}"
    if NEEDS.search(alone) and "requires a reference" not in alone:
        return f"no separate value: {alone}"
    if option.form == "flag" and option.name.startswith("--"):
        said = probe.says(*args, f"{option.name}={WORD}")
        return None if REFUSES.search(said) else f"a flag, but with a value it says: {said!r}"
    return None


@pytest.mark.parametrize("rules", levels("git"), ids=str)
def test_git(user_box, rules):
    probe = Probe(user_box)
    faults = {}
    for option in rules.options.values():
        if option.form == "number" or rules.subcommand[0] == GIT_PRINTS:
            continue
        fault = git_fault(probe, rules, option)
        if fault:
            faults[option.name] = fault
    assert not faults


def test_git_prints_what_is_no_option_of_rev_parse(user_box):
    """So a wrong form can do nothing there: an argument is printed, never opened."""
    probe = Probe(user_box)
    rules = next(rules for rules in levels("git") if rules.subcommand == [GIT_PRINTS])
    for option in rules.options.values():
        if option.form == "flag" and option.name.startswith("--"):
            said = probe.says("git", GIT_PRINTS, f"{option.name}={WORD}")
            assert said == f"{option.name}={WORD}" or REFUSES.search(said), said


# ---- tools that say what they expect ----

def spoken_fault(option, alone, attached):
    """From the two messages of a tool with a parser that names the fault."""
    if option.form == "value":
        return None if NEEDS.search(alone) or REFUSES.search(alone) else f"a value, but alone it says: {alone!r}"
    if NEEDS.search(alone):
        return f"no separate value: {alone}"
    if option.form == "flag" and attached is not None and not REFUSES.search(attached):
        return f"a flag, but with a value it says: {attached!r}"
    return None


def spoken_faults(probe, rules, before, flag_refuses):
    faults = {}
    for option in rules.options.values():
        alone = probe.says(*before, option.name)
        long = option.name.startswith("--")
        attached = probe.says(*before, f"{option.name}={WORD}") if long and flag_refuses else None
        fault = spoken_fault(option, alone, attached)
        if fault:
            faults[option.name] = fault
    return faults


def test_strace(user_box):
    assert not spoken_faults(Probe(user_box), POLICY["strace"][0], ["strace"], True)


def test_rg(user_box):
    """The older parser accepts a value after a flag's '='; the policy refuses it."""
    probe = Probe(user_box)
    faults = spoken_faults(probe, POLICY["rg"][0], ["rg", "x", "file"], False)
    # The error about a missing pattern comes only if there is none yet, and an option with a
    # default takes the next argument.
    assert {name: fault for name, fault in faults.items() if not NEEDS.search(probe.says("rg", name))
            and "isn't a valid value for" not in probe.says("rg", name, WORD, "x", "file")} == {}


def test_jq(user_box):
    """After a flag the next argument is the program."""
    probe = Probe(user_box)
    faults = {}
    for option in POLICY["jq"][0].options.values():
        if option.form == "values":
            said = probe.says("jq", "-n", option.name)
            if f"takes {'one' if len(option.patterns) == 1 else 'two'} param" not in said and "Unknown" not in said:
                faults[option.name] = said
        elif option.name in ("-f", "--from-file"):
            assert WORD in probe.says("jq", "-n", option.name, WORD)
        else:
            said = probe.call("jq", "-n", option.name, f'"{WORD}"')
            if WORD.encode() not in said.stdout and b"Unknown" not in said.stderr:
                faults[option.name] = said
    assert not faults


# ---- docker: what its help says ----

def docker_forms(probe, args):
    text = probe.call("docker", *args, "--help").stdout.decode()
    forms = {}
    for short, name, kind in re.findall(r"^ {2,6}(-\w, )? *(--[\w-]+)(?: ([a-z]\w*))?(?= {2,}|\n)", text, re.MULTILINE):
        for spelled in filter(None, (short.strip(", "), name)):
            forms[spelled] = "value" if kind else "flag"
    return forms


@pytest.mark.parametrize("rules", levels("docker"), ids=str)
def test_docker(user_box, rules):
    need("docker")
    probe = Probe(user_box)
    forms = docker_forms(probe, rules.subcommand)
    assert forms
    known = {name: option.form for name, option in rules.options.items() if name in forms}
    assert known == {name: forms[name] for name in known}
    for name in set(rules.options) - set(forms):  # hidden, or unknown: the parser says which
        said = probe.says("docker", *rules.subcommand, name)
        assert REFUSES.search(said) or "flag needs an argument" in said, (name, said)


# ---- npm: its own tables, and its own parser ----

NPM_TABLES = """
const path = require('fs').realpathSync(process.argv[1]);
const from = require('module').createRequire(path);
let config;
for (const place of ['@npmcli/config/lib/definitions', '../lib/utils/config/index.js'])
  try { config = config || from(place); } catch (error) { if (error.code !== 'MODULE_NOT_FOUND' &&
    error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error; }
const nopt = from('nopt');
const types = {};
for (const [key, definition] of Object.entries(config.definitions)) types[key] = definition.type;
"""
NPM_TYPES = NPM_TABLES + """
const names = {};
for (const [key, type] of Object.entries(types)) names[key] = [type].flat().map(
  one => one === Boolean ? 'Boolean' : one === null ? 'null' : 'other');
console.log(JSON.stringify({names, shorthands: config.shorthands}));
"""
NPM_PARSE = NPM_TABLES + """
const vectors = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(vectors.map(vector => {
  const read = nopt(types, config.shorthands, vector, 0);
  return {remain: read.argv.remain, config: {...read, argv: undefined}};
})));
"""


def npm(probe, script, given=None):
    need("npm")
    need("node")
    cli = shutil.which("npm", path=probe.env["PATH"])
    finished = subprocess.run(["node", "-e", script, os.path.realpath(cli)], env=probe.env, check=True, timeout=60,
                              input=json.dumps(given).encode(), stdout=subprocess.PIPE)
    return json.loads(finished.stdout)


def test_npm(user_box):
    tables = npm(Probe(user_box), NPM_TYPES)
    faults = {}
    for rules in levels("npm"):
        for option in rules.options.values():
            key = option.name.lstrip("-")
            shorthand = tables["shorthands"].get(key)
            key = (shorthand or ["--" + key])[0].lstrip("-")
            kinds = tables["names"].get(key) or tables["names"].get(key.removeprefix("no-"))
            expected = "value" if kinds and "Boolean" not in kinds and not (shorthand and len(shorthand) > 1) else "flag"
            form = "flag" if option.form == "optional" else option.form
            if kinds and form != expected:
                faults[f"{rules} {option.name}"] = f"listed as {option.form}, its types are {kinds}"
    assert not faults


def test_npm_reads_no_vector_that_runs_scripts(user_box):
    """npm's own parser on allowed vectors: an argument after a flag, one dash for two, an
    abbreviation."""
    probe = Probe(user_box)
    tails = [["--ignore-scripts", "false"], ["--ignore-scripts=false"], ["--no-ignore-scripts"], ["-ignore-scripts=false"],
             ["--ignore-script=false"], ["--ignore", "false"], ["--no-ignore-scripts=true"], ["--ignore-scripts", "--json"],
             ["--json", "false"], ["--ignore-scripts=true", "false"], ["--ignore-scripts", "--", "false"], ["-no-ignore-scripts"],
             ["--ignore-scripts=true", "--ignore-scripts=false"], ["--script-shell=/bin/sh"], ["--script-sh", "x"], ["-g"],
             ["--global"], ["--glob"], ["--location=global"], ["--prefix=/tmp"], ["-C", "/tmp"], ["--pre", "/tmp"],
             ["--node-options=-r x"], ["--registry=x"], ["--reg=x"], ["-reg", "x"], ["--git=x"], ["x"], ["--", "x"],
             ["--json", "true"], ["--silent", "x"], ["--omit=dev"], ["--omit", "dev"], ["--no-audit", "true"],
             ["--loglevel", "silent"], ["--loglevel=info", "x"], ["--depth", "1"], ["-a", "false"], ["--dry-run", "false"]]
    with grammar.Judge(user_box) as judge:
        asked = [judge.ask(["npm", *rules.subcommand, *tail]) for rules in levels("npm") for tail in tails]
    passed = [verdict.argv[1:] for verdict in asked if verdict.allowed]
    assert 10 < len(passed) < len(asked)
    for vector, read in zip(passed, npm(probe, NPM_PARSE, passed)):
        config = read["config"]
        if vector[0] in ("ci", "install", "test"):
            assert config["ignore-scripts"] is True, vector
        if vector[0] in ("ci", "install"):
            assert read["remain"] == [vector[0]], vector
        assert config["prefix"].rstrip("/") == os.getcwd() or config["prefix"] == ".", (vector, config["prefix"])
        wrong = {"script-shell", "node-options", "registry", "git", "global", "location", "userconfig", "call"} & set(config)
        assert not wrong, vector
