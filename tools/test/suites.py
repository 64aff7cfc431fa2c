"""The suites of run-tests.py: how each is run, and beside what. --list shows the docstrings."""
import concurrent.futures
import contextvars
import dataclasses
import fnmatch
import glob
import os
import pathlib
import re
import tempfile
import typing

import harness
import memory
from harness import ROOT, Outcome, build, check, pytest, run
from tidy_cache import TidyCache

PYTHON = "/usr/bin/python3"
SANITIZER_OPTIONS = {
    "CHOKE_SANITIZED": "1",
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


# Which suites run beside each other. The suites of one lane run one after the other, in the order of this file.
LANES = ("tests",       # the builds with gcc, and the tests that run the command: they wait about half of their time
         "beside",      # short ones that use one or two processors
         "background",  # long builds and clang-tidy, which get what the others leave of the processors
         "alone")       # what measures time: after all other lanes have ended


@dataclasses.dataclass
class Suite:
    name: str
    function: typing.Callable
    needs: tuple
    lane: str
    session: str = ""  # suites of one session are one run of pytest; function then returns their files


ALL = {}


def suite(name, *needs, lane="beside", session=""):
    """Adds a function to the table."""
    def enter(function):
        ALL[name] = Suite(name, function, needs, lane, session)
        return function
    return enter


def is_full():
    return os.environ.get("CHOKE_TEST_FULL") == "1"


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(harness.JOBS) as pool:
        # Each call in a copy of this context: it says how gently the suite runs.
        parts = [pool.submit(contextvars.copy_context().run, function, item) for item in items]
        outcome = Outcome()
        for part in sorted((part.result() for part in parts), key=lambda part: part.failed > 0):
            outcome.add(part)  # what failed comes last: of a long log the end is shown
        return outcome


def as_one(outcome):
    """Counts many commands as one check."""
    outcome.passed, outcome.failed = (0, 1) if outcome.failed or not outcome.passed else (1, 0)
    return outcome


def beneath(directory, pattern):
    """Sorted paths of the files in a directory with a matching name; empty if the directory does not exist."""
    place = os.path.join(ROOT, directory)
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return [os.path.join(directory, name) for name in names if re.fullmatch(pattern, name)]


def fixed_addresses():
    """Sanitizers of older compilers crash with some random address layouts. A container may not allow setarch -R."""
    return ["setarch", "-R"] if run(["setarch", "-R", "true"]).status == 0 else []


# ---- builds ----

SANITIZED = {"optimization": "1"}  # compiles in half the time, and less code is optimized away


@suite("build-gcc", lane="tests")
def build_gcc(_):
    """gcc, warnings as errors, everything: build/"""
    return build("build", "gcc", {"werror": "true"}, ["all", "tests"])


@suite("build-asan", lane="background")
def build_asan(_):
    """clang, warnings as errors, AddressSanitizer, UndefinedBehaviorSanitizer and libFuzzer, everything: build-asan/"""
    options = {"werror": "true", **SANITIZED, "b_sanitize": "address,undefined", "b_lundef": "false", "fuzzer": "true"}
    return build("build-asan", "clang", options, ["all", "tests"])


@suite("build-tsan", lane="background")
def build_tsan(_):
    """gcc with ThreadSanitizer, the command and the hosts: build-tsan/"""
    return build("build-tsan", "gcc", {"werror": "true", **SANITIZED, "b_sanitize": "thread"}, ["chokepoint", "hosts"])


# The unit tests that a usual run builds for arm64: of what depends on the machine, or on how it was built.
ARM64_UNITS = ("arena", "beneath", "catalog", "default_policy", "digest", "judge", "noexec", "pin", "plan", "sealed", "stub", "wire")


def arm64_targets():
    if is_full():
        return ["all", "tests"]
    return ["chokepoint", "tests/helpers/stubbed_loader", *(f"tests/unit/test_{name}" for name in ARM64_UNITS)]


@suite("build-arm64", lane="background")
def build_arm64(_):
    """the cross compiler for arm64, warnings as errors: build-arm64/; in a full run everything, else the command and some tests"""
    outcome = check(PYTHON, "tools/cross.py", timeout=1200)
    if not outcome.failed:
        outcome.add(build("build-arm64", "gcc", {"werror": "true", "node": "enabled", "python": "enabled"}, arm64_targets(),
                          ["--cross-file", "third_party/arm64/cross.ini"]))
    return as_one(outcome)


# ---- static checks ----

def c_files():
    places = ("include", "src", "tests", "bench", "examples", "bindings")
    found = run(["find", *(p for p in places if os.path.isdir(os.path.join(ROOT, p))), "-name", "*.[ch]"])
    return sorted(found.output.split())


@suite("format")
def formatting(_):
    """clang-format has nothing to change"""
    return check("clang-format", "--dry-run", "-Werror", *c_files())


@suite("tidy", lane="background")
def tidy(options):
    """clang-tidy finds nothing; needs a configured build-clang/, but no build"""
    configured = harness.configure("build-clang", "clang", {})
    if configured.failed:
        return configured
    depth = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang",
                                                f"max-nodes={options.analyzer_nodes}")]
    tidy_cache = TidyCache("build-clang", depth)
    # Not for assembler and generated files. For the tests the warnings of the compilers are enough.
    files = sorted(path for path in tidy_cache.commands if path.endswith(".c") and not path.startswith(("build", "tests")))

    def one(path):
        key = tidy_cache.key(path)
        if not tidy_cache.knows(key):
            outcome = check("clang-tidy", "--quiet", "-p", tidy_cache.place, *depth, path)
            if outcome.failed:
                return outcome
            tidy_cache.learn(key)
            return outcome
        return Outcome(passed=1)
    return as_one(in_parallel(one, files))


