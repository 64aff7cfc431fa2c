"""Runs commands with a time limit and a log, makes builds, and counts what test programs report."""
import contextvars
import dataclasses
import json
import os
import re
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOBS = os.cpu_count() or 1
# pytest rewrites every test file: once, and not in each of its processes. Nothing is written beside sources.
COMPILED = os.path.join(ROOT, "build", "pycache")


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    log: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.log += other.log
        self.cpu_seconds += other.cpu_seconds
        return self


@dataclasses.dataclass
class Finished:
    status: int
    output: str
    cpu_seconds: float = 0.0  # of the command and of all that it reaped


class Processes:
    """The running commands, so that an interrupt can end them. Each command has its own session."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.stopped = False

    def end_all(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                end_session(process)


PROCESSES = Processes()

# Whether commands give way to those of other suites. Each command has its own session, and with it its own autogroup:
# where the kernel makes such groups, a nice value counts only inside of one, and the group has its own.
GENTLE = contextvars.ContextVar("gentle", default=False)
GIVE_WAY = ["sh", "-c", "(echo 19 > /proc/self/autogroup) 2>/dev/null; exec nice -n 19 \"$@\"", "sh"]
PATIENCE = 4  # such a command may take this many times as long


def end_session(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, timeout=300, env=None, cwd=ROOT):
    """Runs a command to its end; both streams in one text. A command that takes too long has failed."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONPYCACHEPREFIX": COMPILED, **(env or {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if GENTLE.get():
        command, timeout = [*GIVE_WAY, *command], PATIENCE * timeout
    with PROCESSES.lock:
        if PROCESSES.stopped:
            return Finished(1, "interrupted\n")
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        PROCESSES.running.add(process)
    expired = threading.Event()
    timer = threading.Timer(timeout, lambda: (expired.set(), end_session(process)))
    timer.start()
    try:
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)  # Popen would not say what it used
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        timer.cancel()
        process.stdout.close()
        with PROCESSES.lock:
            PROCESSES.running.discard(process)
    cpu_seconds = used.ru_utime + used.ru_stime
    if expired.is_set():
        return Finished(1, f"{output}\nended after {timeout} s: {' '.join(command)}\n", cpu_seconds)
    return Finished(process.returncode, output, cpu_seconds)


def check(*command, **keywords):
    """One check: it passes if the command exits with 0."""
    finished = run(list(command), **keywords)
    words = " ".join(command)
    log = f"$ {words if len(words) < 500 else words[:500] + ' ...'}\n{finished.output}"
    if finished.status == 0:
        return Outcome(passed=1, log=log, cpu_seconds=finished.cpu_seconds)
    return Outcome(failed=1, log=f"{log}status {finished.status}\n", cpu_seconds=finished.cpu_seconds)


def timed(function, *arguments):
    began = time.monotonic()
    outcome = function(*arguments)
    outcome.seconds = time.monotonic() - began
    return outcome


def read_text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def read_json(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def expected_programs():
    """The names of the targets that the files in tests/ need."""
    names = set()
    for directory, pattern in (("unit", r"test_.*\.c$"), ("fuzz", r"fuzz_.*\.c$"), ("helpers/victims", r".*\.c$"),
                               ("helpers/hosts", r".*\.c$")):
        names |= {name[:-2] for name in os.listdir(os.path.join(ROOT, "tests", directory)) if re.match(pattern, name)}
    return names


def configure(directory, compiler, options, cross=()):
    """Configures a build directory with these options. cross: what names the machine that it is for, if it is another."""
    env = {"CC": compiler, "CFLAGS": "", "LDFLAGS": ""}
    settings = [f"-D{name}={value}" for name, value in options.items()]
    if not os.path.exists(os.path.join(ROOT, directory, "build.ninja")):
        return check("meson", "setup", directory, *cross, *settings, env=env)
    info = os.path.join(ROOT, directory, "meson-info")
    present = {o["name"]: o["value"] for o in read_json(os.path.join(info, "intro-buildoptions.json"))}
    outcome = Outcome()
    if any(str(present.get(name)).lower() != str(value).lower() for name, value in options.items()):
        outcome.add(check("meson", "configure", directory, *settings))
    built = {target["name"] for target in read_json(os.path.join(info, "intro-targets.json"))}
    if not outcome.failed and expected_programs() - built:
        outcome.add(check("meson", "setup", "--reconfigure", directory, env=env))
    return outcome


def build(directory, compiler, options, targets, cross=()):
    """Configures and builds. The result counts as one check."""
    outcome = configure(directory, compiler, options, cross)
    if not outcome.failed:
        outcome.add(check("ninja", "-C", directory, *targets, timeout=600))
    outcome.passed, outcome.failed = (0, 1) if outcome.failed else (1, 0)
    return outcome


def count_tap(finished):
    """The results of a cmocka program. The number of tests must match its plan, and its status must match the results."""
    ok = len(re.findall(r"^ok \d+(?!.*# SKIP)", finished.output, re.MULTILINE))
    skipped = len(re.findall(r"^ok \d+.*# SKIP", finished.output, re.MULTILINE))
    bad = len(re.findall(r"^not ok \d+", finished.output, re.MULTILINE))
    planned = sum(int(n) for n in re.findall(r"^1\.\.(\d+)", finished.output, re.MULTILINE))
    if bad == 0 and (finished.status != 0 or planned != ok + skipped or planned == 0):
        bad = 1
    return Outcome(ok, bad, skipped, cpu_seconds=finished.cpu_seconds)


def report_path(env, name):
    return os.path.join(env["CHOKE_BUILD"], f"pytest-{name}.xml")


def pytest(paths, env, timeout=3600, extra=(), report=None):
    """Runs pytest and counts the results in its XML report. The report is named after the first path by default."""
    report = report_path(env, report or os.path.basename(paths[0]))
    if os.path.exists(report):
        os.unlink(report)
    command = ["/usr/bin/python3", "-m", "pytest", "-q", "--tb=short", "--durations=5", "-p", "no:cacheprovider",
               f"--junitxml={report}", *extra, *paths]
    finished = run(command, timeout=timeout, env=env)
    shown = " ".join(command)
    outcome = Outcome(log=f"$ {shown if len(shown) < 500 else shown[:500] + ' ...'}\n{finished.output}",
                      cpu_seconds=finished.cpu_seconds)
    if os.path.exists(report):
        for suite in xml.etree.ElementTree.parse(report).iter("testsuite"):
            total, bad, skipped = (int(suite.get(key)) for key in ("tests", "failures", "skipped"))
            errors = int(suite.get("errors"))
            outcome.add(Outcome(max(0, total - bad - errors - skipped), bad + errors, skipped))
    if finished.status != 0 and outcome.failed == 0:
        outcome.failed = 1
    return outcome


def count_xml(env, name, paths):
    """The results of the tests in these files, from the XML report of a run of pytest with more of them. seconds: of
    the tests, one after the other."""
    outcome = Outcome()
    report = report_path(env, name)
    classes = {os.path.relpath(path, "tests")[:-3].replace("/", ".") for path in paths}
    for test in xml.etree.ElementTree.parse(report).iter("testcase") if os.path.exists(report) else ():
        if test.get("classname") in classes:
            bad = test.find("failure") is not None or test.find("error") is not None
            skipped = test.find("skipped") is not None
            outcome.add(Outcome(not bad and not skipped, bad, skipped))
            outcome.seconds += float(test.get("time"))
    return outcome
