"""Promise: Tools in a hostile repository.
Attacker: the author of a repository, its .git directory included. Means: everything in it that
makes git start a program (tests/support/hostile.py): configuration, attributes, hooks, submodules,
objects that must be fetched.

Expected: every allowed subcommand runs, and nothing of the repository does. Each canary first runs
under plain git, to show that the attack works. There are two protections, the overrides of the
entry and its execs; each is removed once, to see what the other one stops. All of it is without a
jail, which would stop it alone: a canary of the host could not be reached from inside.
"""
import copy

import pytest

from feature import skip
from git_forms import every_option
from hostile import COMMANDS, MEANS, Means, Repository, default_entry, everything, planted


def entry_without(box, *parts):
    """The shipped entry less some of its protection; what may be asked for stays the same."""
    entry = copy.deepcopy(default_entry())
    if "execs" in parts:
        del entry["execs"]
    if "overrides" in parts:
        del entry["set_env"]
        for rules in (entry["args"], *entry["args"]["subcommands"]):
            if rules.get("inject") != ["--list"]:  # that one makes branch and tag list, it overrides nothing
                rules.pop("inject", None)
    return box.write_policy([entry], search_path=["/usr/local/bin", "/usr/bin", "/bin"],
                            name="policy/without-" + "-".join(parts) + ".yaml")


@pytest.fixture(autouse=True)
def git_can_be_bounded(request):
    """Without Landlock nothing holds git to its execs, and it is not run."""
    if "kind" in request.fixturenames:
        box = request.getfixturevalue("once_box" if "once_box" in request.fixturenames else "user_box")
        answer = box.run("git", "version", policy="default", options=["--jail", "none"])
        if answer.outcome == "jail_unavailable":
            skip("landlock", answer.message)


def setting_off(repo, commands, policy, enough=0):
    """Those of the commands that set the canary off, but no more than are enough. One program runs them all."""
    lines = ["\t".join(["git", *argv]) for argv in commands]
    listed = repo.box.file("commands", "".join(line + "\n" for line in lines))
    answer = repo.box.host("host_canary", repo.canary, listed, enough, policy=policy, root=repo.path, deadline=120)
    *reported, word, tried = answer.out.split()
    assert word == b"of" and (int(tried) == len(lines) or enough and len(reported) == enough), answer
    return [commands[int(number)] for number in reported]


def test_every_allowed_subcommand_is_tried():
    args = default_entry()["args"]
    allowed = {sub["name"] for sub in args["subcommands"]} | {vector[0] for vector in args["exact"]}
    tried = {argv[0] for argv in COMMANDS} | {" ".join(argv[:2]) for argv in COMMANDS}
    assert allowed <= tried, allowed - tried


@pytest.mark.parametrize("kind", MEANS, ids=str)
def test_nothing_of_the_repository_runs(once_box, kind: Means):
    """One means at a time; root meets all of them at once, with every option, in test_no_option_sets_anything_off."""
    repo = Repository(once_box)
    with planted(repo, kind):
        assert not setting_off(repo, COMMANDS, "default")


@pytest.mark.parametrize("kind", MEANS, ids=str)
def test_each_protection_holds_without_the_other(user_box, kind: Means):
    repo = Repository(user_box)
    with planted(repo, kind):
        enough = 0 if kind.only_execs else 4
        bare = setting_off(repo, COMMANDS, entry_without(user_box, "execs", "overrides"), enough)
        assert bool(bare) == kind.reachable, "without any protection"
        by_overrides = setting_off(repo, bare, entry_without(user_box, "execs"))
        assert bool(by_overrides) == kind.only_execs, "by the overrides alone"
        if not kind.only_overrides:
            assert not setting_off(repo, bare, entry_without(user_box, "overrides")), "by execs alone"


def test_no_option_sets_anything_off(box):
    """Every option of every subcommand, in a repository with all means at once."""
    repo = Repository(box)
    inner = repo.submodule()
    everything(inner)
    inner.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    repo.remove_object("gone.txt")
    repo.config("remote.origin.url", f"ext::{repo.script}")
    everything(repo)
    repo.git("status", check=False)
    assert repo.fired()
    commands = list(every_option())
    assert len(commands) > 500
    assert not setting_off(repo, commands, "default")