@suite("layers")
def layers(_):
    """no layer includes what it must not"""
    return check(PYTHON, "tools/check/check-layers.py")


@suite("names")
def names(_):
    """a function begins with its module, and a struct tag exists once"""
    return check(PYTHON, "tools/check/check-names.py")


@suite("words")
def words(_):
    """no old name and no archaic phrase comes back"""
    return check(PYTHON, "tools/check/check-words.py")


@suite("dialect")
def dialect(_):
    """r, !p and sizeof(x): the C is of one dialect"""
    return check(PYTHON, "tools/check/check-dialect.py")


@suite("environment")
def environment(_):
    """the host's environment is read in few places, and a sandbox's comes from one filter"""
    return check(PYTHON, "tools/check/check-environment.py")


@suite("creator")
def creator(_):
    """one source file creates processes"""
    return check(PYTHON, "tools/check/check-creator.py")


@suite("size")
def size(_):
    """no function, file or list of parameters is too long"""
    return check(PYTHON, "tools/check/check-size.py")


@suite("text")
def text(_):
    """no file is unfinished"""
    return check(PYTHON, "tools/check/check-text.py")


@suite("documents")
def documents(_):
    """every requirement that is cited is explained, every decision record is in the index, every file named exists"""
    outcome = check(PYTHON, "tools/check/check-requirements.py")
    outcome.add(check(PYTHON, "tools/check/check-documents.py"))
    return as_one(outcome.add(check(PYTHON, "tools/gen/adr-index.py", "--check")))


@suite("version")
def version(_):
    """every file that has the version has the one of meson.build"""
    return check(PYTHON, "tools/check/check-version.py")


@suite("collect")
def collect(_):
    """every test file loads; what pytest makes of them is kept, so that each of its processes finds it"""
    return check(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", "tests/integration",
                 "tests/adversarial", env={"CHOKE_BUILD": os.path.join(ROOT, "build")})


@suite("checks")
def checks(_):
    """tests of the checks themselves"""
    with tempfile.TemporaryDirectory() as place:
        return pytest(["tools/test"], {"CHOKE_BUILD": place})


