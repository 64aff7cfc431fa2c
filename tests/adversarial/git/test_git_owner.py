"""Promise: Tools in a hostile repository.
Attacker: another user of the machine, who owns the repository. Means: git refuses the repository
of another owner, which a scanner cannot accept (safe.directory is '*'); so what the repository
configures would run as the caller.

Expected: the repository is read; nothing of it runs. As root in a user's repository, and as a user
in root's.
"""
import os

import pytest

from hostile import Repository, everything, hooks


def hand_over(repo, uid, gid):
    for parent, names, files in os.walk(repo.path):
        for name in [".", *names, *files]:
            os.chown(os.path.join(parent, name), uid, gid, follow_symlinks=False)


def prepare(box, uid, gid):
    repo = Repository(box)
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    hooks(repo, repo.path / ".git/hooks")
    everything(repo)
    repo.git("status", check=False)
    assert repo.fired()
    hand_over(repo, uid, gid)
    refused = repo.git("status", check=False)
    assert b"dubious ownership" in refused.err and not repo.fired()
    return repo


def read(repo):
    for args in (["log", "-p", "--all"], ["status", "--short"], ["diff"], ["show", "--format=%G?", "-m"],
                  ["blame", "a.txt"], ["branch", "--show-current"], ["symbolic-ref", "--short", "HEAD"],
                  ["rev-parse", "HEAD"], ["ls-files", "-m"], ["describe", "--always"]):
        answer = repo.box.run("git", *args, policy="default")
        assert answer.status == 0 and answer.stream("stdout"), (args, answer.document)
        assert not repo.fired(), args


def test_root_reads_a_users_repository(root_box, ordinary):
    if ordinary.uid == 0:
        pytest.fail("the ordinary user is root")
    read(prepare(root_box, ordinary.uid, ordinary.gid))


def test_user_reads_roots_repository(user_box, superuser):
    read(prepare(user_box, superuser.uid, superuser.gid))
