"""What a jailed run costs from another language, beside that language's own way to run the tool without a jail (R98)."""

import json
import pathlib
import resource
import shutil
import tempfile

from measure import Worker, alternate, ratios

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent
PYTHON = "/usr/bin/python3"  # the package is built for it
NODE = "/usr/bin/node"
IN_FLIGHT = 1000


def python_worker(lab):
    package = lab.build / "bindings/python"
    true = shutil.which("true", path="/usr/bin:/bin")
    return Worker([PYTHON, str(HERE / "python_peer.py"), str(package), str(lab.policy), str(lab.root), true, json.dumps(lab.env)], lab.env)


def python_package(lab):
    """R98: one run at a time, and a thousand in flight.

    At a time: in pairs, one run of each, and a pause of a millisecond before each, so that no run bears what another left to be
    done. And one right after another of its kind, the harder case: the library prepares the next jail after a run, and
    then that work has no other time.
    """
    if not (lab.build / "bindings/python/chokepoint/_choke.abi3.so").exists():
        lab.note("the Python package is not built: it is not measured")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with python_worker(lab) as worker:
        samples = alternate(lab.rounds(60), {side: lambda side=side: worker.wall(side, 20)
                                             for side in ("plain", "jailed", "plain_aio", "jailed_aio")})
        pairs = alternate(lab.rounds(60), {"pairs": lambda: worker.ask("pairs", 20)})["pairs"]
        many = alternate(lab.rounds(12), {side: lambda side=side: worker.wall(side, IN_FLIGHT)
                                          for side in ("plain_many", "jailed_many")})
    lab.keep(samples, "python")
    lab.keep(many, "python")
    paired = {key: [answer[key] for answer in pairs] for key in ("plain_ns", "jailed_ns")}
    lab.keep(paired, "python.pairs")
    lab.report("R98", "Python: jailed run / subprocess.run, in pairs, 1 ms apart", ratios(paired["jailed_ns"], paired["plain_ns"]), most=1.3)
    lab.report("R98", "Python: the same, each right after another of its kind", ratios(samples["jailed"], samples["plain"]), most=1.3)
    lab.report("R98", "asyncio: jailed run / create_subprocess_exec", ratios(samples["jailed_aio"], samples["plain_aio"]), most=1.3)
    lab.report("R98", f"asyncio: the same, {IN_FLIGHT} in flight", ratios(many["jailed_many"], many["plain_many"]), most=1.3)
    for side, values in {**samples, **many}.items():
        lab.report("figure", f"Python: {side}, one run", [value / 1e3 for value in values], unit="us")


def node_worker(lab, place):
    """The package as make install lays it out, and execa beside it."""
    package = place / "node_modules/chokepoint"
    addon = package / "prebuilds/linux-x64"
    addon.mkdir(parents=True)
    shutil.copytree(TOP / "bindings/node/lib", package / "lib")
    shutil.copy(TOP / "bindings/node/package.json", package)
    shutil.copy(lab.build / "bindings/node/chokepoint-node.node", addon)
    shutil.copy(HERE / "node_peer.mjs", place)
    for path in (TOP / "third_party/node/test/node_modules").iterdir():
        if path.name != "chokepoint":
            (place / "node_modules" / path.name).symlink_to(path)
    true = shutil.which("true", path="/usr/bin:/bin")
    return Worker([NODE, str(place / "node_peer.mjs"), str(lab.policy), str(lab.root), true, json.dumps(lab.env)], lab.env)


def node_package(lab):
    """R98: beside execFile and execa, one run after the other, and a thousand in flight."""
    wanted = (lab.build / "bindings/node/chokepoint-node.node", TOP / "third_party/node/test/node_modules/execa")
    if not all(path.exists() for path in wanted):
        lab.note("the package for Node is not built, or execa is not fetched: Node is not measured")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as place, node_worker(lab, pathlib.Path(place)) as worker:
        samples = alternate(lab.rounds(60), {side: lambda side=side: worker.wall(side, 20) for side in ("execFile", "execa", "jailed")})
        many = alternate(lab.rounds(12), {side: lambda side=side: worker.wall(side, IN_FLIGHT)
                                          for side in ("execFile_many", "execa_many", "jailed_many")})
    lab.keep(samples, "node")
    lab.keep(many, "node")
    for peer in ("execFile", "execa"):
        lab.report("R98", f"Node: jailed run / {peer}", ratios(samples["jailed"], samples[peer]), most=1.0)
        lab.report("R98", f"Node: the same, {IN_FLIGHT} in flight", ratios(many["jailed_many"], many[f"{peer}_many"]), most=1.0)
    for side, values in {**samples, **many}.items():
        lab.report("figure", f"Node: {side}, one run", [value / 1e3 for value in values], unit="us")
