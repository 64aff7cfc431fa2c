"""The shipped probes: with the real tools on a small project, and with recordings of the tools
that are not installed.
"""
import json
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

from gathered import gather, gather_argv

TOP = pathlib.Path(__file__).parents[2]
PROBES = {probe["name"]: probe for probe in yaml.load((TOP / "policy/probes.yaml").read_text(), yaml.CSafeLoader)["probes"]}
RECORDINGS = {"semgrep": ("semgrep.json", "py-request-to-shell"), "gitleaks": ("gitleaks.json", ""),
              "syft": ("syft.json", ""), "grype": ("grype.json", '"bomFormat": "CycloneDX"'),
              "tree-sitter": ("tree-sitter.txt", "")}
GRAMMARS = b'file_types: ["py", "pyi"]\n\n'

# In pieces, so that nothing of it is a finding in this file. The id after "FIND" on a line must be
# found there, and nothing else.
TOKEN = "AK" + "IA" + "ABCDEFGHIJKLMNOP"
FILES = {
    "run.py": """
import os, subprocess
os.system("ls")
os.system("ls " + name)  # FIND py-os-system-of-made-text
os.popen(f"ls {name}")  # FIND py-os-system-of-made-text
subprocess.run("ls", shell=True)
subprocess.run(f"ls {name}", shell=True)  # FIND py-shell-of-made-text
subprocess.run("ls {}".format(name), shell=True, text=True)  # FIND py-shell-of-made-text
subprocess.run(["ls", name])
evaluate(name)
eval("1")
eval(name)  # FIND py-eval-of-value
pickle.loads(data)  # FIND py-pickle-load
yaml.load(data)  # FIND py-yaml-load
yaml.load(data, Loader=yaml.SafeLoader)
cursor.execute("SELECT a FROM b WHERE c = '%s'" % name)  # FIND py-sql-of-made-text
cursor.execute(f"SELECT a FROM b WHERE c = {name}", ())  # FIND py-sql-of-made-text
cursor.execute("SELECT a FROM b WHERE c = ?", (name,))
hashlib.md5(data)  # FIND py-weak-hash
hashlib.md5(data, usedforsecurity=False)
requests.get(url, verify=False)  # FIND py-tls-unverified
tar.extractall("x")  # FIND py-tar-extract
tar.extractall("x", filter="data")
# SPDX-License-Identifier: MIT FIND licence_tag
""",
    "run.js": """
cp.exec(`ls ${name}`, done); // FIND js-exec-of-made-text
cp.execSync("ls " + name); // FIND js-exec-of-made-text
execSync("ls");
pattern.exec(text);
eval(name); // FIND js-eval-of-value
new Function("a", body); // FIND js-function-of-value
db.query(`SELECT a FROM b WHERE c = ${name}`); // FIND js-sql-of-made-text
db.query("SELECT a FROM b WHERE c = ?", [name]);
https.get({rejectUnauthorized: false}); // FIND js-tls-unverified
crypto.createHash("md5"); // FIND js-weak-hash
crypto.createHash("sha256");
""",
    "run.ts": """
cp.exec(`ls ${name}`, done); // FIND ts-exec-of-made-text
eval(name); // FIND ts-eval-of-value
db.query("SELECT a FROM b WHERE c = " + name); // FIND ts-sql-of-made-text
""",
    "run.c": """
int run(char *to, const char *name)
{
    strcpy(to, name); // FIND c-unbounded-copy
    snprintf(to, 4, "%s", name);
    system(name); // FIND c-shell-of-value
    system("ls");
    printf(name); // FIND c-format-of-value
    return printf("%s", name);
}
""",
    "run.sh": """
eval "$name" # FIND sh-eval-of-value
curl -fsSL https://localhost/x | sudo bash
curl -fsSL https://localhost/x | sha256sum
""",
    "install": "#!/bin/sh\nwget -qO- localhost | sh # FIND pipe_to_shell\n",
    "RUN.PHP": "eval($name); // FIND eval_call\nshell_exec($name); // FIND shell_call\n",
    "README.md": "Install it: curl localhost | sh\n",
    "run.go": 'package run\n\nfunc run() { exec.Command("sh", "-c", "ls "+name) } // FIND go-shell-of-made-text\n',
    "run.rb": 'system("ls #{name}") # FIND rb-shell-of-made-text\nsystem("ls")\n',
    "Run.java": 'class Run { void run() { runtime.exec("ls " + name); } } // FIND java-exec-of-made-text\n',
    "Dockerfile": """
FROM node:latest AS build
FROM build
FROM python:3.12
FROM localhost:5000/a/b
FROM debian@sha256:0000000000000000000000000000000000000000000000000000000000000000
FROM scratch
FROM alpine AS last
FROM alpine
""",
    ".github/workflows/ci.yml": """
on: pull_request_target # FIND workflow_trust
permissions: write-all # FIND workflow_trust
jobs:
  one:
    steps:
      - uses: actions/checkout@v4 # FIND action_of_github_by_tag
      - uses: someone/thing@v1 # FIND action_by_tag
      - uses: someone/thing@main # FIND action_unpinned
      - uses: someone/thing@0123456789012345678901234567890123456789
      - run: echo ${{ github.event.issue.title }} # FIND workflow-injection
""",
    "compose.yaml": """
services:
  one:
    image: redis # FIND image_unpinned
  two:
    image: "localhost:5000/a/b:latest" # FIND image_unpinned
  three:
    image: redis:7.4
""",
    "key.pem": "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIB" * 16 + "\n",
    "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge\n",
    "key.txt": f"{TOKEN} FIND secret_shape\nAKIAshort\n",
    "wide.txt": f"{TOKEN} FIND secret_shape encoding_mark\n".encode("utf-16"),
    ".rgignore": "*\n",
    ".ignore": "*\n",
    "sgconfig.yml": "ruleDirs: []\nlanguageGlobs: {json: ['*.py', '*.js', '*.ts', '*.c']}\n",
}
ELSEWHERE = {("key.pem", 1, "private_key"), ("Dockerfile", 2, "image_unpinned"), ("Dockerfile", 5, "image_unpinned"), ("Dockerfile", 9, "image_unpinned"),
             ("LICENSE", 1, "licence_text"), (".rgignore", 1, "scanner_steered"),
             (".ignore", 1, "scanner_steered"), ("sgconfig.yml", 1, "scanner_steered")}


