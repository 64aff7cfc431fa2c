"""Promise: A database of fleets.
Attacker: another user of the machine, or whoever made an archive that the caller unpacked. Means: a symlink, a FIFO, a hard link or
a device in place of the database or of its journal; a directory that others may write; a database of another user.

Expected: neither collect nor query uses it, nothing is followed or waited for, and what the link leads to keeps its bytes.
"""
import os
import shutil
import sqlite3

import pytest
from fleet_tables import Fleets, make
from reports import document, merged


@pytest.fixture
def fleet(stage, tmp_path):
    made = Fleets(stage / "chokepoint", tmp_path)
    made.collect(make(tmp_path / "one", {"/srv/a": document("/srv/a", [merged()])}))
    return made


def refused(fleet, said):
    for command in (("collect", fleet.directory / "one", "--into", fleet.database), ("query", "looks", "--from", fleet.database)):
        assert said in fleet.call(*command, status=125).stderr


def test_a_symlink_is_not_followed(fleet):
    other = fleet.directory / "other.sqlite"
    fleet.database.rename(other)
    before = other.read_bytes()
    fleet.database.symlink_to(other)
    with sqlite3.connect(fleet.database) as database:  # SQLite by itself follows it
        assert database.execute("SELECT count(*) FROM looks").fetchone() == (1,)
    refused(fleet, "is not used as a database: it is a symlink")
    assert other.read_bytes() == before and fleet.database.is_symlink()


@pytest.mark.parametrize("name", ["all.sqlite", "all.sqlite-journal", "all.sqlite-wal", "all.sqlite-shm"])
def test_a_fifo_is_not_waited_for(fleet, name):
    (fleet.directory / name).unlink(missing_ok=True)
    os.mkfifo(fleet.directory / name)
    refused(fleet, f"{name}' is not used as a database: it is not a regular file")


def test_a_hard_link_is_refused(fleet):
    os.link(fleet.database, fleet.directory / "second.sqlite")
    refused(fleet, "it has several names (hard links)")


def test_a_file_that_others_may_write_is_refused(fleet):
    fleet.database.chmod(0o620)
    refused(fleet, "is not used as a database: it can be written by others")


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_a_directory_that_others_may_write_is_refused(fleet, mode):
    """They could put a journal there. SQLite writes what is in it into the database."""
    fleet.directory.chmod(mode)
    try:
        refused(fleet, "can be written by others, who could change a database in it")
    finally:
        fleet.directory.chmod(0o700)


def test_a_journal_of_another_database_is_what_the_directory_is_checked_for(fleet):
    """Without the check: a journal with pages of another database changes this one when it is opened."""
    other = fleet.directory / "other.sqlite"
    shutil.copy(fleet.database, other)
    with sqlite3.connect(other, isolation_level=None) as database:
        database.execute("PRAGMA journal_mode = TRUNCATE")
        database.execute("DELETE FROM findings")
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN")
        database.execute("INSERT INTO findings VALUES (1, 0, 'f', 'low', '', '', '', 1, '', '', '', '', 0)")
        database.execute("CREATE TABLE filler AS SELECT randomblob(100000) AS x")  # more than the cache, so the journal is written
        shutil.copy(str(other) + "-journal", str(fleet.database) + "-journal")
        database.execute("ROLLBACK")
    journal = os.stat(str(fleet.database) + "-journal")
    assert journal.st_size > 512
    with sqlite3.connect(fleet.database) as database:
        assert database.execute("SELECT count(*) FROM findings").fetchone() == (0,)


def test_a_database_of_another_user_is_refused(fleet, superuser):  # pylint: disable=unused-argument
    os.chown(fleet.database, 12345, 12345)
    refused(fleet, "is not used as a database: it belongs to another user")
    os.chown(fleet.database, 0, 0)
    os.chown(fleet.directory / "one", 12345, 12345)
    assert "belongs to another user" in fleet.collect(fleet.directory / "one", status=125).stderr
    os.chown(fleet.directory / "one", 0, 0)
    os.chown(fleet.directory, 12345, 12345)
    refused(fleet, "belongs to another user, who could change a database in it")


def test_a_file_of_another_kind_is_not_replaced(fleet):
    for text in (b"my thesis\n", b"SQLite format 3\0" + b"x" * 5000):
        fleet.database.write_bytes(text)
        fleet.database.chmod(0o600)
        assert "is not a database of 'chokepoint fleet collect'" in fleet.collect(fleet.directory / "one", status=125).stderr
        assert fleet.database.read_bytes() == text
    fleet.database.unlink()
    fleet.change("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)")
    fleet.database.chmod(0o600)
    before = fleet.database.read_bytes()
    assert "is not a database of 'chokepoint fleet collect'" in fleet.collect(fleet.directory / "one", status=125).stderr
    assert fleet.database.read_bytes() == before
