"""The hook for pre-commit, run by pre-commit itself on a separate repository."""
import os
import pathlib
import shutil

import pytest
import yaml
from feature import skip
from linter import SHELL_RULE, Tree

HOOKS = pathlib.Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


class Hooked(Tree):
    """A repository with the hook for its commits."""

    def __init__(self, box):
        super().__init__(box)
        if not shutil.which("pre-commit"):
            skip("pre-commit", "pre-commit is missing")
        self.env = box.environment(PATH=f"{box.stage}:/usr/bin:/bin", PRE_COMMIT_HOME=str(box.home / "pre-commit"),
                                   GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
                                   GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")
        source = box.directory("hooks")
        shutil.copy(HOOKS, source)
        box.own(source / HOOKS.name)
        self.git("init", "-q", cwd=source)
        self.git("add", ".", cwd=source)
        self.git("commit", "-q", "-m", "hooks", cwd=source)
        self.source, self.rev = str(source), self.git("rev-parse", "HEAD", cwd=source).decode().strip()
        self.git("init", "-q")
        self.use()

    def git(self, *args, cwd=None) -> bytes:
        answer = self.box.call(["git", *args], cwd=cwd or self.top, env=self.env)
        assert answer.status == 0, answer.err
        return answer.out

    def use(self, **hook):
        self.write(".pre-commit-config.yaml", yaml.safe_dump(
            {"repos": [{"repo": self.source, "rev": self.rev, "hooks": [{"id": "chokepoint-lint", **hook}]}]}))

    def check(self):
        """All added files go through the hook."""
        self.git("add", "--force", ".")
        answer = self.box.call(["pre-commit", "run", "--color", "never"], cwd=self.top, env=self.env, deadline=120)
        assert b"chokepoint lint" in answer.out, answer
        return answer


@pytest.fixture
def hooked(user_box):
    return Hooked(user_box)


def test_the_hook_stops_what_goes_around_chokepoint(hooked):
    hooked.write("a.py", "print('fine')\n")
    assert hooked.check().status == 0
    hooked.write("sub/a.mts", "eval(x)\n")
    hooked.write("b.py")
    hooked.write("notes.txt", "text\n")
    answer = hooked.check()
    assert answer.status == 1 and b"b.py:2:1: error: " in answer.out and b"sub/a.mts:1:1: error: " in answer.out


def test_the_hook_uses_the_configuration_at_the_top(hooked):
    hooked.configure(f"severities: {{{SHELL_RULE}: note}}\n")
    hooked.write("sub/a.py")
    assert hooked.check().status == 0


def test_a_file_that_is_named_like_an_option_is_a_file(hooked):
    """Attack: the file name would be the first argument after the command, and choose a
    configuration with all rules off."""
    hooked.configure(f"severities: {{{SHELL_RULE}: off}}\n", name="off.yaml")
    hooked.write("--config=off.yaml", "text\n")
    hooked.write("a.py")
    assert hooked.check().status == 1
    hooked.use(args=[])  # without the "--" in our hook it would succeed
    assert hooked.check().status == 0


def test_what_is_ignored_but_added_is_looked_at(hooked):
    """Attack: .gitignore names everything, and the file is added by force."""
    hooked.write(".gitignore", "*\n")
    hooked.write("a.py")
    assert hooked.paths() == []
    assert hooked.check().status == 1


def test_the_hook_is_well_formed():
    hook, = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert hook["id"] == "chokepoint-lint" and hook["args"][-1] == "--"
    assert hook["entry"] == "chokepoint lint" and os.linesep not in hook["description"]
