"""Measures what a run through the library costs, as ratios within one run of this program.

    bench/run.py --build BUILD [--json FILE] [--quick]

How. Every figure compares two sides that take turns (A B, B A, ...), a batch of runs each. The ratio is taken
round by round and its median is the figure; the spread is the range from the lower to the upper quartile. Times of
one machine say little about another, and so only ratios have bounds (but for R8, which the contract gives in
milliseconds). A bound that does not hold is printed as such; it is not a failure of this program, for a busy machine
is no bug. It holds if the median and the quartile on its side are inside. "Unclear" means that the bound is within the
spread: another run may well say the opposite.

What the sides are. The trivial tool is true(1), found through a policy made for the bench. Each side executes the
file that choke_explain names, with the environment that it names. "Bare" is posix_spawn and wait4 and nothing else:
no pipe, no deadline, no check.

What a run costs when many are in flight (R74). Two figures, and both have to hold. Wall: the time of the whole batch
divided by its runs. With one in flight that includes the waiting of one process for another, which overlaps at a
thousand, so wall time alone would flatter. Processor: what the caller, the keeper, the wardens and the tools together
used, divided by the runs. Neither counts the making of the keeper and of the first wardens, which is printed apart as
"cold". Two shapes: "window" keeps a thousand runs of true started and not yet collected; "hold" runs a tool that says
one byte and then waits until all thousand have spoken, so that a thousand processes are alive at one moment by proof.
The same two shapes with posix_spawn show what a thousand processes cost the kernel itself.

Capture (R73). The bare loop reads into one warm buffer and keeps nothing. The writer and the pipe's size are the same
on both sides. An output that fits under the cap is a figure without a bound: to keep it means
to touch fresh memory for all of it, and a loop that keeps nothing is no measure for that. Memory is the growth of the
peak resident set (VmHWM) of the calling process.

Lint (R76). The standard library of the Python that runs this, linted by one thread, walk and reading included, beside
a parse of the same files with the same grammar that does nothing else. The figure is processor time.

Jails (R71). The same tool bare, in the native jail, in bwrap's through the library, in bwrap called directly with the
command line that the library would give it, and in firejail; those that are not installed are left out, with a note. "What
the jail adds" is a run less the bare one, for the second tool, a script for node, takes much longer by itself. Where
the time of a jailed run goes is read from the kernel's trace of system calls (trace_steps.py), which only root may do.

The command (R78). See calling.py.

The record (R75). The same run with an audit log and without. The log is in the directory of the bench: where that is
memory, a sync costs nothing, so it should be a disk (TMPDIR). "At once": started before any of them is waited for,
so that one sync serves all of them, twice.

The way out (R77). A host, the proxy and a client are separate processes on loopback; both sides move the same bytes with
the same calls, from memory to memory. That is the hardest case for a proxy: a real client and a real network have more to do
themselves. A byte through each of a thousand tunnels is read while all of them are open.

What one dispatch does (R22). A run leaves large files or many small ones in an overlay, and all of it is kept. The longest
choke_dispatch from start to end is compared with copying as much as one slice of that work may, 1 MiB, into the same
directory.

How it grows. See growing.py: threads with a context each on one processor and on two, the time from start to end with 1 to
1,000 in flight, memory, the limit of the machine, and many runs one after the other.

Other sandboxes. See sandboxes.py.

The coordinator (R60). See gathering.py. A fleet of repositories (R103). See fleets.py. The server for agents (R95). See serving.py. guard (R93). See guarded.py.

Other languages (R98). See bindings.py: one interpreter runs the same tool by the package, in the native jail, and by its own
means without a jail.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import sys
import sysconfig
import tempfile

import trace_steps
from bindings import node_package, python_package
from calling import commands, first_commands
from fleets import fleets
from gathering import gathering
from growing import growth
from guarded import guarded
from measure import Failure, Worker, batch_size, quartiles, ratios, alternate
from sandboxes import sandboxes
from serving import serving

MIB = 1 << 20
YAML_MOST = 5.0  # times what the events of libyaml alone cost; it was 4.2 when the bound was set
AUDIT_SIDES = ("off", "none", "batched", "every")
HERE = pathlib.Path(__file__).resolve().parent
SEARCH_OPTIONS = """--after-context=<number> --before-context=<number> --context=<number> --count --fixed-strings --files
    --glob= --hidden --ignore-case --iglob= --invert-match --json --line-number --max-columns=<number>
    --max-count=<number> --max-depth=<number> --no-ignore --null --only-matching --regexp= --smart-case --sort=path|none
    --stats --type= --vimgrep --word-regexp --with-filename -A=<number> -B=<number> -C=<number> -c -F -g= -i -v -n
    -m=<number> -o -e= -w"""


class Lab:
    """Where the runs take place: the worker programs, a private directory with policy and tools, and the findings."""

    def __init__(self, build, directory, quick):
        self.quick = quick
        self.rows, self.samples, self.notes, self.growth, self.peers = [], {}, [], {}, {}
        self.build = pathlib.Path(build).resolve()
        self.policy = directory / "policy.yaml"
        self.root = directory / "root"
        self.root.mkdir()
        self.search_path = [os.path.dirname(find_true()), str(directory / "tools")]
        self.env = {"PATH": ":".join(self.search_path), "HOME": str(directory), "LANG": "C", "LC_ALL": "C"}
        self.programs = {name: shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
                         for name in ("bwrap", "firejail", "node")}
        self._install_tools(directory / "tools")
        self._write_policy(directory / "adr")
        self.one_policy = self.policy.with_name("one.yaml")
        entry = {"name": "true", "why": "It is measured.", "adr": "0001", "route": "external"}
        self.one_policy.write_text(json.dumps({"version": 1, "adr_dir": "adr", "search_path": self.search_path[:1],
                                               "tools": [entry]}), encoding="ascii")
        self.one_policy.chmod(0o600)

    def _install_tools(self, tools):
        tools.mkdir()
        for name in ("flood", "hold", "leave"):
            shutil.copy(self.build / "bench" / f"bench-{name}", tools / name)
        shutil.copy(find_true(), tools / "sealed")
        if self.programs["node"]:
            script = tools / "bench-script"
            script.write_text(f"#!{os.path.realpath(self.programs['node'])}\nprocess.exit(0)\n", encoding="utf-8")
            script.chmod(0o755)

    def _write_policy(self, adr_dir):
        adr_dir.mkdir()
        (adr_dir / "0001-bench.md").write_text("# 0001 Tools of the bench\n", encoding="ascii")
        common = {"why": "It is measured.", "adr": "0001"}
        tools = [{"name": name, "route": "direct", "egress": ["host.example.org"], **common}
                 for name in ("true", "flood", "hold", "bench-script")]
        tools.append({"name": "leave", "route": "external", "workspace": "overlay", **common})
        tools.append({"name": "sealed", "route": "direct", "execs": [], **common})
        if self.programs["bwrap"]:
            tools.append({"name": "bwrap", "route": "jail", "path": self.programs["bwrap"], **common})
        policy = {"version": 1, "adr_dir": "adr", "search_path": self.search_path, "tools": tools}
        self.policy.write_text(json.dumps(policy, indent=1) + "\n", encoding="ascii")
        self.policy.chmod(0o600)

    def worker(self, ballast_mib=0, prefix=(), **variables):
        program = str(self.build / "bench" / "bench-worker")
        env = {**self.env, "BENCH_BWRAP": self.programs["bwrap"] or "", "BENCH_FIREJAIL": self.programs["firejail"] or "",
               "BENCH_COMMAND": str(self.build / "chokepoint"), "BENCH_ONE_POLICY": str(self.one_policy), **variables}
        return Worker([*prefix, program, str(self.policy), str(self.root), str(ballast_mib)], env)

    def verifier(self):
        return Worker([str(self.build / "bench" / "bench-verify")], self.env)

    def linter(self, directory):
        return Worker([str(self.build / "bench" / "bench-lint"), directory], self.env)

    def judge(self):
        return Worker([str(self.build / "bench" / "bench-judge")], self.env)

    def egress(self):
        return Worker([str(self.build / "bench" / "bench-egress")], self.env)

    def slices(self):
        return Worker([str(self.build / "bench" / "bench-slices")], self.env)

    def thousand_tools(self):
        """A policy of 1,000 tools, each with 40 options like those of rg."""
        path = self.policy.with_name("thousand.yaml")
        if not path.exists():
            options = ", ".join(SEARCH_OPTIONS.split())
            entries = (f"  - name: tool-{i}\n    why: It searches.\n    adr: '0001'\n    route: external\n    args:\n"
                       f"      options: [{options}]\n      operands: inside\n      first: any\n" for i in range(1000))
            path.write_text("version: 1\nsearch_path: [/usr/bin]\ntools:\n" + "".join(entries), encoding="ascii")
        return path

    def extending(self):
        """A policy of five lines that extends the default one."""
        path = self.policy.with_name("extending.yaml")
        path.write_text("version: 1\nextends: default\nadr_dir: adr\ngrant:\n"
                        "  - {name: npm, egress: [registry.example.org], adr: '0001', why: It installs.}\n", encoding="ascii")
        path.chmod(0o600)
        return path

    def python(self):
        return Worker([sys.executable, str(HERE / "peer.py"), find_true(), json.dumps(self.env)], self.env)

    def rounds(self, full):
        return max(3, full // 6) if self.quick else full

    def keep(self, samples, prefix):
        for name, values in samples.items():
            self.samples[f"{prefix}.{name}"] = values

    @staticmethod
    def median(values):
        return quartiles(values)[1]

    def note(self, text):
        self.notes.append(text)
        print(f"note: {text}", flush=True)

    def report(self, requirement, what, values, unit="x", most=None, least=None, goal=None):
        """One row of the table. most and least are the bounds; a row without one is for information.
        A bound holds if the quartile on its side is inside, and so the median: on the bound is not
        inside. A goal is on the side of its bound, and further."""
        low, middle, high = quartiles(values)
        holds = None
        if most is not None:
            holds = high <= most
        elif least is not None:
            holds = low >= least
        bound = most if most is not None else least
        reached = None if goal is None else high <= goal if most is not None else low >= goal
        self.rows.append({"requirement": requirement, "what": what, "figure": middle, "unit": unit, "low": low,
                          "high": high, "rounds": len(values), "at_most": most, "at_least": least, "holds": holds, "goal": goal, "reached": reached,
                          "clear": bound is None or len(values) == 1 or not low <= bound <= high})


def find_true():
    path = shutil.which("true", path="/usr/bin:/bin")
    if path is None:
        raise Failure("there is no true(1) in /usr/bin or /bin")
    return path


def microseconds(values):
    return [value / 1e3 for value in values]


def milliseconds(values):
    return [value / 1e6 for value in values]


# ---- one run after the other ---------------------------------------------------------------------------------------


def single_runs(lab):
    """R70, and the peers."""
    batch = 40
    with lab.worker() as worker, lab.python() as python:
        sides = {name: lambda name=name: worker.wall("spawn", name, batch)
                 for name in ("choke", "posix_spawn", "fork_exec", "captured")}
        sides["python_run"] = lambda: python.wall("run", batch // 2)
        sides["python_call"] = lambda: python.wall("call", batch // 2)
        samples = alternate(lab.rounds(60), sides)
    lab.keep(samples, "single")
    bare = samples["posix_spawn"]
    lab.report("R70", "choke_run, captured / bare posix_spawn", ratios(samples["choke"], bare), most=1.15, goal=1.1)
    lab.report("peer", "posix_spawn with two pipes read / bare", ratios(samples["captured"], bare))
    lab.report("peer", "fork+exec / bare", ratios(samples["fork_exec"], bare))
    lab.report("peer", "Python subprocess.run, captured / bare", ratios(samples["python_run"], bare))
    lab.report("peer", "Python subprocess.call / bare", ratios(samples["python_call"], bare))
    for name in ("choke", "posix_spawn"):
        lab.report("figure", f"{name}, one run", microseconds(samples[name]), unit="us")


def processor_time(lab):
    """A second core can hide work; the processor time of all processes together cannot."""
    with lab.worker() as worker:
        samples = alternate(lab.rounds(20), {
            name: lambda name=name: worker.cost("spawn", name, 100)["cpu"] for name in ("choke", "posix_spawn")})
    lab.keep(samples, "cpu")
    lab.report("figure", "processor time, choke_run / bare", ratios(samples["choke"], samples["posix_spawn"]))


def looks(lab):
    """The part of R70 that each start spends to see who its caller is now (ADR 0039)."""
    with lab.worker() as worker, lab.judge() as judge:
        samples = alternate(lab.rounds(30), {"look": lambda: judge.wall("caller", "look", 1000),
                                             "bare": lambda: worker.wall("spawn", "posix_spawn", 40)})
    lab.keep(samples, "look")
    lab.report("R70", "a look at the caller / bare posix_spawn", ratios(samples["look"], samples["bare"]), most=0.05)
    lab.report("figure", "a look at the caller", microseconds(samples["look"]), unit="us")


def steps(lab):
    """Where the time of a run goes."""
    names = {"start_ns": "choke_start", "sleep_ns": "asleep in poll", "dispatch_ns": "choke_dispatch",
             "take_ns": "choke_next, choke_job_free", "reported_ns": "the library's own duration"}
    with lab.worker() as worker:
        answers = alternate(lab.rounds(30), {"steps": lambda: worker.ask("steps", 50)})["steps"]
    for key, name in names.items():
        values = [answer[key] / answer["runs"] for answer in answers]
        lab.keep({key: values}, "steps")
        lab.report("step", name, microseconds(values), unit="us")
    lab.report("step", "calls of choke_dispatch", [a["dispatches"] / a["runs"] for a in answers], unit="")


def judging(lab):
    """The cost of deciding without running, and of loading a policy (R4, R8)."""
    requests = {"git": "git log with 10 arguments", "rg": "rg with 20", "docker": "docker run with 7"}
    with lab.worker() as worker, lab.judge() as judge:
        sides = {"explain": lambda: worker.wall("explain", 500), "embedded": lambda: worker.wall("embedded", 20),
                 "extending": lambda: judge.wall("load", lab.extending(), 20),
                 "thousand": lambda: judge.wall("load", lab.thousand_tools(), 1),
                 "bare": lambda: judge.wall("bare", lab.thousand_tools(), 1)}
        for name in requests:
            sides[name] = lambda name=name: judge.wall("judge", name, 1000)
        samples = alternate(lab.rounds(30), sides)
    lab.keep(samples, "judge")
    lab.report("figure", "choke_explain, one call", microseconds(samples["explain"]), unit="us")
    for name, what in requests.items():
        lab.report("R4", f"judging {what}, default policy", microseconds(samples[name]), unit="us", most=20.0)
    lab.report("R8", "choke_context_new, embedded policy", milliseconds(samples["embedded"]), unit="ms", most=1.0)
    lab.report("R84", "loading five lines that extend the default", milliseconds(samples["extending"]), unit="ms", most=1.0)
    lab.report("R8", "loading a policy of 1,000 tools", milliseconds(samples["thousand"]), unit="ms", most=50.0)
    lab.report("R8", "the same / libyaml's bare parse of it", ratios(samples["thousand"], samples["bare"]), most=YAML_MOST)


# ---- jails ---------------------------------------------------------------------------------------------------------


def jail_sides(lab):
    sides = ["posix_spawn", "native", "bwrap", "plain_bwrap", "firejail"]
    if not lab.programs["bwrap"]:
        lab.note("bwrap is not installed: the native jail is not compared with it")
        sides = [side for side in sides if "bwrap" not in side]
    if not lab.programs["firejail"]:
        lab.note("firejail is not installed: the native jail is not compared with it")
        sides.remove("firejail")
    return sides


def jails(lab):
    """R71, R70 for a tool that may execute nothing, and the cost of the first run in a jail."""
    tools = {"true": "true(1)"}
    if lab.programs["node"]:
        tools["bench-script"] = "node script"
    else:
        lab.note("node is not installed: no script is run in the jails")
    for tool, name in tools.items():
        with lab.worker() as worker:
            compare_jails(lab, worker, tool, name)
    with lab.worker() as worker:
        sealed_runs(lab, worker)
        first_jailed(lab, worker)
        egress_runs(lab, worker)


def compare_jails(lab, worker, tool, name):
    turns = {}
    for side in jail_sides(lab):
        batch = batch_size(lambda n, s=side: worker.wall("jailed", s, tool, n), target_ms=30, most=40)
        turns[side] = lambda s=side, b=batch: worker.wall("jailed", s, tool, b)
    samples = alternate(lab.rounds(60 if tool == "true" else 20), turns)
    lab.keep(samples, f"jails.{tool}")
    bare, native = samples["posix_spawn"], samples["native"]
    trivial = tool == "true"
    lab.report("R71", f"{name}: native / bare posix_spawn", ratios(native, bare), most=2.0, goal=1.25)
    for side, what in (("bwrap", "bwrap through the library"), ("plain_bwrap", "bwrap called directly"),
                       ("firejail", "firejail called directly")):
        if side not in samples:
            continue
        bound = 0.25 if trivial and side == "bwrap" else None
        lab.report("R71" if bound else "peer", f"{name}: native / {what}", ratios(native, samples[side]), most=bound)
        if not trivial:
            lab.report("peer", f"{name}: what the jail adds, native / {what}",
                       ratios(less(native, bare), less(samples[side], bare)))
        lab.report("peer", f"{name}: {what} / bare posix_spawn", ratios(samples[side], bare))
    for side, values in samples.items():
        lab.report("figure", f"{name}: {side}, one run", microseconds(values), unit="us")


def less(values, bare):
    return [max(value - base, 1.0) for value, base in zip(values, bare)]


def sealed_runs(lab, worker):
    samples = alternate(lab.rounds(60), {
        "bare": lambda: worker.wall("jailed", "posix_spawn", "sealed", 40),
        "open": lambda: worker.wall("jailed", "none", "true", 40),
        "sealed": lambda: worker.wall("jailed", "none", "sealed", 40)})
    lab.keep(samples, "sealed")
    lab.report("R70", "no jail, execs not bounded / bare posix_spawn", ratios(samples["open"], samples["bare"]), most=1.15,
               goal=1.1)
    lab.report("R70", "no jail, execs: [] / bare posix_spawn", ratios(samples["sealed"], samples["bare"]), most=1.15)


def egress_runs(lab, worker):
    """A network namespace for each run, which the kernel removes after it: so apart from the other
    figures of R71."""
    samples = alternate(lab.rounds(30), {side: lambda s=side: worker.wall("jailed", s, "true", 20)
                                          for side in ("native", "native_egress")})
    lab.keep(samples, "jails.egress")
    lab.report("R71", "native, with egress that is not used / without",
               ratios(samples["native_egress"], samples["native"]), most=1.3)


def first_jailed(lab, worker):
    sides = [side for side in ("none", "native", "bwrap") if side != "bwrap" or lab.programs["bwrap"]]
    samples = alternate(lab.rounds(20), {
        "warm": lambda: worker.wall("jailed", "native", "true", 20),
        **{side: lambda s=side: worker.ask("first-jailed", s, "true")["first_ns"] for side in sides}})
    lab.keep(samples, "first-jailed")
    lab.report("R71", "native: first run of a context / a later one", ratios(samples["native"], samples.pop("warm")), most=3.0)
    for side, values in samples.items():
        lab.report("figure", f"first run of a context, jail {side}", microseconds(values), unit="us")


def jail_steps(lab):
    """Where the time of a run in the native jail goes."""
    if not trace_steps.available():
        lab.note("where the time of a jailed run goes is left out: it needs root and the kernel's trace (tracefs)")
        return
    with lab.worker() as worker:
        worker.ask("jailed", "native", "true", 20)
        found = trace_steps.steps(worker, "native", "true", 60 if lab.quick else 300)
    lab.keep(found, "jail-steps")
    for name, values in found.items():
        lab.report("step", f"native: {name}", values, unit="us")


# ---- the way out ---------------------------------------------------------------------------------------------------


def egress(lab):
    """R77, the first byte, and a thousand tunnels."""
    ways = {"connect": "a tunnel", "http": "plain HTTP"}
    mib, tunnels = (256 if lab.quick else 1024), 1000
    with lab.egress() as worker:
        moved = alternate(lab.rounds(18), {
            way: lambda way=way: worker.wall("transfer", way, mib) for way in ("direct", *ways)})
        first = alternate(lab.rounds(30), {
            way: lambda way=way: worker.wall("first", way, 50) for way in ("direct", *ways)})
        opened = alternate(lab.rounds(6), {"tunnels": lambda: worker.wall("tunnels", tunnels)})["tunnels"]
    lab.keep(moved, "egress.transfer")
    lab.keep(first, "egress.first")
    for way, name in ways.items():
        lab.report("R77", f"{mib} MiB through {name} / the same without the proxy, speed",
                   ratios(moved["direct"], moved[way]), least=0.8, goal=0.9)
        lab.report("R77", f"first byte through {name}, after the one without the proxy",
                   milliseconds([a - b for a, b in zip(first[way], first["direct"])]), unit="ms", most=0.5)
    slices(lab)
    lab.report("figure", f"{mib} MiB without the proxy", milliseconds(moved["direct"]), unit="ms")
    lab.report("figure", "first byte without the proxy", milliseconds(first["direct"]), unit="ms")
    lab.report("figure", f"{tunnels} tunnels at once, a byte both ways, for each", microseconds(opened), unit="us")


def slices(lab):
    """The longest dispatch while a run floods, does not read, or ends, against copying the bytes of one slice."""
    loads = {"200 tunnels that flood": ("flood", 200), "1000 tunnels that nobody reads": ("unread", 1000),
             "the end of a run with 1000 full tunnels": ("close", 1000)}
    with lab.slices() as worker:
        took = alternate(lab.rounds(6), {"copy": lambda: worker.wall("copy"),
                                          **{name: lambda load=load: worker.wall(*load) for name, load in loads.items()}})
    lab.keep(took, "egress.slices")
    for name in loads:
        lab.report("figure", f"longest dispatch, {name} / copying one slice", ratios(took[name], took["copy"]))


# ---- a large caller ------------------------------------------------------------------------------------------------


def available_mib():
    """What may still become resident: the memory of the machine, and the bound of the cgroup if it
    has one."""
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        available = next(int(line.split()[1]) >> 10 for line in meminfo if line.startswith("MemAvailable:"))
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            limit = int(pathlib.Path(path).read_text(encoding="ascii"))
            available = min(available, limit >> 20)
    return available


def large_ballast_mib(lab):
    wanted, spare = 8192, 1024
    available = available_mib()
    if available >= wanted + spare:
        return wanted
    mib = max(64, available - spare)
    lab.note(f"only {available} MiB of memory are available: R72 is measured with {mib} MiB resident, not {wanted}")
    return mib


def large_caller(lab):
    """R72."""
    mib = large_ballast_mib(lab)
    with lab.worker(10) as small, lab.worker(mib) as large:
        sides = {}
        for how in ("choke", "posix_spawn", "fork_exec"):
            for size, worker in (("small", small), ("large", large)):
                batch = batch_size(lambda n, w=worker, h=how: w.wall("spawn", h, n), target_ms=25)
                sides[f"{how}_{size}"] = lambda w=worker, h=how, b=batch: w.wall("spawn", h, b)
        samples = alternate(lab.rounds(40), sides)
        first = alternate(lab.rounds(20), {
            "small": lambda: small.ask("first"), "large": lambda: large.ask("first")})
    lab.keep(samples, "resident")
    for how, requirement, most in (("choke", "R72", 1.1), ("posix_spawn", "peer", None), ("fork_exec", "peer", None)):
        lab.report(requirement, f"{how}: {mib} MiB resident / 10 MiB",
                   ratios(samples[f"{how}_large"], samples[f"{how}_small"]), most=most)
    first_runs(lab, first, mib)


def first_runs(lab, first, mib):
    """The first run of a context makes the keeper."""
    times = {f"{size}_{key}": [answer[key] for answer in answers]
             for size, answers in first.items() for key in ("first_ns", "second_ns", "free_ns")}
    lab.keep(times, "first")
    lab.report("R72", f"first run, with the keeper: {mib} MiB / 10 MiB",
               ratios(times["large_first_ns"], times["small_first_ns"]), most=1.1)
    lab.report("figure", "first run of a context", microseconds(times["small_first_ns"]), unit="us")
    lab.report("figure", "choke_context_free after two runs", microseconds(times["small_free_ns"]), unit="us")


# ---- output --------------------------------------------------------------------------------------------------------


def capture(lab):
    """R73, the rate."""
    length = (256 if lab.quick else 1024) * MIB
    with lab.worker() as worker:
        pipe_bytes = worker.ask("pipe-size")["bytes"]
        lab.report("figure", "pipe that a tool writes into", [pipe_bytes / 1024], unit="KiB")
        # Not a multiple of the cap: an output that ends at the end of the ring would be the
        # cheapest to put in order.
        for cap, total in ((64 * MIB, length + 64 * MIB // 3), (MIB, length + MIB // 3), (64 * MIB, 64 * MIB)):
            samples = alternate(lab.rounds(24), {
                side: lambda side=side: worker.wall("flood", side, 1, total, cap, pipe_bytes)
                for side in ("choke", "bare", "wide", "keep")})
            lab.keep(samples, f"capture.{cap}.{total}")
            what = f"cap {cap // MIB} MiB, {total // MIB} MiB written: "
            requirement, least = ("R73", 0.9) if total > cap else ("figure", None)
            lab.report(requirement, what + "rate / bare loop", ratios(samples["bare"], samples["choke"]), least=least)
            lab.report("peer", what + "a loop that keeps the tail / bare", ratios(samples["bare"], samples["keep"]))
            lab.report("peer", what + "bare loop of 256 KiB / 64 KiB", ratios(samples["bare"], samples["wide"]))
            lab.report("figure", what + "rate", [total / MIB / (ns / 1e9) for ns in samples["choke"]], unit="MiB/s")


def capture_memory(lab):
    """R73, the memory: one process for each figure, because a peak is only seen once."""
    for cap in (64 * MIB, MIB):
        for streams in ("1", "12"):
            growth = [peak_growth_kib(lab, cap, streams) for _ in range(3)]
            over = [(kib / 1024 - len(streams) * cap / MIB) / len(streams) for kib in growth]
            lab.report("R73", f"memory over the cap of {cap // MIB} MiB, a stream, {len(streams)} flooded", over,
                       unit="MiB", most=1.0)


def peak_growth_kib(lab, cap, streams):
    """The run before is small: memory left by an earlier flood would be reused and not be seen."""
    with lab.worker() as worker:
        worker.ask("spawn", "choke", 1)
        worker.reset_peak_memory()
        before = worker.memory_kib("VmHWM")
        worker.ask("flood", "choke", streams, 4 * cap + 12345, cap, MIB)
        growth = worker.memory_kib("VmHWM") - before
    # Linux counts the pages of a process per processor, and sums them in batches of 32 or more.
    slack = max(32, 2 * os.cpu_count()) * os.cpu_count() * os.sysconf("SC_PAGE_SIZE")
    if growth * 1024 < 0.9 * len(streams) * cap - slack:
        raise Failure(f"{growth} KiB cannot hold {len(streams)} streams of {cap // 1024} KiB: the peak was not seen")
    return growth


# ---- many at once --------------------------------------------------------------------------------------------------


def many_at_once(lab):
    """R74."""
    width = 1000
    with contextlib.ExitStack() as stack:
        workers = {key: stack.enter_context(lab.worker()) for key in
                   (("choke", 1), ("choke", width), ("posix_spawn", 1), ("posix_spawn", width))}
        cold = workers["choke", width].cost("window", "choke", width, width)
        shapes = {"window": {1: 500, width: 3 * width}, "hold": {1: 300, width: 1}}
        for shape, counts in shapes.items():
            samples = alternate(lab.rounds(9), {
                f"{side}_{n}": lambda side=side, n=n, w=worker: w.cost(shape, side, n, counts[n])
                for (side, n), worker in workers.items()})
            report_shape(lab, shape, width, samples)
    for kind in ("wall", "cpu"):
        lab.report("figure", f"cold: first {width} at once, {kind}", [cold[kind] / 1e3], unit="us")


def report_shape(lab, shape, width, samples):
    for kind, name in (("wall", "wall time"), ("cpu", "processor time")):
        times = {side: [sample[kind] for sample in values] for side, values in samples.items()}
        lab.keep(times, f"{shape}.{kind}")
        for side, requirement, most in (("choke", "R74", 1.2), ("posix_spawn", "peer", None)):
            lab.report(requirement, f"{side}, {shape}, {name}: {width} in flight / 1",
                       ratios(times[f"{side}_{width}"], times[f"{side}_1"]), most=most)
        for n in (1, width):
            lab.report("figure", f"choke, {shape}, {name} a run at {n}", microseconds(times[f"choke_{n}"]), unit="us")


# ---- the record ----------------------------------------------------------------------------------------------------


def audited_runs(lab):
    """R75, and the cost of a sync of every record, one run after the other and many that share it."""
    batch, together = 40, 64
    with lab.worker() as worker:
        for side in AUDIT_SIDES:
            worker.ask("audited", side, 5)
        samples = alternate(lab.rounds(60), {
            side: lambda side=side: worker.wall("audited", side, batch) for side in AUDIT_SIDES if side != "every"})
        synced = alternate(lab.rounds(18), {
            **{side: lambda side=side: worker.wall("audited", side, 10) for side in ("off", "every")},
            **{f"{side}_together": lambda side=side: worker.wall("audited-together", side, together)
               for side in ("off", "every")}})
    lab.keep(samples, "audit")
    lab.keep(synced, "audit.every")
    off = samples["off"]
    lab.report("R75", "audit, batched / audit off", ratios(samples["batched"], off), most=1.05, goal=1.03)
    lab.report("figure", "audit, not synced / audit off", ratios(samples["none"], off))
    lab.report("figure", "audit, every record synced / audit off", ratios(synced["every"], synced["off"]))
    lab.report("figure", f"audit, every record synced, {together} at once / audit off",
               ratios(synced["every_together"], synced["off_together"]))
    for side in ("off", "batched"):
        lab.report("figure", f"audit {side}, one run", microseconds(samples[side]), unit="us")
    lab.report("figure", "audit every, one run", microseconds(synced["every"]), unit="us")
    lab.report("figure", f"audit every, one run of {together} at once", microseconds(synced["every_together"]), unit="us")


def verified_log(lab):
    """The proof of a log beside the hash alone. Contract: half the hash's own speed, or 200 MB/s."""
    path = lab.root.with_name("log.jsonl")
    with lab.verifier() as verifier:
        verifier.ask("make", path, 64 * MIB)
        samples = alternate(lab.rounds(24), {side: lambda side=side: verifier.wall(side, path) for side in ("verify", "hash")})
    path.unlink()
    lab.keep(samples, "verify")
    lab.report("R50", "audit verify, speed / the hash's own", ratios(samples["hash"], samples["verify"]), least=0.5)
    for side in ("verify", "hash"):
        lab.report("figure", f"{side} of a log", [1e3 / value for value in samples[side]], unit="MB/s")


