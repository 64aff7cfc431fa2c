"""What a jailed run costs from another language, beside that language's own way to run the tool without a jail (R98)."""

import json
import pathlib
import resource
import shutil

from measure import Worker, alternate, ratios

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # the package is built for it
IN_FLIGHT = 1000


def python_worker(lab):
    package = lab.build / "bindings/python"
    true = shutil.which("true", path="/usr/bin:/bin")
    return Worker([PYTHON, str(HERE / "python_peer.py"), str(package), str(lab.policy), str(lab.root), true, json.dumps(lab.env)], lab.env)


def python_package(lab):
    """R98: one run after the other, and a thousand in flight."""
    if not (lab.build / "bindings/python/chokepoint/_choke.abi3.so").exists():
        lab.note("the Python package is not built: it is not measured")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with python_worker(lab) as worker:
        samples = alternate(lab.rounds(60), {side: lambda side=side: worker.wall(side, 20)
                                             for side in ("plain", "jailed", "plain_aio", "jailed_aio")})
        many = alternate(lab.rounds(12), {side: lambda side=side: worker.wall(side, IN_FLIGHT)
                                          for side in ("plain_many", "jailed_many")})
    lab.keep(samples, "python")
    lab.keep(many, "python")
    lab.report("R98", "Python: jailed run / subprocess.run", ratios(samples["jailed"], samples["plain"]), most=1.3)
    lab.report("R98", "asyncio: jailed run / create_subprocess_exec", ratios(samples["jailed_aio"], samples["plain_aio"]), most=1.3)
    lab.report("R98", f"asyncio: the same, {IN_FLIGHT} in flight", ratios(many["jailed_many"], many["plain_many"]), most=1.3)
    for side, values in {**samples, **many}.items():
        lab.report("figure", f"Python: {side}, one run", [value / 1e3 for value in values], unit="us")
