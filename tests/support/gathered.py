"""chokepoint gather, with probes and a policy of the test or with the embedded ones."""
import json

STATES = {"ok", "failed", "timeout", "tool_missing", "skipped", "refused", "cancelled"}


def probe(name, *argv, **more):
    """A probe of one call; more: other keys, and those of its call as call={...}."""
    call = {"id": "one", "argv": [str(word) for word in argv], **more.pop("call", {})}
    return {"name": name, "layer": "static", "why": "A test.", "tool": str(argv[0]), "output": "lines",
            "calls": [call], **more}


def write_probes(box, *probes, name="policy/probes.yaml", mode=0o600):
    """JSON is YAML."""
    return box.file(name, json.dumps({"version": 1, "probes": probes}, indent=1), mode)


def gather_argv(box, *options, root=None, policy=None, audit=False):
    command = [box.command, "gather", root or box.root, *options]
    if policy != "default":
        command += ["--policy", policy or box.policy]
    return command + ([] if audit else ["--no-audit"])


class Gathered:
    """The result of a gather."""

    def __init__(self, answer):
        self.status, self.err = answer.status, answer.err.decode(errors="replace")
        assert answer.out.count(b"\n") == 1, (answer.out[:300], self.err)
        self.document = json.loads(answer.out)
        assert set(self.states.values()) <= STATES
        assert self.document["format"] == 1

    @property
    def probes(self):
        return {found["name"]: found for found in self.document["probes"]}

    @property
    def states(self):
        return {found["name"]: found["state"] for found in self.document["probes"]}

    def lines(self, name, call="one"):
        found = self.probes[name]
        assert found["state"] == "ok", found
        return found["evidence"]["calls"][call]["lines"]

    def without_times(self):
        def strip(value):
            if isinstance(value, dict):
                return {key: strip(item) for key, item in value.items() if key != "timing"}
            return [strip(item) for item in value] if isinstance(value, list) else value
        return json.dumps(strip(self.document), sort_keys=True)


def gather(box, *options, probes=None, deadline=120.0, env=None, **shape) -> Gathered:
    if probes is not None:
        options = (*options, "--probes", write_probes(box, *probes))
    return Gathered(box.call(gather_argv(box, "--json", *options, **shape), deadline=deadline, env=env))
