"""The real gitleaks (tests/support/suite.py) over files and over a history."""
import json

import pytest
import yaml

import suite
from gathered import gather
from hostile import DEFAULT_POLICY, IDENTITY, default_entry
from jails import JAILS

SECRET = "AK" + "IA" + "QYLPMN5HFIQR7XYA"
REPORT = ["--report-format=json", "--report-path=-", "--exit-code=0", "--log-level=error"]


@pytest.fixture
def repository(scanners_box):
    """A key in the first commit, which the second one removes."""
    scanners_box.install(suite.gitleaks(), "gitleaks")
    scanners_box.repository()
    env = scanners_box.environment(**IDENTITY)
    scanners_box.file("root/key.py", f"\nkey = '{SECRET}'\n")
    for args in (["add", "key.py"], ["commit", "-qm", "key"], ["rm", "-q", "key.py"], ["commit", "-qm", "no key"]):
        assert scanners_box.call(["git", *args], env=env).status == 0
    return scanners_box


def leaks(answer):
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert SECRET not in json.dumps(answer.document)
    return [(one["RuleID"], one["File"], one["StartLine"]) for one in json.loads(answer.stream("stdout"))]


@pytest.mark.parametrize("jail", JAILS)
@pytest.mark.parametrize("args", [["git", *REPORT, "."], ["detect", *REPORT]], ids=lambda args: args[0])
def test_a_key_of_the_history_is_reported_by_its_place(repository, jail, args):
    answer = repository.run("gitleaks", *args, policy="default", options=["--jail", jail])
    assert leaks(answer) == [("aws-access-token", "key.py", 2)]
    assert answer["jail"] == jail


@pytest.mark.parametrize("args", [["dir", *REPORT, "."], ["detect", "--no-git", *REPORT]], ids=" ".join)
def test_a_key_that_is_not_in_the_files_is_not_reported(repository, args):
    assert leaks(repository.run("gitleaks", *args, policy="default")) == []


def test_what_is_staged_is_read(repository):
    repository.file("root/new.py", f"key = '{SECRET}'\n")
    assert repository.call(["git", "add", "new.py"]).status == 0
    answer = repository.run("gitleaks", "git", "--staged", *REPORT, policy="default")
    assert leaks(answer) == [("aws-access-token", "new.py", 1)]


@pytest.mark.parametrize("args", [["git"], ["detect"], ["detect", "--no-git"]], ids=" ".join)
def test_without_a_jail_it_is_refused(repository, args):
    answer = repository.run("gitleaks", *args, policy="default", options=["--jail", "none"])
    assert answer.outcome == "jail_unavailable", answer.document
    assert answer["rule"] == f"tools.gitleaks.args.subcommands.{args[0]}.require_jail" and "--jail auto" in answer.message


def test_its_git_has_all_settings_of_gits_own_entry():
    """Whatever that entry injects or sets."""
    tools = yaml.load(DEFAULT_POLICY.read_text(encoding="utf-8"), yaml.CSafeLoader)["tools"]
    entry = next(tool for tool in tools if tool["name"] == "gitleaks")
    variables = {one["name"]: one["value"] for one in entry["set_env"]}
    count = int(variables["GIT_CONFIG_COUNT"])
    handed = {variables[f"GIT_CONFIG_KEY_{i}"]: variables[f"GIT_CONFIG_VALUE_{i}"] for i in range(count)}
    inject = default_entry()["args"]["inject"]
    for i, word in enumerate(inject):
        if word == "-c":
            key, _, value = inject[i + 1].partition("=")
            assert handed[key] == value, key
    for one in default_entry()["set_env"]:
        if not one["name"].startswith("GIT_CONFIG_") or one["name"] in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
            assert variables[one["name"]] == one["value"], one
    assert handed["safe.directory"] == "*" and len(handed) == count


def test_gather_reports_files_and_history(repository):
    found = gather(repository, "--only", "gitleaks,gitleaks_history", policy="default")
    assert (found.states["gitleaks"], found.states["gitleaks_history"]) == ("ok", "ok"), found.probes
    assert found.probes["gitleaks"]["evidence"]["findings"] == []
    leak, = found.probes["gitleaks_history"]["evidence"]["findings"]
    commit = repository.call(["git", "rev-parse", "HEAD~1"]).out.decode().strip()
    assert (leak["id"], leak["path"], leak["line"], leak["commit"]) == ("aws-access-token", "key.py", 2, commit)
    assert SECRET not in json.dumps(found.document)
