#!/usr/bin/python3
"""run-tests.py [SUITE...] - run all suites, or these and the builds they need. "full": with the long variants of the tests.

Suites run in parallel, long ones first. Suites that measure time run afterwards, one at a time. The last line is "N passed, N failed".
"""
import argparse
import concurrent.futures
import os
import resource
import sys
import time

import harness
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
    options.fuzz_seconds = options.fuzz_seconds or (10 if full else 1)
    return options


def select(names):
    """The named suites and those they need, in the order of their runs: each comes after what it needs."""
    unknown = set(names) - set(suites.ALL)
    if unknown:
        sys.exit(f"run-tests.py: unknown suite '{sorted(unknown)[0]}' (--list names them)")
    wanted = set(names or suites.ALL)
    wanted |= {need for name in wanted for need in suites.ALL[name].needs}
    chosen = [suite for name, suite in suites.ALL.items() if name in wanted]
    return sorted(chosen, key=lambda suite: not suite.early)


def show(suite, outcome):
    state = "FAIL" if outcome.failed else "ok"
    counts = f"{outcome.passed} passed"
    counts += f", {outcome.failed} failed" if outcome.failed else ""
    counts += f", {outcome.skipped} skipped" if outcome.skipped else ""
    print(f"{suite.name:<18} {state:<5} {counts:<34} {outcome.seconds:6.1f} s {outcome.cpu_seconds:6.1f} s of CPU time", flush=True)
    directory = os.path.join(harness.ROOT, "build", "test-logs")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{suite.name}.log"), "w", encoding="utf-8") as stream:
        stream.write(outcome.log)


def execute(suite, done, options):
    broken = [need for need in suite.needs if done[need].result().failed]
    if broken:
        outcome = harness.Outcome(failed=1, log=f"{suite.name} cannot run: {', '.join(broken)} failed\n")
    else:
        outcome = harness.timed(suite.function, options)
    if outcome.passed + outcome.failed == 0:
        outcome.failed = 1
        outcome.log += "nothing was tested\n"
    show(suite, outcome)
    return outcome


def run_phase(phase, workers, done, options):
    """Suites are submitted after those they need, so a suite never waits for one that has no thread yet."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for suite in phase:
            done[suite.name] = pool.submit(execute, suite, done, options)
        try:
            concurrent.futures.wait(done.values())
        except KeyboardInterrupt:
            harness.PROCESSES.end_all()
            raise


def run_all(chosen, options):
    """Outcomes by name."""
    done = {}
    run_phase([suite for suite in chosen if not suite.alone], harness.JOBS, done, options)
    run_phase([suite for suite in chosen if suite.alone], 1, done, options)
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
        with users.pool(USERS):
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
