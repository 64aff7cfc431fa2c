"""Writes and checks an audit log from the description in docs/audit.md alone, without the library.

Tests can make any log with it, good or bad. The format is also implemented twice this way: a
mistake of one side is not repeated by the other.
"""
import datetime
import hashlib
import json
import pathlib
import re

import jsonschema

ZEROS = "0" * 64
CLOSING = b',"hash":"'
# A log never holds these unescaped: a terminal obeys them, or shows the text in another order.
ESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs/audit.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
BEGAN = datetime.datetime(2026, 11, 15, 16, 0, 0)


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def dump(value) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def seal(covered: bytes) -> bytes:
    """One line without its newline; its hash is over these bytes."""
    return covered + CLOSING + digest(covered).encode() + b'"}'


def hash_of(line: bytes) -> str:
    return line[-66:-2].decode()


class Log:
    """The lines of one log, as bytes without newlines. step: seconds between two records."""

    def __init__(self, log="0123456789abcdef", seq=0, prev=ZEROS, continues=None, began=BEGAN, step=1):
        self.log, self.seq, self.prev = log, seq, prev
        self.began, self.step = began, step
        self.lines = []
        self.add("begin", by="chokepoint 0.1.0", continues=continues)

    def add(self, kind, raw=None, **body):
        """raw: the body as it is written, with a leading comma."""
        time = (self.began + datetime.timedelta(seconds=self.seq * self.step)).isoformat(timespec="microseconds") + "Z"
        text = f'{{"v":1,"log":"{self.log}","seq":{self.seq},"time":"{time}","kind":"{kind}","prev":"{self.prev}"'
        text += raw if raw is not None else "".join(f",{dump(key)}:{dump(value)}" for key, value in body.items())
        line = seal(text.encode())
        self.lines.append(line)
        self.prev, self.seq = hash_of(line), self.seq + 1
        return self.seq - 1

    def intent(self, *argv, probe=None, **more):
        return self.add("intent", context="c" * 16, pid=4711, probe=probe,
                        tool={"name": argv[0], "path": f"/usr/bin/{argv[0]}", "sha256": None}, argv=list(argv), **more)

    def outcome(self, intent, tool, outcome="exited", exit_code=0, probe=None, **more):
        return self.add("outcome", intent=intent, context="c" * 16, probe=probe, tool=tool, outcome=outcome,
                        exit_code=exit_code, signal=None, duration_us=12345, **more)

    def refused(self, *argv, outcome="disallowed", probe=None, **more):
        return self.add("refused", context="c" * 16, pid=4711, probe=probe, tool={"name": argv[0]}, argv=list(argv),
                        outcome=outcome, **more)

    def call(self, *argv, probe=None, **more):
        return self.outcome(self.intent(*argv, probe=probe), argv[0], probe=probe, **more)

    def torn(self, data: bytes, reason="a write did not get to its end"):
        """The rest of a record after its writer died, and the repair record for it."""
        self.lines.append(data)
        self.add("repair", torn_bytes=len(data) + 1, torn_hash=digest(data + b"\n"), reason=reason)

    def rotate(self, name):
        """The log that continues in another file."""
        return Log(self.log, self.seq, self.prev, continues=name, began=self.began, step=self.step)

    @property
    def head(self):
        return f"ckh1.{self.log}.{self.seq - 1}.{self.prev}"

    def text(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)


def usual(calls=49) -> Log:
    """100 records: a begin, calls with their outcomes, a refusal."""
    log = Log()
    for number in range(calls):
        log.call("git", "log", f"-{number}", probe="snapshot" if number % 2 else None,
                 outcome="timeout" if number % 7 == 3 else "exited")
    log.refused("bash", "-c", "id")
    return log


def rebuild(lines, start=0, prev=ZEROS):
    """The same lines with a valid chain, as an attacker makes it who can write the file."""
    made = []
    for line in lines[start:]:
        covered = line[:-len(CLOSING) - 66]
        at = covered.index(b'"prev":"') + 8
        made.append(seal(covered[:at] + prev.encode() + covered[at + 64:]))
        prev = hash_of(made[-1])
    return lines[:start] + made


def check(text: bytes) -> None:
    """Asserts that a whole log, or its first file, is valid."""
    prev, log = ZEROS, None
    for seq, line in enumerate(text.splitlines()):
        record = json.loads(line)
        assert list(record)[:6] == ["v", "log", "seq", "time", "kind", "prev"] and list(record)[-1] == "hash"
        assert record["v"] == 1 and record["seq"] == seq and record["prev"] == prev
        assert log in (None, record["log"])
        assert seal(line[:line.rindex(CLOSING)]) == line
        prev, log = record["hash"], record["log"]


def records(path):
    """The records of a whole log. Its chain is verified, and each record is checked against the
    schema."""
    text = path.read_bytes()
    check(text)
    found = [json.loads(line) for line in text.splitlines()]
    for record in found:
        VALIDATOR.validate(record)
    return found
