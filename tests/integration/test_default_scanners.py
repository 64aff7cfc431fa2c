"""The arguments of the scanners in the default policy: stand-ins print those that the real ones would get. What the
scanners do with them is in test_scanner_*.py.

Ordinary calls pass, with the injected arguments right after the subcommand. Calls that write,
post, fetch or leave the root are refused.
"""
import shutil

import pytest

from escapes import refused, some

SEMGREP = ["--metrics=off", "--disable-version-check"]
LEAKS = ["--no-banner", "--redact"]

ALLOWED = [
    ("semgrep scan", SEMGREP, ["--config=./rules.yml", "--json", "."]),
    ("semgrep scan", SEMGREP, ["-c", "./rules.yml", "--error", "--quiet", "src"]),
    ("semgrep scan", SEMGREP, ["--config", "-", "--sarif"]),
    ("semgrep scan", SEMGREP, ["--metrics=off", "--config=./rules.yml", "--exclude=*.min.js", "--include", "*.py", "-j",
                               "2"]),
    ("semgrep scan", SEMGREP, ["-e", "foo(...)", "-l", "python", "--timeout=5", "--max-memory", "1000", "src",
                               "rules.yml"]),
    ("semgrep scan", SEMGREP, ["--config=./rules.yml", "--severity=ERROR", "--severity", "WARNING", "--no-git-ignore",
                               "--", "src"]),
    ("syft scan", [], ["."]),
    ("syft scan", [], ["-o", "syft-json", "-q", "src"]),
    ("syft scan", [], ["-ospdx-json", "--output=cyclonedx-json@1.5", "--exclude", "./src/**", "."]),
    ("syft scan", [], ["oci-dir:src", "-o", "syft-json"]),
    ("syft scan", [], ["docker-archive:sbom.json"]),
    ("grype", [], ["sbom.json", "-o", "json"]),
    ("grype", [], ["sbom:sbom.json", "-o", "json"]),
    ("grype", [], ["dir:.", "oci-archive:./sbom.json"]),
    ("grype", [], ["--only-fixed", "--fail-on=high", "--output", "sarif", "./sbom.json"]),
    ("grype", [], ["-q", "--by-cve"]),
    ("gitleaks detect", LEAKS, ["--source=.", "--report-format", "json", "--report-path=-", "--exit-code", "0"]),
    ("gitleaks detect", LEAKS, ["-s", ".", "--no-git", "-v", "--no-banner", "-f", "sarif", "-r", "/dev/stdout"]),
    ("gitleaks dir", LEAKS, [".", "--redact", "-l", "warn", "--max-target-megabytes=1", "--report-path", "-"]),
    ("gitleaks dir", LEAKS, ["src", "-c", "rules.yml", "-b", "sbom.json", "--ignore-gitleaks-allow"]),
    ("gitleaks git", LEAKS, ["."]),
    ("gitleaks git", LEAKS, ["--staged", "--pre-commit", "--platform=github", "-f", "json", "-r", "-"]),
    ("gitleaks stdin", LEAKS, []),
    ("tree-sitter dump-languages", [], []),
    ("tree-sitter parse", [], ["src/a.py", "--quiet", "--stat"]),
    ("tree-sitter parse", [], ["-x", "--scope=source.python", "--timeout=1000", "--", "src/a.py"]),
]

