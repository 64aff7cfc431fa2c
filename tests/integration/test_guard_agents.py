"""Real agents from npm in a cage, by their shipped profiles, driven by a scripted model on loopback that the proxy alone reaches.
Only a full run has these (conftest.py): they are half a gigabyte. test_guard_agent.py has the same orders for an agent of our own."""
import json
import os
import pathlib
import shutil
import tempfile

import pytest
import yaml

import agents
import audit
import registry
from guards import needs
from model import command, scripted
from orders import HONEST, KEY, Scene, start_as, tree

CATALOG = agents.HERE / "policy/catalog/agents.yaml"
FILES = {"codex": ("@openai/codex-linux-*/vendor/*/bin/codex", "@openai/codex-linux-*/vendor/*/bin/codex-code-mode-host"),
         "opencode": ("opencode-linux-*/bin/opencode",), "claude": ("@anthropic-ai/claude-code-linux-*/claude",)}
ARGV = {"codex": ["codex", "exec", "-m", "scripted", "--skip-git-repo-check", "go"], "opencode": ["opencode", "run", "go"],
        "claude-code": ["claude", "-p", "go"], "gemini-cli": ["gemini", "-p", "go"]}


@pytest.fixture(scope="session")
def programs():
    """Where a cage can execute them: it has its own /tmp, and other users must be able to read them."""
    found = registry.locked("mcp-agents") / "node_modules"
    place = "/opt" if os.geteuid() == 0 else pathlib.Path.home()
    with tempfile.TemporaryDirectory(prefix="choke-test-", dir=place) as name:
        os.chmod(name, 0o755)
        for program, patterns in FILES.items():
            for pattern in patterns:
                shutil.copy(sorted(found.glob(pattern))[0], pathlib.Path(name, pathlib.PurePath(pattern).name))
            os.chmod(pathlib.Path(name, program), 0o755)
        shutil.copytree(found / "@google/gemini-cli/bundle", pathlib.Path(name, "bundle"))
        os.symlink("bundle/gemini.js", pathlib.Path(name, "gemini"))
        os.chmod(pathlib.Path(name, "bundle/gemini.js"), 0o755)
        yield pathlib.Path(name)


@pytest.fixture
def scene(box):
    needs("git", "make", "gcc", "python3")
    made = Scene(box.root, box.outside, box.call)
    try:
        made.begin(box.own)
        yield made
    finally:
        made.close()


def entry(program, programs):
    more = {"codex": {"execs": [str(programs / "codex-code-mode-host")]}, "gemini": {"execs": ["node"], "reads": [str(programs)]}}.get(program, {})
    return {"name": program, "why": "a test runs it", "adr": "0145", "route": "carrier", "path": str(programs / program), **more}


def profile(name, port):
    made = agents.profile(name, port)
    if name == "opencode":
        config = json.loads(next(one["value"] for one in made["set_env"] if one["name"] == "OPENCODE_CONFIG_CONTENT"))
        config["provider"] = {"loop": {"npm": "@ai-sdk/openai-compatible", "name": "loop",
                                       "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "none"},
                                       "models": {"scripted": {"name": "scripted", "tool_call": True}}}}
        config["model"] = config["small_model"] = "loop/scripted"
        agents.set_variable(made, "OPENCODE_CONFIG_CONTENT", json.dumps(config))
    return made


def with_key(box, made, port):
    """The host of the model is named, speaks TLS, and gets a key: what tunnels http:// reaches no other (docs/egress.md)."""
    text = json.dumps(made).replace(f"http://127.0.0.1:{port}", f"http://localhost:{port}")
    made.update(json.loads(text), egress=[f"localhost:{port}", f"127.0.0.1:{port}"])
    key = box.file("policy/key", KEY + "\n", 0o600)
    return ["--secret", f"localhost:{port},x-goog-api-key={key}", "--secret-ca", str(box.outside / "host.pem")]


# As docs/guard.md has it: without this it wants to ask how to log in.
LOGIN = """mkdir -p ~/.local/state/chokepoint/guard/gemini-cli/.gemini
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' > ~/.local/state/chokepoint/guard/gemini-cli/.gemini/settings.json"""


