"""R113: pre-commit runs the hook of this repository with the released command."""
import os
import shutil
import subprocess

import pytest
import yaml
from making import ROOT, need, unpacked


def git(directory, *args):
    subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *args], cwd=directory, check=True, capture_output=True)


@pytest.mark.parametrize("text, status", [("print('fine')\n", 0), ("import os\nos.system('id')\n", 1)])
def test_the_hook_runs_the_released_command(text, status, release, tmp_path):
    need("pre-commit")
    hooks, repository = tmp_path / "hooks", tmp_path / "repository"
    for directory in (hooks, repository):
        directory.mkdir()
        git(directory, "init", "-q")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    git(hooks, "add", ".")
    git(hooks, "commit", "-q", "-m", "hooks")
    git(hooks, "tag", f"v{release.version}")
    hook = {"repo": str(hooks), "rev": f"v{release.version}", "hooks": [{"id": "chokepoint-lint"}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hook]}), encoding="utf-8")
    (repository / "a.py").write_text(text, encoding="ascii")
    git(repository, "add", ".")
    command = unpacked(release, tmp_path) / "bin"
    env = {"PATH": f"{command}:/usr/bin:/bin", "HOME": str(tmp_path), "PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
    assert shutil.which("chokepoint", path=env["PATH"]) == os.fspath(command / "chokepoint")
    done = subprocess.run(["pre-commit", "run", "--all-files", "--color", "never"], cwd=repository, env=env, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("a.py:2:1: error: " in done.stdout) == bool(status)
