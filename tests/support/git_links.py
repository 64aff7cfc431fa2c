"""Roots whose git directory is elsewhere: linked worktrees and submodules, made with git itself."""
import pathlib

IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_NOSYSTEM": "1"}


class Links:
    """A repository MAIN with a worktree TREE, and a repository SUPER with the submodule SUPER/sub."""

    def __init__(self, box, base: pathlib.Path):
        self.box, self.base = box, base
        self.main, self.tree, self.super = base / "main", base / "tree", base / "super"
        self.sub, self.module = self.super / "sub", self.super / ".git/modules/sub"
        for path in (self.main, self.super):
            path.mkdir()
            box.own(path)
            self.git(path, "init", "-q", "-b", "trunk")
        (self.main / "file").write_text("text\n", encoding="ascii")
        box.own(self.main / "file")
        self.git(self.main, "add", "file")
        self.git(self.main, "commit", "-q", "-m", "first")
        self.git(self.main, "worktree", "add", "-q", str(self.tree))
        self.git(self.super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(self.main), "sub")

    def git(self, directory, *arguments):
        answer = self.box.call(["git", *arguments], env=self.box.environment(**IDENTITY), cwd=directory)
        assert answer.status == 0, answer
        return answer.out


def hidden(box, answer):
    """The message of the event that a git directory is not shown; None: no such event."""
    found = [event for event in box.events(answer) if event["event"] == "subproc.git.hidden"]
    return found[0]["message"] if found else None
