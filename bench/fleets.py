"""What a fleet costs beside the tools that it runs (R103).

The coordinator. Small repositories are gathered with the probes that run git and search. "The coordinator" is the process of `fleet run` with
all its threads, as the kernel counted it at its end; what the tools took is in the documents. Wardens and the inits of jails are
in neither: R70 and R71 are about them.

Side by side. The same list on one processor, and on all of them. What a fleet makes of the processors is the first
time by the second and their number: 1 would be a time divided by it. No process reaches that on a machine whose processors share
caches, memory and locks of the kernel. So a bare loop runs the same commands in the same repositories, by subprocess and without a jail,
on one processor and as one process for each, and the figure is a ratio to what that makes of them.

Memory. 10,000 directories with one file each, and ten of them: the largest process, which is the coordinator.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from gathering import gather, processor_ms
from measure import Failure, alternate, ratios

PROBES = "snapshot,curated_patterns"
REPOSITORIES = 24
FILES = 20
FEW = 10
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
IDENTITY = {"GIT_AUTHOR_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@localhost", "GIT_COMMITTER_NAME": "bench",
            "GIT_COMMITTER_EMAIL": "bench@localhost", "GIT_CONFIG_GLOBAL": "/dev/null"}


def write_list(lab, name, paths):
    listed = lab.policy.with_name(name)
    listed.write_text("".join(f"{path}\n" for path in paths), encoding="ascii")
    return listed


def small_repositories(lab):
    """Copies of one with a commit: a commit takes longer than the copy."""
    top = lab.policy.with_name("repositories")
    first = top / "r0"
    first.mkdir(parents=True)
    for i in range(FILES):
        (first / f"f{i}.py").write_text(f"import os\n\n\ndef f{i}(x):\n    return os.path.join(str(x), '{i}')\n" * 20, encoding="ascii")
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", first, *args], env={**lab.env, "PATH": "/usr/bin:/bin", **IDENTITY}, check=True)
    for i in range(1, REPOSITORIES):
        shutil.copytree(first, top / f"r{i}", symlinks=True)
    return [top / f"r{i}" for i in range(REPOSITORIES)]


def small_directories(lab, count):
    top = lab.policy.with_name("directories")
    for i in range(count):
        (top / f"d{i}").mkdir(parents=True)
        (top / f"d{i}/file").write_text(f"{i}\n", encoding="ascii")
    return [top / f"d{i}" for i in range(count)]


def one_probe(lab):
    """A probe that runs true in each repository."""
    probes = lab.policy.with_name("one-probe.yaml")
    probe = {"name": "true", "layer": "static", "why": "It is measured.", "tool": "true", "output": "lines",
             "calls": [{"id": "one", "argv": ["true"]}]}
    probes.write_text(json.dumps({"version": 1, "probes": [probe]}), encoding="ascii")
    probes.chmod(0o600)
    return ["--policy", lab.policy, "--probes", probes]


def own_cpu_ms(pid):
    """Of a process that has ended and was not waited for: all its threads, and no child."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_NS / 1e6


def tools_ms(out):
    return sum(processor_ms(json.loads(path.read_text(encoding="utf-8"))) for path in (out / "documents").iterdir())


