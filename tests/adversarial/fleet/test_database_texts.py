"""Promise: A database of fleets.
Attacker: a repository. Means: names, messages and versions that are escape sequences for a terminal, formulas for a spreadsheet, SQL,
lines of CSV or JSON, characters that change the direction of a line, NULs, or a megabyte long.

Expected: each is one text in one cell. A terminal gets nothing to obey, a spreadsheet no formula, also from another program that reads
the file.
"""
import contextlib
import csv
import io
import json
import sqlite3

import pytest
from fleet_tables import Fleets, make, missing, packages, programs
from reports import document, merged

NASTY = ("\x1b]0;owned\x07\x1b[2J", "=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1", "a\"b,c\r\nd", "'; DROP TABLE findings; --", "a\u202egpj.exe\u200b", "a\0b", "\x9b7m",
         "\ttab", "\r=1", "x" * 9000, "%s%n", "NULL", "\uffff")
QUERIES = (("repositories",), ("rules",), ("packages",), ("secrets",), ("build",), ("egress",), ("probes",), ("changes",), ("looks",), ("failures",))


@pytest.fixture
def fleet(stage, tmp_path):
    made = Fleets(stage / "chokepoint", tmp_path)
    found = [merged("secret_shape", "high", text, text, fingerprint=text, place=text, source=text) for text in NASTY]
    found += [merged(text, "critical", text, text) for text in NASTY] + [merged("action_by_tag", "low", text, text) for text in NASTY]
    probes = [packages(*((text, text) for text in NASTY), *((text, "2") for text in NASTY)), programs(*NASTY), *(missing(text) for text in NASTY)]
    documents = {f"/srv/{number}{text[:200]}": document(findings=found, probes=probes) for number, text in enumerate(NASTY)}
    make(tmp_path / "one", {path.replace("\0", "0"): made_of for path, made_of in documents.items()}, ["/srv/\x1b[31m"], 1)
    make(tmp_path / "two", {"=1+1": document(findings=found)}, ["=2"], 2, "2026-11-18T10:00:00Z")
    made.collect(tmp_path / "one", tmp_path / "two")
    return made


def is_plain(text):
    return all(character == "\n" or character.isprintable() for character in text)


def test_a_terminal_obeys_nothing(fleet):
    for query in QUERIES:
        answer = fleet.call("query", *query, "--from", fleet.database, "--rows", "5000")
        assert is_plain(answer.stdout), query
        assert len(answer.stdout.splitlines()) > 1
    assert "\\x1b]0;owned\\x07" in fleet.call("query", "probes", "--from", fleet.database).stdout


def test_a_spreadsheet_has_no_formula(fleet):
    for query in QUERIES:
        text = fleet.call("query", *query, "--from", fleet.database, "--csv").stdout
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert len({len(row) for row in rows}) == 1 and len(rows) > 1, "a text is one cell"
        assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not cell[1:].isdigit())], query
    assert any(cell == "'-1" for row in csv.reader(io.StringIO(fleet.call("query", "rules", "--from", fleet.database, "--csv").stdout)) for cell in row)


def test_json_is_json(fleet):
    for query in QUERIES:
        text = fleet.call("query", *query, "--from", fleet.database, "--json").stdout
        assert text.isascii() and is_plain(text)
        answer = json.loads(text)
        assert all(len(row) == len(answer["columns"]) for row in answer["rows"])


def test_another_program_gets_nothing_to_obey(fleet):
    with contextlib.closing(sqlite3.connect(fleet.database)) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in database.execute(f"SELECT * FROM {name}"):
                for value in row:
                    assert not isinstance(value, str) or (is_plain(value) and "\n" not in value and len(value) < 20000), (name, row)
        assert database.execute("SELECT count(*) FROM findings").fetchone()[0] == (len(NASTY) + 1) * 3 * len(NASTY)