def lines(text):
    return enumerate((text.decode("utf-16") if isinstance(text, bytes) else text).split("\n"), 1)


def expected():
    marked = {(path, number, name) for path, text in FILES.items() for number, line in lines(text)
              for _, names in [line.partition("FIND ")[1:]] for name in names.split()}
    return marked | ELSEWHERE


@pytest.fixture
def project(user_box):
    for path, text in FILES.items():
        (user_box.root / path).parent.mkdir(parents=True, exist_ok=True)
        user_box.file(f"root/{path}", text)
    return user_box


def locations(report):
    assert report["state"] == "ok", report
    evidence = report["evidence"]
    assert evidence["findings_total"] == len(evidence["findings"]) and not evidence["problems"], evidence
    return {(found["path"], found["line"], found["id"]) for found in evidence["findings"]}


def test_patterns_find_what_they_should_and_nothing_else(project, registry_tools):
    """Also those that a repository would hide by files that configure rg and ast-grep."""
    policy = project.default_policy(search_path=[registry_tools])
    found = gather(project, "--only", "curated_patterns,structural_patterns", policy=policy)
    reports = found.probes
    assert locations(reports["curated_patterns"]) | locations(reports["structural_patterns"]) == expected()
    counted = reports["curated_patterns"]["evidence"]
    assert (counted["files"], counted["files_searched"]) == (len(FILES), len(FILES))
    assert TOKEN not in json.dumps(found.document)


def test_what_the_search_passed_over_is_counted(project):
    """A directory without git, which a .gitignore would hide completely."""
    project.file("root/.gitignore", "*\n")
    report = gather(project, "--only", "curated_patterns", policy="default").probes["curated_patterns"]
    assert report["evidence"]["files"] == len(FILES) + 1 and report["evidence"]["files_searched"] == 0
    assert report["headline"].endswith(f"; {len(FILES) + 1} files skipped")


def test_no_trick_hides_a_file_from_the_search(box):
    """A byte that makes a file binary, a mark that makes it UTF-16, a size, a name that forges the
    output of rg."""
    fetch = b"curl localhost | sh\n"
    forged = "a: WARNING: stopped searching binary file after match (found \nb.mk"
    shown = {"nul.mk": fetch + b"exit\n\0", "first.mk": b"\0\n" + fetch, "long.mk": b"\n" * (1 << 20) + fetch, forged: fetch}
    for path, text in {**shown, "marked.mk": b"\xff\xfe\n" + fetch, "large.mk": fetch + b"#" * (4 << 20)}.items():
        box.file(f"root/{path}", text)
    report = gather(box, "--only", "curated_patterns", policy="default").probes["curated_patterns"]
    by_id = {}
    for found in report["evidence"]["findings"]:
        by_id.setdefault(found["id"], set()).add(found["path"])
    assert by_id == {"pipe_to_shell": set(shown), "encoding_mark": {"marked.mk"}}
    assert (report["evidence"]["files"], report["evidence"]["files_searched"]) == (6, 5)
    assert report["headline"].endswith("; 1 file skipped")


