"""What a run over the Model Context Protocol costs (R95): a call of the tool `run`, beside the library's own jailed run of
the same tool and a bare round trip, a ping, through the same pipes and the same client. Both sides of the client are this
program, which only writes a line and reads one.
"""

import json
import subprocess
import time

from measure import Failure, alternate, ratios

BATCH = 20


class Server:
    def __init__(self, lab):
        self.process = subprocess.Popen(
            [str(lab.build / "chokepoint"), "mcp", "--root", str(lab.root), "--policy", str(lab.policy), "--no-audit", "--jail", "native"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=lab.env)

    def request(self, method, params=None):
        """One line there, one line back."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params else {})}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"the server ended with {self.process.wait()}")
        return line

    def runs(self):
        """Nanoseconds a run."""
        params = {"name": "run", "arguments": {"argv": ["true"]}}
        began = time.monotonic_ns()
        for _ in range(BATCH):
            if b'"outcome":"exited"' not in self.request("tools/call", params):
                raise Failure("a run over the protocol failed")
        return (time.monotonic_ns() - began) / BATCH

    def pings(self):
        began = time.monotonic_ns()
        for _ in range(BATCH):
            self.request("ping")
        return (time.monotonic_ns() - began) / BATCH

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)


def serving(lab):
    with lab.worker() as worker, Server(lab) as server:
        samples = alternate(lab.rounds(60), {"library": lambda: worker.wall("jailed", "native", "true", BATCH),
                                             "mcp": server.runs, "ping": server.pings})
    lab.keep(samples, "serving")
    both = [run + ping for run, ping in zip(samples["library"], samples["ping"])]
    lab.report("R95", "a run over MCP / the library's jailed run and a round trip", ratios(samples["mcp"], both), most=1.2)
    for side, values in samples.items():
        lab.report("figure", f"serving: {side}, one", [value / 1000 for value in values], unit="us")
