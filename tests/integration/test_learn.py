"""R83: `policy learn` runs one call in a learning jail and prints the smallest entry under which it passes."""
import shutil

import pytest

import registry
from feature import sanitized, skip
from learning import RECORD, Learner

MAKEFILE = "all: h\nh: h.c\n\tcc -o h h.c\n\techo made | grep made\n"


@pytest.fixture
def learner(box):
    return Learner(box)


def need(program):
    found = shutil.which(program, path="/usr/bin:/bin")
    if not found:
        skip("tools", f"there is no {program} in /usr/bin")


# ---- calls ----

def c_program(box):
    box.file("root/h.c", "int main(void) { return 0; }\n")


def makefile(box):
    c_program(box)
    box.file("root/Makefile", MAKEFILE)


def go_module(box):
    need("go")
    box.file("root/go.mod", "module example.org/h\n\ngo 1.19\n")
    box.file("root/main.go", 'package main\n\nimport "errors"\n\nfunc main() { panic(errors.New("h")) }\n')


def crate(box):
    need("cargo")
    box.file("root/Cargo.toml", '[package]\nname = "h"\nversion = "0.1.0"\nedition = "2021"\n')
    box.directory("root/src")
    box.file("root/src/main.rs", "fn main() {}\n")


def python_tests(box):
    box.file("root/test_a.py", "def test_a():\n    assert 1 + 1 == 2\n")


def mocha(box):
    shutil.copytree(registry.fetched(registry.MOCHA) / "node_modules", box.root / "node_modules", symlinks=True)
    box.own(box.root / "node_modules")
    box.file("root/package.json", '{"name": "h", "version": "1.0.0", "scripts": {"test": "mocha"}}')
    box.directory("root/test")
    box.file("root/test/one.js", "it('adds', () => require('assert').equal(1 + 1, 2));\n")


# Files, the call, and what the entry has: uses, execs (with the questions answered), workspace, workspace_code.
CALLS = {
    "gcc": (c_program, ["gcc", "-o", "h", "h.c"], ["c-compiler"], [], "rw", False),
    "make": (makefile, ["make"], ["c-compiler"], ["sh", "grep"], "rw", False),
    "go": (go_module, ["go", "vet", "./..."], ["go-toolchain"], [], None, False),
    "cargo": (crate, ["cargo", "check"], [], ["rustc"], "rw", False),
    "pytest": (python_tests, ["pytest"], [], [], None, False),
    "npm": (mocha, ["npm", "test"], [], ["node", "sh", "env"], "ro", True),
}


# Of ours the same code runs for each of them, so under the sanitizers the quick ones are enough.
@pytest.mark.parametrize("name", ["gcc", "make"] if sanitized() else CALLS)
def test_the_call_passes_with_the_entry(learner, name):
    """In an empty HOME, as in any jail; so what a cache would hide is learned."""
    prepare, argv, uses, execs, workspace, code = CALLS[name]
    prepare(learner.box)
    before = sorted(path.name for path in learner.box.root.iterdir())
    text = learner.entry(*argv, options=["--adr", RECORD, "--why", "It is: a test, \"quoted\" #1."])
    assert sorted(path.name for path in learner.box.root.iterdir()) == before
    learner.use(text)
    entry = learner.shown(argv[0])
    assert (entry["why"], entry["adr"], entry["route"]) == ('It is: a test, "quoted" #1.', RECORD, "external")
    assert entry["args"]["exact"] == [argv[1:]]
    assert entry["uses"] == uses and sorted(entry["execs"] or []) == sorted(execs), entry
    assert (entry["workspace"] if workspace else workspace) == workspace and entry["workspace_code"] == code
    assert ("# review: it runs code of the repository" in text) == code
    assert ("# question: " in text) == code  # what node_modules/.bin/mocha executes
    assert entry["egress"] == [] and entry["env"] == []
    learner.passes(*argv)


def test_every_run_is_recorded(learner):
    python_tests(learner.box)
    learner.entry("pytest")
    intents = [record for record in learner.records() if record["kind"] == "intent"]
    assert len(intents) == 2 and all(record["learn"] is True for record in intents)
    assert all(record["jail"] == "native" for record in intents)
    assert "execs" not in intents[0]["layers"] and "execs" in intents[1]["layers"]


def test_output_of_the_tool_is_not_in_the_entry(learner):
    learner.box.file("root/Makefile", "all:\n\t@echo '  - name: sudo'\n")
    answer = learner.learn("make", "-s")
    assert b"  - name: sudo" in answer.err and b"sudo" not in answer.out


def test_tool_that_fails(learner):
    learner.box.file("root/Makefile", "all:\n\tsort Makefile; exit 3\n")
    answer = learner.learn("make")
    assert answer.status == 1 and b"it may need more" in answer.err
    assert b"sort" in answer.out


def test_nothing_runs_of_a_tool_that_is_missing(learner):
    answer = learner.learn("no-such-tool")
    assert (answer.status, answer.out) == (125, b"") and b"no-such-tool" in answer.err


@pytest.mark.parametrize("argv,options", [(["./a"], []), (["/bin/true"], []), (["true"], ["--adr", "12"]),
                                          (["true"], ["--adr", "12a4"]), ([], [])])
