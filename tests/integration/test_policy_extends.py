"""extends, grant, remove, policy show --yaml, and the word default (R84)."""
import hashlib
import json
import pathlib

import pytest
import yaml
from audit import records

PROJECT = pathlib.Path(__file__).parents[2]
HOST = "registry.example.org"
RECORD = {"0001-registry.md": "npm may reach our registry\n"}
CI_EGRESS = "args.subcommands.ci.egress"
FIVE_LINES = f"""version: 1
extends: default
adr_dir: adr
grant:
  - {{name: npm, subcommand: ci, egress: [{HOST}], adr: "0001", why: Packages come from our registry.}}
"""


class Desk:
    """A reviewer, as in test_policy_review.py."""

    def __init__(self, box):
        self.box = box

    def put(self, name, document, adrs=None, mode=0o600):
        """NAME/policy.yaml with its records next to it."""
        for part in (name, f"{name}/adr"):
            if not (self.box.base / part).exists():
                self.box.directory(part)
        for record, text in (RECORD if adrs is None else adrs).items():
            self.box.file(f"{name}/adr/{record}", text)
        text = document if isinstance(document, str) else json.dumps(document, indent=1)
        return str(self.box.file(f"{name}/policy.yaml", text, mode))

    def call(self, *argv, **more):
        return self.box.call([self.box.command, "policy", *argv], **more)

    def json(self, *argv, status=0):
        answer = self.call(*argv, "--json")
        assert answer.status == status, answer
        return json.loads(answer.out)

    def diff(self, before, after, status):
        report = self.json("diff", before, after, status=status)
        return [(c["kind"], c["tool"], c["field"], c["before"], c["after"], c["adr"], c["reason"])
                for c in report["changes"]]


@pytest.fixture
def desk(user_box):
    return Desk(user_box)


def extending(**more):
    return {"version": 1, "extends": "default", "adr_dir": "adr", **more}


def grant(name="npm", **more):
    return {"name": name, "why": "w", "adr": "0001", **more}


# ---- five lines -------------------------------------------------------------------------------

def test_five_lines_grant_one_registry_and_diff_names_exactly_that(desk):
    path = desk.put("a", FIVE_LINES)
    assert desk.diff("default", path, 0) == [("widens", "npm", CI_EGRESS, None, HOST, "0001", None)]
    answer = desk.call("check", path)
    assert (answer.status, answer.out.decode()) == (0, f"{path}: good, 0 errors, 0 warnings\n")
    assert desk.diff(path, "default", 0) == [("narrows", "npm", CI_EGRESS, HOST, None, None, None)]


def test_what_is_granted_can_be_asked_for(cell):
    """git stands for npm: it is installed everywhere."""
    box, jail = cell.box, cell.jail
    desk = Desk(box)
    path = desk.put("a", FIVE_LINES.replace("npm, subcommand: ci", "git"))
    granted = {"policy": path, "options": ["--jail", jail, "--egress", HOST]}
    answer = box.run("git", "--version", **granted)
    assert (answer.outcome, answer.status) == ("exited", 0), answer.message
    other = box.run("git", "--version", policy=path, options=["--jail", jail, "--egress", "other.example.org"])
    assert (other.outcome, other["rule"]) == ("disallowed", "tools.git.egress")
    refused = box.run("git", "--version", policy=desk.put("b", extending()), options=["--jail", jail, "--egress", HOST])
    assert (refused.outcome, refused["rule"]) == ("disallowed", "tools.git.egress")


def test_grant_to_a_subcommand_reaches_no_other_one(user_box):
    path = Desk(user_box).put("a", FIVE_LINES)
    asked = {"policy": path, "options": ["--egress", HOST]}
    decision = user_box.run("npm", "ci", policy=path, options=[*asked["options"], "--dry-run"]).document
    assert decision["decision"] == "allowed", decision
    for other in ("install", "test"):
        answer = user_box.run("npm", other, **asked)
        assert (answer.outcome, answer["rule"]) == ("disallowed", f"tools.npm.args.subcommands.{other}.egress")


def test_grant_to_a_tool_does_not_reach_a_subcommand_with_its_own_list(user_box):
    """Else code of the repository, which `npm test` runs, would reach the registry."""
    path = Desk(user_box).put("a", extending(grant=[grant(egress=[HOST])]))
    answer = user_box.run("npm", "test", policy=path, options=["--egress", HOST])
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.npm.args.subcommands.test.egress")


def test_removed_tool_is_refused_and_own_tool_is_run(user_box):
    desk = Desk(user_box)
    entry = {"name": "true", "why": "w", "adr": "0001", "route": "direct"}
    path = desk.put("a", extending(remove=["git"], tools=[entry]))
    assert user_box.run("true", policy=path).outcome == "exited"
    assert user_box.run("git", "--version", policy=path).outcome == "disallowed"
    assert user_box.run("rg", "--pre", "x", policy=path).outcome == "disallowed"


