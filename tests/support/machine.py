"""A machine with its own policy: the caller's /etc is a copy in a mount namespace of one command.

Nothing is written into the real /etc. A tmpfs is the upper layer of an overlay over /etc; what is in
`box.etc` is copied into it, with owners and modes, before the command starts.
"""
import json
import pathlib

from command import SYSTEM_TOOLS, VICTIMS, Box

PATH = "/etc/chokepoint/policy.yaml"
ENTER = """set -e
mount -t tmpfs -o mode=755 etc "$1/layer"
mkdir "$1/layer/upper" "$1/layer/work"
cp -a "$1/etc/." "$1/layer/upper/"
mount -t overlay -o "lowerdir=/etc,upperdir=$1/layer/upper,workdir=$1/layer/work" etc /etc
eval "$2"
shift 2
exec "$@"
"""


class MachineBox(Box):
    """A caller on a machine of its own. before: a line for the shell, run by root in the namespace
    before the command."""

    def __init__(self, stage, actor, base):
        super().__init__(stage, actor, base)
        self.before = ""
        self.etc = base / "etc"
        for path in (self.etc, base / "layer", self.etc / "chokepoint", self.etc / "chokepoint/adr"):
            path.mkdir()
        self.record("0001")
        self.user_home = self.directory("user-home", 0o700)
        self.machine_log = self.user_home / ".local/state/chokepoint/audit.jsonl"
        self.passwd(self.user_home)

    @property
    def file_path(self) -> pathlib.Path:
        return self.etc / "chokepoint/policy.yaml"

    def record(self, number):
        (self.etc / f"chokepoint/adr/{number}-a-test.md").write_text("# A test\n", encoding="ascii")

    def passwd(self, home):
        """The password database gives the caller this home; None: it does not know the caller."""
        self.passwd_of(self.actor, home)

    def passwd_of(self, actor, home):
        lines = [line for line in pathlib.Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
                 if int(line.split(":")[2]) != actor.uid]
        if home is not None:
            lines.append(f"tester:x:{actor.uid}:{actor.gid}:test:{home}:/usr/sbin/nologin")
        (self.etc / "passwd").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def install(self, tools=None, mode=0o644, **keys):
        """Writes the machine's policy. keys: of the top, locked=True, roots=[...]."""
        if tools is None:
            tools = [self.entry(tool) for tool in VICTIMS + SYSTEM_TOOLS]
            tools += [self.entry("rg", route="external"), self.entry("git")]
        document = {"version": 1, "adr_dir": "adr", "search_path": self.search_path, **keys, "tools": tools}
        self.file_path.write_text(json.dumps(document, indent=1), encoding="ascii")
        self.file_path.chmod(mode)

    def popen(self, argv, raw=False, env=None, shape=None, **keywords):
        command = list(argv) if raw else self.run_argv(argv, **(shape or {}))
        into = ["/usr/bin/unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", ENTER, "sh",
                str(self.base), self.before]
        if self.actor.uid != 0:
            into += [str(self.stage / "tests/helpers/as_user"), str(self.actor.uid), str(self.actor.gid)]
        return super().popen([*into, *command], raw=True, env=env, user=None, group=None, extra_groups=None, **keywords)

    def plain(self, *argv, **shape):
        """A run that asks for nothing in particular: the machine's policy, the default log."""
        return self.run(*argv, **{"policy": "default", "audit": "default", **shape})

    def recorded(self):
        """The records of the machine's log."""
        if not self.machine_log.exists():
            return []
        return [json.loads(line) for line in self.machine_log.read_text(encoding="utf-8").splitlines()]


def is_locked_message(text) -> bool:
    return f"the machine's policy '{PATH}' is locked" in text