REFUSED = [
    ["semgrep", "--config=rules.yml"], ["semgrep", "ci"], ["semgrep", "login"], ["semgrep", "publish", "x"],
    ["semgrep", "install-semgrep-pro"], ["semgrep", "scan", "--config=auto"],
    ["semgrep", "scan", "--config", "p/default"], ["semgrep", "scan", "--config=https://localhost/r.yml"],
    ["semgrep", "scan", "--config=../outside/rules.yml"], ["semgrep", "scan", "-f", "/etc/passwd"],
    ["semgrep", "scan", "--metrics=on"], ["semgrep", "scan", "--metrics", "auto"],
    ["semgrep", "scan", "--metrics=off", "--metrics=on"], ["semgrep", "scan", "--enable-metrics"],
    ["semgrep", "scan", "--enable-version-check"], ["semgrep", "scan", "-o", "x"],
    ["semgrep", "scan", "--output=http://localhost/"], ["semgrep", "scan", "--json-output=x"],
    ["semgrep", "scan", "--autofix"], ["semgrep", "scan", "-a"], ["semgrep", "scan", "-qa"],
    ["semgrep", "scan", "--baseline-commit=HEAD"], ["semgrep", "scan", "--core-opts=x"],
    ["semgrep", "scan", "--replacement=x"],
    ["semgrep", "scan", "--dangerously-allow-arbitrary-code-execution-from-rules"], ["semgrep", "scan", "/etc"],
    ["semgrep", "scan", "../outside"], ["semgrep", "scan", "--met=on"], ["semgrep", "--metrics=on", "scan"],
    ["syft", "."], ["syft", "scan", "/"], ["syft", "scan", "dir:/"], ["syft", "scan", "docker:alpine"],
    ["syft", "scan", "alpine:latest"], ["syft", "scan", "registry:alpine"], ["syft", "scan", "--from=docker", "."],
    ["syft", "scan", "-o", "json=/etc/x", "."], ["syft", "scan", "--output=syft-json=x", "."],
    ["syft", "scan", "-o", "template", "-t", "x", "."], ["syft", "scan", "--file=x", "."],
    ["syft", "scan", "-c", "x", "."], ["syft", "scan", "--enrich=all", "."], ["syft", "scan", "--base-path=/", "."],
    ["syft", "scan", "oci-dir:/"], ["syft", "scan", "oci-dir:../outside"], ["syft", "scan", "docker-archive:/etc/passwd"],
    ["syft", "scan", "oci-registry:src"], ["syft", "scan", "podman:src"], ["syft", "scan", "singularity:sbom.json"],
    ["syft", "scan", "snap:sbom.json"], ["syft", "scan", "dir:docker:src"],
    ["syft", "attest", "x"], ["syft", "login"], ["syft", "convert", "x"], ["syft", "-o", "json", "scan", "."],
    ["grype", "/"], ["grype", "sbom:/etc/passwd"], ["grype", "dir:/"], ["grype", "docker:alpine"],
    ["grype", "alpine:latest"], ["grype", "db", "update"], ["grype", "--file=x", "sbom.json"],
    ["grype", "-o", "json=x", "sbom.json"], ["grype", "-c", "x", "sbom.json"],
    ["grype", "-o", "template", "-t", "x", "sbom.json"], ["grype", "--vex=x", "sbom.json"],
    ["grype", "../outside/sbom.json"], ["gitleaks", "detect", "--log-opts=--output=x"],
    ["gitleaks", "git", "/etc"], ["gitleaks", "git", "--log-opts=--all", "."], ["gitleaks", "git", "--platform=https://x", "."],
    ["gitleaks", "git", "https://localhost/x.git"], ["gitleaks", "protect", "--staged"], ["gitleaks", "detect", "--source=/etc"],
    ["gitleaks", "detect", "-s../outside"], ["gitleaks", "dir", "--follow-symlinks", "."], ["gitleaks", "dir", "/etc"],
    ["gitleaks", "detect", "-r", "report.json"], ["gitleaks", "detect", "--report-path=/etc/x"],
    ["gitleaks", "detect", "--redact=0"], ["gitleaks", "detect", "--redact", "0"],
    ["gitleaks", "detect", "--no-banner=false"], ["gitleaks", "detect", "--report-template=x"],
    ["gitleaks", "detect", "--diagnostics=cpu"], ["gitleaks", "--source=/", "detect"],
    ["gitleaks", "detect", "--log-level=trace"], ["gitleaks", "dir", "-l", "debug", "."], ["gitleaks", "stdin", "-ltrace"],
    ["gitleaks", "detect", "-c", "/etc/passwd"], ["gitleaks", "detect", "--log-opt=x"], ["gitleaks"],
]


@pytest.fixture
def tree(user_box):
    (user_box.root / "src").mkdir()
    user_box.file("root/src/a.py", "print(1)\n")
    user_box.file("root/rules.yml", "rules: []\n")
    user_box.file("root/sbom.json", "{}\n")
    user_box.file("outside/rules.yml")
    user_box.file("outside/sbom.json")
    return user_box


@pytest.fixture
def stand_ins(tree):
    """Programs with the names of the scanners that print their arguments, and a policy that finds
    them."""
    directory = tree.directory("scanners")
    for name in ("semgrep", "syft", "grype", "gitleaks", "tree-sitter"):
        tree.own(shutil.copy(tree.bin / "say_args", directory / name), 0o755)
    return tree.default_policy(search_path=[directory])


def named(value):
    return value if isinstance(value, str) else " ".join(value)[:40]


@pytest.mark.parametrize("command, injected, args", ALLOWED, ids=named)
def test_ordinary_call(tree, stand_ins, command, injected, args):
    tool, *subcommand = command.split()
    answer = tree.run(tool, *subcommand, *args, policy=stand_ins)
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert answer.stream("stdout").decode().split("\0")[:-1] == [*subcommand, *injected, *args]


@pytest.mark.parametrize("args", some(REFUSED), ids=" ".join)
def test_call_is_refused(tree, args):
    refused(tree, *args)


@pytest.mark.parametrize("tool, args", [("semgrep", ["--version"]), ("syft", ["version"]), ("grype", ["version"]),
                                         ("gitleaks", ["version"]),
                                         ("tree-sitter", ["--version"])])
def test_version_is_reported(tree, stand_ins, tool, args):
    assert tree.run(tool, *args, policy=stand_ins).stream("stdout").decode().split("\0")[:-1] == args
