"""Tools that print their version and count their starts, and the two commands that ask them."""
import json
import pathlib
import subprocess

from processes import wait_until

DOCTOR = {"machine_policy", "machine_locked", "machine_binds", "version", "ready", "policy", "policy_sha256", "tools", "layers", "cache", "cache_note"}
TOOL = {"name", "route", "required", "state", "path", "version", "sha256", "cached", "install", "problem"}
LAYER = {"name", "group", "holds", "detail", "cause", "remedy"}
STATES = {"ready", "missing", "refused", "failed", "in_root"}
LAYERS = ("no_new_privs execs seccomp subreaper pidfd openat2 user mount pid net ipc uts cgroup cgroup.kill memory pids "
          "cpu native native-degraded bwrap native-egress bwrap-egress seatbelt guard").split()


class Toolbox:
    """A box with a directory for tools, and a policy that lists them."""

    def __init__(self, box):
        self.box = box
        self.tools = box.directory("tools")
        box.directory("asked", 0o700)
        self.entries = []

    def tool(self, name, text=None, interpreter="/bin/sh", mode=0o755, listed=True, **entry) -> pathlib.Path:
        """A script that counts its starts; text: what it does instead of printing version 1.2.3."""
        count = self.box.base / "asked" / name
        behaviour = text if text is not None else f"echo {name} version 1.2.3"
        path = self.box.file(self.tools / name, f"#!{interpreter}\necho x >> '{count}'\n{behaviour}\n", mode)
        if listed:
            self.list(name, **entry)
        return path

    def settled(self, name="teller", **entry) -> pathlib.Path:
        """A tool that is made once for all tests, and so is old enough to be cached; it counts in
        its home."""
        self.tools = self.box.stage / "settled"
        self.tools.mkdir(exist_ok=True)
        path = self.tools / name
        if not path.exists():
            path.write_text(f'#!/bin/sh\necho x >> "$HOME/../asked/{name}"\necho {name} version 1.2.3\n', encoding="ascii")
            path.chmod(0o755)
        self.list(name, **entry)
        return path

    def list(self, name, **entry):
        self.entries.append(self.box.entry(name, **{"version_args": ["--version"], **entry}))
        self.write()

    def write(self):
        self.box.write_policy(self.entries, search_path=[str(self.tools)])

    def asked(self, name) -> int:
        path = self.box.base / "asked" / name
        return len(path.read_text(encoding="ascii").split()) if path.exists() else 0

    @property
    def cache(self) -> pathlib.Path:
        return self.box.home / ".cache/chokepoint/tools.json"

    def doctor(self, *options, status=0, policy=None, **keywords):
        """chokepoint doctor --json, with its document checked."""
        answer = self.text("doctor", "--json", *options, status=status, policy=policy, **keywords)
        answer.document = json.loads(answer.out)
        check_doctor(answer.document)
        assert answer.document["ready"] == (status == 0)
        return answer

    def text(self, command, *options, status=0, policy=None, **keywords):
        argv = [self.box.command, command, "--policy", str(policy or self.box.policy), *map(str, options)]
        answer = self.box.call(argv, **keywords)
        assert answer.status == status, answer
        return answer

    def found(self, name, **keywords) -> dict:
        (tool,) = [tool for tool in self.doctor(**keywords)["tools"] if tool["name"] == name]
        return tool

    def remember(self, name) -> None:
        """A file that was just written is not cached. Asks until it is old enough."""
        wait_until(lambda: self.found(name)["cached"], f"{name} is remembered")


def check_doctor(document) -> None:
    assert set(document) == DOCTOR and document["version"] == 1
    for tool in document["tools"]:
        assert set(tool) == TOOL and tool["state"] in STATES, tool
        assert (tool["state"] == "ready") == (tool["problem"] is None), tool
        if tool["state"] == "ready":
            assert tool["path"].startswith("/") and len(tool["sha256"]) == 64, tool
    assert [layer["name"] for layer in document["layers"]] == LAYERS
    for layer in document["layers"]:
        assert set(layer) == LAYER and isinstance(layer["holds"], bool), layer
        assert layer["holds"] == (layer["cause"] is None), layer


def layers_of(document) -> dict:
    return {layer["name"]: layer for layer in document["layers"]}


def ldd(path) -> dict:
    """name -> path, from the dynamic loader itself."""
    said = subprocess.run(["ldd", str(path)], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            found[name] = rest.split(" (")[0]
    return found
