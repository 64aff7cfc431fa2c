"""Documents of gather as a report reads them: made from docs/gather.schema.json, in the form of this version or an older one."""
import csv
import hashlib
import html
import itertools
import json
import os
import pathlib
import random
import re

from audit import Log

MARKER = b"<!doctype html><!-- chokepoint report -->"
SEVERITIES = ("critical", "high", "medium", "low", "info")
LAYERS = ["user_ns", "mount_ns", "pid_ns", "net_ns", "fresh_root", "landlock", "execs", "seccomp"]


def call(tool, *arguments, jail="native", layers=None, outcome="exited"):
    return {"id": "check", "argv": [tool, *arguments], "outcome": outcome, "exit_code": 0 if outcome == "exited" else None, "rule": f"tools.{tool}",
            "jail": jail, "layers": LAYERS if layers is None else layers, "truncated": False,
            "timing": {"duration_ms": 1.5, "user_ms": 1.0, "system_ms": 0.5, "max_rss_kib": 10, "stdout_bytes": 1, "stderr_bytes": 0}}


def probe(name, tool, state="ok", reason=None, install=None, evidence=None, calls=None, **more):
    found = (evidence or {}).get("findings")
    return {"name": name, "layer": "static", "tool": tool, "why": f"why {name} is asked", "state": state, "reason": reason, "install": install,
            "headline": f"headline of {name}" if state == "ok" else None,
            "found": None if found is None else {"count": len(found), "noun": "match"},
            "evidence": (evidence or {}) if state == "ok" else None, "files_cut": False,
            "calls": [call(tool, "--check")] if calls is None else calls, "timing": {"started_ms": 0, "duration_ms": 12.5}, **more}


def finding(rule="shell_call", severity="medium", message="a shell may run this", path="src/run.py", line=12, **more):
    return {"id": rule, "severity": severity, "message": message, "path": path, "line": line, **more}


def merged(rule="shell_call", severity="medium", message="a shell may run this", path="src/run.py", line=12, probes=("rg",), source="sh -c",
           fingerprint=None, place="source"):
    """A finding of the list that is made of all probes."""
    made = fingerprint or hashlib.sha256(f"{rule}\0{path}\0{source}\0{line}".encode()).hexdigest()[:32]
    seen = [{"probe": name, "id": rule, "severity": severity, "message": message} for name in probes]
    return {"fingerprint": made, "severity": severity, "id": rule, "message": message, "path": path, "line": line, "commit": None, "place": place,
            "source": source, "known": False, "seen_by": seen}


def document(root="/srv/app", findings=(), date="2026-11-18T10:00:00Z", probes=None, **more):
    """findings: merged ones."""
    findings = list(findings)
    counts = {name: sum(item["severity"] == name for item in findings) for name in SEVERITIES}
    made = {"format": 1, "chokepoint": "0.1.0", "repository": {"root": root, "files": 120, "files_incomplete": False}, "commit": "ab" * 20,
            "cancelled": False, "summary": {}, "findings": findings,
            "findings_summary": {"total": len(findings), "known": 0, "cut": False, "by_severity": counts},
            "tools": [{"name": "rg", "path": "/usr/bin/rg", "version": "13.0.0", "sha256": "12" * 32}],
            "probes": [probe("rg", "rg")] if probes is None else probes, "timing": {"date": date, "duration_ms": 100, "own_cpu_ms": 5}}
    made.update(more)
    return made


def old_document(root="/srv/app", probes=(), **more):
    """As it was before findings were merged and dated."""
    made = document(root, probes=list(probes), **more)
    for name in ("findings", "findings_summary"):
        del made[name]
    del made["timing"]["date"]
    return made


def many(count, seed=1):
    """As in a large code base: few rules, many paths, each line of its own."""
    chosen = random.Random(seed)
    rules = [(f"rule-{number}", severity, f"what rule {number} has found in this place") for number in range(60)
             for severity in (chosen.choice(SEVERITIES),)]
    for number in range(count):
        rule, severity, message = chosen.choice(rules)
        path = f"src/module{number % 97}/part{number % 1009}/file{number // 7}.py"
        yield merged(rule, severity, message, path, number % 900 + 1, probes=chosen.choice((("rg",), ("semgrep",), ("rg", "semgrep"))),
                     source=f"call({number}, {chosen.random()})", place=chosen.choice(("source", "test", "document")))


def write(path, value):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def fleet(directory, documents, failed=()):
    """What `fleet run --out` leaves: documents is {path of the repository: document}."""
    names = {f"name{number}": text for number, text in enumerate(itertools.chain(documents, failed))}
    index = {name: {"url" if "://" in text else "path": text} for name, text in names.items()}
    write(directory / "index.json", {"format": 1, "repositories": index})
    write(directory / "fleet.json", {"format": 1, "id": "0" * 16, "begun": "2026-11-18T10:00:00Z"})
    for name, text in names.items():
        if text in documents:
            write(directory / "documents" / f"{name}.json", documents[text])
        else:
            write(directory / "failed" / f"{name}.json", {"path": text, "message": f"cannot read '{text}'"})
    return directory


class Reporter:
    """Writes documents and logs, and makes pages of them as a user does."""

    def __init__(self, box):
        self.box, self.out = box, box.outside / "page.html"
        self.table = box.outside / "table.csv"

    def write(self, name, value):
        path = write(self.box.outside / name, value)
        os.chmod(path, 0o644)
        for parent in path.relative_to(self.box.outside).parents:
            os.chmod(self.box.outside / parent, 0o755)
        self.box.own(self.box.outside, 0o755)
        return path

    def call(self, *arguments, status=0, command=("report",)):
        answer = self.box.call([self.box.command, *command, *map(str, arguments)])
        assert answer.status == status, answer
        return answer

    def page(self, *arguments, **more):
        self.call(*arguments, "--out", self.out, **more)
        return self.out.read_text(encoding="utf-8")

    def audit(self, log, **more):
        path = self.box.file("outside/audit.jsonl", log if isinstance(log, bytes) else log.text(), 0o600)
        return self.page(path, command=("audit", "report"), **more)

    def rows(self, *arguments):
        self.call(*arguments, "--out", self.out, "--csv", self.table)
        with open(self.table, encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))


def words(page):
    """What a reader without a script sees, in one line."""
    body = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def some_log():
    """Every kind of row."""
    log = Log()
    log.outcome(log.intent("git", "status", jail="native", layers=["seccomp"], rule="tools.git", env=["PATH"]), "git")
    log.outcome(log.intent("rg", "x", jail="none", layers=[]), "rg", outcome="timeout", exit_code=None)
    first = log.intent("npm", "install", jail="native", egress=["registry.npmjs.org"])
    log.add("egress", intent=first, context="c" * 16, pid=1, tool={"name": "npm"}, verdict="refused", connection=1, protocol="connect", host="evil.example",
            port=443, rule="", address="", reason="not listed", sent_bytes=0, received_bytes=0)
    log.outcome(first, "npm", exit_code=1, denied=[{"kind": "exec", "path": "/bin/sh", "by": "node", "errno": 13, "add": "uses: [shell]"}])
    log.refused("bash", "-c", "id", error={"code": "disallowed", "message": "'bash' is not in the policy"})
    log.add("later", program="agent", argv=["agent", "--fast"], limits={"layers": ["seccomp"]})
    log.intent("git", "gc", jail="native")
    return log
