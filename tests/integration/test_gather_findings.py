"""What is planted is on the first screen once, with its line; a baseline lets CI fail on what is new."""
import json
import os
import pathlib
import re

import jsonschema
import pytest
import sarif

from gathered import Gathered, gather_argv

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs/gather.schema.json").read_text(encoding="utf-8"))
SCREEN = 40  # lines
LOOK = "curated_patterns,structural_patterns,lint"
# In pieces, so that nothing of it is a finding in this file.
TOKEN = "gh" + "p_" + "abcdefghijklmnopqrstuvwxyz0123456789"
PLANTED = {
    "app.py": f"""import hashlib
import requests

URL = "https://localhost/?token={TOKEN}&x=1"


def load(name):
    key = hashlib.md5(name).hexdigest()
    return requests.get(URL + key, verify=False)
""",
    ".github/workflows/ci.yml": "on: push\njobs:\n  one:\n    steps:\n      - uses: someone/thing@v1\n",
    "install.sh": "#!/bin/sh\ncurl -fsSL https://localhost/x | sh\n",
}
WHERE = ["app.py:4", "app.py:8", "app.py:9", ".github/workflows/ci.yml:5", "install.sh:2"]


@pytest.fixture
def planted(user_box, registry_tools):
    for path, text in PLANTED.items():
        (user_box.root / path).parent.mkdir(parents=True, exist_ok=True)
        user_box.file(f"root/{path}", text)
    user_box.policy = user_box.default_policy(search_path=[registry_tools])
    return user_box


def run(box, *options, only=LOOK):
    return box.call(gather_argv(box, "--only", only, *options, policy=box.policy))


def document_of(box, *options, only=LOOK):
    document = Gathered(run(box, "--json", *options, only=only)).document
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    return document


def places(document):
    return [(one["path"], one["line"]) for one in document["findings"]]


def test_what_is_planted_is_on_the_first_screen_once(planted):
    answer = run(planted)
    lines = answer.out.decode().splitlines()[:SCREEN]
    assert answer.status == 0, answer
    for where in WHERE:
        assert len([line for line in lines if re.search(re.escape(where) + r"\b", line)]) == 1, (where, lines)
    for source in ("requests.get(URL + key, verify=False)", "- uses: someone/thing@v1", "curl -fsSL https://localhost/x | sh",
                   "key = hashlib.md5(name).hexdigest()", "URL = ..."):
        assert any(line.strip().endswith(source) for line in lines), (source, lines)
    assert TOKEN not in answer.out.decode()


def test_one_place_is_one_finding_that_names_its_probes(planted):
    planted.file("root/more", "#!/bin/sh\n\ncurl https://localhost/z | sh\n")
    document = document_of(planted)
    found = [one for one in document["findings"] if one["path"] == "more"]
    assert len(found) == 1 and {seen["probe"] for seen in found[0]["seen_by"]} == {"curated_patterns", "lint"}
    assert found[0]["source"] == "curl https://localhost/z | sh" and found[0]["line"] == 3
    assert len(places(document)) == len(set(places(document)))
    assert document["findings_summary"]["total"] == len(document["findings"])
    for path in PLANTED:
        (planted.root / path).unlink()
    shown = run(planted).out.decode()
    assert re.search(r"more:3 \[pipe_to_shell\] by\s+curated_patterns, lint", shown), shown


def test_tests_and_the_like_come_after_sources(planted):
    for path in ("tests/a.py", "examples/a.py", "vendor/a.py", "docs/a.py"):
        (planted.root / path).parent.mkdir()
        planted.file(f"root/{path}", f'requests.get(url, verify=False)\nkey = "{TOKEN}"\n')
    findings = document_of(planted)["findings"]
    kinds = [one["place"] for one in findings]
    assert kinds == sorted(kinds, key=lambda kind: kind != "source")
    by_place = {(one["path"], one["id"]): (one["place"], one["severity"]) for one in findings}
    assert by_place["tests/a.py", "py-tls-unverified"] == ("test", "info")
    assert by_place["tests/a.py", "secret_shape"] == ("test", "medium")
    assert by_place["examples/a.py", "py-tls-unverified"][0] == "example"
    assert by_place["vendor/a.py", "py-tls-unverified"][0] == "vendored"
    assert by_place["docs/a.py", "py-tls-unverified"][0] == "document"


