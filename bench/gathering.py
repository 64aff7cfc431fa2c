"""The cost of gather itself: the command is run on this repository, with the installed tools.

The bound for its wall time comes from the probes one after the other (--jobs 1): at least the
time of the slowest of them, and at least the processor time of all divided by the processors,
because most of the tools use every processor by themselves. Its own processor time is that of
the one coordinating process, beside that of the tools. Both are read from the document. The
time of Ctrl-C is measured from outside, with tools that sleep.

Without the probe `lint`: it does its work in threads of the coordinator, so its time would count as that of coordinating. R76
is about it.
"""
import json
import os
import pathlib
import signal
import subprocess
import time

from measure import Failure, alternate

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
SLEEPERS = 4
OWN_WORK = "lint"  # a probe without a tool


def all_tools(lab):
    """The default policy, with the npm tools in its search path."""
    tools = lab.policy.parent / "gathered"
    tools.mkdir()
    tools.chmod(0o755)
    fetched = subprocess.run([str(REPOSITORY / "tools/gather-tools.sh"), str(tools)], check=False, capture_output=True)
    if fetched.returncode != 0:
        lab.note("npm cannot fetch tools: gather is measured with those that are installed")
    policy = lab.policy.parent / "default.yaml"
    text = (REPOSITORY / "policy/default.yaml").read_text(encoding="utf-8")
    policy.write_text(text.replace("search_path: [", f"search_path: [{tools}/bin, ", 1), encoding="utf-8")
    policy.chmod(0o600)
    return policy


def gather(lab, repository, *options):
    """The document of one gather."""
    args = [lab.build / "chokepoint", "gather", repository, "--json", "--no-audit", *options]
    done = subprocess.run(list(map(str, args)), env=lab.env, capture_output=True, check=False)
    if done.returncode != 0:
        raise Failure(f"gather ended with {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    return json.loads(done.stdout)


def durations(document):
    return [probe["timing"]["duration_ms"] for probe in document["probes"] if probe["timing"]]


def processor_ms(document):
    """Processor time of all tools."""
    calls = [call["timing"] for probe in document["probes"] for call in probe["calls"]]
    return sum(call["user_ms"] + call["system_ms"] for call in calls)


def least(alone):
    """The lower bound for any way to run them in parallel."""
    return max(max(durations(alone)), processor_ms(alone) / os.cpu_count())


def share(document):
    own = document["timing"]["own_cpu_ms"]
    return own / (own + processor_ms(document))


def sleeping_probes(lab):
    directory = lab.policy.parent
    policy = {"version": 1, "search_path": ["/usr/bin", "/bin"],
              "tools": [{"name": "sleep", "why": "It sleeps.", "adr": "0001", "route": "direct"}]}
    call = {"id": "one", "argv": ["sleep", "60"]}
    probes = [{"name": f"sleeper{i}", "layer": "static", "why": "It sleeps.", "tool": "sleep", "output": "lines",
               "calls": [call]} for i in range(SLEEPERS)]
    for name, document in (("sleep.yaml", policy), ("probes.yaml", {"version": 1, "probes": probes})):
        (directory / name).write_text(json.dumps(document), encoding="ascii")
        (directory / name).chmod(0o600)
    return [lab.build / "chokepoint", "gather", lab.root, "--json", "--no-audit", "--jobs", SLEEPERS, "--verbose",
            "--policy", directory / "sleep.yaml", "--probes", directory / "probes.yaml"]


def interrupt(lab, args):
    """Nanoseconds from SIGINT, once all tools run, to the end of the command."""
    process = subprocess.Popen(list(map(str, args)), env=lab.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started = 0
    while started < SLEEPERS:
        line = process.stderr.readline()
        if not line:
            raise Failure("gather ended before it was interrupted")
        started += b'"subproc.started"' in line
    before = time.monotonic_ns()
    process.send_signal(signal.SIGINT)
    document = json.loads(process.stdout.read())
    if process.wait() != 130 or not document["cancelled"]:
        raise Failure(f"interrupted, gather ended with {process.returncode}")
    took = time.monotonic_ns() - before
    process.stderr.close()
    return took


def gathering(lab):
    """R60."""
    policy = ["--policy", all_tools(lab)]
    names = [probe["name"] for probe in gather(lab, REPOSITORY, *policy)["probes"]]  # versions and digests are cached from here on
    options = [*policy, "--only", ",".join(name for name in names if name != OWN_WORK)]
    samples = alternate(lab.rounds(12), {"together": lambda: gather(lab, REPOSITORY, *options),
                                          "alone": lambda: gather(lab, REPOSITORY, *options, "--jobs", "1")})
    together, alone = samples["together"], samples["alone"]
    wall_ms = [document["timing"]["duration_ms"] for document in together]
    lab.keep({"wall_ms": wall_ms, "least_ms": [least(document) for document in alone],
              "share": [share(document) for document in together]}, "gather")
    ok = sum(probe["state"] == "ok" for probe in together[0]["probes"])
    lab.note(f"gather: {ok} of {len(together[0]['probes'])} probes are ok here, the others lack a tool or do not apply")
    lab.report("R60", "gather, wall / slowest probe or all over the processors",
               [wall / least(document) for wall, document in zip(wall_ms, alone)], most=1.2)
    lab.report("R60", "processor time of the coordinator, of all", [share(each) * 100 for each in together], unit="%",
               most=2.0)
    lab.report("figure", "gather, one look at this repository", wall_ms, unit="ms")
    args = sleeping_probes(lab)
    interrupts = alternate(lab.rounds(30), {"interrupt": lambda: interrupt(lab, args)})
    lab.keep(interrupts, "gather")
    lab.report("R60", f"SIGINT to the end of gather, {SLEEPERS} tools running",
               [value / 1e6 for value in interrupts["interrupt"]], unit="ms", most=100.0)
