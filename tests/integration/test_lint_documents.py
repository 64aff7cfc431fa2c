"""docs/lint.md describes every rule with the rule's own text."""
import pathlib

import pytest
import yaml

TOP = pathlib.Path(__file__).parents[2]
FILES = sorted((TOP / "lint").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_rule_is_in_the_document(path):
    text = (TOP / "docs/lint.md").read_text(encoding="utf-8")
    rules = yaml.safe_load(path.read_text(encoding="utf-8"))["rules"]
    assert rules
    missing = [rule["id"] for rule in rules if f"| `{rule['id']}` | {rule['group']} | {rule['why']} |" not in text]
    assert not missing
