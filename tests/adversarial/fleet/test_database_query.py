"""Promise: A database of fleets.
Attacker: whoever asks, for example an agent that may run `fleet query`. Means: SQL that writes, that opens or makes another
file, that loads an extension, that reads what is no table of the schema, that never ends, or that needs all memory.

Expected: it is refused or ended, the database keeps its bytes, and no file appears. SQLite's own interface does all of it.
"""
import os
import resource
import sqlite3
import time

import pytest
from fleet_tables import Fleets, make
from reports import document, merged

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
WRITING = ["DELETE FROM findings", "UPDATE documents SET critical = 0", "INSERT INTO looks VALUES (9, 'a', 'b', 'c')", "DROP TABLE findings",
           "CREATE TABLE mine (x)", "CREATE TEMP TABLE mine (x)", "ALTER TABLE looks ADD COLUMN x", "REINDEX", "ANALYZE", "VACUUM",
           "PRAGMA user_version = 7", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1", "PRAGMA query_only = 0", "BEGIN IMMEDIATE",
           "WITH x AS (SELECT 1) DELETE FROM findings", "DELETE FROM findings RETURNING *", "EXPLAIN SELECT 1; DELETE FROM findings"]
ELSEWHERE = ["ATTACH '{}/other.sqlite' AS other", "VACUUM INTO '{}/copy.sqlite'", "SELECT load_extension('{}/code.so')", "PRAGMA temp_store_directory = '{}'",
             "CREATE VIRTUAL TABLE temp.x USING fts5(y)", "SELECT * FROM dbstat", "SELECT * FROM pragma_database_list", "SELECT fts3_tokenizer('x', x'00')",
             "SELECT writefile('{}/x', 'y')", "SELECT readfile('/etc/passwd')", "SELECT edit('x')"]


@pytest.fixture
def fleet(stage, tmp_path):
    made = Fleets(stage / "chokepoint", tmp_path)
    made.collect(make(tmp_path / "one", {"/srv/a": document("/srv/a", [merged()])}))
    return made


@pytest.mark.parametrize("sql", WRITING)
def test_sql_changes_nothing(fleet, sql):
    before = fleet.database.read_bytes()
    assert fleet.sql(sql, status=125).stderr.startswith("chokepoint: the query ")
    assert fleet.database.read_bytes() == before and sorted(os.listdir(fleet.directory)) == ["all.sqlite", "one"]


def test_the_same_sql_changes_a_database_that_is_merely_opened(fleet):
    before = fleet.database.read_bytes()
    fleet.change("DELETE FROM findings; PRAGMA user_version = 7")
    assert fleet.database.read_bytes() != before


@pytest.mark.parametrize("sql", ELSEWHERE)
def test_sql_reaches_no_other_file(fleet, sql):
    sqlite3.connect(fleet.directory / "other.sqlite").close()
    there = sorted(os.listdir(fleet.directory))
    assert fleet.sql(sql.format(fleet.directory), status=125).stderr.startswith("chokepoint: the query ")
    assert sorted(os.listdir(fleet.directory)) == there


@pytest.mark.parametrize("sql", [ENDLESS + "SELECT count(*) FROM c", "SELECT count(*) FROM findings a, " + ", ".join(f"sqlite_schema s{n}" for n in range(12)),
                                 ENDLESS + "SELECT x FROM c WHERE x < 0", "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(3999999)) || '1')"])
def test_sql_ends_in_time(fleet, sql):
    began = time.monotonic()
    said = fleet.call("query", "--from", fleet.database, "--timeout", "0.5", "--sql", sql, status=125).stderr
    assert "the query was ended after" in said and time.monotonic() - began < 20


SANITIZED = os.environ.get("CHOKE_SANITIZED") == "1"
LONG_STRING = [] if SANITIZED else [ENDLESS + "SELECT group_concat(x) FROM (SELECT x FROM c LIMIT 5000000)"]  # takes minutes there


@pytest.mark.parametrize("sql", ["SELECT zeroblob(1000000000)", "SELECT replace(hex(zeroblob(8000000)), '0', hex(zeroblob(4000000)))",
                                 ENDLESS + "SELECT x, printf('%.*c', 60000, 'x') y FROM c ORDER BY y DESC", *LONG_STRING])
def test_memory_is_bounded(fleet, sql):
    """It fails by its own limit, below that of the process."""
    limit = 3 << 30
    answer = fleet.call("query", "--from", fleet.database, "--timeout", "120", "--sql", sql, status=125,
                        **({} if SANITIZED else {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}))
    assert "string or blob too big" in answer.stderr or "the query needs more than 512 MiB of memory" in answer.stderr


def test_deep_and_long_sql_is_refused(fleet):
    for sql in ("SELECT " + "(" * 2000 + "1" + ")" * 2000, "SELECT " + "- " * 3000 + "1", "SELECT 1 /*" + "x" * 70000 + "*/",
                "SELECT 1" + " UNION ALL SELECT 1" * 100, "SELECT " + ",".join("1" for _ in range(500))):
        fleet.sql(sql, status=125)
