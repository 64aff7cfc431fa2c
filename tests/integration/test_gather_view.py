"""What a person and a program see of gather: the table, the summary, the document."""
import copy
import fcntl
import json
import pathlib
import re
import shlex
import termios

import jsonschema
import pytest
import yaml

from terminal import on_terminal

PROJECT = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((PROJECT / "docs/gather.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
PAGE = (PROJECT / "docs/gather.md").read_text(encoding="utf-8")
ESCAPE = re.compile(rb"\x1b\[([0-9;]*)([A-Za-z])")
# Two that have their tool, one that never does, and one without anything to inspect.
FEW = "--only=snapshot,curated_patterns,missing,inapplicable"


def gather_argv(box, *args):
    return [box.command, "gather", "--audit", str(box.log), "--audit-sync", "none", "--policy", str(box.policy),
            "--probes", str(box.probes), *args]


@pytest.fixture
def prepared(user_box):
    """A caller with a repository that has findings, in files with names that a terminal would
    obey."""
    user_box.commit = user_box.repository().decode().strip()
    user_box.file("root/\x1b[2J\u202eevil\n.mk", "curl https://example.org/x | sh\n")
    user_box.file(b"root/caf\xe9.mk".decode(errors="surrogateescape"), "curl https://example.org/y | sh\n")
    text = (PROJECT / "policy/default.yaml").read_text(encoding="utf-8")
    absentee = user_box.entry("absentee", route="external", install={"npm": "absentee"})
    text += f"  - {json.dumps(absentee)}\n"
    user_box.policy = user_box.file("policy/default.yaml", text, 0o600)
    text = (PROJECT / "policy/probes.yaml").read_text(encoding="utf-8")
    more = [{"name": "missing", "layer": "static", "why": "Never there.", "tool": "absentee", "output": "node",
             "calls": [{"id": "version", "argv": ["absentee", "--version"]}]},
            {"name": "inapplicable", "layer": "static", "why": "Nothing for it.", "tool": "node", "output": "node",
             "applies_when": ["**/nothing-of-that-name"], "calls": [{"id": "version", "argv": ["node", "--version"]}]}]
    text += "".join(f"  - {json.dumps(probe)}\n" for probe in more)
    user_box.probes = user_box.file("policy/probes.yaml", text, 0o600)
    return user_box


@pytest.fixture
def document(prepared):
    answer = prepared.call(gather_argv(prepared, FEW, "--json"))
    assert answer.status == 0 and answer.out.count(b"\n") == 1, answer
    return json.loads(answer.out)


def by_name(document):
    return {probe["name"]: probe for probe in document["probes"]}


def shown(written):
    """The final content of a terminal of any height, line by line, and the widest line."""
    lines, row, column, widest, at = [""], 0, 0, 0, 0
    text = written.decode()
    while at < len(text):
        escape = ESCAPE.match(text[at:].encode())
        if escape:
            count, what = int(escape.group(1) or 1) if escape.group(1).isdigit() else 1, escape.group(2)
            row += {b"A": -count, b"B": count}.get(what, 0)
            if what in b"KJ":
                lines[row] = lines[row][:column]
            if what == b"J":
                del lines[row + 1:]
            assert what in b"ABKJm" and row >= 0, escape
            at += escape.end()
            continue
        if text[at] == "\r":
            column = 0
        elif text[at] == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        else:
            lines[row] = lines[row].ljust(column)[:column] + text[at] + lines[row][column + 1:]
            column += 1
            widest = max(widest, column)
        at += 1
    return lines, widest


def has_line(lines, *args):
    return any(all(word in line for word in args) for line in lines)


# ---- the document ----

def test_schema_is_a_schema():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_the_document_is_as_the_schema_says(prepared, document):
    VALIDATOR.validate(document)
    probes = by_name(document)
    assert document["commit"] == prepared.commit
    assert probes["missing"]["state"] == "tool_missing" and probes["missing"]["install"]
    assert probes["inapplicable"]["state"] == "skipped" and probes["semgrep"]["state"] == "skipped"
    paths = [finding["path"] for finding in probes["curated_patterns"]["evidence"]["findings"]]
    assert {"base64": "Y2Fm6S5taw=="} in paths and "\x1b[2J\u202eevil\n.mk" in paths


def wrong_documents(document):
    def but(change):
        other = copy.deepcopy(document)
        change(other)
        return other
    first = by_name(document)["snapshot"]
    at = document["probes"].index(first)
    yield "another format", but(lambda other: other.update(format=2))
    yield "no commit", but(lambda other: other.pop("commit"))
    yield "a member of nobody's", but(lambda other: other.update(surplus=1))
    yield "a state of nobody's", but(lambda other: other["probes"][at].update(state="fine"))
    yield "ok without evidence", but(lambda other: other["probes"][at].update(evidence=None))
    yield "evidence without ok", but(lambda other: other["probes"][at].update(state="failed"))
    yield "a time outside of timing", but(lambda other: other["probes"][at]["calls"][0].update(duration_ms=1))
    yield "an outcome of nobody's", but(lambda other: other["probes"][at]["calls"][0].update(outcome="died"))


def test_the_schema_refuses_an_invalid_document(document):
    assert [name for name, wrong in wrong_documents(document) if VALIDATOR.is_valid(wrong)] == []


def without_timing(value):
    if isinstance(value, dict):
        return {name: without_timing(member) for name, member in value.items() if name != "timing"}
    return [without_timing(member) for member in value] if isinstance(value, list) else value


def test_only_timing_differs_between_two_looks(prepared, document):
    again = json.loads(prepared.call(gather_argv(prepared, FEW, "--json", "--jobs=1")).out)
    assert json.dumps(without_timing(again)) == json.dumps(without_timing(document))
    assert again["timing"] != document["timing"]


def test_the_page_names_every_member_and_state():
    for name in [*SCHEMA["properties"], *SCHEMA["definitions"]["probe"]["properties"]]:
        assert f"`{name}`" in PAGE, name
    for name in SCHEMA["definitions"]["probe"]["properties"]["state"]["enum"]:
        assert re.search(rf"^\| `{name}` \|", PAGE, re.MULTILINE), name


def test_the_page_lists_every_probe_and_its_tool():
    probes = yaml.safe_load((PROJECT / "policy/probes.yaml").read_text(encoding="utf-8"))["probes"]
    rows = re.findall(r"^\| \[(\w+)\]\(probes/\1\.md\) \| ([\w-]+)", PAGE, re.MULTILINE)
    assert rows == [(probe["name"], probe["tool"]) for probe in probes]


def test_what_the_page_asks_of_a_document_is_answered(prepared, document):
    path = prepared.file("outside/all.json", json.dumps(document))
    questions = re.findall(r"^    (jq .*) all\.json$", PAGE, re.MULTILINE)
    assert len(questions) == 4
    for question in questions:
        answer = prepared.call([*shlex.split(question), str(path)])
        assert answer.status == 0 and answer.out and answer.err == b"", (question, answer)


# ---- the summary ----

def test_the_summary_is_harmless_and_fits(prepared):
    out = prepared.outside / "all.json"
    answer = prepared.call(gather_argv(prepared, FEW, "--out", str(out)))
    assert answer.status == 0 and b"\x1b" not in answer.out + answer.err
    lines = answer.out.decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)
    assert has_line(lines, "Commit", prepared.commit)
    assert has_line(lines, "missing", "tool_missing: absentee is not installed")
    assert has_line(lines, "npm install -g absentee")
    assert has_line(lines, "inapplicable: no file matches")
    assert has_line(lines, "high", "what 'curl' fetches is run at once")
    assert has_line(lines, "and 1 more [pipe_to_shell]")
    assert lines[-1].startswith("Document ") and json.loads(out.read_bytes())["commit"] == prepared.commit


def test_nothing_but_the_summary_without_a_terminal(prepared):
    answer = prepared.call(gather_argv(prepared, "--only=snapshot"), env=prepared.environment(TERM="xterm"))
    assert answer.out.startswith(b"Repository") and answer.err == b""


# ---- the terminal ----

@pytest.mark.parametrize("columns", [80, 200, 40])
def test_the_table_fits_the_terminal_and_stays(prepared, columns):
    status, written = on_terminal(prepared, gather_argv(prepared, FEW), columns=columns, streams=("stderr",),
                                  env=prepared.environment(TERM="xterm"))
    lines, widest = shown(written)
    assert status == 0 and widest < min(columns, 80 + 1)
    assert len([line for line in lines if line]) == 1 + 17
    assert has_line(lines, "PROBE", "STATE") and has_line(lines, "snapshot", " ok")
    assert has_line(lines, "missing", "tool_missing") and has_line(lines, "inapplicable", "skipped")
    assert not has_line(lines, "running") and not has_line(lines, "waiting")
    if columns >= 80:
        assert has_line(lines, "curated_patterns", " rg ", "native", " ok ", " 2")


@pytest.mark.parametrize("variables, escapes", [({"TERM": "xterm"}, b"ABKJm"), ({"TERM": "xterm", "NO_COLOR": "1"}, b"ABKJ"),
                                                ({"TERM": "dumb"}, b""), ({}, b"m")])
def test_escapes_are_those_that_are_wanted(prepared, variables, escapes):
    status, written = on_terminal(prepared, gather_argv(prepared, FEW), streams=("stdout", "stderr"),
                                  env=prepared.environment(**variables))
    found = {match.group(2) for match in ESCAPE.finditer(written)}
    assert status == 0 and b"Repository" in written
    assert found <= {bytes([letter]) for letter in escapes}, found
    assert (b"m" in found) == (b"m" in escapes) and (b"J" in found) == (b"J" in escapes)
    assert b"\x1b" not in ESCAPE.sub(b"", written)


@pytest.mark.parametrize("background", [False, True])
def test_a_command_in_the_background_leaves_the_terminal_alone(prepared, background):
    def own_the_terminal():
        fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    script = "set -m; \"$@\" & wait $!" if background else "\"$@\""
    status, written = on_terminal(prepared, ["sh", "-c", script, "sh", *gather_argv(prepared, FEW)], streams=("stderr",),
                                  env=prepared.environment(TERM="xterm"), start_new_session=True,
                                  preexec_fn=own_the_terminal)
    assert status == 0 and (b"PROBE" in written) == (not background), written
