"""Promise: What each jail holds.
Attacker: the author of a repository. Means: the file .git of the root, which says where the git
directory is: another repository, ~/.ssh, a worktree or a module of somebody else, through a link, with
`..`, NUL, a line break, as a FIFO, as a hard link, very long; exchanged during the look-up; a
repository in a directory called "worktrees".

Expected: a git directory outside the root is shown only if it names the root itself. Nothing else is
shown, the tool runs, and an event says which --root is right.
"""
import ctypes
import os
import pathlib
import shutil
import tempfile
import threading

import pytest

from git_links import Links, hidden

AT_FDCWD = -100
RENAME_EXCHANGE = 2
SECRET = b"the text of another repository"


@pytest.fixture
def links(cell):
    yield from links_of(cell)


@pytest.fixture
def once_links(once_cell):
    yield from links_of(once_cell)


def links_of(cell):
    """In /var/tmp, which no jail has of its own."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="choke-links-", dir="/var/tmp"))
    try:
        cell.box.own(base, 0o755)
        cell.policy = cell.write_policy(more=[cell.box.entry(name, route="external") for name in ("cat", "git")])
        yield Links(cell.box, base)
    finally:
        shutil.rmtree(base)


def plant(box, directory):
    path = directory / "secret"
    path.write_bytes(SECRET)
    return box.own(path)


def reads(cell, root, path):
    return cell.inside("cat", path, root=root, cwd=root)


def stays_hidden(cell, root, secret, right=None):
    """right: the root that the message names."""
    answer = reads(cell, root, secret)
    message = hidden(cell.box, answer)
    assert answer.status == 1 and SECRET not in answer.stream("stdout"), answer.document
    assert message and "use --root" in message, answer.err
    assert right is None or f"--root '{right}'" in message, message


def test_proven_directory_is_shown_read_only(cell, links):
    """The attack is real: what is proven can be read. Only that directory is shown."""
    for root, directory in ((links.tree, links.main / ".git"), (links.sub, links.module)):
        secret = plant(cell.box, directory)
        answer = reads(cell, root, secret)
        assert answer.stream("stdout") == SECRET and hidden(cell.box, answer) is None, answer.document
        cell.refused_inside("breach_files", "write", directory / "new", root=root, cwd=root, errnos="EROFS EACCES")
        assert not (directory / "new").exists()
    assert reads(cell, links.tree, links.main / "file").status == 1
    plant(cell.box, links.super / ".git")
    assert reads(cell, links.sub, links.super / ".git/secret").status == 1


def directories(cell, links):
    """What .git may name, the secret that it would show, and the right root as far as there is one."""
    box = cell.box
    ssh = box.home / ".ssh"
    ssh.mkdir()
    box.own(ssh, 0o700)
    link = links.base / "link"
    link.symlink_to(links.main / ".git")
    admin = links.main / ".git/worktrees/tree"
    yield links.main / ".git", plant(box, links.main / ".git"), links.main
    yield ssh, plant(box, ssh), None
    yield link, plant(box, links.main / ".git"), links.main
    yield admin, plant(box, links.main / ".git"), links.tree
    yield links.module, plant(box, links.module), links.sub
    yield links.main / ".git/worktrees/../../.git", plant(box, links.main / ".git"), links.main
    yield links.main / ".git/worktrees/tree/../tree", plant(box, links.main / ".git"), links.tree
    yield "/etc", pathlib.Path("/etc/shadow"), None
    yield links.base / "missing", plant(box, links.main / ".git"), None


def test_file_that_names_another_directory_shows_nothing(cell, links):
    for named, secret, right in directories(cell, links):
        cell.box.file("root/.git", f"gitdir: {named}\n")
        stays_hidden(cell, cell.box.root, secret, right)


def test_file_of_an_odd_shape_shows_nothing(once_cell, once_links):
    """The same for every caller: what is read is the same file."""
    cell, links, box = once_cell, once_links, once_cell.box
    git = links.tree / ".git"
    secret = plant(box, links.main / ".git")
    admin = f"{links.main}/.git/worktrees/tree"
    shapes = [lambda text=text: git.write_text(text, encoding="ascii") for text in (
        f"gitdir: {admin}\0/x\n", f"gitdir: {admin}\nx\n", f"gitdir: {admin}{'/.' * 4000}\n", "gitdir: \n")]
    shapes += [lambda: os.mkfifo(git), lambda: git.symlink_to(links.main / ".git")]
    for shape in shapes:
        git.unlink(missing_ok=True)
        shape()
        answer = reads(cell, links.tree, secret)
        assert answer.status == 1 and SECRET not in answer.stream("stdout"), answer.document


def test_hard_link_of_the_file_in_another_root_shows_nothing(once_cell, once_links):
    """It is the very file that the directory of the worktree names, but not in the root that it names."""
    cell, links = once_cell, once_links
    root = links.base / "other"
    root.mkdir()
    cell.box.own(root)
    os.link(links.tree / ".git", root / ".git")
    stays_hidden(cell, root, plant(cell.box, links.main / ".git"), links.tree)


def test_repository_called_worktrees_does_not_show_what_is_above_it(cell, links):
    """COMMON/worktrees/ID is a directory that a clone can have, if the clone is called "worktrees"."""
    box = cell.box
    secret = plant(box, links.base)
    evil = links.base / "worktrees/id"
    evil.mkdir(parents=True)
    box.own(evil.parent)
    box.own(evil)
    for name, text in (("gitdir", f"{box.root}/.git\n"), ("commondir", "../..\n"), ("HEAD", "ref: refs/heads/x\n")):
        (evil / name).write_text(text, encoding="ascii")
        box.own(evil / name)
    box.file("root/.git", f"gitdir: {evil}\n")
    stays_hidden(cell, box.root, secret)


def test_module_that_leads_elsewhere_is_not_shown(cell, links):
    secret = plant(cell.box, links.module)
    config = links.module / "config"
    honest = config.read_text(encoding="ascii")
    for value in ("../../../..", "/", str(links.main), "../../../sub\n\tworktree = ../../../sub", "../../../missing"):
        config.write_text(honest.replace("../../../sub", value), encoding="ascii")
        stays_hidden(cell, links.sub, secret)


def test_directory_that_others_may_write_is_not_shown(once_cell, once_links):
    secret = plant(once_cell.box, once_links.main / ".git")
    for mode in (0o775, 0o757):
        (once_links.main / ".git").chmod(mode)
        stays_hidden(once_cell, once_links.tree, secret)


class Exchange(threading.Thread):
    """Exchanges two names, as fast as it can."""

    def __init__(self, one, two):
        super().__init__(daemon=True)
        self.names = [os.fsencode(one), os.fsencode(two)]
        self.ended, self.count = threading.Event(), 0
        self.rename = ctypes.CDLL(None, use_errno=True).renameat2

    def run(self):
        while not self.ended.is_set():
            assert self.rename(AT_FDCWD, self.names[0], AT_FDCWD, self.names[1], RENAME_EXCHANGE) == 0
            self.count += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


@pytest.mark.parametrize("what", ["repository", "link", "file"])
def test_directory_that_is_exchanged_is_never_shown(once_cell, once_links, what):
    """The other one is a whole repository with a worktree of the same name. Nothing here depends on time:
    a slow machine exchanges as often during a look-up."""
    cell, links, box = once_cell, once_links, once_cell.box
    other = Links(box, box.own(pathlib.Path(tempfile.mkdtemp(dir=links.base)), 0o755))
    plant(box, other.main / ".git")
    mine = links.main / ".git/secret"
    mine.write_text("mine", encoding="ascii")
    box.own(mine)
    names = {"repository": (links.main, other.main), "file": (links.tree / ".git", other.tree / ".git")}
    if what == "link":
        for name, target in (("one", links.main), ("two", other.main)):
            (links.base / name).symlink_to(target)
        box.own(links.base / "one")
        box.own(links.base / "two")
        (links.tree / ".git").write_text(f"gitdir: {links.base}/one/.git/worktrees/tree\n", encoding="ascii")
        names["link"] = (links.base / "one", links.base / "two")
    with Exchange(*names[what]) as exchange:
        for _ in range(15):
            answer = cell.run("cat", mine, other.main / ".git/secret", root=links.tree, cwd=links.tree)
            assert answer.outcome in ("exited", "spawn_failed", "jail_unavailable"), answer.document
            assert SECRET not in answer.stream("stdout"), answer.document
    assert exchange.count > 100


def test_config_of_the_module_runs_nothing(cell, links):
    """The default policy's git: the config of a module is the attacker's as much as that of the root."""
    box = cell.box
    canary = box.canary()
    script = box.script("outside/evil", canary)
    box.file("outside/more", f"[core]\n\tfsmonitor = {script}\n\thooksPath = {box.outside}\n")
    with (links.module / "config").open("a", encoding="ascii") as config:
        config.write(f"[include]\n\tpath = {box.outside}/more\n[core]\n\tpager = {script}\n[diff]\n\texternal = {script}\n")
    (links.sub / "file").write_text("changed\n", encoding="ascii")
    assert box.call(["git", "diff"], cwd=links.sub, env=box.environment()).status is not None and canary.exists()
    for jail in (cell.jail, "none"):
        canary.unlink(missing_ok=True)
        for command in ("status", "log", "diff"):
            answer = box.run("git", command, policy="default", options=["--jail", jail], root=links.sub, cwd=links.sub)
            assert (answer.outcome, answer.status) == ("exited", 0), answer.document
        assert not canary.exists()