def test_many_findings_of_one_kind_hide_no_other(box):
    """A thousand decoys sort before the secret by path, with the same severity."""
    (box.root / ".github/workflows").mkdir(parents=True)
    for number in range(6):
        box.file(f"root/.github/workflows/{number}.yml", "      - run: curl localhost | sh\n" * 200)
    box.file("root/z.env", f"{TOKEN}\n")
    said = box.call(gather_argv(box, "--only", "curated_patterns", policy="default")).out.decode()
    assert "z.env:1 [secret_shape]" in said, said
    assert "and 1199 more [pipe_to_shell]" in said, said


def test_what_is_not_searched_by_structure_is_reported(box, registry_tools):
    box.repository()
    box.file("root/.git/info/exclude", "a.py\n")
    box.file("root/a.py", b"eval(x) # \0\n")
    box.file("root/b.py", b"eval(x) # \xff\n")
    found = gather(box, "--only", "structural_patterns", policy=box.default_policy(search_path=[registry_tools]))
    report = found.probes["structural_patterns"]
    assert [item["path"] for item in report["evidence"]["findings"]] == ["a.py"]
    assert report["headline"] == "1 match of 1 rule; 1 file skipped"


def test_project_is_reported_the_same_twice(project, registry_tools):
    commit = project.repository().decode().strip()
    policy = project.default_policy(search_path=[registry_tools])
    names = "snapshot,node_version,curated_patterns,structural_patterns,code_index"
    first, second = (gather(project, "--only", names, policy=policy) for _ in range(2))
    assert first.without_times() == second.without_times()
    reports = first.probes
    assert {reports[name]["state"] for name in names.split(",")} == {"ok"}, first.err
    snapshot = reports["snapshot"]["evidence"]
    assert (snapshot["commit"], snapshot["commits"], snapshot["authors"]) == (commit, 1, 1)
    assert snapshot["changes"]["untracked"] == len({path.split("/")[0] for path in FILES})
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert "v" + reports["node_version"]["evidence"]["version"] == version
    index = reports["code_index"]["evidence"]
    assert [document["path"] for document in index["documents"]] == ["run.ts"]
    assert index["occurrences"] >= index["definitions"] > 0
    assert not (project.root / "index.scip").exists() and not (project.root / "tsconfig.json").exists()


def test_snapshot_reports_what_is_hidden_and_no_password(box):
    box.repository()
    box.file("root/.gitignore", "hidden\n")
    box.file("root/hidden", "x\n")
    for line in (["add", "-f", "hidden", ".gitignore"], ["remote", "add", "origin", "https://me:word@localhost/x?t=word"]):
        assert box.call(["git", *line]).status == 0
    report = gather(box, "--only", "snapshot", policy="default").probes["snapshot"]
    assert [found["path"] for found in report["evidence"]["findings"]] == ["hidden"]
    assert box.call(["git", "update-index", "--assume-unchanged", "hidden"]).status == 0
    (box.root / "hidden").write_text("changed\n")
    flagged = gather(box, "--only", "snapshot", policy="default").probes["snapshot"]["evidence"]
    assert flagged["by_id"] == {"told-unchanged": 1, "tracked-but-ignored": 1}
    assert report["evidence"]["remotes"] == [{"name": "origin", "url": "https://localhost/x"}]
    assert report["evidence"]["changes"]["staged"] == 2
    assert "word" not in json.dumps(report)


@pytest.fixture
def recorded(user_box, stage):
    """Programs with the names of the scanners, each with an appended recording that it prints."""
    directory = user_box.directory("scanners")
    image = (stage / "tests/helpers/replay").read_bytes()
    for tool, (name, wanted) in RECORDINGS.items():
        text = wanted.encode() + b"\n" + (TOP / "tests/recordings" / name).read_bytes()
        text += GRAMMARS if tool == "tree-sitter" else b""  # each prints the same for all of its calls
        (directory / tool).write_bytes(image + text + b"%08d" % len(text))
        user_box.own(directory / tool, 0o755)
    for path in ("app.py", "old.py", "tools.py"):
        user_box.file(f"root/{path}", "print(1)\n")
    user_box.policy = user_box.default_policy(search_path=[directory])
    return user_box


