"""Promise: Tools in a hostile repository.
Attacker: the author of a repository. Means: git itself. It is what git may execute, and it is another program under
each of its names: a filter driver that is a link called git-apply applies the file that it is to filter as a patch, and
with core.worktree at / it writes wherever the caller may.

Expected: git executes nothing, not even itself. Nothing is written.
"""
import os

import pytest

from hostile import Repository


def plant(repo, name):
    """A patch that makes a file outside the root, and a filter that applies it."""
    made = repo.box.outside / name
    here = str(repo.path).lstrip("/")
    os.symlink("/usr/bin/git", repo.path / "git-apply")
    patch = f"--- /dev/null\n+++ b{made}\n@@ -0,0 +1 @@\n+written\n"
    blob = repo.git("hash-object", "-w", "--stdin", input=b"something else\n").out.decode().strip()
    repo.write("x.evil", patch)
    repo.write(".gitattributes", "*.evil filter=evil\n")
    repo.config("filter.evil.clean", repo.path / "git-apply")
    repo.config("core.worktree", "/")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{here}/x.evil")
    return made


@pytest.mark.parametrize("args", [["diff"], ["status", "--short"], ["diff-files", "-p"], ["ls-files", "-m"]],
                         ids=lambda args: args[0])
def test_git_does_not_apply_a_patch_as_a_filter(box, args):
    repo = Repository(box)
    made = plant(repo, "made")
    repo.git(*args, check=False)
    assert made.read_text() == "written\n", "plain git did not fall for it"
    made.unlink()
    answer = repo.box.run("git", *args, policy="default", timeout=60)
    assert answer.outcome == "exited", answer.document
    assert not made.exists()
