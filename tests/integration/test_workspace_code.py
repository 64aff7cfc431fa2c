"""`workspace_code`: what a project brings or builds runs in the jail (R86): scripts of node_modules/.bin,
a program that make just made, a virtual environment's interpreter.

tests/adversarial/jail/test_workspace_escape.py and test_workspace_tool.py attack it.
"""
import functools
import json
import shutil
import subprocess

import pytest

import audit
import registry
from feature import full
from jails import LAYERS, OPENED, Cell
from no_userns import NoUserns


@pytest.fixture
def opened(cell):
    """Runs an entry with `workspace_code` in a jail."""
    run = functools.partial(cell.run_entry, **OPENED)
    run.box, run.jail = cell.box, cell.jail
    return run


# ---- projects ----

MOCHA_TEST = "const assert = require('assert'); it('adds', () => assert.equal(1 + 1, 2));\n"


# What a runner gets: its script, a test, what it reports.
RUNNERS = {"mocha": ("mocha", MOCHA_TEST, b"1 passing")}
if full():
    RUNNERS |= {"jest": ("jest", "test('adds', () => expect(1 + 1).toBe(2));\n", b"1 passed"),
                "vitest": ("vitest run", "import { expect, test } from 'vitest';\ntest('adds', () => expect(1 + 1).toBe(2));\n",
                           b"1 passed"),
                "esbuild": ("esbuild test/one.test.js --bundle --platform=node --outfile=made.js && node made.js",
                            "import assert from 'assert'; assert.equal(1 + 1, 2); console.log('bundled and run');\n",
                            b"bundled and run")}


@pytest.mark.parametrize("name", RUNNERS)
def test_npm_test(opened, name):
    """By the default policy. mocha is the sample of a usual run. vitest listens, and its native module maps libraries that node itself does
    not need; esbuild is a program of the project, and writes."""
    runner, test, said = RUNNERS[name]
    registry.project(opened.box, runner, test, registry.RUNNERS if full() else registry.MOCHA)
    answer = opened.box.run("npm", "test", policy="default", options=["--jail", opened.jail], timeout=120, deadline=150)
    output = answer.stream("stdout") + answer.stream("stderr")
    assert answer.status == 0 and said in output, output.decode()
    assert "execs_outside_root" in answer["layers"] and "execs" not in answer["layers"]


def test_script_of_the_project_as_a_tool(opened):
    registry.project(opened.box, "mocha", MOCHA_TEST)
    answer = opened("mocha", path="./node_modules/.bin/mocha")
    assert answer.status == 0 and b"1 passing" in answer.stream("stdout"), answer.document
    assert answer["tool"] == {"name": "mocha", "path": f"{opened.box.root}/node_modules/.bin/mocha"}


def check(opened, workspace):
    """Runs `make check`, which builds a program and runs it."""
    opened.box.file("root/Makefile", "check: made\n\t./made\nmade: made.c\n\tcc -o made made.c\n")
    opened.box.file("root/made.c", '#include <stdio.h>\nint main(void) { puts("made and run"); return 0; }\n')
    answer = opened("make", "check", uses=["c-compiler", "shell"], workspace=workspace)
    assert answer.status == 0 and b"made and run" in answer.stream("stdout"), answer.document


def test_make_check_runs_what_it_made(opened):
    check(opened, "rw")
    assert (opened.box.root / "made").exists()


@pytest.mark.parametrize("cell", ["native"], indirect=True)
def test_make_check_in_an_overlay(opened):
    """Only the native jail has one."""
    check(opened, "overlay")
    assert not (opened.box.root / "made").exists()