def fleet(lab, listed, processors, options):
    """One run of a whole list on these processors: wall time, processor time of the coordinator and of the tools, and memory."""
    with tempfile.TemporaryDirectory(dir=lab.policy.parent) as directory, tempfile.TemporaryFile() as said:
        out = pathlib.Path(directory, "fleet")
        args = [lab.build / "chokepoint", "fleet", "run", listed, "--out", out, "--no-audit", *options]
        began = time.monotonic_ns()
        process = subprocess.Popen(list(map(str, args)), env=lab.env, stdout=said, stderr=said,  # pylint: disable=consider-using-with
                                   preexec_fn=lambda: os.sched_setaffinity(0, processors))
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall_ms = (time.monotonic_ns() - began) / 1e6
        own_ms = own_cpu_ms(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            raise Failure(f"fleet run ended with {process.returncode}: {said.read().decode(errors='replace')[-300:]}")
        return {"wall_ms": wall_ms, "own_ms": own_ms, "tools_ms": tools_ms(out), "memory_kib": usage.ru_maxrss}


def commands_of(lab, repository):
    """What the probes execute in one repository."""
    return [call["argv"] for probe in gather(lab, repository, "--only", PROBES)["probes"] for call in probe["calls"]]


def bare_loop(lab, repositories, commands, processors, jobs):
    """Nanoseconds. A process for each job: threads of Python would wait for each other."""
    def run_all(own):
        for repository in own:
            for argv in commands:
                subprocess.run(argv, cwd=repository, env={**lab.env, "PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def child(job):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:  # whatever happens, this process must not go on as the bench
                os.sched_setaffinity(0, processors)
                run_all(repositories[job::jobs])
                status = 0
            finally:
                os._exit(status)
        return pid

    began = time.monotonic_ns()
    statuses = [os.waitpid(pid, 0)[1] for pid in [child(job) for job in range(jobs)]]
    if any(statuses):
        raise Failure("the bare loop of the commands of a fleet failed")
    return time.monotonic_ns() - began


def fleets(lab):
    if not all(shutil.which(name, path="/usr/bin:/bin") for name in ("git", "rg")):
        lab.note("git or rg is not installed: fleets are not measured")
        return
    side_by_side(lab)
    memory(lab)


def side_by_side(lab):
    """The coordinator's share, and what several processors are used for."""
    everywhere = os.sched_getaffinity(0)
    count = len(everywhere)
    repositories = small_repositories(lab)
    listed = write_list(lab, "repositories.list", repositories)
    commands = commands_of(lab, repositories[0])
    only = ["--only", PROBES]
    samples = alternate(lab.rounds(12), {
        "one": lambda: fleet(lab, listed, {min(everywhere)}, only),
        "all": lambda: fleet(lab, listed, everywhere, only),
        "bare.one": lambda: bare_loop(lab, repositories, commands, {min(everywhere)}, 1),
        "bare.all": lambda: bare_loop(lab, repositories, commands, everywhere, count)})
    bare = {side: samples.pop(side) for side in ("bare.one", "bare.all")}
    lab.keep(bare, "fleet")
    for side, runs in samples.items():
        for key in ("wall_ms", "own_ms", "tools_ms"):
            lab.keep({f"{side}.{key}": [run[key] for run in runs]}, "fleet")
    lab.report("R103", "processor time of a fleet's coordinator / that of the tools",
               [run["own_ms"] / run["tools_ms"] * 100 for run in samples["all"]], unit="%", most=3.0)
    if count > 1:
        made = [one["wall_ms"] / both["wall_ms"] / count for one, both in zip(samples["one"], samples["all"])]
        bare_made = [one / both / count for one, both in zip(bare["bare.one"], bare["bare.all"])]
        lab.report("R103", f"a fleet on {count} processors / a bare loop, what each makes of them", ratios(made, bare_made), least=0.9)
        lab.report("figure", f"a fleet on {count} processors: what it makes of them", made)
        lab.report("figure", f"a bare loop of its commands on {count} processors: what it makes of them", bare_made)
    else:
        lab.note("one processor: a fleet has nothing to share")
    lab.report("figure", "fleet, one small repository, wall time",
               [run["wall_ms"] / REPOSITORIES for run in samples["all"]], unit="ms")


def memory(lab):
    many = 1000 if lab.quick else 10000
    directories = small_directories(lab, many)
    options, everywhere = one_probe(lab), os.sched_getaffinity(0)
    lists = {"few": write_list(lab, "few.list", directories[:FEW]), "many": write_list(lab, "many.list", directories)}
    samples = {side: [fleet(lab, listed, everywhere, options) for _ in range(1 if side == "many" else 3)]
               for side, listed in lists.items()}
    few = max(run["memory_kib"] for run in samples["few"])
    lab.keep({side: [run["memory_kib"] for run in runs] for side, runs in samples.items()}, "fleet.memory_kib")
    lab.report("R103", f"memory of the coordinator, {many} small repositories / {FEW}",
               [run["memory_kib"] / few for run in samples["many"]], most=1.25)
    lab.report("figure", f"fleet, {many} repositories, memory of the coordinator",
               [run["memory_kib"] / 1024 for run in samples["many"]], unit="MiB")
