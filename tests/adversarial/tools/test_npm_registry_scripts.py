"""Promise: Tools in a hostile repository.
Attacker: a package in the registry that npm may reach, and the repository that depends on it. Means: scripts around its
installation, with settings of the repository that allow them; a program that it links into node_modules/.bin.

Expected: no script runs. Plainly called, npm runs them. What would run later is listed with --overlay.
"""
import json

import pytest

from feature import full
from npm_registry import TRACE, grant

SETTINGS = ["ignore-scripts=false\nforeground-scripts=true\nscript-shell=/bin/sh\ndangerously-allow-all-scripts=true\nallow-scripts=scripted"]
SETTINGS += ["", "ignore-scripts=false", "dangerously-allow-all-scripts=true"] if full() else []


def traces(box):
    return list(box.root.rglob(TRACE))


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_script_of_a_package_runs(user_box, scripts_registry, settings):
    box = user_box
    box.file("root/package.json", json.dumps({"name": "top", "version": "1.0.0", "dependencies": {"scripted": "1.0.0"}}))
    box.file("root/.npmrc", f"registry={scripts_registry.url}\n{settings}\n")
    policy = grant(box, scripts_registry)
    for command in (["install"], ["ci"]):
        answer = box.run("npm", *command, policy=policy, options=["--egress", scripts_registry.host], timeout=60, deadline=90)
        assert answer["exit_code"] == 0, answer.document
    assert (box.root / "node_modules/scripted/package.json").exists() and traces(box) == []


def test_plain_npm_runs_them(user_box, scripts_registry):
    """From npm 11 on only with a setting, which the repository can have."""
    box = user_box
    box.file("root/package.json", json.dumps({"name": "top", "version": "1.0.0", "dependencies": {"scripted": "1.0.0"}}))
    box.file("root/.npmrc", f"registry={scripts_registry.url}\nignore-scripts=false\ndangerously-allow-all-scripts=true\n")
    box.call(["npm", "install", "--no-audit", "--no-fund"], deadline=120)
    assert traces(box) != []
