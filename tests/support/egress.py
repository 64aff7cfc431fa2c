"""Helpers for the tests of egress: a caller in the private network, a jail, and tools that may
reach some hosts.
"""
import json
import os

from network import BUNDLE

GRANTED = ["*.example.org", "*.example.org opaque", "93.184.216.10 opaque", "10.0.0.0/8", "127.0.0.1"]
CERTIFICATES = f"/etc/ssl/certs/{BUNDLE}"
GIT = ["/usr/lib/git-core/git", os.path.realpath("/usr/lib/git-core/git-remote-https")]


class EgressBox:
    """Runs in one jail; each run names the hosts that it may reach."""

    def __init__(self, box, jail):
        self.box, self.jail, self.network = box, jail, box.network
        self.policy = self.write_policy()

    def write_policy(self, **entries):
        """entries: extra keys for a tool, curl={"limits": {...}}."""
        def entry(name, **more):
            usual = {"route": "external", "egress": GRANTED, **more, **entries.get(name, {})}
            return self.box.entry(name, **usual)
        trust = [{"name": "NODE_EXTRA_CA_CERTS", "value": CERTIFICATES}]
        tools = [entry("curl"), entry("say_env"), entry("breach_net"), entry("getent"), entry("node", set_env=trust),
                 entry("git", workspace="rw", execs=GIT),
                 entry("npm", workspace="rw", execs=["env", "node"],
                       set_env=[*trust, {"name": "NPM_CONFIG_CAFILE", "value": CERTIFICATES}]),
                 self.box.entry("bwrap", route="jail")]
        return self.box.write_policy(tools, name="policy/way.yaml")

    def run(self, *argv, egress=("web.example.org",), options=(), policy=None, **shape):
        self.network.take()
        for rule in egress:
            options = [*options, "--egress", rule]
        return self.box.run(*argv, options=["--jail", self.jail, "--verbose", *options], policy=policy or self.policy,
                            **shape)

    def succeeds(self, *argv, **shape):
        answer = self.run(*argv, **shape)
        assert (answer.outcome, answer.status) == ("exited", 0), (answer.document, answer.err)
        assert answer["jail"] == self.jail and "egress" in answer["layers"]
        return answer

    def fails(self, *argv, **shape):
        """The tool runs, and does not get what it wants."""
        answer = self.run(*argv, **shape)
        assert answer.outcome == "exited" and answer.status != 0, (answer.document, answer.err)
        assert answer["jail"] == self.jail and "egress" in answer["layers"]
        return answer

    def events(self, answer, kind):
        name = f"subproc.egress.{kind}"
        found = [json.loads(line) for line in answer.err.splitlines()]
        return [event for event in found if event["event"] == name]
