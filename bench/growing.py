"""How the library grows: threads, runs in flight, contexts, and many runs (docs/performance.md)."""

import os
import re
import resource
import time

from measure import Failure, alternate, ratios
from trace_steps import family

SIDES = ("posix_spawn", "none", "native")
WIDTHS = (1, 10, 100, 1000)
THREADS = (1, 2, 4, 8)
POINTS = ("p50", "p90", "p99", "p99.9")
DRIFT_RUNS = 20_000  # BENCH_DRIFT_RUNS=1000000 is a day of one run every 86 ms
IDLE_S = 3  # after it a prepared init has been ended


def growth(lab):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    throughput(lab)
    latencies(lab)
    memory(lab)
    limits(lab)
    drift(lab)


def throughput(lab):
    """Runs a second of threads with a context each, on one processor and on two."""
    for processors in sorted({1, min(2, os.cpu_count())}):
        with lab.worker(prefix=["taskset", "-c", f"0-{processors - 1}"]) as worker:
            turns = {(side, count): lambda side=side, count=count: worker.wall("threads", side, count, max(10, 120 // count))
                     for side in SIDES for count in THREADS}
            samples = alternate(lab.rounds(18), turns)
        rates = {key: [1e9 / value for value in values] for key, values in samples.items()}
        for (side, count), values in rates.items():
            lab.keep({f"{processors}.{side}.{count}": values}, "threads")
        chart = lab.growth.setdefault("threads", {}).setdefault(str(processors), {})
        for side in SIDES:
            chart[side] = {str(count): lab.median(rates[side, count]) for count in THREADS}
        for side in SIDES[1:]:
            for count in THREADS:
                lab.report("growth", f"{side}, {count} threads on {processors} processors, runs a second / posix_spawn",
                           ratios(rates[side, count], rates["posix_spawn", count]))
        lab.report("figure", f"posix_spawn, 1 thread on {processors} processors", rates["posix_spawn", 1], unit="runs/s")


def latencies(lab):
    """From the start of a run to its end, with others in flight."""
    with lab.worker() as worker:
        for side in SIDES[1:]:
            for width in WIDTHS:
                runs = max(4 * width, 300 if lab.quick else 3000)
                worker.ask("latencies", side, width, width)
                answer = worker.ask("latencies", side, width, runs)
                lab.growth.setdefault("latency", {}).setdefault(side, {})[str(width)] = {
                    point: answer[point] / 1e6 for point in (*POINTS, "max")}
                lab.keep({f"{side}.{width}": [answer[point] for point in POINTS]}, "latency")
                for point in POINTS:
                    lab.report("growth", f"{side}, {width} in flight: {point} from start to end", [answer[point] / 1e6], unit="ms")


def ours_kib(root):
    """Memory of the caller and of the processes that the library made, shared pages divided among those that share them."""
    total = 0
    for pid in family(root):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as stream:
                if stream.read() == "hold\n":
                    continue
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as stream:
                total += next(int(line.split()[1]) for line in stream if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue  # it has ended
    return total


def memory(lab):
    """A run in flight, and an idle context."""
    if os.geteuid() != 0:
        lab.note("the memory of a run is not measured: only root can read that of the keeper and its wardens")
        return
    for side in SIDES[1:]:
        count = 200
        with lab.worker() as worker:
            worker.ask("jailed", side, "true", 5)
            before = ours_kib(worker.process.pid)
            if worker.ask("open", side, count)["alive"] != count:
                raise Failure(f"{count} tools in flight were refused")
            each = (ours_kib(worker.process.pid) - before) / count
            worker.ask("shut")
        lab.report("growth", f"{side}: memory of a run in flight", [each], unit="KiB")
        with lab.worker() as worker:
            contexts = 8
            before = ours_kib(worker.process.pid)
            worker.ask("contexts", side, contexts)
            time.sleep(IDLE_S)
            each = (ours_kib(worker.process.pid) - before) / contexts / 1024
            worker.ask("contexts", side, 0)
        lab.report("growth", f"{side}: memory of an idle context", [each], unit="MiB", most=4.0)


def limits(lab):
    """As many in flight as the machine allows, and the limit that refuses the next one. A jail for each of many thousands
    takes minutes to make, so there are fewer of these."""
    for side, most in (("none", 20_000), ("native", 200 if lab.quick else 2000)):
        with lab.worker() as worker:
            answer = worker.ask("open", side, most)
            ended = worker.ask("shut")["ended"]
        if ended != answer["alive"]:
            raise Failure(f"{answer['alive']} runs were in flight, and {ended} ended")
        named = re.search(r"the limit [^;]*|one context has [^;]*", answer["refusal"])
        answer["refusal"] = named[0] if named else answer["refusal"]
        lab.growth.setdefault("limits", {})[side] = answer
        lab.report("growth", f"{side}: most in flight of one context", [answer["alive"]], unit="")
        lab.note(f"{side}: {answer['alive']} in flight; then: {answer['refusal'] or 'more were not tried'}")


def state(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as stream:
        pages = int(stream.read().split()[1])
    return {"kib": pages * os.sysconf("SC_PAGE_SIZE") / 1024, "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "processes": len(family(pid))}


def drift(lab):
    """Many runs: the last tenth is like the first, and nothing is left."""
    runs = int(os.environ.get("BENCH_DRIFT_RUNS", DRIFT_RUNS // (10 if lab.quick else 1)))
    part = runs // 10
    with lab.worker() as worker:
        pid = worker.process.pid
        worker.ask("jailed", "native", "true", 200)
        time.sleep(IDLE_S)
        before, times = state(pid), []
        for _ in range(10):
            times.append(worker.wall("jailed", "native", "true", part))
        time.sleep(IDLE_S)
        after = state(pid)
    lab.keep({"wall": times}, "drift")
    lab.report("growth", f"{runs} runs: the last tenth / the first", [times[-1] / times[0]])
    lab.report("growth", f"{runs} runs: memory of the caller, more than before", [after["kib"] - before["kib"]], unit="KiB", most=512)
    for what in ("descriptors", "processes"):
        lab.report("growth", f"{runs} runs: {what}, more than before", [after[what] - before[what]], unit="", most=0)