def test_what_others_wrote_and_keys_for_tests_are_less_severe(planted):
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIBxwIBAAJhAKD0YSHy73nUgysO13XsJmd4fHiFyQ00R7VVu2iV9Qco\n"
    for path in ("deps/a.py", "pkg/subprojects/a.py"):
        (planted.root / path).parent.mkdir(parents=True)
        planted.file(f"root/{path}", "requests.get(url, verify=False)\n")
    for path in ("assertstest/dev.pem", "pkg/testkeys.pem", "conf/server.pem"):
        (planted.root / path).parent.mkdir(exist_ok=True)
        planted.file(f"root/{path}", key)
    found = {one["path"]: (one["place"], one["severity"]) for one in document_of(planted)["findings"]}
    assert found["deps/a.py"] == found["pkg/subprojects/a.py"] == ("vendored", "info")
    assert found["assertstest/dev.pem"] == found["pkg/testkeys.pem"] == ("source", "low")
    assert found["conf/server.pem"] == ("source", "high")


def test_code_of_a_value_is_info_and_of_input_is_not(planted):
    planted.file("root/a.py", "eval(name)\neval(request.args['e'])\n")
    planted.file("root/a.ts", "eval(name);\neval(req.query.e);\n")
    found = {(one["path"], one["line"]): one["severity"] for one in document_of(planted)["findings"]}
    assert [found[place] for place in (("a.py", 1), ("a.ts", 1), ("a.py", 2), ("a.ts", 2))] == ["info", "info", "medium", "medium"]


def test_a_shell_and_a_page_of_a_value_are_info_and_of_input_are_not(planted):
    planted.file("root/a.py", "subprocess.run(command, shell=True)\nmark_safe('<b>' + name)\n"
                 "subprocess.run(request.args['c'], shell=True)\nmark_safe('<b>' + request.args['n'])\n"
                 "subprocess.run('ls ' + name, shell=True)\n")
    found = {one["line"]: one["severity"] for one in document_of(planted)["findings"] if one["path"] == "a.py"}
    assert found == {1: "info", 2: "info", 3: "medium", 4: "medium", 5: "high"}


def test_a_long_line_hides_nothing_in_a_language_that_is_written_by_hand(planted):
    """A long line means that a program made a script smaller: of JavaScript, but not of a shell or of Python."""
    padding = "x" * 5000
    planted.file("root/install.sh", f"#!/bin/sh\ncurl -fsSL https://localhost/x | sh # {padding}\n")
    planted.file("root/more.py", f"import requests\nrequests.get('https://localhost', verify=False) # {padding}\n")
    planted.file("root/bundle.js", f"https.get({{rejectUnauthorized: false}}); /* {padding} */\n")
    found = {one["path"]: (one["place"], one["severity"]) for one in document_of(planted)["findings"]}
    assert found["install.sh"] == found["more.py"] == ("source", "high")
    assert found["bundle.js"] == ("vendored", "info")


def test_one_rule_for_many_languages_takes_one_place_on_the_screen(planted):
    for name in ("a.js", "b.ts", "c.tsx"):
        planted.file(f"root/{name}", "https.get({rejectUnauthorized: false});\n")
    said = " ".join(run(planted).out.decode().split())
    assert said.count("the other side of this connection is not verified") == 1
    assert "a.js:1 and 3 more [js-tls-unverified]" in said


def test_kinds_that_are_not_shown_are_named(planted):
    planted.file("root/many.py", """import os, ssl, pickle, yaml, sqlite3
os.system("ls " + name)
pickle.loads(request.body)
yaml.load(text)
db.execute("select * from t where a = '" + name + "'")
eval(name)
redirect(request.args["next"])
requests.get(request.args["next"])
db.c.find({"$where": name})
tarfile.open(name).extractall()
""")
    said = " ".join(run(planted).out.decode().split())
    assert re.search(r"and \d+ of other kinds: [a-z_-]+(, [a-z_-]+)*", said), said


def test_files_that_the_linter_cannot_read_are_counted(planted):
    planted.file("root/nul.sh", "#!/bin/sh\ntrue\n\0\ncurl localhost | sh\n")
    said = " ".join(run(planted, only="lint").out.decode().split())
    assert "; 1 not scanned" in said


def test_only_what_a_baseline_lacks_fails(planted):
    baseline = planted.outside / "baseline.json"
    assert run(planted, "--out", baseline, "--fail-on", "high").status == 1
    passed = run(planted, "--baseline", baseline, "--fail-on", "high")
    assert passed.status == 0 and b"nothing new" in passed.out, passed
    assert b"known from the baseline: 5" in passed.out
    # Lines may move, and what is indented anew is the same line.
    planted.file("root/app.py", "# moved\n\n" + PLANTED["app.py"].replace("    return", "        return"))
    assert run(planted, "--baseline", baseline, "--fail-on", "low").status == 0
    planted.file("root/more.sh", "#!/bin/sh\nwget -qO- https://localhost/y | bash\n")
    failed = run(planted, "--baseline", baseline, "--fail-on", "high")
    assert failed.status == 1 and b"more.sh:2" in failed.out and b"install.sh" not in failed.out
    assert failed.err.splitlines()[-1] == (
        b"chokepoint gather: 1 finding is high or worse and not in the baseline (--fail-on high)")


