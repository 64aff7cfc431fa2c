"""chokepoint fleet collect and chokepoint fleet query: what becomes of documents, what is read again, and what the named queries
answer.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess

import pytest
import reports
from feature import scaled
from fleet_tables import Fleets, make, missing, packages, programs
from reports import document, merged

ROOT = pathlib.Path(__file__).parents[2]
OLD, NEW = "2026-11-10T10:00:00Z", "2026-11-17T10:00:00Z"


@pytest.fixture
def fleet(stage, tmp_path):
    return Fleets(stage / "chokepoint", tmp_path)


@pytest.fixture
def two(fleet):
    """Two looks at two repositories, and at one that could not be looked at."""
    secret = merged("secret_shape", "high", "a credential", "src/key.py")
    action = merged("action_by_tag", "medium", "the action 'a/b@v1' is whatever its owner lets the tag name", ".github/workflows/ci.yml")
    make(fleet.directory / "one", {"/srv/a": document("/srv/a", [secret], probes=[packages(("left-pad", "1.0.0"), ("ms", "2.0.0")), missing()]),
                                   "/srv/b": document("/srv/b", [merged()], probes=[packages(("left-pad", "1.1.0")), programs("/bin/sh")])},
         ["/srv/c"], 1, OLD)
    make(fleet.directory / "two", {"/srv/a": document("/srv/a", [secret, action], probes=[packages(("left-pad", "1.3.0"), ("ms", "2.0.0")), missing()]),
                                   "/srv/b": document("/srv/b", [], probes=[packages(("left-pad", "1.1.0")), programs("/bin/sh")])},
         ["/srv/c"], 2, NEW)
    fleet.collect(fleet.directory / "one", fleet.directory / "two")
    return fleet


# ---- collect ----

def test_a_fleet_becomes_a_database_beside_its_documents(fleet):
    look = make(fleet.directory / "one", {"/srv/a": document(findings=[merged()])}, ["https://example.org/b"])
    assert fleet.call("collect", look).stdout == "1 documents added, 0 replaced, 0 unchanged; 1 repositories without a document\n"
    assert (look / "fleet.sqlite").stat().st_mode & 0o777 == 0o600, "it tells where repositories are weak"
    answer = fleet.call("query", "repositories", "--from", look)
    assert answer.stdout.splitlines()[1].split() == ["/srv/a", "0", "0", "1", "0", "0", OLD, "ab" * 20]
    assert "https://example.org/b" in fleet.call("query", "failures", "--from", look / "fleet.sqlite").stdout


def test_only_what_has_changed_is_read_again(two):
    one, before = two.directory / "one", two.dump()
    written = two.database.stat().st_mtime_ns
    assert two.collect(one).stdout.startswith("0 documents added, 0 replaced, 2 unchanged")
    assert two.dump() == before and two.database.stat().st_mtime_ns >= written
    name = next(name for name, entry in json.loads((one / "index.json").read_text())["repositories"].items() if entry["path"] == "/srv/a")
    reports.write(one / "documents" / f"{name}.json", document("/srv/a", [merged("other", "critical")]))
    assert two.collect(one).stdout.startswith("0 documents added, 1 replaced, 1 unchanged")
    after = two.dump()
    assert len(after["findings"]) == len(before["findings"]) and after["documents"] != before["documents"]
    assert not any("/srv/a" in row and "secret_shape" in row for row in after["findings"] if "0000001" in row)


def test_a_document_takes_the_place_of_a_failure(fleet):
    look = make(fleet.directory / "one", {}, ["/srv/a"])
    fleet.collect(look)
    assert [row["message"] for row in fleet.rows("failures")] == ["cannot read '/srv/a'"]
    reports.write(look / "documents" / "name0.json", document("/srv/a"))
    assert fleet.collect(look).stdout.startswith("1 documents added")
    assert fleet.rows("failures") == [] and len(fleet.rows("repositories")) == 1
    assert fleet.collect(look).stdout == "0 documents added, 0 replaced, 1 unchanged; 0 repositories without a document\n"


def test_rows_stay_when_their_directory_is_gone(two):
    before = two.rows("repositories")
    for path in sorted((two.directory / "one").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    two.collect(two.directory / "two")
    assert two.rows("repositories") == before and len(two.rows("looks")) == 2


def test_what_cannot_be_read_is_named_and_the_rest_is_collected(fleet):
    look = make(fleet.directory / "one", {"/srv/a": document("/srv/a"), "/srv/b": document("/srv/b")})
    reports.write(look / "documents" / "name1.json", '{"format": 1, "probes": [')
    reports.write(look / "documents" / "other.json", document())
    reports.write(look / "documents" / "deep.json", "[" * 100)
    reports.write(look / "documents" / ".half.json", "{")
    (look / "documents" / "pipe.json").symlink_to("/dev/zero")
    os.mkfifo(look / "documents" / "fifo.json")
    answer = fleet.collect(look, status=1)
    assert answer.stdout.startswith("1 documents added, 0 replaced, 0 unchanged")
    said = sorted(line.split("'")[1].split("/")[-1] + line.split("'")[2] for line in answer.stderr.splitlines())
    assert said == ["deep.json is not collected: index.json does not have it", "fifo.json is not collected: it is not a regular file",
                    "name1.json is not collected: it is not JSON, or not complete", "other.json is not collected: index.json does not have it",
                    "pipe.json is not collected: it is not a regular file"]


@pytest.mark.parametrize("name, text, said", [
    ("fleet.json", None, "is not a directory of 'chokepoint fleet run': it has no fleet.json"),
    ("fleet.json", {"id": "../../etc", "begun": OLD}, "has no 'id' or no date 'begun'"),
    ("fleet.json", {"id": "0" * 16, "begun": "yesterday"}, "has no 'id' or no date 'begun'"),
    ("index.json", None, "it has no index.json"), ("index.json", "[]", "has no 'repositories'"), ("index.json", "{", "it is not JSON, or not complete")])
def test_a_directory_of_another_kind_is_refused(fleet, name, text, said):
    look = make(fleet.directory / "one", {"/srv/a": document()})
    (look / name).unlink()
    if text is not None:
        reports.write(look / name, text)
    assert said in fleet.collect(look, status=125).stderr
    assert not fleet.database.exists(), "nothing is made for it"


def test_several_directories_need_a_place(two):
    said = two.call("collect", two.directory / "one", two.directory / "two", status=125).stderr
    assert said.startswith("chokepoint: several directories need --into FILE")


def test_documents_of_earlier_versions_are_read(fleet):
    evidence = {"findings": [reports.finding("eval_call", "high", "eval", "a.py", 3), {"id": "secret_shape"}], "findings_total": 40}
    make(fleet.directory / "one", {"/srv/a": reports.old_document(probes=[reports.probe("patterns", "rg", evidence=evidence)])})
    fleet.collect(fleet.directory / "one")
    assert [(row["severity"], row["rule"], row["first"]) for row in fleet.rows("rules")] == [("high", "eval_call", "/srv/a"), ("info", "secret_shape", "/srv/a")]
    assert [row["rule"] for row in fleet.rows("secrets")] == ["secret_shape"]


# ---- interruption ----

def test_a_killed_collect_loses_nothing(fleet):
    """Killed at whatever moment, then run again: what is there is what an undisturbed one makes."""
    look = make(fleet.directory / "one", {f"/srv/{n}": document(f"/srv/{n}", reports.many(40, n), probes=[packages((f"p{n}", "1"))]) for n in range(60)})
    chosen, killed, done = random.Random(7), 0, False
    for _ in range(scaled(60, 8, 25)):
        with subprocess.Popen([fleet.command, "fleet", "collect", look, "--into", fleet.database], stdout=subprocess.DEVNULL) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chosen.random() * 0.12)
            done = process.poll() is not None
            process.send_signal(signal.SIGKILL)
        killed += not done
        if done:
            fleet.database.unlink()
    assert killed >= 3, "it was never interrupted"
    fleet.collect(look)
    whole = Fleets(fleet.command, fleet.directory)
    whole.database = fleet.directory / "whole.sqlite"
    whole.collect(look)
    assert fleet.dump() == whole.dump() and len(fleet.dump()["documents"]) == 60


def test_two_collects_at_once_make_one_database(fleet):
    look = make(fleet.directory / "one", {f"/srv/{n}": document(f"/srv/{n}", reports.many(20, n)) for n in range(40)})
    command = [fleet.command, "fleet", "collect", look, "--into", fleet.database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as one, \
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as other:
        answers = [process.communicate() for process in (one, other)]
        assert (one.returncode, other.returncode) == (0, 0), answers
    assert len(fleet.dump()["documents"]) == 40


# ---- damage and versions ----

@pytest.mark.parametrize("place", ["header", "schema", "middle", "end"])
def test_a_damaged_database_is_made_anew(two, place):
    before, looks = two.dump(), (two.directory / "one", two.directory / "two")
    data = bytearray(two.database.read_bytes())
    at = {"header": 20, "schema": 110, "middle": len(data) // 2, "end": len(data) - 5000}[place]
    data[at:at + 3000] = b"\xa5" * 3000 if place != "end" else b""
    data = data[:at] if place == "end" else data
    two.database.write_bytes(data)
    if place == "header":  # nothing says that it is ours
        assert "is not a database of 'chokepoint fleet collect', or no longer one" in two.collect(*looks, status=125).stderr
        usual = looks[0] / "fleet.sqlite"
        usual.write_bytes(data)
        usual.chmod(0o600)
        assert "it is now '" in two.call("collect", looks[0]).stderr
        return
    answer = two.collect(*looks)
    assert f"the database was damaged and is made anew; it is now '{two.database}.damaged-1'" in answer.stderr
    assert two.dump() == before and (two.directory / "all.sqlite.damaged-1").read_bytes() == bytes(data)
    assert two.call("query", "looks", "--from", two.database).stderr == ""


def test_a_query_says_that_a_database_is_damaged(two):
    data = bytearray(two.database.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    two.database.write_bytes(data)
    assert "is damaged" in two.call("query", "repositories", "--from", two.database, status=125).stderr


def test_a_later_version_is_left_alone(two):
    two.change("PRAGMA user_version = 99")
    data = two.database.read_bytes()
    for command in (("collect", two.directory / "one", "--into", two.database), ("query", "looks", "--from", two.database)):
        assert "was written by a later version of chokepoint" in two.call(*command, status=125).stderr
    assert two.database.read_bytes() == data


def test_a_database_with_a_log_beside_it_is_brought_back(two):
    two.change("PRAGMA journal_mode = WAL; INSERT INTO versions VALUES (-1, 'x', 'x')")
    assert "has a write-ahead log; run 'chokepoint fleet collect' first" in two.call("query", "looks", "--from", two.database, status=125).stderr
    two.collect(two.directory / "one")
    assert two.database.read_bytes()[18:20] == b"\1\1" and len(two.rows("looks")) == 2


def test_a_database_of_version_1_is_brought_to_this_one(two):
    """The fixture is what version 1 made. What it left out comes from the documents, which are read again."""
    whole, script = two.dump(), (ROOT / "tests/integration/golden/fleet-v1.sql").read_text(encoding="utf-8")
    two.database.unlink()
    two.change(script)
    two.database.chmod(0o600)
    assert "is of an earlier version; run 'chokepoint fleet collect' first" in two.call("query", "looks", "--from", two.database, status=125).stderr
    answer = two.collect(two.directory / "one", two.directory / "two")
    assert "was of an earlier version and has been brought to this one" in answer.stderr and "set aside" not in answer.stderr
    assert answer.stdout.startswith("0 documents added, 4 replaced, 0 unchanged"), "all are read again"
    assert two.dump() == whole and len(two.rows("egress")) == 1
    versions = [row["number"] for row in two.rows("--sql", "SELECT number FROM versions ORDER BY number")]
    assert versions == [1, 2] and two.collect(two.directory / "one").stdout.startswith("0 documents added, 0 replaced, 2 unchanged")


def test_a_migration_that_is_killed_is_made_again(two):
    script = (ROOT / "tests/integration/golden/fleet-v1.sql").read_text(encoding="utf-8")
    whole = two.dump()
    for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.04):
        two.database.unlink()
        two.change(script)
        two.database.chmod(0o600)
        with subprocess.Popen([two.command, "fleet", "collect", two.directory / "one", "--into", two.database], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
            process.send_signal(signal.SIGKILL)
        two.collect(two.directory / "one", two.directory / "two")
        assert two.dump() == whole


# ---- queries ----

def test_named_queries_answer(two):
    assert [(row["repository"], row["high"], row["medium"], row["look"]) for row in two.rows("repositories")] == [("/srv/a", 1, 1, NEW), ("/srv/b", 0, 0, NEW)]
    assert [(row["package"], row["versions"], row["one"], row["another"]) for row in two.rows("packages")] == [("left-pad", 2, "1.1.0", "1.3.0")]
    assert [(row["version"], row["repository"]) for row in two.rows("package", "left-pad")] == [("1.1.0", "/srv/b"), ("1.3.0", "/srv/a")]
    assert two.rows("package", "left") == []
    assert [(row["since"], row["days"], row["repository"], row["path"]) for row in two.rows("secrets")] == [(OLD, 7, "/srv/a", "src/key.py")]
    assert [(row["kind"], row["repository"]) for row in two.rows("build")] == [("action", "/srv/a"), ("program", "/srv/b")]
    assert [row["argv"] for row in two.rows("program", "/bin/sh")] == ["/bin/sh -c id"]
    assert [(row["address"], row["port"], row["repositories"], row["first"]) for row in two.rows("egress")] == [("192.0.2.1", 443, 1, "/srv/b")]
    assert [(row["probe"], row["state"], row["repositories"]) for row in two.rows("probes")] == [("semgrep", "tool_missing", 1)]
    assert [row["repository"] for row in two.rows("failures")] == ["/srv/c"]
    assert [(row["look"], row["documents"], row["failures"]) for row in two.rows("looks")] == [(NEW, 2, 1), (OLD, 2, 1)]
    assert [(row["severity"], row["rule"]) for row in two.rows("rules")] == [("high", "secret_shape"), ("medium", "action_by_tag")]


def test_changes_compares_the_two_newest_looks(two):
    assert {(row["change"], row["kind"], row["repository"], row["what"]) for row in two.rows("changes")} == {
        ("new", "finding", "/srv/a", "action_by_tag"), ("gone", "finding", "/srv/b", "shell_call"),
        ("new", "package", "/srv/a", "left-pad"), ("gone", "package", "/srv/a", "left-pad")}
    make(two.directory / "three", {"/srv/b": document("/srv/b", []), "/srv/d": document("/srv/d", [])}, ["/srv/a"], 3, "2026-11-18T10:00:00Z")
    # The names of the third look are its own: of a fleet they are the same in each.
    index = two.directory / "three" / "index.json"
    known = {entry["path"]: name for name, entry in json.loads((two.directory / "two" / "index.json").read_text())["repositories"].items()}
    mine = json.loads(index.read_text())["repositories"]
    reports.write(index, {"repositories": {known.get(entry["path"], "name9"): entry for entry in mine.values()}})
    for place, suffix in (("documents", "-"), ("failed", "-")):
        for path in list((two.directory / "three" / place).iterdir()):
            path.rename(path.with_name(suffix + path.name))
        for path in list((two.directory / "three" / place).iterdir()):
            name = known.get(mine[path.name[1:-5]]["path"], "name9")
            path.rename(path.with_name(name + ".json"))
    two.collect(two.directory / "three")
    assert {(row["change"], row["kind"], row["repository"], row["details"]) for row in two.rows("changes") if row["kind"] == "repository"} == {
        ("new", "repository", "/srv/d", None), ("gone", "repository", "/srv/a", "cannot read '/srv/a'")}
    assert [row["repository"] for row in two.rows("repositories")] == ["/srv/a", "/srv/b", "/srv/d"], "the latest document of each"


def test_every_named_query_is_listed_and_uses_indices(two):
    listed = json.loads(two.call("query", "--list", "--json").stdout)
    text = two.call("query", "--list").stdout
    assert len(listed) == len(text.splitlines()) == 12
    large = re.compile(r"SCAN (findings|packages|executables|probes|f|p|a|g|e|b)\b(?!.*USING)")
    with contextlib.closing(sqlite3.connect(two.database)) as database:
        for query in listed:
            plan = [row[3] for row in database.execute("EXPLAIN QUERY PLAN " + query["sql"], ["x"] * ("?1" in query["sql"]))]
            assert not [line for line in plan if large.match(line) and " p" not in line and "pairs" not in line], (query["name"], plan)
            assert query["name"] in text and query["summary"].endswith(".")


@pytest.mark.parametrize("arguments, said", [
    ((), "one of NAME, --sql and --list is needed"), (("looks", "--list"), "one of NAME, --sql and --list is needed"),
    (("nothing",), "unknown query 'nothing'; --list shows them"), (("package",), "'package' needs NAME"), (("looks", "x"), "'looks' takes no argument"),
    (("looks", "--json", "--csv"), "--json and --csv exclude each other")])
def test_a_query_that_is_wrong_is_explained(two, arguments, said):
    assert said in two.call("query", *arguments, status=125).stderr


def test_sql_reads_and_its_rows_are_bounded(two):
    assert two.sql("SELECT count(*) AS n FROM findings").stdout == "n\n4\n"
    assert two.sql("SELECT e.value AS v FROM json_each('[1,2]') e").stdout == "v\n1\n2\n"
    counted = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    answer = two.sql(counted, status=1)
    assert len(answer.stdout.splitlines()) == 1001 and "there are more rows than these 1000" in answer.stderr
    answer = two.call("query", "--sql", counted, "--rows", "3", "--json", "--from", two.database, status=1)
    assert json.loads(answer.stdout) == {"format": 1, "columns": ["x"], "rows": [[1], [2], [3]], "cut": True}
    assert "the query was ended after 1 s" in two.call("query", "--from", two.database, "--timeout", "1", "--sql",
                                                       counted.replace("SELECT x FROM", "SELECT count(*) FROM"), status=125).stderr
    assert "there is no" in two.call("query", "looks", "--from", two.directory / "none.sqlite", status=125).stderr


def test_values_of_every_kind_are_printed(two):
    sql = "SELECT NULL AS a, -1 AS b, 1.5 AS c, x'00ff' AS d, '=1' AS e, char(10, 8238, 27) || '\"' AS f, 9e999 AS g"
    table = two.sql(sql).stdout.splitlines()
    assert table[1].split() == ["-1", "1.5", "(2", "bytes)", "=1", "\\x0a\\xe2\\x80\\xae\\x1b\"", "inf"]
    answer = two.call("query", "--from", two.database, "--csv", "--sql", sql).stdout
    assert answer == '"a","b","c","d","e","f","g"\n"","-1","1.5","(2 bytes)","\'=1","\\x0a\\xe2\\x80\\xae\\x1b""","inf"\n'
    assert json.loads(two.call("query", "--from", two.database, "--json", "--sql", sql).stdout)["rows"] == [
        [None, -1, 1.5, {"base64": "AP8="}, "=1", "\n\u202e\x1b\"", None]]


# ---- the schema ----

def test_the_document_has_the_schema_of_the_database(two):
    page = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
    described = page.split("<!-- schema -->")[1].split("<!-- end -->")[0]
    with contextlib.closing(sqlite3.connect(":memory:")) as model:
        model.executescript(described.strip().removeprefix("```sql").removesuffix("```"))
        wanted = "SELECT type, name, tbl_name FROM sqlite_schema ORDER BY 1, 2"
        columns = "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2"
        with contextlib.closing(sqlite3.connect(two.database)) as database:
            for question in (wanted, columns):
                assert model.execute(question).fetchall() == database.execute(question).fetchall()


def test_foreign_keys_and_cascades_hold(two):
    with contextlib.closing(sqlite3.connect(two.database)) as database:
        database.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError):
            database.execute("INSERT INTO findings VALUES (999, 0, 'f', 'high', 'r', 'm', 'p', 1, NULL, NULL, NULL, NULL, 0)")
        database.execute("DELETE FROM documents")
        assert [database.execute(f"SELECT count(*) FROM {name}").fetchone() for name in ("findings", "packages", "probes", "tools", "executables", "egress")] == [(0,)] * 6
