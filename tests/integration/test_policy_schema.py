"""policy.schema.json, for editors: it accepts the project's policies, and the loader refuses what
the schema must refuse.
"""
import copy
import json
import pathlib

import jsonschema
import pytest
import yaml

PROJECT = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((PROJECT / "policy/policy.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

# Every key, so that each can be changed.
WHOLE = {
    "version": 1, "adr_dir": "adr", "search_path": ["/usr/bin"],
    "guard": {
        "why": "w", "adr": "0001", "programs": ["agent"], "carriers": ["git"], "catalog": ["cat"], "inject": ["--batch"],
        "state": [".agent/state"], "egress": ["a.example.org"], "env": ["TZ"],
        "set_env": [{"name": "A", "value": "b"}], "workspace": "overlay", "workspace_code": False, "jit": True,
        "shipped": ["ci"],
        "profiles": [{"name": "mine", "why": "w", "adr": "0001", "carriers": ["bash"], "catalog": ["bash"],
                      "workspace": "rw", "state": []}],
    },
    "tools": [{
        "name": "git", "why": "w", "adr": "0001", "route": "external", "required": True, "platforms": ["linux"],
        "install": {"apt": "git", "brew": "git", "npm": "git", "url": "https://example.org"},
        "version_args": ["--version"], "env": ["TZ"], "set_env": [{"name": "A", "value": "b"}], "credentials": "refuse",
        "limits": {"timeout_s": 5}, "path": "/usr/bin/git", "sha256": "0" * 64, "execs": ["sh"], "uses": ["shell"],
        "reads": ["/opt/a"], "root_at": "own",
        "egress": ["*.example.org:443", "a.example.org:22 opaque", "192.0.2.0/24", "2001:db8::/32", "[2001:db8::1]:443"],
        "args": {
            "sets": [{"name": "s", "options": ["--x"]}], "options": ["-C=<inside>"], "inject": ["-q"],
            "require": [], "deny": ["--exec-path"], "exact": [["--help"]], "bundles": True,
            "subcommands": [{"name": "log", "options": ["@s", "--y", "-e="], "inject": [], "require": ["--y"],
                             "deny": [], "operands": "inside", "first": "any", "first_unless": ["-e"], "order": "mixed",
                             "execs": [], "uses": ["node-scripts"], "workspace": "rw", "egress": ["a.example.org"], "env": ["LANGUAGE"],
                             "set_env": [{"name": "C", "value": "d"}], "limits": {"cpu_s": 5}}]},
    }, {
        "name": "strace", "why": "w", "adr": "0001", "route": "direct",
        "args": {"options": ["-f"], "command": "after_options"},
    }, {
        "name": "agent", "why": "w", "adr": "0001", "route": "carrier", "execs": ["ls"],
    }, {
        "name": "rg", "why": "w", "adr": "0001", "route": "direct",
        "args": {"options": ["-e="], "operands": "inside", "first": "any", "first_unless": ["-e"],
                 "order": "options_first"},
    }],
}


def accepts(document) -> bool:
    return VALIDATOR.is_valid(document)


def loads(box, document) -> bool:
    path = box.file("policy/p.yaml", json.dumps(document), 0o600)
    (box.base / "policy/adr").mkdir(exist_ok=True)
    (box.base / "policy/adr/0001-x.md").write_text("x\n", encoding="utf-8")
    answer = box.call([box.command, "policy", "check", str(path)])
    assert answer.status in (0, 1), answer
    return answer.status == 0


def paths(value, path=()):
    """Every value in the document, with its path."""
    yield path, value
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(inner, (*path, key))


def changed(path, change):
    document = copy.deepcopy(WHOLE)
    if not path:
        return change(document)
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = change(at[path[-1]])
    return document


def label(path, how):
    return ".".join(map(str, path)) + ":" + how


def unknown_keys():
    for path, value in paths(WHOLE):
        if isinstance(value, dict):
            yield label(path, "unknown"), changed(path, lambda v: {**v, "frobnicate": "x"})


def wrong_types():
    for path, value in paths(WHOLE):
        if isinstance(value, (dict, list)):
            yield label(path, "text"), changed(path, lambda v: "text")
            yield label(path, "other"), changed(path, lambda v: [["x"]] if isinstance(v, dict) else {"x": "y"})
        else:
            yield label(path, "list"), changed(path, lambda v: ["x"])
            yield label(path, "mapping"), changed(path, lambda v: {"x": "y"})
        yield label(path, "null"), changed(path, lambda v: None)


def missing_keys():
    for path, value in paths(WHOLE):
        required = {(): SCHEMA["required"], ("tools", 0): SCHEMA["definitions"]["tool"]["required"],
                    ("tools", 0, "set_env", 0): ["name", "value"], ("tools", 0, "args", "sets", 0): ["name", "options"],
                    ("tools", 0, "args", "subcommands", 0): ["name"],
                    ("guard", "profiles", 0): ["name", "why", "adr"]}.get(path, [])
        for key in required:
            yield label(path, "without-" + key), changed(path, lambda v, k=key: {a: b for a, b in v.items() if a != k})


WORDS = ["route", "required", "credentials", "operands", "first", "order", "bundles", "command"]
BAD_VALUES = [
    (("version",), 2), (("version",), "1"), (("search_path",), []), (("search_path", 0), "bin"), (("search_path", 0), ""),
    (("search_path", 0), "/usr/../bin"), (("search_path", 0), "/a:/b"), (("search_path", 0), "/usr/bin/"),
    (("search_path",), ["/bin", "/bin"]), (("adr_dir",), ""), (("tools", 0, "name"), "Git"), (("tools", 0, "name"), "a/b"),
    (("tools", 0, "name"), ""), (("tools", 0, "name"), "x" * 65), (("tools", 0, "why"), " "), (("tools", 0, "adr"), "12"),
    (("tools", 0, "adr"), "abcd"), (("tools", 0, "platforms"), []), (("tools", 0, "platforms"), ["plan9"]),
    (("tools", 0, "install", "apt"), "-x"), (("tools", 0, "install", "url"), "http://example.org"),
    (("tools", 0, "version_args"), []), (("tools", 0, "env"), ["1A"]), (("tools", 0, "env"), ["A", "A"]),
    (("tools", 0, "set_env", 0, "name"), "A-B"), (("tools", 0, "limits", "timeout_s"), 0),
    (("tools", 0, "limits", "timeout_s"), 31536001), (("tools", 0, "limits", "timeout_s"), "5"),
    (("tools", 0, "limits", "timeout_s"), 1.5), (("tools", 0, "path"), "git"), (("tools", 0, "path"), "/usr//git"),
    (("tools", 0, "sha256"), "0" * 63), (("tools", 0, "sha256"), "A" * 64), (("tools", 0, "execs"), ["a", "a"]),
    (("tools", 0, "egress"), ["HOST"]), (("tools", 0, "egress"), ["*"]), (("tools", 0, "egress"), ["*.com"]),
    (("tools", 0, "egress"), ["a.org:0"]), (("tools", 0, "egress"), ["a.org  opaque"]),
    (("tools", 0, "egress"), ["a.org clear"]), (("tools", 0, "egress"), ["https://a.org"]), (("tools", 0, "args", "options"), ["x"]),
    (("tools", 0, "args", "options"), ["--x~"]), (("tools", 0, "args", "options"), [""]),
    (("tools", 0, "args", "deny"), ["--x=y"]), (("tools", 0, "args", "exact"), []),
    (("tools", 0, "args", "exact"), ["--help"]), (("tools", 0, "args", "subcommands"), []),
    (("tools", 0, "args", "sets"), []), (("tools", 0, "args", "sets", 0, "options"), []),
    (("tools", 0, "args", "sets", 0, "options"), ["@s"]), (("tools", 3, "args", "first_unless"), []),
    (("guard", "programs"), []), (("guard", "carriers"), ["git", "git"]), (("guard", "catalog"), ["a/b"]),
    (("guard", "inject"), ["a\nb"]), (("guard", "programs"), ["/bin/id"]), (("guard", "state"), ["/abs"]),
    (("guard", "state"), [".."]), (("guard", "state"), ["a/../b"]), (("guard", "state"), ["a/"]), (("guard", "state"), ["a//b"]),
    (("guard", "egress"), ["HOST"]), (("guard", "env"), ["1A"]), (("guard", "workspace"), "ro"), (("guard", "jit"), "yes"),
    (("guard", "shipped"), ["ci", "ci"]), (("guard", "profiles", 0, "name"), "Mine"), (("guard", "profiles", 0, "name"), "a/b"),
    (("guard", "profiles", 0, "why"), " "), (("guard", "profiles", 0, "adr"), "1"),
]


def invalid_values():
    for path, _ in paths(WHOLE):
        if path and path[-1] in WORDS:
            for word in ("frobnicate", "", "yes"):
                yield label(path, repr(word)), changed(path, lambda v, w=word: w)


def bad_values():
    for path, value in BAD_VALUES:
        yield label(path, repr(value)), changed(path, lambda v, new=value: new)


KINDS = {"unknown": unknown_keys, "types": wrong_types, "missing": missing_keys, "words": invalid_values, "values": bad_values}


EXTENDING = {
    "version": 1, "extends": "default", "adr_dir": "adr", "remove": ["docker"], "catalog": ["cat", "find"],
    "grant": [{"name": "npm", "why": "w", "adr": "0001", "egress": ["a.example.org"], "env": ["TZ"]},
              {"name": "npm", "subcommand": "ci", "why": "w", "adr": "0001", "options": ["--x=<number>"], "execs": ["sh"]}],
}
BAD_EXTENDING = {
    "other": {"extends": "other"}, "file": {"extends": "./default"}, "twice": {"remove": ["docker", "docker"]},
    "names": {"remove": "docker"}, "no-name": {"grant": [{"egress": ["a.example.org"]}]}, "mapping": {"grant": {}},
    "empty": {"grant": [{"name": "npm", "egress": []}]}, "set": {"grant": [{"name": "rg", "options": ["@x"]}]},
    "route": {"grant": [{"name": "npm", "route": "direct"}]}, "limits": {"grant": [{"name": "npm", "limits": {}}]},
    "adr": {"grant": [{"name": "npm", "adr": "1", "egress": ["a.example.org"]}]},
    "host": {"grant": [{"name": "npm", "egress": ["A.example.org"]}]}, "without": {"extends": None},
    "no-entry": {"catalog": []}, "entry-twice": {"catalog": ["cat", "cat"]}, "entry-word": {"catalog": "cat"},
    "entry-number": {"catalog": [["cat"]]},
}


def test_extending_document_is_accepted_by_both(user_box):
    assert list(VALIDATOR.iter_errors(EXTENDING)) == []
    assert loads(user_box, EXTENDING)
    smallest = {"version": 1, "extends": "default"}
    assert accepts(smallest) and loads(user_box, smallest)
    taken = {"version": 1, "search_path": ["/bin"], "catalog": ["cat"], "remove": [], "grant": []}
    assert accepts(taken) and loads(user_box, taken)


@pytest.mark.parametrize("name", BAD_EXTENDING)
def test_bad_extending_document_is_refused_by_both(user_box, name):
    document = {key: value for key, value in {**EXTENDING, **BAD_EXTENDING[name]}.items() if value is not None}
    assert not accepts(document) and not loads(user_box, document)


def test_schema_is_a_schema():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_whole_document_is_accepted_by_both(user_box):
    assert list(VALIDATOR.iter_errors(WHOLE)) == []
    assert loads(user_box, WHOLE)


@pytest.mark.parametrize("name", ["policy/default.yaml", *sorted(
    str(path.relative_to(PROJECT)) for path in (PROJECT / "examples").glob("*.yaml"))])
def test_policies_of_the_project_are_accepted(name):
    document = yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_bad_documents_are_refused_by_both(user_box, kind):
    cases = dict(KINDS[kind]())
    assert len(cases) >= 10
    assert [name for name, document in cases.items() if accepts(document)] == [], "the schema accepts"
    assert [name for name, document in cases.items() if loads(user_box, document)] == [], "the loader accepts"


def test_what_the_loader_accepts_of_the_corpus_the_schema_accepts(user_box):
    """Except text without quotes that YAML itself reads as a number: an editor rightly asks for
    the quotes."""
    seen = 0
    for path in sorted((PROJECT / "tests/fuzz/corpus/policy").iterdir()):
        copied = user_box.file("policy/" + path.name, path.read_bytes(), 0o600)
        report = json.loads(user_box.call([user_box.command, "policy", "check", "--json", str(copied)]).out)
        if any(finding["rule"] == "policy" for finding in report["findings"]):
            continue
        seen += 1
        document = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
        errors = [error.message for error in VALIDATOR.iter_errors(document)
                  if not (error.validator == "type" and isinstance(error.instance, int))]
        assert errors == [], path.name
    assert seen >= 5
