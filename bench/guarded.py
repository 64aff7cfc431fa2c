"""What a call through the door of guard costs, and what a build costs in its cage (R93).

One program (bench-caller) executes others and measures it. It runs outside, and as PROGRAM in the cage. "What the door
adds" is a call of true through the door less the library's own jailed run of it, both in this bench's alternation.

A build: the same make with the same compiler outside and inside, where make and its compiler are carriers, so every
execution is notified and none goes through the door. Processor time is that of guard, its keeper, wardens and init and of
all that they ran. Beside that, for information: the compiler behind the door, git, and a script with a hundred calls.
"""

import contextlib
import json
import shutil

from measure import Worker, alternate, ratios

BATCH = 20
SOURCES = 8
LINES = 150


def entry(name, **keys):
    return {"name": name, "why": "It is measured.", "adr": "0001", **keys}


def tool(name, **keys):
    return entry(name, route="external", workspace="rw", **keys)


class Caller(Worker):
    """bench-caller, outside or in the cage."""

    def wall(self, *argv, runs=1):
        return super().wall("run", runs, *argv)

    def cost(self, *argv):
        return super().cost("run", 1, *argv)


def write_policy(lab, name, carriers, tools):
    path = lab.policy.with_name(name)
    document = {"version": 1, "adr_dir": "adr", "search_path": ["/usr/bin"],
                "tools": [entry(carrier, route="carrier", **keys) for carrier, keys in carriers.items()] + tools, "guard": {}}
    path.write_text(json.dumps(document, indent=1), encoding="ascii")
    path.chmod(0o600)
    return path


def inside(lab, policy):
    return Caller([str(lab.build / "chokepoint"), "guard", "--quiet", "--policy", str(policy), "--root", str(lab.root),
                   "--no-audit", "--", "bench-caller"], lab.env)


def outside(lab):
    return Caller([str(lab.build / "bench/bench-caller")], {**lab.env, "PATH": "/usr/bin"})


def write_project(lab):
    """Sources that take a compiler about as long as those of a usual project."""
    directory = lab.root / "project"
    directory.mkdir(exist_ok=True)
    for i in range(SOURCES):
        lines = "".join(f"int f{i}_{n}(int a) {{ int s = 0; for (int k = 0; k < a; k++) s += k * {n} ^ a; return s; }}\n"
                        for n in range(LINES))
        (directory / f"s{i}.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + lines, encoding="ascii")
    objects = " ".join(f"s{i}.o" for i in range(SOURCES))
    (directory / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\t@gcc -O1 -c -o $@ $<\n", encoding="ascii")
    (directory / "calls.sh").write_text("".join("/usr/bin/true\n" for _ in range(100)), encoding="ascii")
    return directory


def caller(lab):
    """At its own place: the cage has a /tmp of its own, so nothing in /tmp can be a carrier."""
    return {"bench-caller": {"path": str(lab.build / "bench/bench-caller")}}


def guarded(lab):
    calls(lab)
    if all(shutil.which(name, path="/usr/bin") for name in ("make", "gcc", "git")):
        builds(lab)
    else:
        lab.note("make, gcc or git is not installed: no build is measured in the cage of guard")


def calls(lab):
    policy = write_policy(lab, "calls.yaml", caller(lab), [tool("true", execs=[])])
    with lab.worker() as worker, outside(lab) as bare, inside(lab, policy) as cage:
        samples = alternate(lab.rounds(60), {
            "bare": lambda: bare.wall("true", runs=BATCH), "door": lambda: cage.wall("true", runs=BATCH),
            "native": lambda: worker.wall("jailed", "native", "true", BATCH)})
    lab.keep(samples, "guard.calls")
    added = [(door - native) / spawn for door, native, spawn in zip(samples["door"], samples["native"], samples["bare"])]
    lab.report("R93", "what the door adds to a jailed run / bare spawn", added, most=0.4)
    for side, values in samples.items():
        lab.report("figure", f"guard: {side}, one call", [value / 1000 for value in values], unit="us")


def builds(lab):
    write_project(lab)
    carriers = {**caller(lab), "sh": {}, "make": {}}
    whole = write_policy(lab, "build.yaml", {**carriers, "gcc": {"uses": ["c-compiler"]}}, [tool("true", execs=[]), tool("git", execs=[])])
    doors = write_policy(lab, "doors.yaml", carriers, [tool("gcc", uses=["c-compiler"]), tool("true", execs=[])])
    make = ["make", "-j2", "-s", "-B", "-C", str(lab.root / "project")]
    with contextlib.ExitStack() as stack:
        bare = stack.enter_context(outside(lab))
        sides = {"bare": bare, "carriers": stack.enter_context(inside(lab, whole)), "door": stack.enter_context(inside(lab, doors))}
        bare.wall("git", "init", "-q", str(lab.root))
        samples = alternate(lab.rounds(18), {name: lambda side=side: side.cost(*make) for name, side in sides.items()})
        others = alternate(lab.rounds(30), {
            f"{name}.{what}": lambda side=sides[name], argv=argv: side.wall(*argv)
            for name in ("bare", "carriers") for what, argv in usual(lab).items()})
    for kind, most in (("cpu", 1.03), ("wall", 1.05)):
        times = {side: [sample[kind] for sample in values] for side, values in samples.items()}
        lab.keep(times, f"guard.make.{kind}")
        name = {"cpu": "processor time", "wall": "wall time"}[kind]
        lab.report("R93", f"make -j2 in the cage / outside, {name}", ratios(times["carriers"], times["bare"]), most=most)
    lab.report("figure", "make -j2, each gcc through the door / outside, wall time", ratios(times["door"], times["bare"]))
    lab.keep(others, "guard.others")
    for what in ("git status", "100 calls"):
        lab.report("figure", f"{what} in the cage / outside", ratios(others[f"carriers.{what}"], others[f"bare.{what}"]))


def usual(lab):
    return {"git status": ["git", "-C", str(lab.root), "status", "--short"], "100 calls": ["sh", str(lab.root / "project/calls.sh")]}
