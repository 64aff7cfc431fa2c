"""--format sarif is SARIF 2.1.0: valid by its schema, with the fields that services rely on."""
import json
import urllib.parse

import pytest
import sarif
from linter import SHELL, SHELL_RULE, Tree


@pytest.fixture
def tree(user_box):
    return Tree(user_box)


@pytest.fixture(scope="module")
def validator():
    return sarif.validator()


def report(tree, validator, *args, **keywords):
    document = json.loads(tree.call("--format", "sarif", *args, **keywords).out)
    assert [error.message for error in validator.iter_errors(document)] == []
    return document["runs"][0]


def test_the_schema_refuses_invalid_sarif(validator):
    good = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}
    assert validator.is_valid(good)
    for bad in ({**good, "version": "2.0.0"}, {**good, "extra": 1}, {"version": "2.1.0"},
                {"version": "2.1.0", "runs": [{"results": []}]}):
        assert not validator.is_valid(bad)


def test_a_clean_tree_is_valid(tree, validator):
    run = report(tree, validator)
    assert run["results"] == [] and run["tool"]["driver"]["name"] == "chokepoint lint"


def test_every_kind_of_finding_is_valid(tree, validator):
    tree.configure("adr_dir: adr\nseverities: {python-eval: warning}\n")
    tree.write("a b/ä?#%.py", SHELL + "eval(x)\nx = = 1\nprint(1)  # chokepoint-lint: allow python-eval ADR-0001\n")
    tree.write("binary.py", b"\0")
    tree.write("odd \xff name.py".encode("latin-1").decode("utf-8", "surrogateescape"))
    run = report(tree, validator)
    rules = [result["ruleId"] for result in run["results"]]
    assert {SHELL_RULE, "python-eval", "broken-syntax", "waiver-unfounded", "not-scanned"} == set(rules)
    assert {result["level"] for result in run["results"]} == {"error", "warning", "note"}
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_locations_are_uris_from_the_top(tree, validator):
    tree.repository()
    tree.write("sub/ä?#%: x.py", "import os\n\nx = 'ä'; os.system('ls')\n")
    run = report(tree, validator, ".", cwd=tree.top / "sub")
    location = run["results"][0]["locations"][0]["physicalLocation"]
    uri = location["artifactLocation"]["uri"]
    assert urllib.parse.unquote(uri) == "sub/ä?#%: x.py" and uri.isascii()
    base = run["originalUriBaseIds"][location["artifactLocation"]["uriBaseId"]]["uri"]
    assert urllib.parse.urljoin(base, uri) == f"file://{tree.top}/{uri}"
    assert location["region"] == {"startLine": 3, "startColumn": 10, "endLine": 3, "endColumn": 19}
    assert run["columnKind"] == "unicodeCodePoints"


def test_every_rule_is_described(tree, validator):
    rules = report(tree, validator)["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) > 20
    for rule in rules:
        assert rule["shortDescription"]["text"].endswith(".") and rule["help"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
