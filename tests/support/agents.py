"""Agents in the cage of guard, by their profiles, with a model on loopback in place of their host."""
import json
import pathlib
import ssl

import yaml

from guards import needs

HERE = pathlib.Path(__file__).parents[2]
PROFILES = HERE / "policy/profiles/agents.yaml"
AGENT = HERE / "tests/clients/guard-agent/agent.py"
HOSTS = ("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com")


def profile(name, port):
    """The profile as it is shipped, but for the host of the model: that is a port of this machine."""
    with open(PROFILES, encoding="utf-8") as stream:
        found = next(one for one in yaml.safe_load(stream)["guard"]["profiles"] if one["name"] == name)
    text = json.dumps(found)
    for host in HOSTS:
        text = text.replace(f"http://{host}", f"http://127.0.0.1:{port}").replace(json.dumps(host), json.dumps(f"127.0.0.1:{port}"))
    found = json.loads(text)
    found["egress"] = list(dict.fromkeys(found["egress"]))
    return found


def write_policy(box, made, tools=()):
    """The default policy with this profile."""
    made = {**made, "catalog": [name for name in made["catalog"] if name not in [tool["name"] for tool in tools]]}
    return box.file("policy/agent.yaml", json.dumps({"version": 1, "extends": "default", "tools": list(tools), "guard": {"profiles": [made]}}), 0o600)


def set_variable(made, name, value):
    made["set_env"] = [one for one in made.get("set_env", []) if one["name"] != name] + [{"name": name, "value": value}]


def identity(box):
    """TLS of a host with a certificate for localhost, which is its own authority: host.pem."""
    needs("openssl")
    made = box.call(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(box.outside / "host.key"), "-out",
                     str(box.outside / "host.pem"), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
    assert made.status == 0, made.err
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(box.outside / "host.pem", box.outside / "host.key")
    return context


class Guard:
    """The command line of guard for an agent, and what it reports."""

    def __init__(self, box, policy, name):
        self.box, self.policy, self.name = box, policy, name
        self.report = box.outside / "report.json"

    def argv(self, *argv, options=()):
        return [self.box.command, "guard", "--policy", str(self.policy), "--profile", self.name, "--root", str(self.box.root),
                "--cwd", str(self.box.root), "--audit", str(self.box.log), "--report", str(self.report), *options, "--", *argv]

    def run(self, *argv, options=(), **keywords):
        self.report.unlink(missing_ok=True)
        answer = self.box.call(self.argv(*argv, options=options), **{"deadline": 300, **keywords})
        answer.document = json.loads(self.report.read_text(encoding="utf-8")) if self.report.exists() else None
        return answer

    def store(self):
        return self.box.home / ".local/state/chokepoint/guard" / self.name