def test_interpreter_of_a_virtual_environment(opened):
    """A link to a program of the system. By its own path it finds the environment."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", opened.box.root / "venv"], check=True)
    answer = opened("python", "-c", "import sys; print(sys.prefix)", path="./venv/bin/python3")
    assert answer.stream("stdout") == f"{opened.box.root}/venv\n".encode(), answer.document


def test_modules_of_python_load(opened):
    """What they need beyond the interpreter: libraries of the system, and packages of Debian. Nothing is listed."""
    script = "import bz2, ctypes, lxml.etree, lzma, sqlite3, ssl; print(ssl.OPENSSL_VERSION)"
    (opened.box.root / "python").symlink_to("/usr/bin/python3")
    answer = opened("python", "-c", script, path="./python")
    assert answer.status == 0 and answer.stream("stdout").startswith(b"OpenSSL"), answer.document


def test_working_directory_is_on_the_same_mount(opened):
    opened.box.own(opened.box.directory("root/sub"))
    shutil.copy("/usr/bin/true", opened.box.root / "sub/made")
    opened.box.own(opened.box.root / "sub/made", 0o755)
    tools = [opened.box.entry("sh", route="external", **OPENED), opened.box.entry("bwrap", route="jail")]
    answer = opened.box.run("sh", "-c", "./made && pwd", policy=opened.box.write_policy(tools),
                            options=["--jail", opened.jail], cwd=opened.box.root / "sub")
    assert answer.stream("stdout") == f"{opened.box.root}/sub\n".encode(), answer.document


# ---- it is said everywhere ----

def test_layers_result_record_and_events_say_it(opened):
    opened.box.file("root/tool", "#!/bin/sh\necho here\n", 0o755)
    answer = opened("tool", path="./tool", options=["--verbose"])
    assert answer["workspace_code"] and set(answer["layers"]) >= (LAYERS - {"execs"}) | {"execs_outside_root"}
    intent = next(record for record in audit.records(opened.box.log) if record["kind"] == "intent")
    assert intent["workspace_code"] is True and intent["layers"] == answer["layers"]
    assert intent["tool"]["path"] == f"{opened.box.root}/tool" and intent["argv"] == [f"{opened.box.root}/tool"]
    started = next(event for event in map(json.loads, answer.err.splitlines()) if event["event"] == "subproc.started")
    assert started["workspace_code"] == "true"


def test_other_runs_do_not_say_it(cell):
    answer = cell.succeeds_inside("say_args", options=["--verbose"])
    assert not answer["workspace_code"] and "execs" in answer["layers"]
    assert "workspace_code" not in [record for record in audit.records(cell.box.log) if record["kind"] == "intent"][0]


def test_explain_and_show_say_it(opened):
    opened.box.file("root/tool", "#!/bin/sh\n", 0o755)
    decision = opened("tool", path="./tool", options=["--dry-run"], outcome=None).document
    assert decision["workspace_code"] and "execs_outside_root" in decision["layers"]
    assert not decision["mounts"] or f"ro+code {opened.box.root}" in decision["mounts"]
    command = [opened.box.command, "policy", "show", str(opened.box.policy)]
    assert b"every file beneath the root" in b" ".join(opened.box.call(command).out.split())
    shown = json.loads(opened.box.call([*command, "--json"]).out)["tools"][0]
    assert shown["workspace_code"] is True and shown["path"] == "./tool"


# ---- where it is refused ----

@pytest.mark.parametrize("keys, said", [
    ({"workspace_code": True}, "needs 'workspace' beside it"),
    ({**OPENED, "route": "direct"}, "needs 'route: external'"),
    ({"path": "./tool", "workspace": "ro"}, "needs 'workspace_code: true'"),
    ({**OPENED, "path": "./tool", "sha256": "0" * 64}, "leave it out"),
    ({**OPENED, "workspace_code": "true"}, "without quotes")])
def test_entry_is_not_loaded(user_box, keys, said):
    policy = user_box.write_policy([user_box.entry("tool", **{"route": "external", **keys})])
    answer = user_box.run("tool", policy=policy)
    assert answer.outcome == "policy" and said in answer.message, answer.document


def test_without_a_jail_it_is_refused(opened):
    opened.box.file("root/tool", "#!/bin/sh\n", 0o755)
    tools = [opened.box.entry("tool", route="external", path="./tool", **OPENED)]
    answer = opened.box.run("tool", policy=opened.box.write_policy(tools), options=["--jail", "none"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.tool.workspace_code"), answer.document


@pytest.mark.parametrize("jail", ["auto", "native"])
def test_without_namespaces_it_is_refused(user_box, jail):
    machine = NoUserns(user_box, "container")
    policy = machine.write_policy(attempt=OPENED)
    answer = machine.run("attempt", "plain", "/bin/true", policy=policy, jail=jail)
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.attempt.workspace_code"), answer.document
    assert "namespaces" in answer.message


def test_tool_beneath_the_root_is_not_run_by_another(user_box):
    user_box.file("root/tool", "#!/bin/sh\n", 0o755)
    tools = [user_box.entry("tool", route="external", path="./tool", **OPENED),
             user_box.entry("strace", route="external", args={"command": "after_options"}, **OPENED)]
    answer = user_box.run("strace", "tool", policy=user_box.write_policy(tools))
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.tool.path"), answer.document


@pytest.mark.parametrize("key, keys", [("workspace_code", OPENED), ("loopback", {"loopback": True})])
@pytest.mark.parametrize("outer, inner", [(True, True), (True, False), (False, True)])
def test_tool_that_another_runs_must_have_it_too(user_box, key, keys, outer, inner):
    """Else an entry that runs others would open the repository, or loopback, to a tool whose own entry does not."""
    tools = [user_box.entry("strace", route="external", args={"command": "after_options"}, **(keys if outer else {})),
             user_box.entry("true", route="external", **(keys if inner else {}))]
    decision = user_box.run("strace", "true", policy=user_box.write_policy(tools), options=["--dry-run"]).document
    assert decision["decision"] == "allowed" and decision[key] is (outer and inner), decision


def test_missing_file_is_a_missing_tool(opened):
    answer = opened("tool", path="./not/here", outcome="tool_missing")
    assert "./not/here" in answer.message and answer["rule"] == "tools.tool.path"


# ---- mounts of the host that are noexec ----

@pytest.fixture
def noexec(root_box):
    place = root_box.root / "mounted"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec,mode=0755", "none", place], check=True)
    shutil.copy("/usr/bin/true", place / "tool")
    yield place
    subprocess.run(["umount", place], check=True)


def noexec_events(answer):
    return [event["mount"] for event in map(json.loads, answer.err.splitlines())
            if event.get("event") == "subproc.workspace.noexec"]


@pytest.mark.parametrize("jail, workspace", [("native", "ro"), ("native", "overlay"), ("bwrap", "ro")])
def test_noexec_mount_stays_so_and_is_named(root_box, noexec, jail, workspace):
    cell = Cell(root_box, jail)
    keys = {"workspace": workspace, "workspace_code": True}
    policy = cell.write_policy(more=[root_box.entry("sh", route="external", execs=["cp"], **keys),
                                     root_box.entry("tool", route="external", path="./tool", **keys)])
    answer = cell.run("sh", "-c", "./tool", policy=policy, root=noexec, cwd=noexec, options=["--verbose"])
    assert answer.status == 126 and b"Permission denied" in answer.stream("stderr"), answer.document
    assert noexec_events(answer) == [str(noexec)] and "execs" in answer["layers"] and not answer["workspace_code"]
    if workspace == "overlay":
        answer = cell.run("sh", "-c", "cp tool other && ./other", policy=policy, root=noexec, cwd=noexec)
        assert answer.status == 126, answer.document
    answer = cell.run("tool", policy=policy, root=noexec, cwd=noexec)
    assert answer.outcome == "spawn_failed" and f"'{noexec}'" in answer.message, answer.document


@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_noexec_mount_beneath_the_root_is_named(root_box, noexec, jail):
    cell = Cell(root_box, jail)
    policy = cell.write_policy(more=[root_box.entry("sh", route="external", **OPENED)])
    shutil.copy("/usr/bin/true", root_box.root / "tool")
    answer = cell.run("sh", "-c", "./tool && mounted/tool", policy=policy, options=["--verbose"])
    assert answer.status == 126 and b"mounted/tool: Permission denied" in answer.stream("stderr"), answer.document
    assert noexec_events(answer) == [str(noexec)] and answer["workspace_code"]
