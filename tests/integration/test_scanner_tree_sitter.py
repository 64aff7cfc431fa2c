"""The real tree-sitter (tests/support/suite.py) with one grammar, for JSON. Alone it ends at the first file of another
language."""
import pytest

from gathered import gather
from jails import JAILS


@pytest.fixture
def tree(scanners_box):
    scanners_box.tree_sitter()
    scanners_box.file("root/a.py", "print(1)\n")
    scanners_box.file("root/b.json", "{}\n")
    scanners_box.file("root/c.json", "{,\n")
    scanners_box.file("root/d.rs", "fn main() {}\n")
    return scanners_box


def look(box):
    return gather(box, "--only", "syntax", policy="default").probes["syntax"]


def test_files_without_a_grammar_cost_the_others_nothing(tree):
    report = look(tree)
    assert report["state"] == "ok", report
    assert report["headline"] == "1 of 2 files parsed without an error; 2 without a grammar"
    found = report["evidence"]
    assert (found["files"], found["parsed"], found["without_grammar"]) == (2, 1, 2)
    assert [(one["id"], one["path"], one["line"]) for one in found["findings"]] == [("syntax-error", "c.json", 1)]
    assert [call["jail"] for call in report["calls"]] == ["native", "native"]
    assert report["calls"][1]["argv"][-2:] == ["b.json", "c.json"]


def test_without_any_file_of_a_known_language(tree):
    for name in ("b.json", "c.json"):
        (tree.root / name).unlink()
    report = look(tree)
    assert (report["state"], report["headline"]) == ("ok", "0 of 0 files parsed without an error; 2 without a grammar")


def test_without_a_grammar_the_reason_says_so(scanners_box):
    scanners_box.tree_sitter(grammars=False)
    scanners_box.file("root/b.json", "{}\n")
    report = look(scanners_box)
    assert report["state"] == "failed" and "tree-sitter has no grammar" in report["reason"], report


@pytest.mark.parametrize("jail", JAILS)
def test_alone_it_ends_at_the_first_file_without_one(tree, jail):
    answer = tree.run("tree-sitter", "parse", "--quiet", "--stat", "--", "a.py", "b.json", policy="default", options=["--jail", jail])
    assert answer["exit_code"] == 1 and b"Failed to load language" in answer.stream("stderr"), answer.document
    answer = tree.run("tree-sitter", "parse", "--quiet", "--stat", "--", "b.json", policy="default", options=["--jail", jail])
    assert answer["exit_code"] == 0 and b"Total parses: 1" in answer.stream("stdout"), answer.document
