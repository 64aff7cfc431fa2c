"""A tree to lint, and the linter: how to call it, and what its JSON must look like for every
result.
"""
import json
import os
import pathlib

from terminal import on_terminal

SHELL = "import os\nos.system('ls')\n"  # the topic of a rule, in two lines
SHELL_RULE = "python-shell-call"
PROCESS = "import subprocess\nsubprocess.run(['ls'])\n"  # creates a process and is not worse
PROCESS_RULE = "python-subprocess"

REPORT = {"known", "version", "clean", "top", "config", "errors", "warnings", "notes", "dropped", "waived", "allowed", "files",
          "bytes", "ignored", "excluded", "findings", "skipped"}
FINDING = {"fingerprint", "known", "severity", "rule", "path", "name", "line", "column", "byte_column", "end_line", "end_column",
           "end_byte_column", "found", "message", "instead", "source"}
COUNTS = {"error": "errors", "warning": "warnings", "note": "notes"}


def check_shape(document, status) -> None:
    assert set(document) == REPORT
    assert document["clean"] == (status == 0)
    assert document["clean"] == (document["errors"] + document["warnings"] + document["dropped"] == 0)
    for severity, name in COUNTS.items():
        assert document[name] == sum(one["severity"] == severity for one in document["findings"])
    for one in document["findings"]:
        assert set(one) == FINDING
        assert one["severity"] in COUNTS and one["rule"] and one["message"] and one["instead"]
        assert (one["line"] is None) == (one["source"] is None)
        if one["line"] is not None:
            assert (one["line"], one["column"]) <= (one["end_line"], one["end_column"])
            assert one["column"] <= one["byte_column"]
    for one in document["skipped"]:
        assert set(one) == {"path", "reason"} and one["reason"]


class Tree:
    """The root of a box, as the tree that is linted."""

    def __init__(self, box):
        self.box, self.top = box, box.root

    def write(self, path, text=SHELL, mode=0o644) -> pathlib.Path:
        path = self.top / path
        missing = [parent for parent in path.parents if not parent.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in missing:
            self.box.own(parent)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.box.own(path, mode)

    def configure(self, text="", name=".chokepoint-lint.yaml") -> pathlib.Path:
        return self.write(name, "version: 1\n" + text)

    def repository(self) -> None:
        self.box.own(self.top)
        (self.top / ".git").mkdir()
        self.box.own(self.top / ".git")

    def call(self, *args, **keywords):
        keywords.setdefault("cwd", self.top)
        return self.box.call([self.box.command, "lint", *map(os.fspath, args)], **keywords)

    def lint(self, *args, status=None, **keywords):
        """The JSON document."""
        answer = self.call("--format", "json", *args, **keywords)
        document = json.loads(answer.out)
        assert answer.status in (0, 1), document
        check_shape(document, answer.status)
        assert status is None or answer.status == status, document
        return document

    def found(self, *args, **keywords) -> list:
        """[(path, rule)], in the order of the report."""
        return [(one["path"], one["rule"]) for one in self.lint(*args, **keywords)["findings"]]

    def paths(self, *args, **keywords) -> list:
        return sorted({path for path, _ in self.found(*args, **keywords)})

    def refused(self, *args, **keywords) -> str:
        """The message of a run that has no report; the same in both forms."""
        plain = self.call(*args, **keywords)
        assert plain.status == 125 and plain.out == b"", plain
        lines = plain.err.decode().splitlines()
        assert len(lines) == 1 and lines[0].startswith("chokepoint: "), lines
        document = json.loads(self.call("--format", "json", *args, **keywords).out)
        assert set(document) == {"error"}
        assert lines[0].removeprefix("chokepoint: ").startswith(document["error"]["message"])
        return document["error"]["message"]

    def on_a_terminal(self, *args, **env) -> bytes:
        return on_terminal(self.box, [self.box.command, "lint", *args], cwd=self.top,
                           env=self.box.environment(**env))[1]