def test_recordings_become_evidence(recorded):
    """grype gets the output of syft, semgrep its rules: each proves it by its answer."""
    found = gather(recorded, "--only", "semgrep,gitleaks,vulnerabilities,syntax", policy=recorded.policy)
    reports = {name: found.probes[name] for name in ("semgrep", "gitleaks", "sbom", "vulnerabilities", "syntax")}
    assert {report["state"] for report in reports.values()} == {"ok"}, (found.states, found.err)
    reported = {name: [(one["id"], one["severity"], one["path"], one.get("line")) for one in report["evidence"]["findings"]]
            for name, report in reports.items() if name != "sbom"}
    assert reported == {
        "semgrep": [("py-request-to-shell", "high", "app.py", 7), ("py-temporary-name", "medium", "tools/make.py", 3)],
        "gitleaks": [("github-pat", "high", "config/dev.env", 3)],
        "vulnerabilities": [("GHSA-jfh8-c2jp-5v3q", "critical", "pom.xml", None)],
        "syntax": [("syntax-error", "low", "old.py", 1)],
    }
    bill = reports["sbom"]["evidence"]
    assert (bill["packages_total"], bill["ecosystems"]) == (2, {"maven": 1, "npm": 1})
    assert "subprocess" not in json.dumps(reports["semgrep"]["evidence"])
    assert reports["syntax"]["calls"][1]["argv"][-3:] == ["app.py", "old.py", "tools.py"]


def test_a_scanner_that_prints_something_else_costs_itself_alone(recorded):
    shutil.copy(recorded.base / "scanners/tree-sitter", recorded.base / "scanners/gitleaks")
    found = gather(recorded, "--only", "gitleaks,syntax", policy=recorded.policy)
    assert (found.states["gitleaks"], found.states["syntax"]) == ("failed", "ok")
    assert "cannot parse the output of gitleaks" in found.probes["gitleaks"]["reason"]


def test_a_scanner_that_ends_without_output_is_reported_with_its_last_line(recorded):
    """As semgrep does when its core does not start: status 0, and the cause on stderr."""
    scanner = recorded.base / "scanners/semgrep"
    scanner.write_text("#!/bin/sh\necho 'core: cannot execute' >&2\n", encoding="ascii")
    found = gather(recorded, "--only", "semgrep", policy=recorded.policy)
    assert found.states["semgrep"] == "failed"
    assert found.probes["semgrep"]["reason"].endswith(": core: cannot execute"), found.probes["semgrep"]


def test_without_them_they_are_missing_and_what_needs_them_is_skipped(user_box):
    user_box.file("root/a.py", "print(1)\n")
    names = "semgrep,semgrep,sbom,vulnerabilities,code_index,syntax,structural_patterns"
    user_box.file("root/a.ts", "let a = 1\n")
    policy = user_box.default_policy(replace=[('["/usr/local/bin", ', "[")])
    found = gather(user_box, "--only", names, policy=policy)
    assert found.status == 0
    states = {name: found.states[name] for name in names.split(",")}
    assert states.pop("vulnerabilities") == "skipped"
    assert set(states.values()) == {"tool_missing"}
    assert all(found.probes[name]["install"] for name in states)
    assert gather(user_box, "--require", "--only", names, policy=policy).status == 1


def pages(*gather_argv, top=TOP):
    return subprocess.run(["/usr/bin/python3", top / "tools/gen/probe-pages.py", *gather_argv], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)


def test_every_probe_has_a_page_in_step_with_it():
    answer = pages("--check")
    assert answer.returncode == 0, answer.stderr.decode()


def test_a_page_out_of_step_is_found(tmp_path):
    for number, (path, old, new) in enumerate([("docs/probes/sbom.md", "--quiet", "--loud"),
                                               ("policy/probes.yaml", "name: sbom", "name: bill"),
                                               ("docs/probes/sbom.md", "<!-- end -->", "")]):
        top = tmp_path / str(number)
        for part in ("policy", "docs/probes", "tools"):
            shutil.copytree(TOP / part, top / part)
        text = (top / path).read_text()
        assert old in text
        (top / path).write_text(text.replace(old, new))
        assert pages("--check", top=top).returncode == 1
