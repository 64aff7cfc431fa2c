"""The default policy as data, the judge as a process, and argument vectors made from both."""
import dataclasses
import pathlib
import re
import shutil
import subprocess

import yaml
from hypothesis import strategies as st

SOURCE = pathlib.Path(__file__).parents[2] / "policy/default.yaml"
SECRET = "/etc/passwd"  # exists, is readable, and is outside every root


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of the policy's notation."""
    name: str
    form: str  # flag, value, optional, values, number
    patterns: tuple

    @staticmethod
    def parse(text):
        if text == "-<number>":
            return Option("-", "number", ())
        name, rest = re.fullmatch(r"(--?[A-Za-z0-9][A-Za-z0-9._-]*)(.*)", text, re.DOTALL).groups()
        if not rest:
            return Option(name, "flag", ())
        if rest[0] == " ":
            return Option(name, "values", tuple(rest[1:].split(" ")))
        form, body = ("optional", rest[2:-1]) if rest[0] == "[" else ("value", rest[1:])
        return Option(name, form, tuple(body.split("|")) if body else ("<any>",))


@dataclasses.dataclass
class Rules:
    """The rules of one tool, or of one of its subcommands."""
    tool: str
    subcommand: list  # as arguments: ["compose", "up"]
    options: dict
    deny: list
    operands: str
    require: list
    bundles: bool

    def __str__(self):
        return " ".join([self.tool, *self.subcommand])


def make_rules(tool, args, part, subcommand):
    sets = {entry["name"]: entry["options"] for entry in args.get("sets", [])}
    texts = []
    for text in part.get("options", []):
        texts += sets[text[1:]] if str(text).startswith("@") else [str(text)]
    options = {option.name: option for option in map(Option.parse, texts)}
    deny = [*args.get("deny", []), *(part.get("deny", []) if part is not args else [])]
    return Rules(tool, subcommand, options, [str(name) for name in deny], part.get("operands", "none"),
                 part.get("require", []), args.get("bundles", True))


def default_policy():
    """Every level of every tool that has rules: {"git": [Rules of git, of git log, ...]}."""
    found = {}
    for entry in yaml.load(SOURCE.read_text(encoding="utf-8"), yaml.CBaseLoader)["tools"]:
        args = entry.get("args")
        if args is None or set(args) == {"exact"}:
            continue
        args["bundles"] = args.get("bundles", "true") == "true"
        levels = [make_rules(entry["name"], args, args, [])]
        for part in args.get("subcommands", []):
            levels.append(make_rules(entry["name"], args, part, part["name"].split(" ")))
        found[entry["name"]] = levels
    return found


# ---- the judge ----

@dataclasses.dataclass
class Verdict:
    outcome: str
    rule: str
    line: int
    message: str
    argv: list

    @property
    def allowed(self):
        return self.outcome == "allowed"


class Judge:
    """A process that judges vectors by the default policy. Its tools are stand-ins, so that no
    tool has to be installed."""

    def __init__(self, box, policy=None, cwd="."):
        argv = [str(box.stage / "tests/helpers/host_judge"), str(policy or stand_in_policy(box)), str(box.root), cwd]
        self.process = box.popen(argv, raw=True, stdin=subprocess.PIPE)
        self.asked = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        status = self.process.wait(timeout=30)
        said = self.process.stderr.read().decode(errors="replace")
        assert kind is not None or status == 0, said

    def _word(self):
        word = bytearray()
        while (byte := self.process.stdout.read(1)) != b"\0":
            assert byte, "the judge ended: " + self.process.stderr.read().decode(errors="replace")
            word += byte
        return word.decode(errors="surrogateescape")

    def ask(self, argv):
        self.asked += 1
        text = "".join(f"{word}\0" for word in [str(len(argv)), *argv])
        self.process.stdin.write(text.encode(errors="surrogateescape"))
        self.process.stdin.flush()
        outcome, rule, line, message, count = (self._word() for _ in range(5))
        return Verdict(outcome, rule, int(line), message, [self._word() for _ in range(int(count))])


