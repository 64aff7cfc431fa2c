#!/usr/bin/python3
"""guard-peers.py BUILD - writes the table of docs/guard.md: ten hostile orders under guard and under other sandboxes.

Each order of tests/support/orders.py is given to a shell under each sandbox, in a repository that the sandbox may write, with no host
allowed. Refused: it had no effect, seen from outside. Named: what the sandbox says or reports has the program, the host or the file, and not only
the error that the program itself prints. Recorded: it is in a log that the sandbox keeps. Then a script of 100 commands is timed under
each, in turns. It needs root or user namespaces, and tools/node-packages.sh peers; what is not installed is left out."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HERE / "tests/support"), str(HERE / "bench")]
from agents import PROFILES  # noqa: E402
from orders import Scene  # noqa: E402
import sandboxes  # noqa: E402
import yaml  # noqa: E402

PAGE = HERE / "docs/guard.md"
BEGIN, END = "<!-- peers -->\n", "<!-- end of peers -->\n"
ROUNDS = 7
SCRIPTS = {"100 × true": "for i in {1..100}; do /usr/bin/true; done", "100 × git": "for i in {1..100}; do git rev-parse HEAD; done >/dev/null"}


class Answer:
    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr


def call(argv, env=None, cwd=None):
    return Answer(subprocess.run(argv, env=env, cwd=cwd, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=120))


class Place:
    """Not beneath /tmp: some sandboxes let programs write all of that."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.root, self.outside, self.home = (self.top / name for name in ("root", "outside", "home"))
        for path in (self.root, self.outside, self.home):
            path.mkdir()
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.scene = Scene(self.root, self.outside, call)
        self.log, self.report = self.top / "audit.jsonl", self.top / "report.json"

    def guard(self, build):
        with open(PROFILES, encoding="utf-8") as stream:
            made = next(one for one in yaml.safe_load(stream)["guard"]["profiles"] if one["name"] == "python-agent")
        policy = self.top / "policy.yaml"
        policy.write_text(json.dumps({"version": 1, "extends": "default", "guard": {"profiles": [{**made, "programs": ["bash"], "egress": ["example.org"]}]}}))
        policy.chmod(0o600)
        return [str(build / "chokepoint"), "guard", "--policy", str(policy), "--profile", "python-agent", "--root", str(self.root), "--cwd", str(self.root),
                "--audit", str(self.log), "--audit-sync", "none", "--report", str(self.report), "--"]

    def sides(self, build):
        found = {"guard": self.guard(build)}
        codex, srt = sandboxes.NODE_PACKAGES / sandboxes.CODEX, sandboxes.NODE_PACKAGES / sandboxes.SRT
        if codex.exists():
            found["codex"] = [str(codex), "sandbox", "-c", 'sandbox_mode="workspace-write"', "--"]
        if srt.exists() and shutil.which("socat"):
            settings = self.top / "srt.json"
            settings.write_text(json.dumps({"network": {"allowedDomains": ["example.org"], "deniedDomains": []},
                                            "filesystem": {"denyRead": [], "allowWrite": [str(self.root)], "denyWrite": []}}))
            found["sandbox-runtime"] = [shutil.which("node"), str(srt), "--settings", str(settings)]
        if shutil.which("bwrap"):
            found["bwrap"] = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(self.root), str(self.root), "--unshare-all",
                              "--die-with-parent", "--chdir", str(self.root)]
        return found

    def run(self, words, script):
        for path in (self.log, self.report):
            path.unlink(missing_ok=True)
        # sandbox-runtime joins its words with spaces, and gives them to a shell.
        argv = [*words, "-c", script] if words and "sandbox-runtime" in " ".join(words) else [*words, "bash", "-c", script]
        return call(argv, env=self.env, cwd=self.root)


# What the sandbox itself must name for each order, in what it prints or reports: not the words of the program.
NAMES = [r"127\.0\.0\.2", r"/key\b", r"pre-commit", r"/su\b", r"/copy\b", r"ld-linux|/seq\b", r"/written", r"daemon\.sock|AF_UNIX", r"push", r"kill -9"]


def own_words(side, place, answer):
    """What the sandbox says, without what bash and the programs in it say."""
    lines = answer.err.decode(errors="replace").splitlines()
    if side == "guard":
        return "\n".join(line for line in lines if line.startswith("chokepoint:"))
    return "\n".join(line for line in lines if re.search(r"sandbox|srt|codex|\[.*(deny|block|violation)", line, re.IGNORECASE) and not line.startswith("bash:"))


def attack(place, build):
    """{order: {side: (refused, named, recorded)}}"""
    table = {}
    start = lambda argv: subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: E731
    for number in range(len(NAMES)):
        for side, words in {"outside": [], **place.sides(build)}.items():
            place.scene.reset(start)
            shutil.rmtree(place.outside / "remote.git/refs/heads", ignore_errors=True)
            name, order, effect = place.scene.hostile()[number]
            answer = place.run(words, order)
            place.scene.said = (answer.out + answer.err).decode(errors="replace")
            done = effect()
            assert side != "outside" or done, f"'{name}' must succeed without a sandbox: {place.scene.said}"
            logged = place.log.read_text(encoding="utf-8") if place.log.exists() else ""
            named = not done and bool(re.search(NAMES[number], own_words(side, place, answer)))
            recorded = not done and side == "guard" and any(
                re.search(NAMES[number], line) and re.search(r'"kind":"(refused|egress|guard_end)"', line) for line in logged.splitlines())
            if side != "outside":
                table.setdefault(name, {})[side] = (not done, named, recorded)
    return table


def cost(place, build):
    """{script: {side: ms}}: the median of runs in turns."""
    sides = {"outside": [], **place.sides(build)}
    times = {script: {side: [] for side in sides} for script in SCRIPTS}
    for _ in range(ROUNDS):
        for script, text in SCRIPTS.items():
            for side, words in sides.items():
                began = time.monotonic()
                place.run(words, text)
                times[script][side].append(time.monotonic() - began)
    return {script: {side: statistics.median(values) * 1000 for side, values in found.items()} for script, found in times.items()}


def cell(refused, named, recorded):
    if not refused:
        return "**done**"
    return "refused" + (", named" if named else "") + (", recorded" if recorded else "")


def write(table, times):
    sides = list(next(iter(table.values())))
    lines = ["| order | " + " | ".join(sides) + " |", "|---|" + "---|" * len(sides)]
    lines += [f"| {name} | " + " | ".join(cell(*found[side]) for side in sides) + " |" for name, found in table.items()]
    lines += ["", "| a script | outside | " + " | ".join(sides) + " |", "|---|" + "---|" * (len(sides) + 1)]
    lines += [f"| {script} | " + " | ".join(f"{found[side]:.0f} ms" for side in ["outside", *sides]) + " |" for script, found in times.items()]
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")
    print("\n".join(lines))


def main(build):
    with tempfile.TemporaryDirectory(prefix="choke-peers-", dir="/opt" if os.geteuid() == 0 else pathlib.Path.home()) as top, contextlib.ExitStack() as stack:
        place = Place(top)
        stack.callback(place.scene.close)
        place.scene.begin(lambda path: None)
        write(attack(place, build), cost(place, build))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
