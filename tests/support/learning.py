"""`policy learn`: a call is learned, its questions are answered, and the entry is used."""
import json

import audit

QUESTION = "# question: "
RECORD = "0001"


class Learner:
    """A caller with a policy of its own, which extends the default one, and one decision record."""

    def __init__(self, box):
        self.box = box
        box.directory("policy/adr")
        box.file(f"policy/adr/{RECORD}-tools.md", "# Tools\n")
        self.policy = box.base / "policy/own.yaml"
        self.log = box.home / ".local/state/chokepoint/audit.jsonl"

    def learn(self, *argv, options=("--adr", RECORD), timeout=120):
        return self.box.call([self.box.command, "policy", "learn", "--root", str(self.box.root), "--timeout", str(timeout),
                              *options, "--", *argv], deadline=3 * timeout)

    def entry(self, *argv, **keywords):
        """The entry as text, after a call that passes with it."""
        answer = self.learn(*argv, **keywords)
        assert answer.status == 0, (answer.out.decode(), answer.err.decode())
        return answer.out.decode()

    def start(self, tools=""):
        """A policy with these entries, as text."""
        text = "version: 1\nextends: default\nadr_dir: adr\n" + ("tools:\n" + tools if tools else "")
        return self.box.file("policy/own.yaml", text, 0o600)

    def use(self, entry):
        """A policy with the entry, every question answered with yes; `policy check` accepts it."""
        self.start(entry.replace(QUESTION, ""))
        self.check()

    def check(self):
        answer = self.box.call([self.box.command, "policy", "check", str(self.policy)])
        assert answer.status == 0, (answer.out, answer.err, self.policy.read_text(encoding="utf-8"))

    def run(self, *argv):
        return self.box.run(*argv, policy=self.policy, options=["--jail", "native"], timeout=120, deadline=240)

    def passes(self, *argv):
        answer = self.run(*argv)
        assert answer.outcome == "exited" and answer["exit_code"] == 0, answer.document
        assert "execs" in answer["layers"] or "execs_outside_root" in answer["layers"], answer.document
        return answer

    def shown(self, name, policy=None):
        """The entry as the loader reads it."""
        answer = self.box.call([self.box.command, "policy", "show", "--json", "--policy", str(policy or self.policy)])
        assert answer.status == 0, answer.err
        (found,) = [tool for tool in json.loads(answer.out)["tools"] if tool["name"] == name]
        return found

    def records(self):
        return audit.records(self.log)
