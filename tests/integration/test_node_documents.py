"""What docs/node.md and the README of the package show is what happens, and the examples for Node work (R97).

A block marked "js" is a module that runs in a repository with one commit. The block marked "text" after it is what it prints,
with the marks of README.md: "…" is any text within a line. ../policy/small.yaml is examples/policy.yaml.
"""
import json
import os
import re
import shutil
import signal

import pytest

import nodes
from test_readme import AUTHOR, FENCE, matches

APP = "console.log(1);\n"


@pytest.fixture
def reader(user_box, node_package):
    """A repository as the page assumes it, with the package in reach of its modules."""
    user_box.file("root/app.js", APP)
    for argv in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "add the app"]):
        assert user_box.call(["git", *argv], env=user_box.environment(GIT_CONFIG_NOSYSTEM="1", **AUTHOR)).status == 0
    (user_box.base / "node_modules").symlink_to(node_package / "node_modules")
    small = (nodes.TOP / "examples/policy.yaml").read_text(encoding="utf-8").replace("../docs/adr", str(nodes.TOP / "docs/adr"))
    user_box.file("policy/small.yaml", small, 0o600)
    return user_box


def node(box, *words, **keywords):
    return box.call(["/usr/bin/node", "--trace-warnings", *map(str, words)], env=nodes.environment(box), **keywords)


def pairs(text):
    """Modules, each with the text that it prints, or None."""
    found = []
    for kind, body in FENCE.findall(text):
        if kind == "js":
            found.append([body, None])
        elif kind == "text":
            assert found and found[-1][1] is None, f"output without a module: {body}"
            found[-1][1] = body.splitlines()
    return found


@pytest.mark.parametrize("page, least", [("docs/node.md", 5), ("bindings/node/README.md", 1)])
def test_examples_of_the_page_do_what_it_shows(reader, page, least):
    blocks = pairs((nodes.TOP / page).read_text(encoding="utf-8"))
    assert len(blocks) >= least
    for number, (body, shown) in enumerate(blocks):
        answer = node(reader, reader.file(f"block{number}.mjs", body))
        assert (answer.status, answer.err) == (0, b""), answer.err.decode()
        printed = answer.out.decode()
        assert shown is None or matches(shown, printed), f"{body}\n{printed}"


def test_page_names_every_export():
    """And every option is in the types."""
    page = (nodes.TOP / "docs/node.md").read_text(encoding="utf-8")
    module = (nodes.TOP / "bindings/node/lib/index.mjs").read_text(encoding="utf-8")
    types = (nodes.TOP / "bindings/node/index.d.ts").read_text(encoding="utf-8")
    options = (nodes.TOP / "bindings/node/lib/options.cjs").read_text(encoding="utf-8")
    exported = re.search(r"const \{ (.*) \}", module).group(1).split(", ")
    assert not [name for name in exported if name not in types]
    assert not [name for name in ("run", "stream", "explain", "Context", "ChokepointError") if f"`{name}`" not in page]
    tables = "".join(re.findall(r"^const (?:REQUEST|RUN|STREAM|CONTEXT) = \{(.*?)\};$", options, re.MULTILINE | re.DOTALL))
    known = set(re.findall(r"(\w+): ", tables))
    assert len(known) >= 20 and not [name for name in known if f"  {name}?:" not in types], known


def example(box, name):
    """A copy where the package is found."""
    return shutil.copy(nodes.TOP / "examples" / name, box.base / name)


def test_cli_passes_output_and_status_on(reader):
    cli = example(reader, "node-cli.mjs")
    answer = node(reader, cli, "git", "log", "--format=%s")
    assert (answer.status, answer.out, answer.err) == (0, b"add the app\n", b"")
    answer = node(reader, cli, "--root", reader.root, "git", "rev-parse", "--verify", "nothing")
    assert answer.status == 128 and answer.err.startswith(b"fatal:")
    answer = node(reader, cli, "bash", "-c", "id")
    assert answer.status == 125 and answer.err.startswith(b"node-cli: 'bash' is not in the policy")


def test_cli_ends_the_tool_at_ctrl_c(reader):
    """The tool writes without end. That nothing is left, each test checks (conftest.py)."""
    cli = example(reader, "node-cli.mjs")
    command = ["/usr/bin/node", str(cli), "jq", "-n", 'repeat("y")']
    process = reader.popen(command, raw=True, env=nodes.environment(reader), user=reader.actor.uid, group=reader.actor.gid)
    assert process.stdout.readline() == b'"y"\n', process.stderr.read()
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"node-cli: 'jq' was cancelled\n")


def test_run_command_answers_a_model(reader):
    tool = example(reader, "node-run-command.mjs")

    def ask(argv):
        answer = node(reader, tool, json.dumps({"argv": argv}))
        assert answer.status == 0, answer.err.decode()
        return json.loads(answer.out)
    assert ask(["git", "log", "--format=%s"]) == {"status": 0, "stdout": {"text": "add the app\n", "truncated": False},
                                                  "stderr": {"text": "", "truncated": False}}
    refused = ask(["git", "push"])
    assert refused["error"] == "disallowed" and "allowed are: log" in refused["message"]
    assert ask("git log")["error"] == "invalid" and ask(["git", 5])["error"] == "invalid"