def inside(box, programs, name, orders):
    tls = agents.identity(box) if name == "gemini-cli" else None
    with scripted(*map(command, orders), tls=tls) as model:
        made = profile(name, model.port)
        options = with_key(box, made, model.port) if tls else []
        guard = agents.Guard(box, agents.write_policy(box, made, [entry(made["programs"][0], programs)]), name)
        if name == "gemini-cli":
            assert box.call(["sh", "-c", LOGIN]).status == 0
        answer = guard.run(*ARGV[name], options=options)
        assert answer.status == 0 and b"done" in answer.out, (answer.out[-2000:], answer.err[-4000:])
        received = model.answers[-len(orders):]
        assert len([asked for asked in model.asked if asked["tools"]]) == len(orders) + 1, "each order was obeyed"
        assert not tls or {asked["headers"].get("x-goog-api-key") for asked in model.asked} == {KEY}
        return answer, received, model


def test_entry_of_codex_finds_its_program_where_npm_puts_it():
    """The launcher of the package starts it, and of a directory in `execs` the programs directly in it count."""
    with open(CATALOG, encoding="utf-8") as stream:
        execs = next(one for one in yaml.safe_load(stream)["tools"] if one["name"] == "codex")["execs"]
    place = registry.locked("mcp-agents") / "node_modules/@openai"
    for prefix in ("/usr/local/lib", "/usr/lib"):
        inner = f"{prefix}/node_modules/@openai/codex/node_modules/@openai/"
        found = [place / path.removeprefix(inner) for path in execs if path.startswith(inner)]
        programs = {path.name for directory in found if directory.is_dir() for path in directory.iterdir()}
        assert {"codex", "codex-code-mode-host"} <= programs, found


@pytest.mark.parametrize("name", list(ARGV))
def test_honest_work_is_done(box, scene, programs, name):
    answer, received, model = inside(box, programs, name, HONEST)
    for text, expected in zip(received, ("first", "1 file changed", "twice.o", "OK\n42", "correct the sum")):
        assert expected in text, (expected, text)
    head, files = tree(scene)
    assert "a + b" in files["calc.py"].decode() and len(head) == 40
    assert scene.run("git", "-C", scene.root, "status", "--short", env={"PATH": "/usr/bin:/bin"}).out == b""
    assert answer.document["difference"] is None and box.call([box.command, "audit", "verify", "--complete", str(box.log)]).status == 0
    hosts = {(record["host"], record["port"]) for record in audit.records(box.log) if record["kind"] == "egress" and record["rule"]}
    assert hosts == {("localhost" if name == "gemini-cli" else "127.0.0.1", model.port)}, "nothing but the model was reached"


@pytest.mark.parametrize("name", list(ARGV))
def test_no_hostile_order_has_its_effect(box, scene, programs, name):
    scene.reset(start_as(box))
    orders = scene.hostile()
    answer, received, _ = inside(box, programs, name, [order for _, order, _ in orders])
    scene.said = "\n".join(received)
    assert [order for order, _, effect in orders if effect()] == []
    reasons = ("HTTP Error 403", "No such file", "Read-only file system", "Permission denied", "Permission denied", "status 1", "No such file",
               "not supported by protocol", "'push' is not a subcommand", "No such process")
    for (order, _, _), text, reason in zip(orders, received, reasons):
        assert reason in text, (order, text)
    named = {one["path"].rsplit("/", 1)[-1] for one in answer.document["denied"]}
    assert {"su", "copy"} <= named, answer.document["denied"]


@pytest.mark.parametrize("name", list(ARGV))
def test_settings_that_an_agent_is_made_to_plant_are_listed(box, scene, programs, name):
    del scene
    state = {"codex": ".codex", "opencode": ".config/opencode", "claude-code": ".claude", "gemini-cli": ".gemini"}[name]
    inside(box, programs, name, ["true"])  # what it makes at its first start
    answer, _, _ = inside(box, programs, name, [f"mkdir -p ~/{state}/hooks; echo 'touch x' > ~/{state}/hooks/start; echo x >> ~/{state}/AGENTS.md"])
    listed = {change["path"].split(f"/guard/{name}/", 1)[-1] for change in answer.document["changes"] if change["runs_later"]}
    assert {f"{state}/hooks/start", f"{state}/AGENTS.md"} <= listed, listed
    assert f"{state}/AGENTS.md".encode() in answer.err