def scripts(shell):
    """Every script of the project with this shell in its first line."""
    found = run(["grep", "-rlIE", "--exclude-dir=.git", "--exclude-dir=build*", "--exclude-dir=third_party",
                 "--exclude-dir=lint", rf"^#!(/usr)?/bin/(env )?{shell}$", "."])
    # grep looks at every line: a page may show a script.
    return sorted(path for path in found.output.split() if pathlib.Path(path).read_bytes().startswith(b"#!"))


@suite("shell", "build-gcc")
def shell_scripts(_):
    """scripts and completions parse, and shellcheck finds nothing"""
    outcome = Outcome()
    for shell in ("sh", "bash"):
        for path in scripts(shell):
            outcome.add(check(shell, "-n", path)).add(check("shellcheck", "--severity=style", path))
    outcome.add(check("bash", "-n", "build/docs/chokepoint"))
    return as_one(outcome.add(check("zsh", "-n", "build/docs/_chokepoint")))


@suite("man")
def man_pages(_):
    """mandoc finds nothing wrong in the man pages"""
    return check("mandoc", "-Tlint", "-Wwarning", *beneath("docs/man", r".*\.[1-8]"))


@suite("header")
def header(_):
    """each public header compiles alone, as C99 and as C++"""
    outcome = Outcome()
    for path in beneath("include", r".*\.h"):
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", path]
        outcome.add(check("gcc", "-std=c99", "-x", "c", *strict))
        outcome.add(check("clang", "-std=c++11", "-x", "c++", *strict))
    return as_one(outcome)


@suite("symbols", "build-gcc")
def symbols(_):
    """exports, the keeper's independence, hardening, purity of the policy layer"""
    return check(PYTHON, "tools/check/check-symbols.py", "build")


@suite("abi")
def abi(_):
    """no released function, member or value has changed: src/libchokepoint.abi"""
    return check(PYTHON, "tools/check/check-abi.py")


@suite("policy", "build-gcc")
def policy(_):
    """the default policy passes its own review, and does not differ from itself"""
    default = "policy/default.yaml"
    outcome = check("build/chokepoint", "policy", "check", default)
    return as_one(outcome.add(check("build/chokepoint", "policy", "diff", default, default)))


@suite("lint", "build-gcc")
def lint(_):
    """the linter on this repository: one file creates processes, and there are no other findings"""
    return check(PYTHON, "tools/check/check-lint.py", "build")


# ---- tests that run the library ----

def units(directory, prefix=(), env=None, pattern=r"test_.*"):
    def one(path):
        program = os.path.join(directory, path[:-2])
        settings = {"CMOCKA_MESSAGE_OUTPUT": "TAP", **(env or {})}
        finished = run([*prefix, os.path.join(ROOT, program)], timeout=120, env=settings)
        part = harness.count_tap(finished)
        if part.failed:
            said = re.sub(r"^ok .*\n", "", finished.output, flags=re.MULTILINE)
            part.log = f"$ {program}\n{said}status {finished.status}\n"
        return part
    return in_parallel(one, beneath("tests/unit", pattern + r"\.c"))


# Tests of external tools and of the lists of the policy.
ABOUT_TOOLS = ("test_catalog*.py", "test_default_*.py", "test_git*.py", "test_grammar_*.py", "test_gtfobins_*.py", "test_hostile_npmrc.py",
               "test_hostile_s*.py", "test_policy_diff_properties.py", "test_policy_schema.py")
# Attacks from inside a jail: the programs are not sanitized, and the library does the same for each of them.
ABOUT_JAILS = ("test_egress_around.py", "test_jail_*.py", "test_loopback_escape.py", "test_overlay_*.py",
               "test_plugin_escape.py", "test_proof_memory.py", "test_sandbox_npm.py", "test_swapped_binary.py",
               "test_workspace_escape.py", "test_workspace_tool.py")
# Attacks by a tool on the machine or on the keeper: they test limits of the kernel, and the keeper, which is never
# sanitized. And a machine without /proc, which a sanitizer reads, and system calls that strace lets fail: a sanitizer
# makes some too, and LeakSanitizer cannot work under strace, nor in a cage. And a search of the whole memory: a sanitizer
# maps terabytes.
ABOUT_KERNEL = ("test_cpu_hog.py", "test_disk_filling.py", "test_execs_*.py", "test_guard_nested.py", "test_guard_secret_leak.py", "test_ten_thousand_runs.py", "test_kill*.py",
                "test_memory_bomb.py", "test_no_proc.py", "test_process_hog.py", "test_scratch_owner.py", "test_set*id.py",
                "test_shortage_of_a_look.py", "test_swapped_cwd.py")