def test_refusal_names_the_default_policy_for_an_entry_of_it(user_box):
    path = Desk(user_box).put("a", extending())
    answer = user_box.run("git", "push", policy=path)
    assert answer.outcome == "disallowed" and "of default policy)" in answer.message, answer.message


def test_option_that_is_granted_to_one_subcommand(user_box):
    user_box.repository()
    path = Desk(user_box).put("a", extending(grant=[grant("git", subcommand="status", options=["--verbose"])]))
    assert user_box.run("git", "status", "--verbose", policy="default").outcome == "disallowed"
    assert user_box.run("git", "status", "--verbose", policy=path).outcome == "exited"
    assert user_box.run("git", "log", "--verbose", policy=path).outcome == "disallowed"


# ---- the digest -------------------------------------------------------------------------------

def test_record_has_the_digest_of_the_resulting_policy(user_box):
    desk = Desk(user_box)
    path = desk.put("a", FIVE_LINES)
    shown = desk.call("show", "--yaml", path).out
    user_box.run("git", "--version", policy=path)
    assert records(user_box.log)[1]["policy"] == {"path": path, "sha256": hashlib.sha256(shown).hexdigest()}
    # Another text that allows the same has the same digest, and one that allows something else has not.
    other = desk.put("b", FIVE_LINES.replace("Packages", "# x\n Packages"))
    assert desk.call("show", "--yaml", other).out == shown
    less = desk.put("c", FIVE_LINES.replace(HOST, "other.example.org"))
    assert desk.call("show", "--yaml", less).out != shown


def test_digest_of_a_policy_that_extends_nothing_is_that_of_its_text(user_box):
    user_box.run("true")
    assert records(user_box.log)[1]["policy"]["sha256"] == hashlib.sha256(user_box.policy.read_bytes()).hexdigest()


# ---- show -------------------------------------------------------------------------------------

def test_show_yaml_of_the_default_policy_is_the_default_policy(desk):
    answer = desk.call("show", "--yaml")
    assert (answer.status, answer.err) == (0, b"")
    assert desk.call("show", "--yaml", "default").out == answer.out
    path = desk.put("a", answer.out.decode())
    assert desk.diff("default", path, 0) == []
    assert desk.call("show", "--yaml", path).out == answer.out
    # To another reader of YAML it is the same as the file, too.
    ours, theirs = (yaml.load(text, yaml.BaseLoader) for text in (answer.out, (PROJECT / "policy/default.yaml").read_text()))
    for document in (ours, theirs):
        for tool in document["tools"]:
            tool.get("args", {}).pop("order", None)  # it is implied by subcommands, and written out
    assert ours == theirs


def test_show_yaml_has_everything_in_its_entries(desk):
    path = desk.put("a", extending(remove=["git"], grant=[grant(egress=[HOST])]))
    document = yaml.safe_load(desk.call("show", "--yaml", path).out)
    assert not document.keys() & {"extends", "remove", "grant"}
    npm = next(tool for tool in document["tools"] if tool["name"] == "npm")
    assert npm["egress"] == [HOST] and "git" not in {tool["name"] for tool in document["tools"]}


def test_show_yaml_and_json_exclude_each_other(desk):
    answer = desk.call("show", "--yaml", "--json")
    assert answer.status == 125 and b"exclude" in answer.out + answer.err


def test_show_yaml_refuses_an_invalid_policy(desk):
    answer = desk.call("show", "--yaml", desk.put("a", "version: 1\nextends: other\n"))
    assert (answer.status, answer.out) == (125, b"") and b"line 2, column 10" in answer.err


@pytest.mark.parametrize("command", [["show", "--yaml"], ["show", "--json"], ["diff", "default"]])
def test_default_is_a_word_and_a_file_of_that_name_is_not(desk, command):
    path = pathlib.Path(desk.put("a", extending(remove=["git"])))
    desk.box.own(path.rename(path.parent / "default"))
    word = desk.call(*command, "default", cwd=path.parent)
    file = desk.call(*command, "./default", cwd=path.parent)
    assert word.status == file.status == 0 and word.out != file.out
    if command[0] == "diff":
        assert (word.out, file.out.splitlines()[0]) == (b"no change\n", b"narrows git tools: - git")


# ---- diff and its records ---------------------------------------------------------------------

UNCOVERED = "no new or amended ADR: 0001"


@pytest.mark.parametrize("given, reason", [
    ({}, None), ({"adr": None}, "the grant cites no ADR"), ({"adr": "0002"}, "no new or amended ADR: 0002")])
