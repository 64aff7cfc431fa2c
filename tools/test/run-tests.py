#!/usr/bin/python3
"""run-tests.py [SUITE...] - run all suites, or these and the builds they need. "full": with the long variants of the tests.

Suites run in lanes beside each other (suites.LANES). Suites that measure time run afterwards, one at a time. The last
line is "N passed, N failed".
"""
import argparse
import concurrent.futures
import contextvars
import os
import resource
import sys
import threading
import time

import harness
import memory
import suites

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "support"))

import users  # noqa: E402

FULL = "full"
LOG_LINES = 200
USERS = 16  # more than the number of parallel test processes


def arguments():
    parser = argparse.ArgumentParser(description="Run the test suites.")
    parser.add_argument("suite", nargs="*", help="suites to run; all where none is named; full: with long variants")
    parser.add_argument("--list", action="store_true", help="list the suites")
    parser.add_argument("--verbose", "-v", action="store_true", help="print every log, not only those of failures")
    parser.add_argument("--fuzz-seconds", type=int, metavar="N",
                        help="seconds for each fuzz target (1; 10 in a full run); new inputs are then kept in build-asan/found")
    parser.add_argument("--analyzer-nodes", type=int, metavar="N", default=15000,
                        help="how far clang's analyzer follows a function (15000; its own default, 225000, takes ten "
                             "times as long)")
    options = parser.parse_args()
    full = FULL in options.suite
    if full:
        options.suite.remove(FULL)
        os.environ["CHOKE_TEST_FULL"] = "1"
    options.keep_inputs = options.fuzz_seconds is not None
    # The same inputs for the same code in each usual run: one that passed passes again. Long runs look for new ones.
    options.fuzz_seed = 0 if full or options.keep_inputs else 1  # 0: libFuzzer chooses one
    options.fuzz_seconds = options.fuzz_seconds or (10 if full else 1)
    return options


def select(names):
    """The named suites and those they need."""
    unknown = set(names) - set(suites.ALL)
    if unknown:
        sys.exit(f"run-tests.py: unknown suite '{sorted(unknown)[0]}' (--list names them)")
    wanted = set(names or suites.ALL)
    wanted |= {need for name in wanted for need in suites.ALL[name].needs}
    return [suite for name, suite in suites.ALL.items() if name in wanted]


def lane_of(chosen, lane):
    """The suites of a lane, those of one session together, in an order in which none waits without need: the builds
    are ready in the order in which they are in the table."""
    jobs = {}
    for suite in chosen:
        if suite.lane == lane:
            jobs.setdefault(suite.session or suite.name, []).append(suite)
    order = list(suites.ALL)
    return sorted(jobs.values(), key=lambda job: max([-1, *map(order.index, job[0].needs)]))


def show(name, outcome, of=""):
    """of: what the seconds are of, if they are not those of the clock."""
    state = "FAIL" if outcome.failed else "ok"
    counts = f"{outcome.passed} passed"
    counts += f", {outcome.failed} failed" if outcome.failed else ""
    counts += f", {outcome.skipped} skipped" if outcome.skipped else ""
    used = f" {outcome.cpu_seconds:6.1f} s of CPU time" if outcome.cpu_seconds else ""
    print(f"{name:<18} {state:<5} {counts:<34} {outcome.seconds:6.1f} s{of}{used}", flush=True)


def keep_log(name, log):
    directory = os.path.join(harness.ROOT, "build", "test-logs")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{name}.log"), "w", encoding="utf-8") as stream:
        stream.write(log)


def run_session(job):
    """The suites of a session. What failed without being a test of one of them counts for the first."""
    parts, whole = suites.SESSIONS[job[0].session].run(job)
    first = parts[job[0].name]
    first.failed += max(0, whole.failed - sum(part.failed for part in parts.values()))
    for name, part in parts.items():
        if part.passed + part.failed == 0:
            part.failed = 1
            whole.log += f"{name}: nothing was tested\n"
        show(name, part, of=" of its tests, one by one")
    whole.passed, whole.failed, whole.skipped = (sum(getattr(part, key) for part in parts.values())
                                                 for key in ("passed", "failed", "skipped"))
    return whole


def attempt(job, options):
    """A suite that cannot even be started is one that failed: the others, and the count of all, are not lost with it."""
    try:
        return harness.timed(run_session, job) if job[0].session else harness.timed(job[0].function, options)
    except OSError as error:
        return harness.Outcome(failed=1, log=f"{job[0].name} could not be run: {error}\n")


def execute(job, done, options):
    suite = job[0]
    broken = [need for need in suite.needs if done[need].result().failed]
    if broken:
        outcome = harness.Outcome(failed=1, log=f"{suite.name} cannot run: {', '.join(broken)} failed\n")
    else:
        outcome = attempt(job, options)
    if outcome.passed + outcome.failed == 0:
        outcome.failed = 1
        outcome.log += "nothing was tested\n"
    show(suite.session or suite.name, outcome)
    keep_log(suite.session or suite.name, outcome.log)
    return outcome


def run_lanes(lanes, chosen, done, options):
    """One thread for each lane. done is complete before the first suite starts, so that it can wait for any other."""
    pools = {lane: concurrent.futures.ThreadPoolExecutor(1) for lane in lanes}
    ready = threading.Event()
    for lane, pool in pools.items():
        pool.submit(ready.wait)
        for job in lane_of(chosen, lane):
            context = contextvars.copy_context()
            context.run(harness.GENTLE.set, lane == "background")
            done[job[0].session or job[0].name] = pool.submit(context.run, execute, job, done, options)
    ready.set()
    try:
        concurrent.futures.wait(done.values())
    except KeyboardInterrupt:
        harness.PROCESSES.end_all()
        raise
    finally:
        for pool in pools.values():
            pool.shutdown()


def run_all(chosen, options):
    """Outcomes by name of a suite or a session."""
    done = {}
    run_lanes([lane for lane in suites.LANES if lane != "alone"], chosen, done, options)
    run_lanes(["alone"], chosen, done, options)
    return {name: future.result() for name, future in done.items()}


def shortened(log):
    """The end of a log; build/test-logs has all of it."""
    lines = log.splitlines()
    return "\n".join(lines[-LOG_LINES:] if len(lines) > LOG_LINES else lines)


def main():
    options = arguments()
    if options.list:
        for suite in suites.ALL.values():
            print(f"{suite.name:<18} {suite.function.__doc__.strip()}")
        return 0
    began = time.monotonic()
    try:
        with memory.mounted(), users.pool(USERS):
            outcomes = run_all(select(options.suite), options)
    except KeyboardInterrupt:
        return 130
    for name, outcome in outcomes.items():
        if outcome.failed or options.verbose:
            print(f"\n==== {name} ====\n{shortened(outcome.log)}")
    passed = sum(outcome.passed for outcome in outcomes.values())
    failed = sum(outcome.failed for outcome in outcomes.values())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{time.monotonic() - began:.0f} s, and {used.ru_utime + used.ru_stime:.0f} s of CPU time")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
