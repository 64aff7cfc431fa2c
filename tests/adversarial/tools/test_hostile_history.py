"""Promise: Tools in a hostile repository.
Attacker: the author of a repository, its .git directory included. Means: gitleaks starts "git log -p" to read the history,
without the arguments of the entry `git`, and git does what the repository configures: programs (tests/support/hostile.py),
git itself under another name, and settings that leave a part of the history out.

Expected: nothing of the repository runs, nothing is written, and no setting hides a key. There are three protections:
the variables of the entry, git as the only helper, and the jail, without which the call is refused. Some are removed, to see
that the attack works and what the others stop.
"""
import json
import os
import shutil

import pytest

import suite
from hostile import DEFAULT_POLICY, IDENTITY, MEANS, Repository

SCAN = ["gitleaks", "git", "--report-format=json", "--report-path=-", "--exit-code=0", "--log-level=error"]
SECRET = "AK" + "IA" + "QYLPMN5HFIQR7XYA"
HIDING = [("color.ui", "always"), ("color.diff", "always"), ("log.showRoot", "false"), ("core.bigFileThreshold", "1"),
          ("core.attributesFile", "{outside}/attributes")]
JAIL, EXECS = "          require_jail: true\n", "          execs: [git]\n"


def policy(box, *without):
    """The default policy with gitleaks, less a part of its protection."""
    directory = box.base / "scanners"
    if not directory.exists():
        directory.mkdir(mode=0o755)
        shutil.copy(suite.gitleaks(), directory / "gitleaks")
        (directory / "gitleaks").chmod(0o755)
    text = DEFAULT_POLICY.read_text(encoding="utf-8")
    text = text.replace("search_path: [", f"search_path: [{directory}, ", 1)
    for part in without:
        assert text.count(part) >= 1, part
        text = text.replace(part, "")
    return box.file("policy/history.yaml", text, 0o600)


def scan(box, *without, jail="auto"):
    answer = box.run(*SCAN, policy=policy(box, *without), options=["--jail", jail], timeout=60)
    assert answer.outcome == "exited", answer.document
    return answer


def open_list():
    """What makes the list of helpers: without these lines everything can be executed."""
    return [EXECS, "    execs: []                                     # with git and detect: git\n"]


def plant(kind, repo):
    """A means that must be held open is a generator."""
    made = kind.plant(repo)
    if made is not None:
        next(made)
    repo.fired()
    return made


@pytest.mark.parametrize("kind", MEANS, ids=str)
def test_nothing_of_the_repository_runs(user_box, kind):
    """In a jail, and without one, where the canary could be reached: there the variables and the list of helpers hold."""
    repo = Repository(user_box)
    made = plant(kind, repo)
    try:
        scan(user_box)
        assert not repo.fired()
        scan(user_box, JAIL, jail="none")
        assert not repo.fired()
    finally:
        if made is not None:
            made.close()


@pytest.mark.parametrize("kind", [kind for kind in MEANS if kind.name in ("textconv_driver", "textconv_by_info_attributes")],
                         ids=str)
def test_with_an_open_list_of_helpers_it_runs(user_box, kind):
    """No variable switches a textconv program off: git as the only helper does."""
    repo = Repository(user_box)
    plant(kind, repo)
    scan(user_box, JAIL, *open_list(), jail="none")
    assert repo.fired()


def test_the_program_that_the_jail_refused_is_named(user_box):
    repo = Repository(user_box)
    repo.write(".gitattributes", "*.txt diff=evil\n")
    repo.config("diff.evil.textconv", "/usr/bin/id")
    answer = scan(user_box, jail="native")
    assert [(denial["kind"], denial["path"]) for denial in answer["denied"]] == [("exec", "/usr/bin/id")], answer.document


def plant_apply(repo, top):
    """A textconv driver that is git, under the name of a command that writes: it applies what it is to convert, and makes a
    file in the root, which the tool sees at top."""
    os.symlink("/usr/bin/git", repo.path / "git-apply")
    repo.write("x.evil", f"--- /dev/null\n+++ b{top}/made\n@@ -0,0 +1 @@\n+written\n")
    repo.commit("a patch", "x.evil")
    repo.write(".git/info/attributes", "*.evil diff=evil\n")
    repo.config("diff.evil.textconv", f"{top}/git-apply")
    repo.config("core.worktree", "/")
    return repo.path / "made"


def test_git_itself_writes_nothing(user_box):
    """Git may be executed, and it is another program under each of its names: in the jail it can write nowhere."""
    made = plant_apply(Repository(user_box), "/work")
    writable = policy(user_box).read_text(encoding="utf-8").replace(JAIL, JAIL + "          workspace: rw\n")
    answer = user_box.run(*SCAN, policy=user_box.file("policy/writable.yaml", writable, 0o600), timeout=60)
    assert made.read_text() == "written\n", ("git did not fall for it", answer.document)
    made.unlink()
    scan(user_box)
    assert not made.exists()


def test_without_a_jail_git_would_write(user_box):
    """That is why the call is refused there."""
    made = plant_apply(Repository(user_box), user_box.root)
    scan(user_box, JAIL, jail="none")
    assert made.read_text() == "written\n"
    made.unlink()
    answer = user_box.run(*SCAN, policy=policy(user_box), options=["--jail", "none"])
    assert answer.outcome == "jail_unavailable" and not made.exists(), answer.document


@pytest.mark.parametrize("key, value", HIDING, ids=lambda text: text.split("/")[-1])
def test_no_setting_hides_a_key(user_box, key, value):
    user_box.file("root/key.py", f"key = '{SECRET}'\n")
    user_box.file("outside/attributes", "* -diff\n")
    env = user_box.environment(**IDENTITY)
    for args in (["init", "-q"], ["add", "."], ["commit", "-qm", "key"], ["config", key, value.format(outside=user_box.outside)]):
        assert user_box.call(["git", *args], env=env).status == 0
    plain = user_box.call([suite.gitleaks(), *SCAN[1:], "--no-banner"], env=env)
    assert json.loads(plain.out) == [], "plain gitleaks found it"
    found = json.loads(scan(user_box, JAIL, jail="none").stream("stdout"))
    assert [(one["RuleID"], one["File"]) for one in found] == [("aws-access-token", "key.py")]
