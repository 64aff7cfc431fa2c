"""The linter finds what it must in the corpus of each language, and nothing else.
tests/support/corpus.py has the format.
"""
import collections
import json
import subprocess

import corpus
import pytest

ENOUGH = 150  # snippets per language
DISGUISES = 10  # snippets for each pattern of R55
UNREADABLE = "broken-syntax"  # the grammar could not parse all of it; the rest is scanned

SNIPPETS = {language: corpus.read(language) for language in corpus.LANGUAGES}


@pytest.fixture(scope="module")
def found(stage, tmp_path_factory):
    """One run over everything: {path: [(line, rule, column)]}."""
    directory = tmp_path_factory.mktemp("corpus")
    for snippets in SNIPPETS.values():
        corpus.write(snippets, directory)
    answer = subprocess.run([stage / "chokepoint", "lint", "--format", "json", "."], cwd=directory, check=False,
                            capture_output=True, stdin=subprocess.DEVNULL)
    assert answer.returncode == 1, answer.stderr.decode()
    findings = collections.defaultdict(list)
    for one in json.loads(answer.stdout)["findings"]:
        if one["rule"] != UNREADABLE:
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


# What R55 names, by the rule that finds it.
PATTERNS = {
    "python": ("python-shell-true python-shell-call python-os-process python-subprocess python-asyncio-process "
               "python-pickle python-yaml-load python-eval python-exec python-import").split(),
    "javascript": ("js-child-process", "js-eval", "js-function-constructor"),
    "typescript": ("js-child-process", "js-eval", "js-function-constructor"),
    "c": ("c-shell", "c-exec", "c-fork", "c-spawn"),
    "bash": ("sh-eval", "sh-source-variable", "sh-shell-c", "sh-pipe-shell", "sh-xargs-shell"),
}


@pytest.mark.parametrize("language", corpus.LANGUAGES)
def test_each_pattern_has_its_disguises(language):
    for rule in PATTERNS[language]:
        snippets = [snippet for snippet in SNIPPETS[language] if any(rule == one[1] for one in snippet.expected)]
        assert len(snippets) >= DISGUISES, rule


# One name in every disguise: NAME is inserted, and each marked line must be found.
DISGUISED_C = """
void d0(void) { NAME(0); }  //>
void d1(void) { (NAME)(0); }  //>
void d2(void) { (*&NAME)(0); }  //>
void d3(void) { int (*p)() = NAME; p(0); }  //>
void d4(void) { void *p; p = (void *)&NAME; ((int (*)())p)(0); }  //>
#define M5 NAME
void d5(void) { M5(0); }  //>
#define M6(x) do { NAME(x); } while (0)  //>
void d7(int c) { (c ? NAME : 0)(0); }  //>
static int (*t8[])() = { NAME };  //>
void d9(struct o *o) { o->f = NAME; }  //>
void d10(void) { hand(NAME); }  //>
static int (*p11)();
void s11(void) { p11 = NAME; }
void d11(void) { p11(0); }  //>
"""
DISGUISED_JS = """
import { NAME as d0 } from 'node:child_process'; d0('x');  //>
require('child_process').NAME('x');  //>
{ const cp = require('node:child_process'); cp.NAME('x'); }  //>
{ const { NAME } = require('child_process'); NAME('x'); }  //>
{ const { NAME: g } = require('child_process'); g('x'); }  //>
{ const cp = require('child_' + 'process'); cp['NAME']('x'); }  //>
{ const { NAME: g } = await import('child_process'); g('x'); }  //>
import('child_process').then(m => m.NAME('x'));  //>
(0, require('child_process').NAME)('x');  //>
{ const g = require('child_process').NAME; g.call(null, 'x'); }  //>
promisify(require('child_process').NAME);  //>
process.mainModule.require('child_process').NAME('x');  //>
"""
NAMED = {
    "c": (DISGUISED_C, ("system popen execl execle execlp execv execve execvp execvpe fexecve fork vfork clone "
                        "posix_spawn posix_spawnp").split()),
    "js": (DISGUISED_JS, "exec execSync execFile execFileSync spawn spawnSync fork".split()),
    "ts": (DISGUISED_JS, "exec execSync execFile execFileSync spawn spawnSync fork".split()),
}


def test_each_name_is_found_in_every_disguise(stage, tmp_path):
    expected = set()
    for suffix, (text, names) in NAMED.items():
        lines = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("//>")}
        assert len(lines) > DISGUISES
        for name in names:
            (tmp_path / f"{name}.{suffix}").write_text(text.replace("NAME", name))
            expected |= {(f"{name}.{suffix}", line) for line in lines}
    answer = subprocess.run([stage / "chokepoint", "lint", "--format", "json", "."], cwd=tmp_path, check=False,
                            capture_output=True, stdin=subprocess.DEVNULL)
    found = [(one["path"], one["line"]) for one in json.loads(answer.stdout)["findings"] if one["rule"] != UNREADABLE]
    assert len(found) == len(set(found))
    assert set(found) == expected
