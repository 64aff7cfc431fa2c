"""Our linter finds what another linter of Python finds in our corpus, or the corpus says why not.
docs/lint.md has the table.

The other is Bandit, with those of its tests that are about what R55 names.
"""
import json
import subprocess

import corpus
import pytest

TESTS = ("B102", "B301", "B307", "B506", "B602", "B603", "B604", "B605", "B606", "B607")
# Groups and snippets in which Bandit is wrong: it does not see that a name is bound to something
# else, nor which loader is meant unless it is a keyword argument.
SHADOWED = "clean"
OTHERWISE = {
    "the word shell in another keyword is clean": "B604 is about shell=flag too, of a function that may be anything",
    "a safe loader at its position is clean": "B506 looks for a keyword",
    "a safe loader in a literal that is spread is clean": "B506 looks for a keyword",
    "yaml.load with the faster of two safe loaders is clean": "B506 looks for the name SafeLoader",
    "either safe loader is clean": "B506 looks for the name SafeLoader",
    "the loader that makes only strings is clean": "B506 knows two safe loaders; this one makes strings, lists and mappings",
    "shell true on a line of its own is found where the call begins": "the same call: Bandit names the line of the keyword",
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """{path of a snippet: lines that Bandit reports}"""
    directory = tmp_path_factory.mktemp("agreement")
    snippets = corpus.read("python")
    corpus.write(snippets, directory)
    answer = subprocess.run(["/usr/bin/bandit", "--quiet", "--recursive", "--format", "json", str(directory)], check=False,
                            capture_output=True, stdin=subprocess.DEVNULL)
    results = json.loads(answer.stdout)["results"]
    lines = {snippet.path: set() for snippet in snippets}
    for one in results:
        if one["test_id"] in TESTS:
            lines[one["filename"].removeprefix(f"{directory}/")].add(one["line_number"])
    return snippets, lines


def is_explained(snippet):
    return snippet.group == SHADOWED or snippet.name.replace("=", " ").lower() in OTHERWISE


def test_what_bandit_finds_is_found(reported):
    snippets, lines = reported
    missing = []
    for snippet in snippets:
        ours = {line for line, _, _ in snippet.expected}
        if not is_explained(snippet):
            missing += [f"{snippet.path}:{line}" for line in sorted(lines[snippet.path] - ours)]
    assert not missing


def test_bandit_finds_enough_to_compare_with(reported):
    """If Bandit found nothing, the agreement would mean nothing."""
    snippets, lines = reported
    agreed = sum(len(lines[s.path] & {line for line, _, _ in s.expected}) for s in snippets)
    assert agreed >= 100


def test_what_is_explained_still_needs_it(reported):
    """A reason that no longer applies is removed."""
    snippets, lines = reported
    needed = {s.name.replace("=", " ").lower() for s in snippets
              if lines[s.path] - {line for line, _, _ in s.expected}}
    assert set(OTHERWISE) <= needed
