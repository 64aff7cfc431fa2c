"""git-clone of the catalogue: the subcommand `clone` of git, from a host that is granted (docs/adr/0064)."""
import json

import pytest

from catalog import taking

HOST = "git.example.org"
URL = f"https://{HOST}/hostile.git"
# The hosts of the private network have public addresses; the certificates are over the machine's.
GRANT = [{"name": "git", "subcommand": "clone", "egress": [HOST, "web.example.org"]}]


@pytest.fixture
def clone(way):
    way.policy = taking(way.box, "git-clone", extends="default", grant=GRANT)

    def run(*args, egress=(HOST,), **shape):
        return way.run("git", "clone", *args, egress=egress, timeout=60, **shape)
    return run


def git(box, *args):
    return box.call(["git", "-C", box.root / "made", *args]).out.decode()


def test_git_clone(clone, way):
    answer = clone("-q", URL, "made")
    assert (answer.outcome, answer.status) == ("exited", 0), answer.document
    assert answer["jail"] == way.jail and "egress" in answer["layers"] and "execs" in answer["layers"]
    # One commit, no tag of another, no submodule, and the pointer in place of what LFS has.
    assert git(way.box, "log", "--format=%s") == "second\n" and git(way.box, "rev-parse", "--is-shallow-repository") == "true\n"
    assert not any((way.box.root / "made/sub").iterdir()) and not (way.box.root / "made/.git/modules").exists()
    assert "git-lfs" in (way.box.root / "made/a.bin").read_text()
    assert (way.box.root / "made/a.evil").read_text() == "evil\n"
    assert list((way.box.root / "made/.git").glob("hooks/*")) == []
    asked = way.network.take()["asked"]
    assert all(HOST in one for one in asked) and not any("repo.git" in one for one in asked), asked


def test_other_forms(clone, way):
    assert clone("--bare", "--branch", "v1", URL, "bare").status == 0
    assert (way.box.root / "bare/HEAD").exists()
    assert clone("-n", "-b", "main", URL, "empty").status == 0
    assert not (way.box.root / "empty/a.evil").exists()
    # The other subcommands of git are as they were.
    assert way.run("git", "--version", egress=()).status == 0
    assert way.run("git", "fetch", egress=()).outcome == "disallowed"


def test_policy_commands_know_it(user_box):
    path = taking(user_box, "git-clone", extends="default", grant=GRANT)

    def policy(*argv):
        return user_box.call([user_box.command, "policy", *map(str, argv)])
    answer = policy("diff", "default", path, "--json")
    changes = json.loads(answer.out)["changes"]
    assert answer.status == 1 and {change["tool"] for change in changes} == {"git"}
    assert all("clone" in change["field"] or change["after"] == "clone" for change in changes), changes
    explained = policy("explain", "--policy", path, "--root", user_box.root, "--", "git", "clone", URL)
    assert b"--depth=1" in explained.out and b"GIT_ALLOW_PROTOCOL=https" in explained.out, explained
    refused = user_box.run("git", "clone", URL, policy="default")
    assert refused.outcome == "disallowed" and refused["rule"] == "tools.git.args.subcommands"
