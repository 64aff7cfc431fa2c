"""The catalogue (R85): taking entries, what the policy commands say of it, and that no entry is without record and test."""
import hashlib
import json
import re

import pytest
import yaml
from audit import records

from catalog import PROJECT, SEARCH_PATH, families, names, taking

RECORDS = {path.name[:4] for path in (PROJECT / "docs/adr").glob("[0-9]*.md")}
ENTRIES = names()
EXTENDING = {"extends": "default"}


def policy(box, *argv, status=0):
    answer = box.call([box.command, "policy", *map(str, argv)])
    assert answer.status == status, answer
    return answer


# ---- every entry ----

def test_every_entry_has_a_record_and_a_name_of_its_own():
    default = {tool["name"] for tool in yaml.safe_load((PROJECT / "policy/default.yaml").read_text())["tools"]}
    assert ENTRIES and len(ENTRIES) == len(set(ENTRIES)) and not default & set(ENTRIES)
    for family, document in families().items():
        for entry in document["tools"]:
            assert entry["adr"] in RECORDS, f"{family}: {entry['name']}: {entry['adr']}"


def test_every_entry_has_a_test_with_the_real_tool():
    tests = "".join(path.read_text(encoding="utf-8") for path in [*(PROJECT / "tests").rglob("test_catalog_*.py"), *(PROJECT / "tests").rglob("test_guard_agents.py")])
    assert [name for name in ENTRIES if not re.search(rf"[\"']{re.escape(name)}[\"' ]", tests)] == []


def test_every_entry_is_taken_and_passes_the_review(user_box):
    path = taking(user_box, *ENTRIES, **EXTENDING)
    answer = policy(user_box, "check", path, "--json")
    assert json.loads(answer.out)["findings"] == []
    taken = {tool["name"] for tool in json.loads(policy(user_box, "show", path, "--json").out)["tools"]}
    assert set(ENTRIES) - taken <= {"git-clone", "git-commit"}  # they add to git


def test_the_word_catalog_shows_it(user_box):
    shown = json.loads(policy(user_box, "show", "catalog", "--json").out)
    assert sorted(tool["name"] for tool in shown["tools"]) == sorted(ENTRIES) and shown["file"] == "catalog"
    table = policy(user_box, "show", "catalog").out.decode()
    assert f"catalog: {len(ENTRIES)} tools" in table and "0063" in table
    assert {tool["name"] for tool in yaml.safe_load(policy(user_box, "show", "catalog", "--yaml").out)["tools"]} == set(ENTRIES)
    # A file of that name is ./catalog, and other commands have no such word.
    user_box.file("root/catalog", json.dumps({"version": 1, "search_path": ["/bin"], "tools": [user_box.entry("own")]}))
    assert [tool["name"] for tool in json.loads(policy(user_box, "show", "./catalog", "--json").out)["tools"]] == ["own"]
    assert json.loads(policy(user_box, "show", "catalog", "--json").out) == shown


# ---- taking ----

def test_taken_entries_run_with_and_without_extends(box):
    box.file("root/a.txt", "one\n")
    for keys in (EXTENDING, {}):
        path = taking(box, "cat", **keys)
        answer = box.run("cat", "a.txt", policy=path)
        assert (answer.outcome, answer.stream("stdout")) == ("exited", b"one\n")
        assert box.run("wc", "a.txt", policy=path).outcome == "disallowed"
        assert (box.run("git", "--version", policy=path).outcome == "exited") == (keys == EXTENDING)


def test_a_refusal_names_the_family(user_box):
    answer = user_box.run("find", ".", "-delete", policy=taking(user_box, "find"))
    assert answer["rule"] == "tools.find.args.deny" and re.search(r"line \d+ of catalog/text\.yaml", answer.message)


def test_the_record_has_the_digest_of_the_result(user_box):
    path = taking(user_box, "cat", "wc")
    user_box.run("cat", policy=path)
    written = policy(user_box, "show", path, "--yaml").out
    assert b"catalog" not in written and b"name: wc" in written
    assert records(user_box.log)[1]["policy"]["sha256"] == hashlib.sha256(written).hexdigest()
    again = user_box.file("policy/again.yaml", written, 0o600)
    assert policy(user_box, "show", again, "--yaml").out == written
    assert policy(user_box, "diff", path, again, "--json").status == 0


def test_a_grant_to_a_taken_entry_holds(user_box):
    granted = taking(user_box, "bash", grant=[{"name": "bash", "execs": ["git"]}])
    assert user_box.run("bash", "-c", "git --version", policy=granted).status == 0
    assert user_box.run("bash", "-c", "git --version", policy=taking(user_box, "bash")).status != 0


def test_diff_calls_it_a_widening(user_box):
    path = taking(user_box, "cat", **EXTENDING)
    changes = json.loads(policy(user_box, "diff", "default", path, "--json", status=1).out)["changes"]
    assert [(c["kind"], c["tool"], c["field"], c["after"]) for c in changes] == [("widens", "cat", "tools", "cat")]


def test_explain_and_show_know_it(user_box):
    path = taking(user_box, "sed", **EXTENDING)
    answer = user_box.call([user_box.command, "policy", "explain", "--policy", str(path), "--root", str(user_box.root),
                            "--", "sed", "p"])
    assert answer.status == 0 and b"sed --sandbox p" in answer.out
    assert b"\nsed " in policy(user_box, "show", path).out


# ---- faults ----

@pytest.mark.parametrize("entries, keys, place, text", [
    (["finb"], EXTENDING, (1, 50), "no entry 'finb'; did you mean 'find'?"),
    (["nonsense-xyz"], EXTENDING, (1, 50), "'chokepoint policy show catalog' lists what it has"),
    (["cat", "cat"], EXTENDING, (1, 57), "'cat' is listed twice in 'catalog'"),
    (["git"], {}, (1, 28), "no entry 'git'"),
    (["cat"], {"tools": [{"name": "cat", "why": "w", "adr": "0001", "route": "direct"}]}, (1, 28),
     "'cat' is in 'catalog' and in 'tools'"),
], ids=["misspelled", "unknown", "twice", "default", "tools"])
def test_faults_have_their_place(user_box, entries, keys, place, text):
    document = {"version": 1, **({"extends": "default"} if keys == EXTENDING else {}), "catalog": entries,
                **{key: value for key, value in keys.items() if key != "extends"}}
    if keys != EXTENDING:
        document["search_path"] = SEARCH_PATH
    path = user_box.file("policy/faulty.yaml", json.dumps(document), 0o600)
    finding, = json.loads(policy(user_box, "check", path, "--json", status=1).out)["findings"]
    assert finding["severity"] == "error" and text in finding["message"], finding
    assert (finding["line"], finding["column"]) == place, finding
    assert user_box.run("cat", policy=path).outcome == "policy"