def stand_in_policy(box):
    """The default policy with another search path, where every tool is a copy of true(1)."""
    directory = box.base / "stand-ins"
    text = SOURCE.read_text(encoding="utf-8")
    if not directory.exists():
        directory.mkdir()
        for name in [*re.findall(r"^  - name: (\S+)$", text, re.MULTILINE), "env"]:
            shutil.copy("/usr/bin/true", directory / name)
        box.own(directory, 0o755)
        for path in directory.iterdir():
            box.own(path, 0o755)
    changed, count = re.subn(r"^search_path: .*$", f"search_path: [{directory}]", text, flags=re.MULTILINE)
    assert count == 1
    return box.file("policy/stand-ins.yaml", changed, 0o600)


# ---- vectors ----

WORDS = ["x", "src", "file", "true", "false", "", "-", "--", "../x", SECRET, f"../../../../../../{SECRET}", "HEAD", "a=b",
         "/etc", "src/../file", "1"]
VALUES = {"<any>": ["x", SECRET, "true", "|id"], "<inside>": ["src", "file", "nowhere", SECRET],
          "<existing>": ["file", "src", SECRET], "<mount>": ["./src:/work", f"{SECRET}:/x"],
          "<number>": ["1", "25"], "<name>": ["x", "alpine"]}


def values_of(pattern):
    head, mark, kind = pattern.partition("<")
    return [head + value for value in VALUES[mark + kind]] if mark else [pattern]


def spellings(name, values, form):
    """Every spelling that some tool would understand as an option of this name; each is a list of
    arguments."""
    found = [[name]]
    for value in values if form != "flag" else ["x"]:
        found += [[name, value], [f"{name}={value}"]]
        if not name.startswith("--"):
            found += [[name + value]]
    if name.startswith("--"):
        found += [[name[1:]], [f"{name[1:]}={values[0] if values else 'x'}"]]
        found += [[name[:cut]] for cut in range(4, len(name))]
        found += [[f"{name[:cut]}={value}"] for cut in (len(name) - 1, len(name) // 2 + 2) for value in values[:1]]
    if form == "values":
        found += [[name, *(values_of(pattern)[0] for pattern in values)]]
    return found


def listed(option):
    if option.form == "number":
        return st.sampled_from([["-1"], ["-25"], ["-1x"]])
    if option.form == "values":
        return st.tuples(*(st.sampled_from(values_of(p)) for p in option.patterns)).map(
            lambda argv: [option.name, *argv])
    values = [value for pattern in option.patterns for value in values_of(pattern)]
    ways = [[option.name]] if option.form in ("flag", "optional") else []
    for value in values:
        ways.append([f"{option.name}={value}"] if option.name.startswith("--") else [option.name + value])
        if option.form == "value":
            ways.append([option.name, value])
    return st.sampled_from(ways)


def bundles(rules, others):
    letters = [name[1] for name in [*rules.options, *others] if len(name) == 2 and name != "--"]
    if not letters:
        return st.just([])
    return st.tuples(st.lists(st.sampled_from(letters), min_size=1, max_size=4), st.sampled_from(["", "", "x", "=x", SECRET])
                     ).map(lambda pair: ["-" + "".join(pair[0]) + pair[1]])


def vectors(rules, others):
    """Arguments of a level, in any order: listed options, others that the tool knows, operands.
    Most are allowed."""
    good = list(rules.options.values())
    pieces = [st.sampled_from(WORDS).map(lambda word: [word]), bundles(rules, [name for name, _ in others])]
    if good:
        pieces += [st.sampled_from(good).flatmap(listed)] * 6
    if others:
        bad = [way for name, form in others for way in spellings(name, ["x", SECRET], form)]
        pieces.append(st.sampled_from(bad))
    level = st.lists(st.one_of(pieces), max_size=4).map(lambda lists: [word for argv in lists for word in argv])
    before = st.just([])
    if rules.subcommand:
        before = st.one_of([st.just([])] * 8 + [st.sampled_from(
            [way for name, form in others for way in spellings(name, ["x"], form)] or [[]])])
    return st.tuples(before, level, st.sampled_from([True] * 7 + [False])).map(
        lambda parts: [rules.tool, *parts[0], *rules.subcommand, *(rules.require if parts[2] else []), *parts[1]])
