"""The rules of gather on tests/gather: every file is full of disguised calls, and of code that must not be reported.

`FIND id...` at the end of a line names what must be found there; nothing else may be found.
"""
import collections
import json
import pathlib
import re
import subprocess

import pytest
import yaml

import test_gather_probes
from gathered import gather

TOP = pathlib.Path(__file__).parents[2]
CORPUS = TOP / "tests/gather"
DISGUISES = 10  # of each rule that this corpus is for
PLACES = {"ci.yml": ".github/workflows/ci.yml"}
NEW = {"py-weak-hash", "py-weak-hash-of-secret", "js-weak-hash", "js-weak-hash-of-secret", "py-tls-unverified",
       "js-tls-unverified", "py-template-unescaped", "js-template-unescaped", "py-redirect-of-input", "js-redirect-of-input",
       "py-request-of-input", "js-request-of-input", "py-where-of-input", "js-where-of-input", "sh-tls-unverified",
       "py-pickle-of-input", "go-tls-unverified", "c-tls-unverified", "rb-tls-unverified", "workflow-injection", "action_by_tag", "secret_shape",
       "private_key"}
# In pieces, so that nothing of it is a finding in this file. Each is one string of a program.
TOKENS = ["AK" + "IA" + "A" * 16, "gh" + "p_" + "a" * 36, "github" + "_pat_" + "a" * 82, "gl" + "pat-" + "a" * 20,
          "xo" + "xb-" + "1" * 12 + "-" + "a" * 20, "AI" + "za" + "a" * 35, "sk" + "_live_" + "a" * 24, "np" + "m_" + "a" * 36,
          "sk-" + "ant-" + "a" * 40, "S" + "G." + "a" * 22 + "." + "b" * 43, "hf" + "_" + "a" * 34, "dop" + "_v1_" + "0" * 64]
KEY = "-----BEGIN " + "{}PRIVATE KEY-----"
BYTES = "MIIBxwIBAAJhAKD0YSHy73nUgysO13XsJmd4fHiFyQ00R7VVu2iV9Qco"
STRINGS = ['"{}"', "'{}'", '"prefix {} suffix"', "f({!r})", '{{"a": "{}"}}', "https://localhost/?t={}", '"a={};b"', "`{}`",
           '["{}"]', "-H 'Authorization: {}'"]


def texts():
    """The files of the corpus, those for TypeScript made of those for JavaScript, and credentials in strings."""
    files = {PLACES.get(path.name, path.name): path.read_text(encoding="utf-8") for path in CORPUS.iterdir()}
    for name in [name for name in files if name.endswith(".js")]:
        for suffix in ("ts", "tsx"):
            files[f"{name[:-3]}.{suffix}"] = re.sub(r"\bjs-", f"{suffix}-", files[name])
    files["tokens.txt"[:-4] + ".conf"] = "".join(
        f"key = {form.format(token)} # FIND secret_shape\n" for token in TOKENS for form in STRINGS[:3])
    files["strings.conf"] = "".join(f"{form.format(TOKENS[0])} # FIND secret_shape\n" for form in STRINGS)
    files["clean.conf"] = "AKIAshort\nAK" "IAIOSFODNN7EXAMPLE\nghp_short\nxAKIA" + "A" * 16 + "\nsk_live_\nhf_" + "a" * 40 + "\n"
    return files


def keys():
    """A private key in each of these is found once, in its first line; the line alone is not."""
    kinds = ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "]
    found = [f"{KEY.format(kind)}\n{BYTES}\n" for kind in kinds]
    found += [f'k = "{KEY.format("RSA ")}\\n{BYTES}\\n"\n', f"k = '''{KEY.format('')}\n{BYTES}'''\n",
              f'"{KEY.format("EC ")}\\n"\n  "{BYTES}\\n"\n', f"key: |\n  {KEY.format('')}\n  {BYTES}\n",
              f"{KEY.format('RSA ')}\r\n{BYTES}\r\n"]
    return found, [f"grep '{KEY.format('RSA ')}' file\n", f"{KEY.format('')}\n...\n", f"{KEY.format('')}\nshort\n"]


def expected(files):
    return {(path, number, name) for path, text in files.items() for number, line in enumerate(text.split("\n"), 1)
            for _, _, names in [line.partition("FIND ")] for name in names.split()
            if not line.startswith(("# As", '"""'))}


@pytest.fixture(scope="module")
def corpus():
    files = texts()
    found, clean = keys()
    wanted = expected(files)
    for number, text in enumerate(found):
        files[f"key{number}.conf"] = text
        wanted.add((f"key{number}.conf", 2 if text.startswith("key:") else 1, "private_key"))
    files |= {f"nokey{number}.conf": text for number, text in enumerate(clean)}
    return files, wanted


def test_every_rule_finds_its_disguises_and_nothing_else(corpus, user_box, registry_tools):
    files, wanted = corpus
    for path, text in files.items():
        (user_box.root / path).parent.mkdir(parents=True, exist_ok=True)
        user_box.file(f"root/{path}", text)
    policy = user_box.default_policy(search_path=[registry_tools])
    found = gather(user_box, "--only", "curated_patterns,structural_patterns", policy=policy)
    reports = [found.probes[name] for name in ("curated_patterns", "structural_patterns")]
    assert [report["state"] for report in reports] == ["ok", "ok"], reports
    seen = {(item["path"], item["line"], item["id"]) for report in reports for item in report["evidence"]["findings"]}
    assert sorted(wanted - seen) == [] and sorted(seen - wanted) == []
    document = json.dumps(found.document)
    assert not [token for token in TOKENS if token in document] and BYTES not in document


def test_every_new_rule_has_its_disguises(corpus):
    counts = collections.Counter(name for _, _, name in corpus[1])
    assert {name: counts[name] for name in NEW if counts[name] < DISGUISES} == {}