# External tools in jails: the library does nothing for them that it does not do for the victims. And the command under
# strace, where LeakSanitizer cannot work. And other versions of Python: asan-python has the package.
ABOUT_OTHERS = ("test_jailed_tools.py", "test_new_user.py", "test_python_versions.py", "test_readme.py", "test_system_calls.py",
                "test_tools_table.py")
# The linter runs no tool, so its tests can run beside any other.
ABOUT_LINT = ("test_lint*.py",)
# Tests of what the linter reads; the others are about output formats, its hook and other linters.
ABOUT_SOURCES = ("test_lint_corpus.py", "test_lint_hostile_*.py", "test_lint_endless_names.py",
                 "test_lint_links_out.py", "test_lint_planted_config.py")
# Tests that have their own suites.
ABOUT_REST = ABOUT_TOOLS + ABOUT_JAILS + ABOUT_LINT
# Tests of tools that read many arguments: useful under the sanitizers too.
ABOUT_ARGUMENTS = ("test_grammar_properties.py", "test_gtfobins_*.py")


# Which tests may run in parallel: tests/conftest.py sets the kind of each.
UNTIMED, TIMED, ALONE = "not timed and not alone", "timed", "alone"
# Three for each processor: untimed tests often wait, for the kernel or for the disk, and timed tests only wait.
PROCESSES = ["-n", str(3 * harness.JOBS), "--dist", "loadgroup"]


def tests_of(*places):
    return sorted(os.path.relpath(path, ROOT) for place in places
                  for path in glob.glob(os.path.join(ROOT, "tests", place, "**", "test_*.py"), recursive=True))


def without(files, names):
    return [path for path in files if not any(fnmatch.fnmatch(os.path.basename(path), name) for name in names)]


def about(names):
    files = tests_of("integration", "adversarial")
    return [path for path in files if path not in without(files, names)]


@dataclasses.dataclass
class Session:
    """One run of pytest for all chosen suites of a build. Its processes start once and share their users, networks and
    docker daemon, and only in its last minute there are fewer tests than processes."""
    directory: str
    env: dict
    in_memory: bool  # the tests have their files in memory: on a disk each removal waits for it

    def run(self, chosen):
        """Outcomes by suite, and the outcome of the whole."""
        files = {suite.name: suite.function() for suite in chosen}
        env = {"CHOKE_BUILD": os.path.join(ROOT, self.directory), **self.env}
        if self.in_memory and memory.directory():
            env[memory.VARIABLE] = memory.directory()
        whole = pytest(sorted({path for paths in files.values() for path in paths}), env, report="tests",
                       extra=["-m", UNTIMED, *PROCESSES])
        return {name: harness.count_xml(env, "tests", paths) for name, paths in files.items()}, whole


# On the file system of /tmp under the sanitizers, so that both kinds are tested.
SESSIONS = {"tests": Session("build", {}, True), "asan-tests": Session("build-asan", SANITIZER_OPTIONS, False)}


@suite("tools", "build-gcc", lane="tests", session="tests")
def tools_suite():
    """the default policy with the tools themselves, and in hostile repositories"""
    return about(ABOUT_TOOLS)


@suite("jails", "build-gcc", lane="tests", session="tests")
def jails():
    """attacks from inside a jail, and on its parts"""
    return about(ABOUT_JAILS)


@suite("integration", "build-gcc", lane="tests", session="tests")
def integration():
    """the command and the library, end to end"""
    return without(tests_of("integration"), ABOUT_REST)


@suite("adversarial", "build-gcc", lane="tests", session="tests")
def adversarial():
    """attacks, each with its refusal"""
    return without(tests_of("adversarial"), ABOUT_REST)


