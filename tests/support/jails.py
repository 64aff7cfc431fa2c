"""Helpers for the attacks on jails: each is made without a jail, where it must succeed, and in
every available jail.

A victim (tests/helpers/victims/breach_*.c, attempt.c) prints "done" or "refused: ERRNO (what)".
The test wants the refusal inside. A run that did not start proves nothing, nor does one without
the jail's layers.
"""
import re
import shutil

from feature import skip

JAILS = ("native", "bwrap")
LAYERS = set("user_ns mount_ns pid_ns net_ns ipc_ns uts_ns cgroup_ns fresh_root landlock execs seccomp no_capabilities "
             "no_new_privs".split())
OPENED = {"workspace": "ro", "workspace_code": True}  # the keys of an entry that opens the repository
REFUSED = 113  # BREACH_REFUSED
BREACHES = ("breach_calls", "breach_processes", "breach_mounts", "breach_files", "breach_net", "breach_metadata",
            "breach_code", "breach_execs")
VICTIMS = (*BREACHES, "attempt", "say_args", "say_state", "say_env", "flood", "bomb", "escape", "daemons")


class Cell:
    """A box and a jail. The same tools run in it and, by outside, without it."""

    STUB = True  # its loader refuses to be executed as a program

    def __init__(self, box, jail):
        self.box, self.jail = box, jail
        self.policy = self.write_policy()

    def write_policy(self, more=(), search_path=None, **entries):
        """entries: extra keys for a victim, attempt={"execs": ["sh"]}; more: entries of other tools."""
        tools = [self.box.entry(name, route="external", **entries.get(name, {})) for name in VICTIMS]
        tools.append(self.box.entry("bwrap", route="jail"))
        return self.box.write_policy(tools + list(more), search_path=search_path, name="policy/jail.yaml")

    def run(self, *argv, jail=None, options=(), policy=None, **shape):
        options = ["--jail", jail or self.jail, *options]
        return self.box.run(*map(str, argv), options=options, policy=policy or self.policy, **shape)

    def run_entry(self, tool, *argv, options=(), outcome="exited", timeout=30, **keys):
        """Runs a tool by an entry with these keys. The policy with this entry is the cell's from then on."""
        tools = [self.box.entry(tool, **{"route": "external", **keys}), self.box.entry("bwrap", route="jail")]
        self.policy = self.box.write_policy(tools)
        answer = self.run(tool, *argv, options=options, timeout=timeout)
        assert answer.outcome == outcome, answer.document
        return answer

    @property
    def place(self):
        """The root, inside."""
        return "/work"

    def layers_of(self, _tool):
        return LAYERS

    def inside(self, *argv, **shape):
        """The run starts, in the jail, whatever its outcome."""
        answer = self.run(*argv, **shape)
        if answer.outcome == "jail_unavailable":
            skip(self.jail, answer.message)
        assert answer["jail"] == self.jail and self.layers_of(argv[0]) <= set(answer["layers"]), answer.document
        return answer

    def succeeds_outside(self, *argv, **shape):
        answer = self.run(*argv, jail="none", **shape)
        assert (answer.outcome, answer.status) == ("exited", 0), answer.document
        return answer

    def succeeds_inside(self, *argv, **shape):
        answer = self.inside(*argv, **shape)
        assert (answer.outcome, answer.status) == ("exited", 0), answer.document
        return answer

    def refused_inside(self, *argv, errnos=None, **shape):
        """Refused by the system, with one of these errnos."""
        answer = self.inside(*argv, **shape)
        said = re.search(rb"^refused: (\w+) \((.*)\)$", answer.stream("stdout"), re.MULTILINE)
        assert answer.outcome == "exited" and answer.status == REFUSED and said, answer.document
        if errnos is not None:
            assert said[1].decode() in errnos.split(), answer.document
        return answer

    def killed_inside(self, *argv, signal, **shape):
        answer = self.inside(*argv, **shape)
        assert (answer.outcome, answer["signal"]) == ("signaled", signal), answer.document
        return answer

    def breaks_out_only_outside(self, *argv, errnos=None, **shape):
        """The whole attack: real outside, refused inside."""
        self.succeeds_outside(*argv, **shape)
        return self.refused_inside(*argv, errnos=errnos, **shape)


