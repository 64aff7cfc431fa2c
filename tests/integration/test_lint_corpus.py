"""The linter finds what it must in the corpus of each language, and nothing else. tests/support/corpus.py has the form."""
import collections
import json
import subprocess

import corpus
import pytest

ENOUGH = 150  # snippets a language
DISGUISES = 10  # snippets for each rule

SNIPPETS = {language: corpus.read(language) for language in corpus.LANGUAGES}


@pytest.fixture(scope="module")
def found(stage, tmp_path_factory):
    """One run over everything: {path: [(line, rule, column)]}."""
    place = tmp_path_factory.mktemp("corpus")
    for snippets in SNIPPETS.values():
        corpus.write(snippets, place)
    answer = subprocess.run([stage / "chokepoint", "lint", "--format", "json", "."], cwd=place, check=False,
                            capture_output=True, stdin=subprocess.DEVNULL)
    assert answer.returncode == 1, answer.stderr.decode()
    findings = collections.defaultdict(list)
    for one in json.loads(answer.stdout)["findings"]:
        findings[one["path"]].append((one["line"], one["rule"], one["column"]))
    return findings


@pytest.mark.parametrize("language", corpus.LANGUAGES)
def test_corpus_is_found_to_the_letter(found, language):
    wrong = [line for snippet in SNIPPETS[language] for line in corpus.differences(snippet, found[snippet.path])]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", corpus.LANGUAGES)
def test_corpus_is_large_enough(language):
    clean = sum(not snippet.expected for snippet in SNIPPETS[language])
    assert len(SNIPPETS[language]) >= ENOUGH
    assert clean >= ENOUGH // 5 and len(SNIPPETS[language]) - clean >= ENOUGH // 5
