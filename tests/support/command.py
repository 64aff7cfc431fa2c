"""The command under test: how to call it, and what its JSON must look like for every outcome."""
import base64
import dataclasses
import json
import os
import pathlib
import subprocess
import time

import jsonschema

MARK = b"...[TRUNCATED]..."

OUTCOMES = ("exited signaled timeout cancelled disallowed tool_missing invalid cwd env_forbidden jail_unavailable "
            "policy spawn_failed").split()
KILLS = ("pidns", "cgroup", "subreaper", "pgroup")
RAN = ("exited", "signaled", "timeout", "cancelled")

FIELDS = {"outcome", "exit_code", "signal", "stdout", "stderr", "output_incomplete", "duration_ms", "user_ms",
          "system_ms", "max_rss_kib", "jail", "layers", "kill", "tool", "rule", "error", "limits",
          "limit_hit", "changes", "changes_incomplete", "kept_incomplete", "egress", "unrecorded", "workspace_code",
          "loopback", "denied", "denied_more", "egress_offer"}
LIMITS = ("memory_mib", "processes", "cpu_s", "file_size_mib", "open_files", "egress_mib", "egress_connections")
MECHANISMS = ("cgroup2", "cgroup1", "rlimit", "proxy")
CHANGE_KINDS = ("added", "modified", "deleted", "mode")
CHANGE_TYPES = ("file", "dir", "link", "other")
HITS = ("oom", "pids", "cpu", "fsize", "egress")
EGRESS_COUNTS = ("allowed", "refused", "failed", "sent_bytes", "received_bytes")

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs/run.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

VICTIMS = ("say_args", "say_env", "say_state", "flood", "ignore_signals", "escape", "chain", "fork_relay", "bomb", "stop_self", "kill_watchers",
           "attempt", "hog", "breach_calls", "breach_processes", "breach_mounts", "breach_files", "breach_net", "daemons",
           "breach_metadata", "breach_code", "breach_execs")
SIXTEEN = ("git node docker strace semgrep syft grype gitleaks scip-typescript tree-sitter ast-grep rg npm jq bwrap "
           "sandbox-exec").split()  # R2
SYSTEM_TOOLS = ("sh", "sleep", "yes", "true", "cat")


@dataclasses.dataclass
class Actor:
    """Who calls the command."""
    name: str
    uid: int
    gid: int

    def as_keywords(self):
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


@dataclasses.dataclass
class Answer:
    status: int
    out: bytes
    err: bytes
    seconds: float
    document: dict = None
    passed_on: dict = None

    def __getitem__(self, key):
        return self.document[key]

    @property
    def outcome(self):
        return self.document["outcome"]

    def stream(self, name: str) -> bytes:
        return captured(self.document[name]) if self.passed_on is None else self.passed_on[name]

    @property
    def message(self) -> str:
        return self.document["error"]["message"]