def test_grant_is_covered_by_its_own_record(desk, given, reason):
    entry = {key: value for key, value in {**grant(egress=[HOST]), **given}.items() if value}
    path = desk.put("a", extending(grant=[entry]))
    (change,) = desk.diff("default", path, 1 if reason else 0)
    assert change[6] == reason


def test_grant_is_not_covered_by_an_old_record(desk):
    before = desk.put("a", extending())
    after = desk.put("b", extending(grant=[grant(egress=[HOST])]))
    assert desk.diff(before, after, 1) == [("widens", "npm", "egress", None, HOST, "0001", UNCOVERED)]
    amended = desk.put("c", extending(grant=[grant(egress=[HOST])]), {"0001-registry.md": "npm may reach two\n"})
    assert desk.diff(before, amended, 0) == [("widens", "npm", "egress", None, HOST, "0001", None)]


def test_copy_of_a_record_of_the_build_is_not_new(desk):
    """Else a copy of the project's records would cover everything."""
    source = next((PROJECT / "docs/adr").glob("0010-*.md")).read_text(encoding="utf-8")
    entry = grant(egress=[HOST], adr="0010")
    copied = desk.put("a", extending(grant=[entry]), {"0010-x.md": source})
    assert [change[6] for change in desk.diff("default", copied, 1)] == ["no new or amended ADR: 0010"]
    renumbered = desk.put("b", extending(grant=[grant(egress=[HOST])]), {"0001-x.md": source})
    assert [change[6] for change in desk.diff("default", renumbered, 1)] == [UNCOVERED]
    own = desk.put("c", extending(grant=[entry]), {"0010-x.md": "ours\n"})
    assert [change[6] for change in desk.diff("default", own, 0)] == [None]


def test_own_record_with_the_number_of_the_build_does_not_cover_its_entry(desk):
    """The entry of git cites 0010 of the build. The policy's own 0010 says nothing about it, and is not new."""
    records_ = {"0010-x.md": "ours\n"}
    before = desk.put("a", extending(remove=["git"]), records_)
    after = desk.put("b", extending(), records_)
    assert desk.diff(before, after, 1) == [("widens", "git", "tools", None, "git", None, "no new or amended ADR")]
    with_record = desk.put("c", extending(), {**records_, "0011-git.md": "git is needed\n"})
    assert desk.diff(before, with_record, 0)[0][6] is None


def test_entry_that_returns_with_a_grant_needs_the_record_of_the_grant(desk):
    before = desk.put("a", extending(remove=["npm"]))
    more = {**RECORD, "0002-other.md": "other\n"}
    after = desk.put("b", extending(grant=[grant(egress=[HOST])]), more)
    (change,) = desk.diff(before, after, 1)
    assert change[2:4] == ("tools", None) and change[6] == "no new or amended ADR of a grant to it"
    covered = desk.put("c", extending(grant=[grant(egress=[HOST], adr="0002")]), more)
    assert desk.diff(before, covered, 0)[0][6] is None


# ---- check ------------------------------------------------------------------------------------

def findings(desk, document, adrs=None, status=0):
    report = desk.json("check", desk.put("a", document, adrs), status=status)
    return [(f["severity"], f["rule"], f["line"] is not None) for f in report["findings"]]


def test_smallest_policy_is_good(desk):
    assert findings(desk, "version: 1\nextends: default\n") == []


def test_grant_without_record_and_reason_is_a_warning(desk):
    assert findings(desk, extending(grant=[{"name": "npm", "subcommand": "ci", "egress": [HOST]}])) == [
        ("warning", "grant.npm.adr", True), ("warning", "grant.npm.why", True)]


def test_grant_with_a_record_that_does_not_exist_is_an_error(desk):
    assert findings(desk, extending(grant=[grant(subcommand="ci", egress=[HOST], adr="0009")]), status=1) == [
        ("error", "grant.npm.adr", True)]


def test_records_need_a_directory(desk):
    document = extending(grant=[grant(subcommand="ci", egress=[HOST])])
    del document["adr_dir"]
    assert findings(desk, document, status=1) == [("error", "adr_dir", False)]


def test_own_entry_is_looked_up_in_the_own_directory(desk):
    """0010 exists in the build, and the entry is not of the build."""
    entry = {"name": "true", "why": "w", "adr": "0010", "route": "external", "args": {}, "execs": []}
    assert findings(desk, extending(tools=[entry]), status=1) == [("error", "tools.true.adr", True)]
    entry["name"] = "git"
    assert ("error", "tools.git.adr", True) in findings(desk, extending(tools=[entry]), status=1)


def test_finding_about_a_grant_has_the_place_of_the_grant(desk):
    path = desk.put("a", FIVE_LINES.replace(f"[{HOST}]", f'["{HOST}:22 opaque"]'))
    (finding,) = desk.json("check", path)["findings"]
    assert (finding["rule"], finding["line"], finding["column"]) == ("tools.npm.egress", 5, 41)
