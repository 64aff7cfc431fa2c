"""git-commit of the catalogue (docs/adr/0146): what was changed is recorded, and nothing of the repository runs for it."""
import json
import os

import pytest

from guards import needs

NAMES = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction", "pre-auto-gc")
IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}


@pytest.fixture
def repository(box):
    """Everything in it that git can run leaves a trace."""
    needs("git")
    box.repository()
    trace = box.canary()
    script = box.script("root/trap", trace)
    for name in NAMES:
        box.script(f"root/.git/hooks/{name}", trace)
    for key, value in (("core.fsmonitor", script), ("core.editor", script), ("gpg.program", script), ("commit.gpgSign", "true"),
                       ("gc.auto", "1"), ("sequence.editor", script)):
        assert box.call(["git", "-C", box.root, "config", key, str(value)]).status == 0
    box.file("root/a.c", "int a;\n")
    box.policy = box.file("policy/commit.yaml", json.dumps({"version": 1, "extends": "default", "catalog": ["git-commit"]}), 0o600)
    return box


def git(box, *words, status=0, **keywords):
    answer = box.run("git", *words, options=[option for name, value in IDENTITY.items() for option in ("--env", f"{name}={value}")]
                     if words[0] == "commit" else (), **keywords)
    assert answer.document["exit_code"] == status, answer.document
    return answer


def test_a_commit_is_made_and_nothing_else_runs(repository):
    git(repository, "add", "-A")
    git(repository, "commit", "-m", "what was done")
    assert repository.call(["git", "-C", repository.root, "-c", "core.fsmonitor=false", "log", "-1", "--format=%s"],
                           env=repository.environment(GIT_CONFIG_GLOBAL="/dev/null")).out == b"what was done\n"
    assert not os.path.exists(repository.canary())
    repository.file("root/a.c", "int b;\n")
    git(repository, "restore", "a.c")
    assert (repository.root / "a.c").read_text(encoding="ascii") == "int a;\n" and not os.path.exists(repository.canary())


def test_the_traps_are_real(repository):
    env = repository.environment(**IDENTITY)
    repository.call(["git", "-C", str(repository.root), "add", "-A"], env=env)
    repository.call(["git", "-C", str(repository.root), "commit", "-q", "-m", "x"], env=env)
    assert os.path.exists(repository.canary())


def test_a_filter_of_the_repository_does_not_run(repository):
    repository.file("root/.gitattributes", "*.c filter=trap\n")
    assert repository.call(["git", "-C", repository.root, "config", "filter.trap.clean", str(repository.root / "trap")]).status == 0
    answer = repository.run("git", "add", "a.c")
    assert not os.path.exists(repository.canary()), answer.document


@pytest.mark.parametrize("words", [["add", "-p"], ["add", "-i"], ["add", "--edit"], ["commit", "-e", "-m", "x"], ["commit", "-S", "-m", "x"],
                                   ["commit", "-t", "a.c"], ["commit", "-F", "/etc/passwd"], ["commit", "--trailer=a: b", "-m", "x"],
                                   ["add", "--pathspec-from-file=/etc/passwd"], ["restore", "-p"], ["push"], ["-c", "core.editor=x", "commit", "-m", "x"]])
def test_what_is_not_listed_is_refused(repository, words):
    answer = repository.run("git", *words)
    assert answer.outcome in ("disallowed", "cwd"), answer.document