def test_every_rule_is_tried(corpus):
    """Here, or in the project of test_gather_probes."""
    probes = {probe["name"]: probe for probe in yaml.safe_load((TOP / "policy/probes.yaml").read_text())["probes"]}
    rules = {name for call in probes["structural_patterns"]["calls"]
             for name in re.findall(r"^(?:--inline-rules=)?id: (\S+)$", call["argv"][-2], re.M)}
    names = rules | {call["id"] for call in probes["curated_patterns"]["calls"][2:]}
    tried = {name for _, _, name in corpus[1] | test_gather_probes.expected()}
    # Those for .tsx are those for .ts, by another name.
    assert {name for name in names - tried if name.replace("tsx-", "ts-") not in tried | rules} == set()
    assert {name for name in names - tried if not name.startswith(("tsx-", "c-unbounded-copy", "sh-eval"))} == set()


def test_typescript_has_the_rules_of_javascript():
    answer = subprocess.run(["/usr/bin/python3", TOP / "tools/gen/probe-rules.py", "--check"], capture_output=True, check=False,
                            stdin=subprocess.DEVNULL)
    assert answer.returncode == 0, answer.stderr.decode()


def table(*paths):
    return subprocess.run(["/usr/bin/python3", TOP / "tools/sample-findings.py", "--table", *paths], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)


def test_the_table_of_precision_is_what_was_judged():
    lists = sorted((TOP / "tests/judged").iterdir())
    page = (TOP / "docs/gather.md").read_text(encoding="utf-8")
    answer = table(*lists)
    assert answer.returncode == 0, answer.stderr.decode()
    assert answer.stdout.decode() + "\n" in page
    for path in lists:
        before, left = table(path).stdout.decode().splitlines()[-2:]
        assert left.replace("*all*", path.stem) in page, path
        assert before.replace("*all that", f"{path.stem}, all that").replace("judged* |", "judged |") in page, path


def judged(directory, name, *rows, readers="one\tother"):
    path = directory / name
    path.write_text(f"# names\npackage\trule\tseverity\tfile\tline\t{readers}\n" + "".join(f"{row}\n" for row in rows),
                    encoding="utf-8")
    return path


def test_two_readers_have_an_agreement(tmp_path):
    many = [f"a\tx\thigh\ta.c\t{line}\t{answers}" for line, answers in enumerate(["y\ty"] * 5 + ["n\tn"] * 5)]
    one = judged(tmp_path, "one.tsv", *many, "a\ty\tlow\ta.c\t3\ty\tn")
    other = judged(tmp_path, "other.tsv", "a\tz\tlow\ta.c\t4\tn\tn")
    answer = table(one, other)
    assert answer.returncode == 0, answer.stderr.decode()
    assert answer.stdout.decode().splitlines() == [
        "| rule | judged | useful, one | useful, other | agree | kappa |", "|---|---|---|---|---|---|",
        "| `x` | 10 | 5 | 5 | 100% | 1.00 |", "| `y` | 1 | 1 | 0 | 0% | - |", "| `z` | 1 | 0 | 0 | 100% | - |",
        "| *high* | 10 | 5 | 5 | 100% | 1.00 |", "| *low* | 2 | 1 | 0 | 50% | 0.00 |", "| *all* | 12 | 6 | 5 | 92% | 0.83 |"]


def test_one_reader_has_no_agreement_and_different_readers_no_table(tmp_path):
    one = judged(tmp_path, "one.tsv", "a\tx\thigh\ta.c\t1\ty", readers="one")
    assert "| *all* | 1 | 1 |\n" in table(one).stdout.decode() and b"kappa" not in table(one).stdout
    answer = table(one, judged(tmp_path, "two.tsv", "a\tx\thigh\ta.c\t1\ty\tn"))
    assert answer.returncode == 1 and b"not judged by the same readers" in answer.stderr
    answer = table(judged(tmp_path, "bad.tsv", "a\tx\thigh\ta.c\t1\ty\tmaybe"))
    assert answer.returncode == 1 and b"not a list of judged findings" in answer.stderr


def test_a_rule_that_became_info_is_counted_apart(tmp_path):
    path = judged(tmp_path, "one.tsv", "a\tx\thigh\ta.c\t1\ty\ty", "a\ty\tlow\ta.c\t2\tn\tn", "a\tz\tlow\ta.c\t3\ty\tn")
    path.write_text("# info now: y\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert table(path).stdout.decode().splitlines()[2:] == [
        "| `x` | 1 | 1 | 1 | 100% | - |", "| `y`, info now | 1 | 0 | 0 | 100% | - |", "| `z` | 1 | 1 | 0 | 0% | - |",
        "| *high* | 1 | 1 | 1 | 100% | - |", "| *low* | 1 | 1 | 0 | 0% | 0.00 |", "| *all that was judged* | 3 | 2 | 1 | 67% | 0.40 |",
        "| *all* | 2 | 2 | 1 | 50% | 0.00 |"]


def test_what_counts_as_info_now_is_info():
    probes = {probe["name"]: probe for probe in yaml.safe_load((TOP / "policy/probes.yaml").read_text())["probes"]}
    severities = {name: severity for call in probes["structural_patterns"]["calls"]
                  for name, severity in re.findall(r"^(?:--inline-rules=)?id: (\S+)\n(?:.+\n)*?severity: (\S+)$", call["argv"][-2], re.M)}
    for path in (TOP / "tests/judged").iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        quiet = {rule for line in lines if line.startswith("# info now: ") for rule in line.split()[3:]}
        rules = {line.split("\t")[1] for line in lines if not line.startswith(("#", "package\t"))}
        assert quiet and quiet == {rule for rule in rules if severities.get(rule) == "hint"}, path