# ---- what a run left -------------------------------------------------------------------------------------------------


def dispatches(lab):
    """R22: no dispatch does more than one slice."""
    loads = {"large files (64 of 4 MiB)": (64, 4 * MIB), "2,000 small files": (2000, 100)}
    with lab.worker() as worker:
        for name, load in loads.items():
            answers = alternate(lab.rounds(12), {"dispatch": lambda load=load: worker.ask("dispatch", *load)})["dispatch"]
            times = {key: [answer[key] for answer in answers] for key in answers[0]}
            longest = times["longest_ns"]
            lab.keep(times, f"dispatch.{load[0]}")
            lab.report("R22", f"{name}, kept: longest dispatch / copying 1 MiB", ratios(longest, times["slice_ns"]))
            lab.report("R22", f"{name}, kept: the same, processor time",
                       ratios(times["longest_cpu_ns"], times["slice_cpu_ns"]))
            lab.report("figure", f"{name}, kept: longest dispatch", milliseconds(longest), unit="ms")
            lab.report("figure", f"{name}, kept: dispatches", [answer["dispatches"] for answer in answers], unit="")


# ---- lint ----------------------------------------------------------------------------------------------------------


def linting(lab):
    """R76, on the standard library of this Python. Processor time: one thread works, and others must not count."""
    library = sysconfig.get_path("stdlib")
    with lab.linter(library) as linter, lab.linter(library) as parser:
        samples = alternate(lab.rounds(18), {
            "lint": lambda: linter.ask("lint", 1)["cpu_ns"], "parse": lambda: parser.ask("parse", 1)["cpu_ns"]})
        total = parser.ask("parse", 1)["bytes"]
    with lab.linter(library) as linter:
        linter.ask("lint", 1)
        peak_mib = linter.memory_kib("VmHWM") / 1024
    lab.keep(samples, "lint")
    rates = {side: [total / 1e6 / (ns / 1e9) for ns in values] for side, values in samples.items()}
    lab.report("R76", f"lint of {total / 1e6:.1f} MB of Python on one core", rates["lint"], unit="MB/s", least=10.0)
    lab.report("R76", "peak memory of it", [peak_mib], unit="MiB", most=100.0)
    lab.report("figure", "a bare parse of all of it", rates["parse"], unit="MB/s")
    lab.report("figure", "rate of lint / rate of a bare parse", ratios(samples["parse"], samples["lint"]))


