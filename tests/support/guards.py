"""Programs in the cage of guard, and the same programs without it.

A test makes a policy with carriers and tools, runs a program outside and inside, and compares, or wants a refusal inside.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import termios
import time

from command import VICTIMS
from feature import skip
from processes import descendants

CARRIERS = ("bash", "sh")
# Tools that the tests call through the door. Each writes where it likes beneath the root, and none executes another.
TOOLS = ("cat cmp cp cut diff false head ls mkdir mv nl od printenv pwd rm sed seq sleep sort stat stty tail tee touch tr "
         "true uname wc yes").split()


class Guarded:
    """A box whose programs can run in a cage."""

    def __init__(self, box, victims, carriers=CARRIERS, tools=TOOLS, **settings):
        self.box, self.victims = box, victims
        self.root = box.root
        self.set_policy(carriers, tools, **settings)
        self.report_path = box.outside / "report.json"

    def set_policy(self, carriers=CARRIERS, tools=TOOLS, section=None, more=(), top=None, **entries):
        """section: keys of `guard`; more: whole entries; top: keys of the policy; entries: keys of a tool by its name."""
        made = [self.carrier(name, **entries.get(name, {})) for name in carriers]
        made += [self.tool(name, **entries.get(name, {})) for name in tools]
        document = {"version": 1, "adr_dir": "adr", "search_path": ["/usr/bin", "/bin"],
                    "tools": made + list(more), "guard": section or {}, **(top or {})}
        self.policy = self.box.file("policy/guard.yaml", json.dumps(document, indent=1), 0o600)

    def carrier(self, name, **keys):
        path = {"path": str(self.victims / name)} if name in VICTIMS else {}
        return {"name": name, "why": "a test runs it", "adr": "0001", "route": "carrier", **path, **keys}

    def tool(self, name, **keys):
        entry = {"name": name, "why": "a test runs it", "adr": "0001", "route": "external", "workspace": "rw"}
        return {**entry, **({} if "uses" in keys else {"execs": []}), **keys}

    def argv(self, *argv, options=()):
        return [self.box.command, "guard", "--policy", str(self.policy), "--root", str(self.root),
                "--audit", str(self.box.log), "--report", str(self.report_path), *options, "--", *map(str, argv)]

    def inside(self, *argv, options=("--quiet",), **keywords):
        """The program in the cage. The report of guard is the document of the answer."""
        self.report_path.unlink(missing_ok=True)
        answer = self.box.call(self.argv(*argv, options=options), **keywords)
        if self.report_path.exists():
            answer.document = json.loads(self.report_path.read_text(encoding="utf-8"))
        return answer

    def outside(self, *argv, **keywords):
        argv = [self.victims / argv[0] if argv[0] in VICTIMS else argv[0], *argv[1:]]
        return self.box.call([str(word) for word in argv], env={**self.box.environment(), "PATH": self.path()}, **keywords)

    def path(self):
        return "/usr/bin:/bin"

    def same(self, *argv, before=None, **keywords):
        """What the program prints, and how it ends, is the same inside as outside."""
        seen = []
        for run in (self.outside, self.inside):
            if before:
                before()
            answer = run(*argv, **keywords)
            seen.append((answer.status, answer.out, re.sub(rb" +\d+ |\b\d\d+\b", b" PID ", answer.err)))
        assert seen[1] == seen[0], f"outside {seen[0]}, inside {seen[1]}"
        return seen[0]

    def shell(self, script, **keywords):
        return self.inside("bash", "-c", script, **keywords)

    def same_shell(self, script, **keywords):
        return self.same("bash", "-c", script, **keywords)


def needs(*names):
    """Programs of the system that a test runs."""
    for name in names:
        if not shutil.which(name, path="/usr/bin:/bin"):
            skip(name, "it is not installed")


def counts(answer):
    """What became of the executions: their sum, the doors and the calls agree."""
    document = answer.document
    assert document["difference"] is None, document
    found, calls = document["executions"], document["calls"]
    assert found["attempts"] == sum(value for name, value in found.items() if name != "attempts"), document
    assert sum(calls.values()) >= found["door"], document
    return found


def denied(answer):
    """Paths of refused executions."""
    return [pathlib.PurePath(one["path"]).name for one in answer.document["denied"]]


def refused_exec(answer, name):
    """The shell was refused an execution, and guard names it."""
    assert re.search(rb"Permission denied|cannot execute|not permitted", answer.err), answer
    assert name in denied(answer), answer.document
    return answer


def running(process, name):
    """Processes below guard that execute the tool itself. Its door has the same path, but is another file."""
    found = []
    for pid in descendants(process.pid):
        with contextlib.suppress(OSError):
            if os.path.samefile(f"/proc/{pid}/exe", f"/usr/bin/{name}"):
                found.append(pid)
    return found


def loader():
    """The dynamic loader of this machine."""
    with open("/usr/bin/true", "rb") as stream:
        return re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()


class Terminal:
    """A terminal for a program, and someone who types and reads."""

    PATIENCE = 60  # s

    def __init__(self, guarded, argv, inside=True, options=("--quiet",), owned=True, **keywords):
        """owned: its file belongs to the caller, who can open it once more; after su it does not."""
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        command = guarded.argv(*argv, options=options) if inside else list(argv)
        try:
            if owned:
                os.fchown(theirs, guarded.box.actor.uid, guarded.box.actor.gid)
            self.process = guarded.box.popen(
                command, raw=True, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=take_terminal,
                env={**guarded.box.environment(), "TERM": "dumb", "PATH": guarded.path()}, **keywords)
        finally:
            os.close(theirs)
        self.said = b""

    def type(self, text):
        os.write(self.ours, text.encode())

    def resize(self, lines, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def expect(self, pattern):
        """Waits for text that matches, and forgets everything up to its end."""
        end = time.monotonic() + self.PATIENCE
        while not (found := re.search(pattern.encode(), self.said, re.MULTILINE)):
            left = end - time.monotonic()
            assert left > 0 and select.select([self.ours], [], [], left)[0], f"{pattern!r} did not come: {self.said!r}"
            try:
                piece = os.read(self.ours, 65536)
            except OSError:  # the other end is gone
                piece = b""
            assert piece, f"{pattern!r} did not come before the end: {self.said!r}"
            self.said += piece
        self.said = self.said[found.end():]
        return found

    def finish(self):
        """The status of the program, after the rest of what it says."""
        end = time.monotonic() + self.PATIENCE
        with contextlib.suppress(OSError):
            while select.select([self.ours], [], [], max(0, end - time.monotonic()))[0]:
                if not (piece := os.read(self.ours, 65536)):
                    break
                self.said += piece
        return self.process.wait(max(1, end - time.monotonic()))

    def close(self):
        os.close(self.ours)


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
