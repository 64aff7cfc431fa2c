"""Promise: Tools in a hostile repository.
Attacker: the repository. Means: scanners call git by themselves, without chokepoint's arguments,
and git runs what .git/config and .gitattributes name: textconv programs on "git log -p"
(gitleaks), a file system monitor on "git status" and "git ls-files" (semgrep), hooks.

Expected: nothing runs. gitleaks may execute git, and git nothing but itself; semgrep cannot execute git at all.
Stand-ins call git as the scanners do. Plainly called they run the attacker's program. test_hostile_history.py has the
real gitleaks and every means.
"""
import subprocess

import pytest

from escapes import fires

STAND_IN = """
#include <unistd.h>
int main(void) { return execlp("git", "git", %s, (char *)0); }
"""
CALLS = {"gitleaks": ("detect", '"log", "-p", "-U0", "--full-history", "--all"'),
         "semgrep": ("scan", '"status", "--porcelain"')}


@pytest.fixture
def hostile(user_box):
    """A repository with drivers and a monitor that leave a trace."""
    user_box.repository()
    evil = user_box.script("root/evil", user_box.canary())
    user_box.file("root/.gitattributes", "* diff=evil\n")
    user_box.file("root/text", "text\n")
    for args in (["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "second"],
                  ["config", "diff.evil.textconv", str(evil)], ["config", "core.fsmonitor", str(evil)]):
        assert user_box.call(["git", *args]).status == 0
    return user_box


def stand_in(box, tool):
    directory = box.directory("scanners")
    source = box.file("stand-in.c", STAND_IN % CALLS[tool][1])
    subprocess.run(["cc", "-o", directory / tool, source], check=True)
    box.own(directory / tool, 0o755)
    return directory


@pytest.mark.parametrize("tool", CALLS)
def test_nothing_of_the_repository_runs(hostile, tool):
    directory = stand_in(hostile, tool)
    answer = hostile.run(tool, CALLS[tool][0], policy=hostile.default_policy(search_path=[directory]))
    assert answer.outcome == "exited", answer.document
    assert not hostile.canary().exists()


@pytest.mark.parametrize("tool", CALLS)
def test_plainly_called_it_runs(hostile, tool):
    fires(hostile, hostile.canary(), [str(stand_in(hostile, tool) / tool)])
