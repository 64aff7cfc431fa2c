"""Promise: Tools in a hostile repository.
Attacker: the author of a repository. Means: files whose times the index does not know, so that git
reads them and rewrites the index; `.git/index` as a symlink to a file outside the root; an index
that is split in two.

Expected: every allowed subcommand with every allowed option, without a jail, changes no file of
the repository and none outside: not its content, its inode, its owner, its mode or its times. The
one exception is in the last test and in SECURITY: git sets the time of a shared index that it
reads.
"""
import hashlib
import os

import pytest

from git_forms import every_option
from hostile import COMMANDS, Repository

STIRRED = ("still.txt", "gone.txt")  # host_canary sets their times before each command


def picture(*tops):
    """Of each file: what it is and what it holds. Reading changes the access time, which is left out."""
    found = {}
    for top in tops:
        for parent, names, files in os.walk(top):
            for name in [".", *names, *files]:
                path = os.path.join(parent, name)
                stat = os.lstat(path)
                times = () if name in STIRRED else (stat.st_mtime_ns, stat.st_ctime_ns)
                held = None
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as stream:
                        held = hashlib.sha256(stream.read()).hexdigest()
                found[path] = (stat.st_ino, stat.st_mode, stat.st_uid, stat.st_nlink, times, held)
    return found


def changed_by(repo, commands):
    """The files that differ after the commands, which one program runs without a jail."""
    lines = ["\t".join(["git", *args]) for args in commands]
    listed = repo.box.file("commands", "".join(line + "\n" for line in lines))
    before = picture(repo.path, repo.box.outside)
    answer = repo.box.host("host_canary", repo.canary, listed, 0, policy="default", root=repo.path, deadline=120)
    assert answer.out.split() == [b"of", str(len(lines)).encode()], answer
    after = picture(repo.path, repo.box.outside)
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def link_outside(repo):
    outside = repo.box.outside / "their-index"
    (repo.path / ".git/index").rename(outside)
    (repo.path / ".git/index").symlink_to(outside)


def in_place(repo):
    assert (repo.path / ".git/index").is_file()


@pytest.mark.parametrize("means", [in_place, link_outside])
@pytest.mark.parametrize("args", [["diff"], ["diff", "HEAD"], ["status"], ["describe", "--always", "--dirty"]], ids=" ".join)
def test_plain_git_writes_the_index(user_box, args, means):
    """What the others hold against: without the entry each of these writes, through the link as well."""
    repo = Repository(user_box)
    means(repo)
    before = picture(repo.path, repo.box.outside)
    repo.make_index_stale()
    repo.git(*args)
    after = picture(repo.path, repo.box.outside)
    wrote = {os.path.basename(path) for path in before if before[path] != after.get(path)}
    assert wrote & {"index", "their-index"}


@pytest.mark.parametrize("means", [in_place, link_outside])
def test_no_subcommand_writes(box, means):
    repo = Repository(box)
    means(repo)
    assert not changed_by(repo, COMMANDS)


def test_no_option_writes(user_box):
    repo = Repository(user_box)
    link_outside(repo)
    commands = list(every_option())
    assert len(commands) > 500
    assert not changed_by(repo, commands)


def test_time_of_a_shared_index_is_all_that_is_written(user_box):
    """git sets it whenever it reads the index, whatever its configuration says: else it would remove the file one day."""
    repo = Repository(user_box)
    repo.git("update-index", "--split-index")
    shared = next((repo.path / ".git").glob("sharedindex.*"))
    held = shared.read_bytes()
    assert set(changed_by(repo, COMMANDS)) <= {str(shared)}
    assert shared.read_bytes() == held