def test_wrong_arguments(learner, argv, options):
    answer = learner.learn(*argv, options=options)
    assert (answer.status, answer.out) == (125, b"")


def test_arguments_are_quoted(learner):
    """What YAML would read as something else is the same text in the entry."""
    argv = ["true", "yes", "a: b", "#", "-", "[x]", "\"q\"", "back\\slash", "1", "ä"]
    learner.use(learner.entry(*argv))
    assert learner.shown("true")["args"]["exact"] == [argv[1:]]
    learner.passes(*argv)


def test_credential_is_refused(learner):
    answer = learner.learn("true", "ghp_" + "a1B2" * 9)
    assert (answer.status, answer.out) == (125, b"") and b"ghp_a1" not in answer.err


# ---- the decision record ----

def test_the_next_free_number(learner):
    learner.box.file("policy/adr/0041-other.md", "# Other\n")
    learner.start()
    answer = learner.learn("true", options=["--into", str(learner.policy)])
    assert answer.status == 0 and b"'adr/0042-true.md'" in answer.out and b"# # 0042 true" in answer.out
    learner.box.file("policy/adr/0042-true.md", "# 0042 true\n")
    learner.check()
    assert learner.shown("true")["adr"] == "0042"


def test_number_without_a_policy(learner):
    assert "'docs/adr/0001-true.md'" in learner.entry("true", options=[])


# ---- --into ----

OWN = """  - name: make   # builds
    why: "Programs are built."
    adr: "0001"
    route: external
    args:
      options: [-s]
      exact: [[clean]]
    # only the shell so far
    uses: [shell]
    workspace: rw
"""


def test_into_adds_an_entry_and_keeps_the_rest(learner):
    makefile(learner.box)
    learner.start(OWN.replace("make ", "other "))
    before = learner.policy.read_text(encoding="utf-8")
    answer = learner.learn("make", options=["--adr", RECORD, "--into", str(learner.policy)])
    after = learner.policy.read_text(encoding="utf-8")
    assert answer.status == 0 and answer.out.decode().strip() in after
    assert after.replace(answer.out.decode(), "", 1).split() == before.split()
    learner.check()
    learner.passes("make")


def test_into_adds_what_a_further_call_needs(learner):
    makefile(learner.box)
    learner.start(OWN)
    answer = learner.learn("make", "all", options=["--into", str(learner.policy)])
    assert answer.status == 0, answer.err
    text = learner.policy.read_text(encoding="utf-8")
    assert "# only the shell so far" in text and "# builds" in text
    assert "decision record" not in answer.out.decode()  # the entry has one
    learner.check()
    entry = learner.shown("make")
    assert entry["args"]["exact"] == [["all"], ["clean"]] and entry["args"]["options"] == ["-s"]
    assert sorted(entry["uses"]) == ["c-compiler", "shell"] and not entry["execs"]
    learner.passes("make", "all")
    again = learner.learn("make", "all", options=["--into", str(learner.policy)])
    assert (again.status, again.out) == (0, b"") and learner.policy.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("entry", [
    '  - {name: make, why: "x", adr: "0001", route: external, args: {exact: [[clean]]}, execs: []}\n',
    '  - name: make\n    why: "ä"\n    adr: "0001"\n    args:\n      exact:\n      - [clean]\n    execs:\n    - cat\n    route: external\n',
])
def test_into_entries_of_any_style(learner, entry):
    makefile(learner.box)
    learner.start(entry)
    answer = learner.learn("make", "all", options=["--into", str(learner.policy)])
    assert answer.status == 0, (answer.err, learner.policy.read_text(encoding="utf-8"))
    learner.check()
    found = learner.shown("make")
    assert found["args"]["exact"] == [["all"], ["clean"]] and found["uses"] == ["c-compiler"]
    assert {"sh", "grep"} <= set(found["execs"]) and found["workspace"] == "rw"


@pytest.mark.parametrize("top, replaces", [("extends: default\n", True), ("", False)])
def test_entry_replaces_one_of_the_default_policy_only_where_that_is_extended(learner, top, replaces):
    own = '  - {name: "true", why: x, adr: "0001", route: external, execs: []}\n'
    learner.box.file("policy/own.yaml", f"version: 1\n{top}adr_dir: adr\nsearch_path: [/usr/bin]\ntools:\n{own}", 0o600)
    entry = learner.entry("jq", "--version", options=["--adr", RECORD, "--into", str(learner.policy)])
    assert ("replaces the whole entry of the default policy" in entry) == replaces


def test_into_a_file_that_cannot_be_added_to(learner):
    """It is not changed."""
    text = "{version: 1, extends: default, adr_dir: adr}\n"
    learner.box.file("policy/own.yaml", text, 0o600)
    answer = learner.learn("true", options=["--adr", RECORD, "--into", str(learner.policy)])
    assert answer.status == 125 and b"add the entry by hand" in answer.err
    assert learner.policy.read_text(encoding="ascii") == text


def test_into_a_missing_file(learner):
    answer = learner.learn("true", options=["--into", str(learner.policy)])
    assert answer.status == 125 and b"own.yaml" in answer.err and not learner.policy.exists()
