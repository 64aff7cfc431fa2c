"""Promise: A database of fleets.
Attacker: whoever made a database that the caller queries or collects into. Means: a trigger, a view in place of a table, a virtual
table, a generated column or an index over an expression, all of which run code of the file when a table is read or written.

Expected: the schema is compared before the first statement. A query refuses the file; collect sets it aside and makes a new one.
SQLite by itself runs all of it.
"""
import contextlib
import sqlite3

import pytest
from fleet_tables import Fleets, make
from reports import document, merged

CRAFTED = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM findings; END",
    "view": "DROP TABLE executables; CREATE VIEW executables AS SELECT 'forged' AS path",
    "virtual": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "generated": "ALTER TABLE looks ADD COLUMN g TEXT GENERATED ALWAYS AS (hex(fleet)) VIRTUAL",
    "index": "CREATE INDEX i ON looks (upper(fleet))",
    "check": "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'directory TEXT NOT NULL', 'directory TEXT NOT NULL CHECK (1)') WHERE name = 'looks'",
    "default": "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'place TEXT NOT NULL', 'place TEXT DEFAULT (1)') WHERE name = 'repositories'",
    "named as ours": "DROP INDEX findings_by_rule; CREATE TRIGGER findings_by_rule AFTER INSERT ON looks BEGIN SELECT 1; END",
    "escape": 'CREATE TABLE "a\x1b]0;owned\x07" (x)',
}


@pytest.fixture
def fleet(stage, tmp_path):
    made = Fleets(stage / "chokepoint", tmp_path)
    made.collect(make(tmp_path / "one", {"/srv/a": document("/srv/a", [merged()])}))
    return made


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_schema_is_not_used(fleet, name):
    whole = fleet.dump()
    fleet.change(CRAFTED[name])
    before = fleet.database.read_bytes()
    for sql in ("SELECT 1", "SELECT * FROM executables"):
        said = fleet.sql(sql, status=125).stderr
        assert "is not a database of 'chokepoint fleet collect': its " in said and "\x1b" not in said
    assert "is not a database" in fleet.call("query", "looks", "--from", fleet.database, status=125).stderr
    assert fleet.database.read_bytes() == before
    assert f"it is now '{fleet.database}.damaged-1'" in fleet.collect(fleet.directory / "one").stderr
    assert fleet.dump() == whole


def test_a_trigger_runs_where_nothing_is_compared(fleet):
    fleet.change(CRAFTED["trigger"])
    fleet.change("INSERT INTO documents SELECT 99, look, repository + 1, sha256, latest, gathered, chokepoint, commit_id, cancelled, files, files_incomplete, "
                 "duration_ms, critical, high, medium, low, info, findings_cut, packages_total FROM documents")
    with contextlib.closing(sqlite3.connect(fleet.database)) as database:
        assert database.execute("SELECT count(*) FROM findings").fetchone() == (0,)
