"""The command (R78): `chokepoint run` with a policy of one entry and its log, beside bwrap with the command line that the
library would give it. Each call is one process from its start to its end. The proof of the jail is remembered by then; the
first call of a fresh machine, which has no such record and no cache, has a row of its own.
"""

import os
import pathlib
import shutil

from measure import Failure, alternate, ratios

# The worker gets a /run of its own, where root's proofs are remembered.
OWN_RUN = ("unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh")


def commands(lab):
    """R78: the command, which runs one tool and ends."""
    sides = [side for side in ("command", "plain_bwrap", "posix_spawn") if side != "plain_bwrap" or lab.programs["bwrap"]]
    with lab.worker() as worker:
        samples = alternate(lab.rounds(60), {side: lambda s=side: worker.wall("jailed", s, "true", 5) for side in sides})
    lab.keep(samples, "command")
    if "plain_bwrap" in samples:
        lab.report("R78", "chokepoint run, native jail, audit on / bwrap called directly",
                   ratios(samples["command"], samples["plain_bwrap"]), most=1.0, goal=0.5)
    else:
        lab.note("bwrap is not installed: the command is not compared with it")
    for side, values in samples.items():
        lab.report("figure", f"{side}, one call", [value / 1e3 for value in values], unit="us")


def first_commands(lab):
    """The first call of a fresh machine: nothing is remembered and nothing is cached."""
    root = os.geteuid() == 0
    place = lab.policy.with_name("run-time")
    place.mkdir(mode=0o700)
    cache = lab.policy.with_name("cache")
    with lab.worker(prefix=OWN_RUN if root else (), XDG_RUNTIME_DIR=str(place), XDG_CACHE_HOME=str(cache)) as worker:
        memory = pathlib.Path(f"/proc/{worker.process.pid}/root/run/chokepoint") if root else place / "chokepoint"

        def first():
            shutil.rmtree(memory, ignore_errors=True)
            shutil.rmtree(cache, ignore_errors=True)
            return worker.wall("jailed", "command", "true", 1)
        samples = alternate(lab.rounds(30), {"first": first, "later": lambda: worker.wall("jailed", "command", "true", 5)})
        if not memory.is_dir():
            raise Failure("the command has not remembered the proof of its jail")
    lab.keep(samples, "first-command")
    lab.report("R78", "first call of a fresh machine / a later one", ratios(samples["first"], samples["later"]))
    lab.report("figure", "first call of a fresh machine", [value / 1e3 for value in samples["first"]], unit="us")