class EgressCell(Cell):
    """The same with egress to one host that does not exist: the attack must not get out by another
    way."""

    HOST = "a.example.org"

    def write_policy(self, more=(), search_path=None, **entries):
        entries = {name: {"egress": [self.HOST], **entries.get(name, {})} for name in VICTIMS}
        return super().write_policy(more=more, search_path=search_path, **entries)

    def run(self, *argv, jail=None, options=(), egress=True, **shape):
        ways = ["--egress", self.HOST] if egress and jail != "none" else []
        return super().run(*argv, jail=jail, options=[*ways, *options], **shape)

    def inside(self, *argv, **shape):
        answer = super().inside(*argv, **shape)
        assert "egress" in answer["layers"], answer.document
        return answer


class LoopbackCell(Cell):
    """Entries with `loopback`; without a jail the same victims run by plain entries. With egress, the
    same host that does not exist as in EgressCell."""

    HOST = EgressCell.HOST

    def __init__(self, box, jail, egress=False):
        self.egress, self.plain = egress, None
        super().__init__(box, jail)
        self.plain = super().write_policy()
        self.plain = self.plain.rename(self.plain.with_name("plain.yaml"))
        self.policy = self.write_policy()

    def write_policy(self, more=(), search_path=None, **entries):
        entries = {name: {"loopback": True, "egress": [self.HOST], **entries.get(name, {})} for name in VICTIMS}
        return super().write_policy(more=more, search_path=search_path, **entries)

    def run(self, *argv, jail=None, options=(), policy=None, **shape):
        if jail == "none":
            return super().run(*argv, jail=jail, options=options, policy=self.plain, **shape)
        ways = ["--egress", self.HOST] if self.egress else []
        return super().run(*argv, jail=jail, options=[*ways, *options], policy=policy, **shape)

    def inside(self, *argv, **shape):
        answer = super().inside(*argv, **shape)
        assert answer["loopback"] and ("egress" in answer["layers"]) == self.egress, answer.document
        return answer


class WorkspaceCell(Cell):
    """The attacker is a program of the repository: the victims are copied into the root, and their
    entries have `workspace_code`. Without a jail the same victims run from their usual place."""

    PLACE = "node_modules/.bin"
    STUB = False

    def __init__(self, box, jail):
        self.plain = {}
        super().__init__(box, jail)

    def layers_of(self, tool):
        return (LAYERS - {"execs"}) | {"execs_outside_root"} if tool in VICTIMS else LAYERS

    @property
    def place(self):
        return str(self.box.root)

    def copy_victims(self):
        place = self.box.root / self.PLACE
        place.mkdir(parents=True, exist_ok=True)
        for name in VICTIMS:
            if not (place / name).exists():
                shutil.copy(self.box.bin / name, place / name)

    def keys(self, name, **keys):
        return {"path": f"./{self.PLACE}/{name}", **OPENED, **keys}

    def write_policy(self, more=(), search_path=None, **entries):
        self.copy_victims()
        plain = super().write_policy(more=more, search_path=search_path, **entries)
        plain = plain.rename(plain.with_name(f"plain{len(self.plain)}.yaml"))
        opened = super().write_policy(more=more, search_path=search_path,
                                      **{name: self.keys(name, **entries.get(name, {})) for name in VICTIMS})
        opened = opened.rename(opened.with_name(f"opened{len(self.plain)}.yaml"))
        self.plain[opened] = plain
        return opened

    def run(self, *argv, jail=None, policy=None, **shape):
        policy = policy or self.policy
        if jail == "none":
            policy = self.plain.get(policy, policy)
        return super().run(*argv, jail=jail, policy=policy, **shape)


class WorkspaceLoopbackCell(WorkspaceCell):
    """A program of the repository, with `loopback`: the entry of a test suite."""

    def keys(self, name, **keys):
        return super().keys(name, **{"loopback": True, **keys})

    def inside(self, *argv, **shape):
        answer = super().inside(*argv, **shape)
        assert answer["loopback"] and answer["workspace_code"], answer.document
        return answer
