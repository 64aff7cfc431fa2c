"""Promise: The policy that is meant.
Attacker: the repository, or whoever writes a part of the caller's policy. Means: files named `default` in the working
directory, next to the policy and in HOME, for a policy with `extends: default`; the same for entries of `catalog`; an
`extends` that names a file; grants that would take a protection away.

Expected: `default` and `catalog` are those of the build, whatever files exist. No other value loads. A grant only lengthens lists
that are granted to callers or closed, and what the default policy denies or sets cannot be granted.
"""
import json

import pytest

NAMES = ["default", "default.yaml", "policy/default.yaml", "default/policy.yaml"]


def extending(box, **more):
    return box.file("policy/own.yaml", json.dumps({"version": 1, "extends": "default", **more}), 0o600)


def test_files_of_that_name_are_not_read(box):
    hostile = json.dumps({"version": 1, "search_path": ["/usr/bin", "/bin"], "tools": [box.entry("sh")]})
    for top in (box.root, box.home, box.base / "policy"):
        for name in NAMES[:2]:
            (top / name).write_text(hostile, encoding="ascii")
    policy = extending(box)
    answer = box.run("sh", "-c", f": > {box.canary()}", policy=policy)
    assert (answer.status, answer.outcome) == (125, "disallowed") and not box.canary().exists()
    assert box.run("git", "--version", policy=policy).outcome == "exited"
    # The same file does what the attacker wants if the caller names it.
    mine = box.file("policy/named.yaml", hostile, 0o600)
    assert box.run("sh", "-c", f": > {box.canary()}", policy=mine).outcome == "exited" and box.canary().exists()


def test_files_of_the_catalogue_are_not_read(box):
    loose = box.entry("cat")
    for top in (box.root, box.home, box.base / "policy"):
        for name in ("cat", "cat.yaml", "catalog.yaml", "text.yaml"):
            (top / name).write_text(json.dumps({"tools": [loose]}), encoding="ascii")
        (top / "catalog").mkdir()
        (top / "catalog/text.yaml").write_text(json.dumps({"tools": [loose]}), encoding="ascii")
    answer = box.run("cat", "/etc/passwd", policy=extending(box, catalog=["cat"]))
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.cat.args.operands"), answer.document
    for name in ("./cat", "cat.yaml", "../root/cat", "catalog/text.yaml", "text"):
        assert box.run("cat", policy=extending(box, catalog=[name])).outcome == "policy", name
    # The loose entry does what the attacker wants if the caller writes it.
    assert box.run("cat", "/etc/passwd", policy=extending(box, tools=[loose])).outcome == "exited"


@pytest.mark.parametrize("name", [*NAMES[1:], "./default", "/etc/passwd", "Default", "default ", "", ["default"], {"a": "b"}, True])
def test_nothing_else_can_be_extended(box, name):
    answer = box.run("git", "--version", policy=extending(box, extends=name))
    assert (answer.status, answer.outcome) == (125, "policy"), answer.document


# A grant, and what its refusal says.
TAKES_AWAY = {
    "a denied option": ({"name": "npm", "subcommand": "ci", "options": ["--registry="]}, "'--registry' in subcommand 'ci' in "
                        "tool 'npm' is in 'deny'"),
    "a required value": ({"name": "docker", "subcommand": "run", "options": ["--network="]}, "'--network' is already listed"),
    "a second spelling": ({"name": "npm", "subcommand": "ci", "options": ["--ignore-scripts=true|false"]},
                          "'--ignore-scripts' is already listed"),
    "a variable that is set": ({"name": "tree-sitter", "env": ["TREE_SITTER_DIR"]}, "'TREE_SITTER_DIR' is set by 'set_env'"),
    "the loader": ({"name": "git", "env": ["LD_PRELOAD"]}, "it makes the loader load code"),
    "a configuration": ({"name": "npm", "env": ["NPM_CONFIG_IGNORE_SCRIPTS"]}, "it points the tool at another configuration"),
    "a configuration of git": ({"name": "git", "env": ["GIT_CONFIG_COUNT"]}, "it points the tool at another configuration"),
    "every host": ({"name": "npm", "egress": ["*"]}, "it would match every host"),
    "a first list": ({"name": "strace", "execs": ["sh"]}, "tool 'strace' has no list 'execs' that could be lengthened"),
    "another route": ({"name": "npm", "route": "direct", "egress": ["a.org"]}, "unknown key 'route' in grant 'npm'"),
    "credentials": ({"name": "npm", "credentials": "allow", "egress": ["a.org"]}, "unknown key 'credentials' in grant 'npm'"),
    "a path": ({"name": "git", "path": "/tmp/git", "egress": ["a.org"]}, "unknown key 'path' in grant 'git'"),
    "more time": ({"name": "git", "limits": {"timeout_s": 100000}, "egress": ["a.org"]}, "unknown key 'limits' in grant 'git'"),
}


@pytest.mark.parametrize("what", TAKES_AWAY)
def test_no_grant_takes_a_protection_away(user_box, what):
    grant, said = TAKES_AWAY[what]
    answer = user_box.run("git", "--version", policy=extending(user_box, grant=[grant]))
    assert (answer.status, answer.outcome) == (125, "policy") and "line 1, column" in answer.message
    assert said in answer.message, answer.message
