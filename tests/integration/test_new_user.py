"""What README promises to a new user after the build: the embedded policy, only the obvious
options.
"""
import json
import shutil

import pytest

from command import SIXTEEN
from processes import marked


def plain(box, *args):
    return box.call([box.command, "run", *args])


def test_git_prints_the_commit(user_box):
    head = user_box.repository()
    answer = plain(user_box, "--json", "--timeout", "5", "--", "git", "rev-parse", "HEAD")
    assert answer.status == 0
    assert json.loads(answer.out)["stdout"]["text"].encode() == head


def test_bash_is_refused_and_the_tools_are_named(user_box):
    canary = user_box.canary()
    answer = plain(user_box, "--timeout", "5", "--", "bash", "-c", f"id > '{canary}'")
    assert answer.status == 125
    assert answer.out == b""
    assert b"'bash' is not in the policy" in answer.err
    for name in SIXTEEN:
        assert name.encode() in answer.err or name in ("bwrap", "sandbox-exec")
    assert not canary.exists()


@pytest.mark.parametrize("argv", [
    ["bwrap", "true"], ["/usr/bin/git", "status"], [""], ["sandbox-exec"], ["java"], ["sh"], ["env"]])
def test_what_may_not_be_called_exits_125(user_box, argv):
    answer = plain(user_box, "--", *argv)
    assert (answer.status, answer.out) == (125, b"")
    assert answer.err.startswith(b"chokepoint: ")


def test_absent_tool_exits_127_with_the_way_to_install_it(user_box):
    names = ("scip-typescript", "syft", "grype", "gitleaks", "tree-sitter", "ast-grep", "semgrep")
    absent = next(name for name in names if not shutil.which(name, path="/usr/local/bin:/usr/bin:/bin"))
    answer = plain(user_box, "--", absent, "--version")
    assert answer.status == 127
    assert absent.encode() in answer.err
    assert any(word in answer.err for word in (b"install", b"https://"))


def test_sixteen_tools_and_no_other_are_known(user_box):
    for name in SIXTEEN:
        answer = plain(user_box, "--json", "--dry-run", "--", name)
        document = json.loads(answer.out)
        assert document["tool"]["name"] == name
    for name in ("java", "bash", "sh", "python3", "env", "sudo", "curl", "busybox"):
        assert plain(user_box, "--json", "--dry-run", "--", name).status == 125


def test_nothing_is_written_where_it_runs(user_box):
    plain(user_box, "--", "git", "--version")
    assert list(user_box.root.iterdir()) == []
    written = {str(path.relative_to(user_box.home)) for path in user_box.home.rglob("*") if not path.is_dir()}
    assert written == {".local/state/chokepoint/audit.jsonl", ".cache/chokepoint/tools.json"}
    assert not marked("--version", "git")