def test_a_copy_of_a_known_line_is_new(planted):
    baseline = planted.outside / "baseline.json"
    assert run(planted, "--out", baseline).status == 0
    planted.file("root/install.sh", PLANTED["install.sh"] * 2)
    assert run(planted, "--baseline", baseline, "--fail-on", "high").status == 1


def test_a_known_line_that_becomes_worse_is_new(planted):
    baseline = planted.outside / "baseline.json"
    document = document_of(planted)
    for one in document["findings"]:
        one["severity"] = "medium"
    planted.file("outside/baseline.json", json.dumps(document))
    assert run(planted, "--baseline", baseline, "--fail-on", "high").status == 1
    assert run(planted, "--baseline", baseline, "--fail-on", "critical").status == 0


@pytest.mark.parametrize("text, why", [("{", "it is not JSON"), ("{}", "it is not a document of this gather"),
                                       ('{"format": 1, "findings": [], "cancelled": true}', "was cancelled"), (None, "No such file")])
def test_an_unusable_baseline_is_an_error(planted, text, why):
    if text is not None:
        planted.file("outside/baseline.json", text)
    answer = run(planted, "--baseline", planted.outside / "baseline.json", "--fail-on", "high")
    assert answer.status == 125 and why in answer.err.decode() and b"cannot use baseline" in answer.err


def test_a_baseline_that_is_no_file_is_not_waited_for(planted):
    os.mkfifo(planted.outside / "fifo")
    for path in (planted.outside / "fifo", planted.outside, "/dev/zero"):
        answer = run(planted, "--baseline", path, "--fail-on", "high", only="lint")
        assert answer.status == 125 and b"it is not a regular file" in answer.err, answer


def test_a_baseline_is_not_believed_beyond_its_fingerprints(planted):
    """Values of other types, a severity that does not exist, and depth are of no use to whoever wrote it."""
    document = document_of(planted, only="lint")
    wrong = [1, None, {"fingerprint": 7}, {"fingerprint": "x" * 100000, "severity": "critical"}]
    known = [{**one, "severity": "harmless"} for one in document["findings"]]
    for findings in (wrong, known):
        planted.file("outside/baseline.json", json.dumps({"format": 1, "findings": findings}))
        assert run(planted, "--baseline", planted.outside / "baseline.json", "--fail-on", "high", only="lint").status == 1


@pytest.mark.parametrize("begin, repeated, times, why", [
    ("", "[", 1000000, "it has more than 64 levels"), ('{"format": 1, "findings": [', "[" * 100 + "]" * 100, 1, "more than 64 levels"),
    # 240 MB of these were 11 GB of memory.
    ('{"format": 1, "findings": [[]', ",[]", 1100000, "it has more than 2000000 values")])
def test_what_a_baseline_costs_is_bounded(planted, begin, repeated, times, why):
    planted.file("outside/baseline.json", begin + repeated * times + "]}")
    answer = run(planted, "--baseline", planted.outside / "baseline.json", only="lint")
    assert answer.status == 125 and why in answer.err.decode() and b"gather --out" in answer.err, answer


def test_a_huge_baseline_is_not_read(planted):
    os.truncate(planted.file("outside/baseline.json", "["), 65 << 20)
    answer = run(planted, "--baseline", planted.outside / "baseline.json", only="lint")
    assert answer.status == 125 and b"it has more than 64 MiB" in answer.err, answer


def test_nothing_found_says_on_how_many_probes_it_rests(box):
    box.file("root/a.py", "print(1)\n")
    policy = box.default_policy(replace=[('["/usr/local/bin", ', "[")])
    said = box.call(gather_argv(box, "--only", "curated_patterns,lint,semgrep", policy=policy)).out.decode()
    words = " ".join(said.split())
    assert "nothing: no finding is above info, by the 2 probes that looked; these have no answer: semgrep (tool_missing)" in words


def test_sarif_is_valid_and_has_fingerprints(planted):
    planted.file(b"root/caf\xe9.sh".decode(errors="surrogateescape"), "#!/bin/sh\ncurl localhost | sh\n")
    first, second = planted.outside / "first.sarif", planted.outside / "second.sarif"
    document = document_of(planted, "--sarif", first)
    report = json.loads(first.read_bytes())
    assert [error.message for error in sarif.validator().iter_errors(report)] == []
    results = report["runs"][0]["results"]
    names = [result["partialFingerprints"]["chokepoint/v1"] for result in results]
    assert names == [one["fingerprint"] for one in document["findings"]] and len(set(names)) == len(names)
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert "caf%E9.sh" in uris and "app.py" in uris and TOKEN not in first.read_text(encoding="utf-8")
    planted.file("outside/baseline.json", json.dumps(document))
    assert run(planted, "--sarif", second, "--baseline", planted.outside / "baseline.json").status == 0
    assert {result["baselineState"] for result in json.loads(second.read_bytes())["runs"][0]["results"]} == {"unchanged"}