@suite("linter", "build-gcc", lane="tests", session="tests")
def linter():
    """the linter: its corpora, its output formats, and hostile repositories"""
    return about(ABOUT_LINT)


@suite("asan-tools", "build-asan", lane="tests", session="asan-tests")
def asan_tools():
    """arguments under ASan and UBSan"""
    return about(ABOUT_ARGUMENTS)


@suite("asan-integration", "build-asan", lane="tests", session="asan-tests")
def asan_integration():
    """end to end under ASan and UBSan"""
    return without(tests_of("integration"), ABOUT_REST + ABOUT_OTHERS)


@suite("asan-adversarial", "build-asan", lane="tests", session="asan-tests")
def asan_adversarial():
    """attacks that reach the library with hostile input, under ASan and UBSan"""
    return without(tests_of("adversarial"), ABOUT_REST + ABOUT_KERNEL)


@suite("asan-linter", "build-asan", lane="tests", session="asan-tests")
def asan_linter():
    """what the linter reads, under ASan and UBSan"""
    return about(ABOUT_SOURCES)


def python_package(directory, env):
    """The tests of the Python package, in development mode: what Python only warns of is an error."""
    return pytest(["tests/python"], {"CHOKE_BUILD": os.path.join(ROOT, directory), "PYTHONDEVMODE": "1", **env}, report="python",
                  extra=PROCESSES)


@suite("python", "build-gcc", lane="tests")
def python(_):
    """the Python package"""
    return python_package("build", {})


@suite("mypy")
def mypy(_):
    """the types of the Python package hold, by mypy --strict, and so does a program that uses it"""
    env = {"MYPYPATH": "bindings/python"}
    with tempfile.TemporaryDirectory() as cache:
        return check("mypy", "--strict", "--cache-dir", cache, "--python-version", "3.9", "-p", "chokepoint", env=env).add(
            check("mypy", "--strict", "--cache-dir", cache, "tests/python/typed_program.py", *beneath("bindings/python/examples", r".*\.py"),
                  env=env))


@suite("asan-python", "build-asan", lane="tests")
def asan_python(_):
    """the Python package under ASan and UBSan: the runtime is loaded into the interpreter, which itself leaks"""
    found = run(["clang", "-print-file-name=libclang_rt.asan-x86_64.so"]).output.strip()
    options = SANITIZER_OPTIONS["ASAN_OPTIONS"].replace("detect_leaks=1", "detect_leaks=0")
    return python_package("build-asan", {**SANITIZER_OPTIONS, "ASAN_OPTIONS": options, "LD_PRELOAD": found})


def measured(kind, directory, env=None, left_out=()):
    """tests/conftest.py does not read the files that hold no test of the kind, so this names directories."""
    return pytest(["tests/integration", "tests/adversarial"], {"CHOKE_BUILD": os.path.join(ROOT, directory), **(env or {})},
                  report=kind, extra=["-m", kind, *(PROCESSES if kind == TIMED else []),
                                      *(f"--ignore-glob=*/{name}" for name in left_out)])


@suite("timed", "build-gcc", lane="alone")
def timed(_):
    """end-to-end tests and attacks that measure time"""
    return measured(TIMED, "build").add(measured(ALONE, "build"))


@suite("kernels", "build-gcc", "build-arm64", lane="alone")
def kernels(_):
    """a kernel of Debian in a virtual machine: the door, escapes, and what doctor says; in a full run every kernel and place"""
    outcome = pytest(["tests/kernels/test_kernels.py"], {"CHOKE_BUILD": os.path.join(ROOT, "build")}, timeout=6 * 3600)
    return outcome.add(check(PYTHON, "tools/gen/platforms-page.py", "build/platforms", "--check")) if is_full() else outcome


@suite("asan-timed", "build-asan", lane="alone")
def asan_timed(_):
    """timeouts under ASan and UBSan; not bombs: only the keeper handles them, and it is never sanitized"""
    return measured(TIMED, "build-asan", SANITIZER_OPTIONS, ABOUT_TOOLS + ABOUT_JAILS)