PERIOD = bytes(33 + (i * 31 + i // 94) % 94 for i in range(65536))


def pattern(start: int, end: int) -> bytes:
    """What flood writes between two offsets."""
    first = start % len(PERIOD)
    return (PERIOD * ((end - start) // len(PERIOD) + 2))[first:first + end - start]


def captured(stream: dict) -> bytes:
    if "base64" in stream:
        return base64.b64decode(stream["base64"], validate=True)
    return stream["text"].encode()


def is_count(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def check_stream(stream, passed_on=None) -> None:
    """passed_on: the bytes of the lines in front of the result, with --stream."""
    assert isinstance(stream["bytes"], int) and stream["bytes"] >= 0
    assert isinstance(stream["truncated"], bool)
    if passed_on is not None:
        assert set(stream) == {"bytes", "truncated"}
        assert stream["truncated"] == (len(passed_on) < stream["bytes"]) and len(passed_on) <= stream["bytes"]
        return
    assert set(stream) in ({"text", "bytes", "truncated"}, {"base64", "bytes", "truncated"}), stream.keys()
    data = captured(stream)
    if stream["truncated"]:
        assert MARK in data and stream["bytes"] > len(data)  # not at its start if a head was asked for
    else:
        assert stream["bytes"] == len(data)


def check_limits(document) -> None:
    assert document["limit_hit"] is None or document["limit_hit"] in HITS
    assert document["outcome"] in RAN or document["limits"] == [] and document["limit_hit"] is None
    for limit in document["limits"]:
        assert set(limit) == {"name", "value", "mechanism"}
        assert limit["name"] in LIMITS and is_count(limit["value"])
        # Null if the keeper was lost or did not answer in time.
        assert limit["mechanism"] in MECHANISMS or document["kill"] is None


def check_changes(document) -> None:
    assert isinstance(document["changes_incomplete"], bool) and isinstance(document["kept_incomplete"], bool)
    assert (document["changes"] is not None) == ("overlay" in document["layers"])
    for change in document["changes"] or []:
        assert set(change) == {"path", "kind", "type", "runs_later"}
        assert change["kind"] in CHANGE_KINDS and change["type"] in CHANGE_TYPES
        assert change["runs_later"] is None or change["runs_later"]


def check_egress(document) -> None:
    egress = document["egress"]
    assert (egress is not None) == ("egress" in document["layers"])
    assert document["egress_offer"] is None or egress is None and document["jail"] != "none"
    if egress is not None:
        assert set(egress) == {"rules", *EGRESS_COUNTS} and egress["rules"]
        assert all(is_count(egress[name]) for name in EGRESS_COUNTS)


def check_lines(out: bytes):
    """--json --stream: the result, and what was passed on of both streams. Every line is as docs/run.schema.json says."""
    assert out.endswith(b"\n"), out[-200:]
    *lines, last = out.split(b"\n")[:-1]
    passed_on = {"stdout": [], "stderr": []}
    for line in lines:
        assert len(line) < 4096
        piece = json.loads(line)
        assert set(piece) in ({"stream", "text"}, {"stream", "base64"}), line
        data = captured(piece)
        assert data and (("text" in piece) == is_utf8(data)), line
        passed_on[piece["stream"]].append(data)
    for line in lines[:50]:  # the rest is of the same form, and the validator is slow
        VALIDATOR.validate(json.loads(line))
    document = json.loads(last)
    passed_on = {name: b"".join(pieces) for name, pieces in passed_on.items()}
    check_shape(document, passed_on)
    return document, passed_on


def is_utf8(data: bytes) -> bool:
    try:
        return data.decode() is not None
    except UnicodeDecodeError:
        return False


def check_denied(document):
    """Null where nobody watched, as the layers say, or where the keeper was lost."""
    denied = document["denied"]
    assert (denied is not None) == ("execs_named" in document["layers"]) or document["kill"] is None, document
    assert is_count(document["denied_more"]) and len(denied or []) <= 64
    for denial in denied or []:
        assert list(denial) == ["kind", "path", "by", "errno", "add"], denial
        assert denial["kind"] in ("exec", "map", "open", "write", "connect") and denial["by"] and denial["errno"] > 0, denial
        assert denial["add"] is None or denial["add"].startswith(("execs: [", "uses: [")), denial


def check_shape(document, passed_on=None) -> None:
    """R26: these fields, no others, of these types, in every outcome."""
    assert set(document) == FIELDS == set(SCHEMA["definitions"]["result"]["properties"]), set(document) ^ FIELDS
    if len(document["changes"] or []) < 1000:
        VALIDATOR.validate(document)
    outcome = document["outcome"]
    assert outcome in OUTCOMES
    for name in ("stdout", "stderr"):
        check_stream(document[name], passed_on and passed_on[name])
    check_denied(document)
    assert isinstance(document["output_incomplete"], bool) and isinstance(document["unrecorded"], bool)
    assert isinstance(document["loopback"], bool)
    assert document["workspace_code"] == ("execs_outside_root" in document["layers"])
    for name in ("duration_ms", "user_ms", "system_ms", "max_rss_kib"):
        assert is_count(document[name]), name
    assert isinstance(document["layers"], list) and all(isinstance(layer, str) for layer in document["layers"])
    assert set(document["tool"]) == {"name", "path"}
    if document["tool"]["name"] is None and outcome in ("invalid", "policy", "spawn_failed"):
        assert document["rule"] is None or document["rule"]  # nothing was judged yet
    else:
        assert isinstance(document["rule"], str) and document["rule"]
    if outcome == "exited":
        assert isinstance(document["exit_code"], int) and 0 <= document["exit_code"] <= 255
        assert document["error"] is None
    else:
        assert document["exit_code"] is None
        assert set(document["error"]) == {"code", "message"}
        assert document["error"]["code"] == outcome
        assert document["error"]["message"]
    check_limits(document)
    check_changes(document)
    check_egress(document)
    if outcome == "signaled":
        assert isinstance(document["signal"], int) and 0 < document["signal"] <= 64
    elif outcome not in RAN or outcome == "exited":
        assert document["signal"] is None
    if outcome in RAN:
        assert document["jail"] in ("none", "native", "bwrap")
        # Null if the keeper was lost or did not answer in time.
        assert document["kill"] in KILLS or document["kill"] is None and outcome in ("timeout", "cancelled")
        assert document["tool"]["name"] and document["tool"]["path"].startswith("/")
    else:
        assert document["jail"] is None and document["kill"] is None and document["layers"] == []
        assert document["stdout"]["bytes"] == document["stderr"]["bytes"] == 0


EXPECTED_STATUS = {"timeout": 124, "tool_missing": 127}


def check_status(status: int, document) -> None:
    outcome = document["outcome"]
    if outcome == "exited":
        assert status == document["exit_code"]
    elif outcome == "signaled":
        assert status == 128 + document["signal"]
    elif outcome == "spawn_failed":
        assert status in (125, 126)
    elif outcome != "cancelled":
        assert status == EXPECTED_STATUS.get(outcome, 125)


class Box:
    """A caller with a root to work on, and a policy outside the root."""

    def __init__(self, stage: pathlib.Path, actor: Actor, base: pathlib.Path):
        self.stage, self.actor, self.base = stage, actor, base
        self.command = str(stage / "chokepoint")
        self.bin = stage / "bin"
        self.search_path = [str(self.bin), "/usr/bin", "/bin"]
        self.root = self.directory("root")
        self.outside = self.directory("outside")
        self.home = self.directory("home")
        self.directory("policy", 0o700)
        self.log = self.directory("audit", 0o700) / "audit.jsonl"
        self.policy = self.write_policy()
        self.started = []

    def own(self, path, mode=None):
        os.chown(path, self.actor.uid, self.actor.gid, follow_symlinks=False)
        if mode is not None:
            os.chmod(path, mode)
        return path

    def directory(self, name, mode=0o755) -> pathlib.Path:
        path = self.base / name
        path.mkdir()
        return self.own(path, mode)

    def file(self, path, text="", mode=0o644) -> pathlib.Path:
        path = self.base / path
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.own(path, mode)

    def script(self, path, canary, mode=0o755) -> pathlib.Path:
        """A program that only leaves a trace."""
        return self.file(path, f"#!/bin/sh\n: > '{canary}'\n", mode)

    def entry(self, name, **more):
        return {"name": name, "why": "a test runs it", "adr": "0001", "route": "direct", **more}

    def write_policy(self, tools=None, search_path=None, name="policy/policy.yaml", mode=0o600, **entries):
        """JSON is YAML. entries: extra keys for a tool, say_env={"env": ["A"]}."""
        if tools is None:
            tools = [self.entry(tool, **entries.get(tool, {})) for tool in VICTIMS + SYSTEM_TOOLS]
        document = {"version": 1, "adr_dir": "adr", "search_path": search_path or self.search_path, "tools": tools}
        return self.file(name, json.dumps(document, indent=1), mode)

    def environment(self, **extra):
        # Sanitizers read their options from the environment of the command; the tool must not see them.
        kept = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        usual = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        return {**usual, **kept, **extra}

    def run_argv(self, argv, options=(), form="--json", timeout=30, policy=None, root=None, cwd=None, audit=None):
        command = [self.command, "run"]
        for option, value in (("--policy", policy or self.policy), ("--root", root or self.root),
                              ("--cwd", cwd or self.root), ("--timeout", timeout)):
            if value != "default":
                command += [option, value if isinstance(value, bytes) else str(value)]
        if audit is None and "--no-audit" not in options:
            command += ["--audit", str(self.log), "--audit-sync", "none"]  # durability has its own tests, and takes time
        elif audit not in (None, "default"):
            command += ["--audit", str(audit)]
        if form:
            command += form.split()
        return command + list(options) + ["--"] + list(argv)

    def popen(self, argv, raw=False, env=None, shape=None, **keywords):
        """Starts the command. stdout and stderr are pipes and stdin is empty, unless keywords say
        otherwise."""
        command = list(argv) if raw else self.run_argv(argv, **(shape or {}))
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                    "cwd": self.root, "env": self.environment() if env is None else env, **keywords}
        if keywords.keys() & {"preexec_fn", "executable", "user"}:
            settings = {**self.actor.as_keywords(), **settings}
        elif self.actor.as_keywords():
            command = [self.stage / "tests/helpers/as_user", str(self.actor.uid), str(self.actor.gid), *command]
        process = subprocess.Popen(command, **settings)
        self.started.append(process)
        return process

    def call(self, command, input=None, deadline=90.0, **keywords) -> Answer:
        """Runs any command line to its end. A command that hangs fails the test."""
        if input is not None:
            keywords["stdin"] = subprocess.PIPE
        began = time.monotonic()
        process = self.popen(command, raw=True, **keywords)
        try:
            out, err = process.communicate(input, timeout=deadline)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"the command hung; so far it said {out[:500]!r} {err[:2000]!r}") from None
        answer = Answer(process.returncode, out or b"", err or b"", time.monotonic() - began)
        assert b"AddressSanitizer" not in answer.err and b"LeakSanitizer" not in answer.err, answer.err.decode()
        assert b"runtime error:" not in answer.err, answer.err.decode()
        return answer

    def run(self, *argv, input=None, deadline=90.0, env=None, popen=None, **shape) -> Answer:
        """chokepoint run --json ... -- ARGV. The document is checked against R26, except that of
        --dry-run."""
        command = self.run_argv(argv, **shape)
        answer = self.call(command, input=input, deadline=deadline, env=env, **(popen or {}))
        if shape.get("form", "--json") == "--json":
            assert answer.out.endswith(b"\n") and answer.out.count(b"\n") == 1, answer
            answer.document = json.loads(answer.out)
            if "--dry-run" in shape.get("options", ()):
                return answer
            check_shape(answer.document)
            check_status(answer.status, answer.document)
        elif shape["form"] == "--json --stream":
            answer.document, answer.passed_on = check_lines(answer.out)
            check_status(answer.status, answer.document)
        return answer

    def host(self, name, *arguments, deadline=120.0, policy=None, root=None, **keywords) -> Answer:
        """Runs a host program of tests/helpers. It makes its own checks and reports those that
        fail."""
        command = [str(self.stage / "tests/helpers" / name), str(policy or self.policy), str(root or self.root)]
        answer = self.call(command + [str(argument) for argument in arguments], deadline=deadline, **keywords)
        assert answer.status == 0, f"{name}: status {answer.status}: {answer.err.decode(errors='replace')}"
        return answer

    def events(self, answer: Answer):
        """The JSON lines on stderr."""
        return [json.loads(line) for line in answer.err.splitlines()]

    def repository(self) -> bytes:
        """Makes the root a repository with one commit and returns the id of the commit."""
        env = self.environment(GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
                               GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")
        for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
            assert self.call(["git", *command], env=env).status == 0
        return self.call(["git", "rev-parse", "HEAD"], env=env).out

    def canary(self) -> pathlib.Path:
        """The file that an attack would create. Its directory is writable for all, so that only a
        refusal prevents it."""
        path = self.base / "traces"
        if not path.exists():
            path.mkdir()
            path.chmod(0o1777)
        return path / "canary"

    def default_policy(self, search_path=(), replace=()) -> pathlib.Path:
        """The default policy as a file of the caller, with more directories to search for tools,
        or with replaced text."""
        text = (pathlib.Path(__file__).parents[2] / "policy/default.yaml").read_text(encoding="utf-8")
        usual = "search_path: [/usr/local/bin, /usr/bin, /bin]"
        assert text.count(usual) == 1
        directories = json.dumps([*map(str, search_path), "/usr/local/bin", "/usr/bin", "/bin"])
        text = text.replace(usual, f"search_path: {directories}")
        for old, new in replace:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return self.file("policy/default.yaml", text, 0o600)