# ---- what is printed -----------------------------------------------------------------------------------------------


def bound_text(row):
    if row["at_most"] is not None:
        return f"<= {row['at_most']:g} {row['unit']}"
    if row["at_least"] is not None:
        return f">= {row['at_least']:g} {row['unit']}"
    return "-"


def number_text(value):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.3f}"


def holds_text(row):
    word = {True: "yes", False: "NO", None: "-"}[row["holds"]]
    return word if row["clear"] else word + ", unclear"


def goal_text(row):
    return "-" if row["goal"] is None else f"{row['goal']:g}: {'reached' if row['reached'] else 'not reached'}"


def print_summary(rows):
    bounded = [row for row in rows if row["holds"] is not None]
    missed = [row for row in bounded if not row["holds"]]
    print(f"{len(bounded) - len(missed)} of {len(bounded)} bounds hold")
    for row in missed:
        print(f"  does not hold: {row['requirement']}, {row['what']}: {number_text(row['figure'])} "
              f"({number_text(row['low'])}..{number_text(row['high'])}), bound {bound_text(row)}")


def print_table(rows):
    lines = [("requirement", "what", "figure", "spread", "bound", "holds", "goal")]
    for row in rows:
        lines.append((row["requirement"], row["what"], f"{number_text(row['figure'])} {row['unit']}",
                      f"{number_text(row['low'])}..{number_text(row['high'])}", bound_text(row), holds_text(row), goal_text(row)))
    widths = [max(len(line[i]) for line in lines) for i in range(7)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def build_options(build):
    wanted = ("buildtype", "optimization", "b_sanitize")
    with contextlib.suppress(OSError, ValueError):
        text = (pathlib.Path(build) / "meson-info" / "intro-buildoptions.json").read_text(encoding="utf-8")
        return {option["name"]: option["value"] for option in json.loads(text) if option["name"] in wanted}
    return {}


LOAD = os.getloadavg()  # of others: the parts make a load of their own


def machine():
    return {"kernel": platform.release(), "processors": os.cpu_count(), "python": platform.python_version(),
            "load": LOAD}


def check_setting(lab, options):
    if options.get("b_sanitize", "none") != "none" or options.get("optimization") == "0":
        lab.note("this build is sanitized or not optimized: its figures say nothing about a release")
    if LOAD[0] > 0.5:
        lab.note(f"the machine is not idle (load {LOAD[0]:.1f}): figures will be worse than they are")


def write_json(path, lab, options):
    rows, samples = lab.rows, lab.samples
    document = {"version": 1, "machine": machine(), "build": options, "quick": lab.quick, "notes": lab.notes,
                "rows": rows, "samples": samples, "growth": lab.growth, "peers": lab.peers}
    text = json.dumps(document, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    pathlib.Path(path).write_text(text, encoding="utf-8")
    print(f"json: {path}")


PARTS = {"single": single_runs, "processor": processor_time, "looks": looks, "steps": steps, "jails": jails,
         "command": commands, "first-command": first_commands, "jail-steps": jail_steps, "judging": judging, "egress": egress, "large": large_caller,
         "capture": capture, "memory": capture_memory, "many": many_at_once, "audit": audited_runs,
         "verify": verified_log, "dispatch": dispatches, "lint": linting, "gather": gathering, "fleet": fleets,
         "growth": growth, "python": python_package, "node": node_package, "serving": serving,
         "guarded": guarded, "peers": sandboxes}
OPTIONAL = {"peers"}  # only with --peers, or by name


def measured(lab, name):
    """A part that fails does not take with it what the others have measured."""
    print(f"measuring: {name}", file=sys.stderr, flush=True)
    try:
        PARTS[name](lab)
        return True
    except Failure as failure:
        lab.note(f"{name} failed: {failure}")
        return False


def main():
    parser = argparse.ArgumentParser(description="Measure the cost of a run, as ratios within one run.")
    parser.add_argument("--build", required=True, help="the Meson build directory")
    parser.add_argument("--json", metavar="FILE", help="where the JSON goes; - is stdout (default: BUILD/bench.json)")
    parser.add_argument("--quick", action="store_true", help="a sixth of the rounds: to try the bench, not to judge by")
    parser.add_argument("--only", metavar="PART", choices=PARTS, action="append", help=", ".join(PARTS))
    parser.add_argument("--peers", action="store_true", help="also other sandboxes, those that are installed")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leave by the path that cleans up
    options = build_options(arguments.build)
    with tempfile.TemporaryDirectory(prefix="chokepoint-bench-") as directory:
        lab = Lab(arguments.build, pathlib.Path(directory), arguments.quick)
        check_setting(lab, options)
        failed = [name for name in arguments.only or [part for part in PARTS if arguments.peers or part not in OPTIONAL]
                  if not measured(lab, name)]
    print_table(lab.rows)
    print_summary(lab.rows)
    write_json(arguments.json or f"{arguments.build}/bench.json", lab, options)
    if failed:
        raise Failure(f"not measured: {', '.join(failed)}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"bench: {failure}")