@suite("unit", "build-gcc")
def unit(_):
    """unit tests of each module"""
    return units("build")


# Unit tests that ask the kernel for what qemu-user does not pass on, look at programs of the system, or (diff_grants) take long.
# They run on a kernel for arm64 (tests/kernels).
ARM64_NOT_EMULATED = ("depend", "diff_grants", "elf", "execs", "landlock", "proof_conditions", "seccomp", "trial")


@suite("arm64", "build-gcc", "build-arm64", lane="background")
def arm64(_):
    """what was built for arm64, by qemu-user: unit tests, the keeper, the door, the stub, the command; in a full run the bindings"""
    place = os.path.join(ROOT, "third_party/arm64")
    # Not by -L, which would also look for the files of the tests in that root.
    emulator = [f"{place}/qemu-aarch64", f"{place}/root/lib/ld-linux-aarch64.so.1", "--library-path", f"{place}/root/usr/lib/aarch64-linux-gnu"]
    names = [path[len("tests/unit/test_"):-2] for path in beneath("tests/unit", r"test_.*\.c")] if is_full() else ARM64_UNITS
    outcome = units("build-arm64", emulator, pattern=f"test_({'|'.join(name for name in names if name not in ARM64_NOT_EMULATED)})")
    return outcome.add(pytest(["tests/cross"], {"CHOKE_BUILD": os.path.join(ROOT, "build")}, report="arm64"))


def fuzz_targets():
    return [os.path.basename(path)[5:-2] for path in beneath("tests/fuzz", r"fuzz_.*\.c")]


@suite("corpus", "build-gcc")
def corpus(_):
    """every file of the fuzz corpora, without a fuzzer"""
    def one(name):
        return check(f"build/tests/fuzz/fuzz_{name}", f"tests/fuzz/corpus/{name}")
    return in_parallel(one, fuzz_targets())


@suite("install", "build-gcc")
def install(_):
    """the examples build and run with an installed library, shared and static"""
    return check("tools/check/check-install.sh", "build")


@suite("packages", "build-gcc")
def packages(_):
    """Debian packages, the release, the action, the hook and the image: built, installed, run, removed, tampered with"""
    return pytest(["tests/packages"], {"CHOKE_BUILD": os.path.join(ROOT, "build")}, report="packages")


@suite("demo", "build-gcc")
def demo(_):
    """the demo of make run succeeds, and a browser opens the page that it ends with"""
    return pytest(["tests/demo"], {"CHOKE_BUILD": os.path.join(ROOT, "build")}, report="demo")


@suite("asan-unit", "build-asan")
def asan_unit(_):
    """unit tests under ASan and UBSan"""
    return units("build-asan", fixed_addresses(), SANITIZER_OPTIONS)


@suite("fuzz", "build-asan")
def fuzz(options):
    """libFuzzer with both sanitizers: the corpora, then some seconds of fuzzing for each target"""
    def one(name):
        with tempfile.TemporaryDirectory() as fresh:
            found = f"build-asan/found/{name}" if options.keep_inputs else fresh
            os.makedirs(os.path.join(ROOT, found), exist_ok=True)
            return check(
                f"build-asan/tests/fuzz/fuzz_{name}", f"-max_total_time={options.fuzz_seconds}",
                f"-seed={options.fuzz_seed}", "-timeout=25", "-rss_limit_mb=2048", "-print_final_stats=1",
                f"-artifact_prefix=build-asan/{name}-", found, f"tests/fuzz/corpus/{name}",
                timeout=options.fuzz_seconds + 300, env=SANITIZER_OPTIONS)
    return in_parallel(one, fuzz_targets())


@suite("tsan", "build-tsan")
def tsan(_):
    """what uses threads, under TSan"""
    files = [path for path in tests_of("integration") if "thread" in harness.read_text(path)]
    return pytest(files, {"CHOKE_BUILD": os.path.join(ROOT, "build-tsan"), **SANITIZER_OPTIONS}, report="threads",
                  extra=["-m", UNTIMED, "-k", "thread"])