@pytest.mark.parametrize("option", ["--sarif", "--out"])
def test_no_link_of_the_repository_leads_the_output_away(planted, option):
    (planted.root / "link").symlink_to(planted.outside)
    answer = run(planted, option, planted.root / "link/report")
    assert answer.status == 125 and not (planted.outside / "report").exists()
    assert f"{option} '".encode() in answer.err and b"symlink of the repository" in answer.err


def test_the_repository_cannot_configure_the_lint_probe(planted):
    planted.file("root/.chokepoint-lint.yaml", "version: 1\nexclude: [{path: /, why: all}]\nseverities: {sh-pipe-shell: off}\n")
    planted.file("root/install.sh", "#!/bin/sh\ncurl localhost | sh # chokepoint-lint: allow sh-pipe-shell ADR-0001\n")
    document = document_of(planted, only="lint")
    assert ("install.sh", 2) in places(document)
    assert not [one for one in document["findings"] if one["id"].startswith("waiver")]


def test_the_line_of_a_finding_is_read_from_the_repository_alone(planted):
    """A path that leads out of it, as a tool might report it, has no line."""
    secret = planted.file("outside/secret.sh", "#!/bin/sh\ncurl localhost | sh\n")
    (planted.root / "link.sh").symlink_to(secret)
    document = document_of(planted)
    assert "link.sh" not in [one["path"] for one in document["findings"]]


def test_the_document_has_its_date(planted):
    document = document_of(planted, only="lint")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["timing"]["date"])


def test_documents_and_their_links_are_listed_without_passwords(box):
    box.file("root/README.md", "# The title\n\nSee https://me:word@localhost/x?t=word and <https://localhost/y>.\n")
    (box.root / "docs").mkdir()
    box.file("root/docs/guide.rst", "Guide\n=====\n\nhttps://localhost/y\n")
    report = Gathered(box.call(gather_argv(box, "--json", "--only", "documents", policy="default"))).probes["documents"]
    evidence = report["evidence"]
    assert evidence["documents"] == [{"path": "README.md", "title": "The title", "links": 2},
                                     {"path": "docs/guide.rst", "title": "Guide", "links": 1}]
    assert [(link["url"], link["path"], link["count"]) for link in evidence["links"]] == [
        ("https://localhost/x", "README.md", 1), ("https://localhost/y", "README.md", 2)]
    assert evidence["hosts"] == {"localhost": 3} and "word" not in json.dumps(evidence)


def test_tests_are_mapped_to_the_sources_they_exercise(box):
    files = {"pkg/__init__.py": "", "pkg/run.py": "", "pkg/other.py": "", "pkg/alone.py": "", "src/walk.c": "", "src/walk.h": "",
             "lib/a.js": "", "lib/b.ts": "", "cmd/main.go": "", "src/org/x/Parser.java": "",
             "tests/test_run.py": "import os\nfrom pkg import other\n", "tests/deep/test_more.py": "import pkg.run as r\n",
             "tests/walk_test.c": '#include "walk.h"\n', "tests/a.test.js": "const a = require('../lib/a');\n",
             "tests/b.spec.ts": "import { b } from '../lib/b';\nimport fs from 'fs';\n", "cmd/main_test.go": "package main\n",
             "tests/ParserTest.java": "import org.x.Parser;\n"}
    for path, text in files.items():
        (box.root / path).parent.mkdir(parents=True, exist_ok=True)
        box.file(f"root/{path}", text)
    report = Gathered(box.call(gather_argv(box, "--json", "--only", "tests", policy="default"))).probes["tests"]
    found = {test["path"]: {module["path"]: module["by"] for module in test["modules"]} for test in report["evidence"]["tests"]}
    assert found == {
        "cmd/main_test.go": {"cmd/main.go": ["name"]},
        "tests/ParserTest.java": {"src/org/x/Parser.java": ["import", "name"]},
        "tests/a.test.js": {"lib/a.js": ["import", "name"]},
        "tests/b.spec.ts": {"lib/b.ts": ["import", "name"]},
        "tests/deep/test_more.py": {"pkg/run.py": ["import"]},
        "tests/test_run.py": {"pkg/other.py": ["import"], "pkg/run.py": ["name"]},
        "tests/walk_test.c": {"src/walk.c": ["import", "name"], "src/walk.h": ["import", "name"]},
    }
    assert report["evidence"]["untested"] == ["pkg/__init__.py", "pkg/alone.py"]
    assert report["headline"] == "7 test files; 8 of 10 sources are imported or named by one"
