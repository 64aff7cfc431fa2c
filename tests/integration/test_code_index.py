"""code_index with the real scip-typescript on a JavaScript project with its node_modules."""
import shutil

import pytest

import registry
from gathered import gather

SOURCE = "const mocha = require('mocha');\n\nfunction start(name) { return new mocha(name); }\n\nmodule.exports = start;\n"
TYPED = '{"compilerOptions": {"allowJs": true}}\n'


@pytest.fixture
def project(user_box, registry_tools):
    """Packages that have declarations in TypeScript make scip-typescript take the project for one in TypeScript."""
    shutil.copytree(registry.fetched(registry.MOCHA) / "node_modules", user_box.root / "node_modules", symlinks=True)
    user_box.file("root/package.json", '{"name": "project", "version": "1.0.0"}\n')
    user_box.file("root/index.js", SOURCE)
    user_box.policy = user_box.default_policy(search_path=[registry_tools])
    return user_box


def look(box):
    return gather(box, "--only", "code_index", policy=box.policy).probes["code_index"]


def test_with_a_configuration_it_is_indexed(project):
    project.file("root/tsconfig.json", TYPED)
    report = look(project)
    assert report["state"] == "ok", report
    assert [document["path"] for document in report["evidence"]["documents"]] == ["index.js"], report


def test_without_one_the_reason_says_what_the_tool_said(project):
    """It prints its errors on stdout."""
    report = look(project)
    assert report["state"] == "failed" and "no files got indexed. To fix this problem" in report["reason"], report
