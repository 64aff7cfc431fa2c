"""Promise: Only listed arguments.
Attacker: a caller who knows where the policy and git read the same arguments differently. Means:
an option that is a flag for the policy and takes a value for git: "--x -- --output=f" would then
be a value and an option.

Expected: no option that is listed as a flag, or with a value that must be attached, takes the next
argument. Checked with the real git, for every option of every subcommand.
"""
import re

import pytest

from hostile import Repository, default_entry

NONSENSE = "--no-such-option"
OPERANDS = {"blame": ["a.txt"], "grep": ["first"], "cat-file": ["HEAD"], "check-ignore": ["a.txt"],
            "check-attr": ["-a", "a.txt"], "diff": ["HEAD"], "diff-tree": ["HEAD"], "diff-index": ["HEAD"],
            "rev-list": ["HEAD"], "show-ref": ["HEAD"], "merge-base": ["HEAD", "HEAD"], "ls-tree": ["HEAD"],
            "name-rev": ["HEAD"], "remote get-url": ["origin"], "log": ["HEAD"], "show": ["HEAD"], "shortlog": ["HEAD"]}

# These end git for another reason before it reads the argument that makes no sense.
OWN_REASON = re.compile(rb"--merge without MERGE_HEAD|--follow requires exactly one pathspec|Needed a single revision|"
                        rb"cannot be used together")


def options_of(sub):
    sets = {one["name"]: one["options"] for one in default_entry()["args"]["sets"]}
    for option in sub.get("options", []):
        yield from sets[option[1:]] if option.startswith("@") else [option]


@pytest.mark.parametrize("sub", default_entry()["args"]["subcommands"], ids=lambda sub: sub["name"].replace(" ", "_"))
def test_flag_of_the_policy_is_a_flag_of_git(user_box, sub):
    repo = Repository(user_box)
    args, operands = sub["name"].split(), OPERANDS.get(sub["name"], [])
    expected = repo.git(*args, NONSENSE, *operands, check=False)
    wrong = []
    for option in options_of(sub):
        if option == "-<number>" or "=" in option and "[=" not in option:
            continue
        name = option.partition("[")[0]
        answer = repo.git(*args, name, NONSENSE, *operands, check=False)
        complains = NONSENSE.lstrip("-").encode() in answer.err and answer.status != 0
        # rev-parse prints what it does not know; diff and rev-list print their usage.
        same = answer.status == expected.status and (NONSENSE.encode() in answer.out or answer.err == expected.err)
        if not complains and not same and not OWN_REASON.search(answer.err):
            wrong.append((option, answer.status, answer.err[:100]))
    assert not wrong


@pytest.mark.parametrize("name", ["--merged", "--no-merged", "--contains", "--no-contains", "--points-at"])
def test_option_that_takes_any_next_argument_is_listed_with_a_value(name):
    """git has a default for these if they come last; elsewhere they take the next argument, even an option."""
    for sub in default_entry()["args"]["subcommands"]:
        if sub["name"] in ("branch", "tag", "for-each-ref"):
            options = list(options_of(sub))
            assert name + "=" in options and name not in options and name + "[=]" not in options
