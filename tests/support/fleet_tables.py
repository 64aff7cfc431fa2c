"""Directories of fleets, as `fleet run` leaves them, and the database that `fleet collect` makes of them."""
import contextlib
import csv
import io
import json
import sqlite3
import subprocess

import reports



def packages(*pairs):
    """A bill of materials."""
    listed = [{"name": name, "version": version, "purl": f"pkg:npm/{name}@{version}", "licences": ["MIT"], "path": "package-lock.json"}
              for name, version in pairs]
    return reports.probe("sbom", "syft", evidence={"packages": listed, "packages_total": len(listed)})


def programs(*paths):
    """What a traced image executed."""
    return reports.probe("runtime_trace", "docker", evidence={
        "programs": [{"path": path, "argv": [path, "-c", "id"], "error": None} for path in paths],
        "sockets": [{"call": "connect", "family": "AF_INET", "address": "192.0.2.1", "port": 443, "error": "ENETUNREACH"}]})


def missing(name="semgrep"):
    return reports.probe(name, name, state="tool_missing", reason=f"{name} is not installed", install=f"pip install {name}", calls=[])


def make(directory, documents, failed=(), number=1, begun="2026-11-10T10:00:00Z"):
    """One look. documents: {path or URL: document}."""
    reports.fleet(directory, documents, failed)
    reports.write(directory / "fleet.json", {"format": 1, "id": f"{number:016x}", "begun": begun})
    for path in [directory, *directory.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return directory


class Fleets:
    """Calls the command, and reads what it made."""

    def __init__(self, command, directory):
        self.command, self.directory = command, directory
        self.database = directory / "all.sqlite"

    def call(self, *arguments, status=0, **more):
        answer = subprocess.run([self.command, "fleet", *map(str, arguments)], capture_output=True, text=True, check=False, errors="replace",
                                timeout=120, cwd=self.directory, **more)
        assert answer.returncode == status, answer
        return answer

    def collect(self, *directories, status=0):
        return self.call("collect", *directories, "--into", self.database, status=status)

    def rows(self, *question, status=0):
        """Rows as dicts."""
        answer = json.loads(self.call("query", *question, "--from", self.database, "--json", status=status).stdout)
        return [dict(zip(answer["columns"], row)) for row in answer["rows"]]

    def table(self, *question):
        return list(csv.DictReader(io.StringIO(self.call("query", *question, "--from", self.database, "--csv").stdout, newline="")))

    def sql(self, text, status=0, **more):
        return self.call("query", "--from", self.database, "--sql", text, status=status, **more)

    def dump(self, path=None):
        """Everything in a database but numbers and dates that depend on when it was made."""
        with contextlib.closing(sqlite3.connect(path or self.database)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert not database.execute("PRAGMA foreign_key_check").fetchall()
            key = "(SELECT l.fleet || r.name FROM documents d JOIN looks l ON l.id = d.look JOIN repositories r ON r.id = d.repository WHERE d.id = document)"
            lists = {name: sorted(map(repr, database.execute(f"SELECT {key}, * FROM {name}").fetchall()))
                     for name in ("tools", "probes", "findings", "packages", "executables", "egress")}
            lists = {name: [row.split(", ", 2)[0] + row.split(", ", 2)[2] for row in rows] for name, rows in lists.items()}
            return lists | {
                "documents": database.execute("SELECT l.fleet, r.name, r.place, d.sha256, d.latest, d.critical, d.high FROM documents d "
                                              "JOIN looks l ON l.id = d.look JOIN repositories r ON r.id = d.repository ORDER BY 1, 2").fetchall(),
                "failures": database.execute("SELECT l.fleet, r.place, f.stage, f.message FROM failures f JOIN looks l ON l.id = f.look "
                                             "JOIN repositories r ON r.id = f.repository ORDER BY 1, 2").fetchall()}

    def change(self, script, path=None):
        """As another program would."""
        with contextlib.closing(sqlite3.connect(path or self.database)) as database:
            database.executescript(script)
