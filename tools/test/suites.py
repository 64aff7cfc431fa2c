"""The suites of run-tests.py, run in this order as far as none is early or alone. A docstring is its line in --list."""
import concurrent.futures
import dataclasses
import glob
import os
import re
import tempfile
import typing

import harness
from harness import ROOT, Outcome, build, check, pytest, run
from tidy_cache import TidyCache

PYTHON = "/usr/bin/python3"
SANITIZER_OPTIONS = {
    "CHOKE_SANITIZED": "1",
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


@dataclasses.dataclass
class Suite:
    name: str
    function: typing.Callable
    needs: tuple
    alone: bool
    early: bool


ALL = {}


def suite(name, *needs, alone=False, early=False):
    """Puts a function into the table. alone: it is about time, and nothing else runs meanwhile. early: it takes long, or
    something long needs it, so it comes before others."""
    def enter(function):
        ALL[name] = Suite(name, function, needs, alone, early)
        return function
    return enter


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(harness.JOBS) as pool:
        outcome = Outcome()
        for part in pool.map(function, items):
            outcome.add(part)
        return outcome


def as_one(outcome):
    """Many commands, one check."""
    outcome.passed, outcome.failed = (0, 1) if outcome.failed or not outcome.passed else (1, 0)
    return outcome


def beneath(directory, pattern):
    """Paths in a directory whose names match, sorted; none where it does not exist."""
    place = os.path.join(ROOT, directory)
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return [os.path.join(directory, name) for name in names if re.fullmatch(pattern, name)]


def fixed_addresses():
    """The sanitizers of older compilers do not survive every random layout; containers may forbid to switch it off."""
    return ["setarch", "-R"] if run(["setarch", "-R", "true"]).status == 0 else []


# ---- builds ----

SANITIZED = {"optimization": "1"}  # half the time to compile, and the sanitizers see more of what was written


@suite("build-gcc", early=True)
def build_gcc(_):
    """gcc, warnings as errors, everything: build/"""
    return build("build", "gcc", {"werror": "true"}, ["all", "tests"])


@suite("build-asan")
def build_asan(_):
    """clang, warnings as errors, AddressSanitizer, UndefinedBehaviorSanitizer and libFuzzer, everything: build-asan/"""
    options = {"werror": "true", **SANITIZED, "b_sanitize": "address,undefined", "b_lundef": "false", "fuzzer": "true"}
    return build("build-asan", "clang", options, ["all", "tests"])


@suite("build-tsan")
def build_tsan(_):
    """gcc with ThreadSanitizer, the command and the hosts: build-tsan/"""
    return build("build-tsan", "gcc", {"werror": "true", **SANITIZED, "b_sanitize": "thread"}, ["chokepoint", "hosts"])


# ---- what can be seen without running anything ----

def c_files():
    places = ("include", "src", "tests", "bench", "examples")
    found = run(["find", *(p for p in places if os.path.isdir(os.path.join(ROOT, p))), "-name", "*.[ch]"])
    return sorted(found.output.split())


@suite("format")
def formatting(_):
    """clang-format has nothing to change"""
    return check("clang-format", "--dry-run", "-Werror", *c_files())


@suite("tidy", early=True)
def tidy(options):
    """clang-tidy finds nothing; it needs the compiler's command lines, build-clang/, and nothing that is built"""
    configured = harness.configure("build-clang", "clang", {})
    if configured.failed:
        return configured
    depth = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang",
                                                f"max-nodes={options.analyzer_nodes}")]
    tidy_cache = TidyCache("build-clang", depth)
    # What a build made is not written by anybody; of the tests the compilers' warnings are enough.
    files = sorted(path for path in tidy_cache.commands if not path.startswith(("build", "tests")))

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


@suite("checks")
def checks(_):
    """the checks find what they are there to find"""
    with tempfile.TemporaryDirectory() as place:
        return pytest(["tools/test"], {"CHOKE_BUILD": place})


def scripts(shell):
    """Every script of the project with this shell in its first line."""
    found = run(["grep", "-rlIE", "--exclude-dir=.git", "--exclude-dir=build*", "--exclude-dir=third_party",
                 "--exclude-dir=lint", rf"^#!(/usr)?/bin/(env )?{shell}$", "."])
    return sorted(found.output.split())


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


@suite("policy", "build-gcc")
def policy(_):
    """the default policy passes its own review, and does not differ from itself"""
    default = "policy/default.yaml"
    outcome = check("build/chokepoint", "policy", "check", default)
    return as_one(outcome.add(check("build/chokepoint", "policy", "diff", default, default)))


@suite("lint", "build-gcc")
def lint(_):
    """the linter on this repository: one file creates processes, and nothing else goes around the door"""
    return check(PYTHON, "tools/check/check-lint.py", "build")


# ---- what runs the library ----

def units(directory, prefix=(), env=None):
    def one(path):
        program = os.path.join(directory, path[:-2])
        settings = {"CMOCKA_MESSAGE_OUTPUT": "TAP", **(env or {})}
        finished = run([*prefix, os.path.join(ROOT, program)], timeout=120, env=settings)
        part = harness.count_tap(finished)
        if part.failed:
            said = re.sub(r"^ok .*\n", "", finished.output, flags=re.MULTILINE)
            part.log = f"$ {program}\n{said}status {finished.status}\n"
        return part
    return in_parallel(one, beneath("tests/unit", r"test_.*\.c"))


# What is about other people's tools and the policy's lists.
ABOUT_TOOLS = ("test_default_*.py", "test_git*.py", "test_grammar_*.py", "test_gtfobins_*.py", "test_hostile_npmrc.py",
               "test_hostile_s*.py", "test_policy_diff_properties.py", "test_policy_schema.py")
# Attacks from within a jail: the attacker's programs are not sanitized, and the library does the same for each of them.
ABOUT_JAILS = ("test_egress_around.py", "test_jail_*.py", "test_overlay_*.py", "test_sandbox_npm.py",
               "test_swapped_binary.py")
# Attacks by a tool on the machine, or on who watches it: limits of the kernel, and the keeper, which is never sanitized; and
# a machine without /proc, which a sanitizer reads.
ABOUT_KERNEL = ("test_cpu_hog.py", "test_disk_filling.py", "test_execs_*.py", "test_ten_thousand_runs.py", "test_kill*.py",
                "test_memory_bomb.py", "test_no_proc.py", "test_process_hog.py", "test_scratch_owner.py", "test_set*id.py",
                "test_swapped_cwd.py")
# Other people's tools in jails: the library does nothing for them that it does not do for the victims. And strace around the
# command, under which no leaks can be searched for.
ABOUT_OTHERS = ("test_jailed_tools.py", "test_new_user.py", "test_readme.py", "test_system_calls.py",
                "test_tools_table.py")
# The linter runs no tool, so it minds nobody beside it.
ABOUT_LINT = ("test_lint*.py",)
# Of those about the linter, what it reads; the rest is about its forms, its hook and other linters.
ABOUT_SOURCES = ("test_lint_corpus.py", "test_lint_hostile_*.py", "test_lint_endless_names.py",
                 "test_lint_links_out.py", "test_lint_planted_config.py")
# What has suites of its own.
ABOUT_REST = ABOUT_TOOLS + ABOUT_JAILS + ABOUT_LINT
# Of those about tools, what reads many arguments: worth it under the sanitizers too.
ABOUT_ARGUMENTS = ("test_grammar_properties.py", "test_gtfobins_*.py")


# Which tests run beside which: tests/conftest.py says of which kind each is.
UNTIMED, TIMED, ALONE = "not timed and not alone", "timed", "alone"


def processes(count):
    return ["-n", str(count), "--dist", "loadgroup"]


def behaviour(directory, places, kind, env=None, extra=(), left_out=ABOUT_REST):
    others = [f"--ignore-glob=*/{name}" for name in left_out]
    # Some tests wait more than they work; those that are timed do nothing else.
    beside = {UNTIMED: processes(harness.JOBS + 1), TIMED: processes(3 * harness.JOBS), ALONE: []}[kind]
    return pytest([f"tests/{place}" for place in places], {"CHOKE_BUILD": os.path.join(ROOT, directory), **(env or {})},
                  report=f"{'-'.join(places)}-{kind.replace(' ', '-')}", extra=["-m", kind, *beside, *others, *extra])


def about(names, directory, report, env=None):
    files = [os.path.relpath(path, ROOT) for name in names for place in ("integration", "adversarial")
             for path in sorted(glob.glob(os.path.join(ROOT, "tests", place, "**", name), recursive=True))]
    return pytest(files, {"CHOKE_BUILD": os.path.join(ROOT, directory), **(env or {})}, report=report,
                  extra=["-m", UNTIMED, *processes(harness.JOBS + 1)])


@suite("tools", "build-gcc", early=True)
def tools_suite(_):
    """the default policy with the tools themselves, and in hostile repositories"""
    return about(ABOUT_TOOLS, "build", "tools")


@suite("asan-tools", "build-asan")
def asan_tools(_):
    """arguments under ASan and UBSan"""
    return about(ABOUT_ARGUMENTS, "build-asan", "tools", SANITIZER_OPTIONS)


@suite("linter", "build-gcc")
def linter(_):
    """the linter: its corpora, its forms, and hostile repositories"""
    return about(ABOUT_LINT, "build", "linter")


@suite("asan-linter", "build-asan")
def asan_linter(_):
    """what the linter reads, under ASan and UBSan"""
    return about(ABOUT_SOURCES, "build-asan", "linter", SANITIZER_OPTIONS)


@suite("unit", "build-gcc")
def unit(_):
    """unit tests of each module"""
    return units("build")


@suite("integration", "build-gcc")
def integration(_):
    """the command and the library, end to end"""
    return behaviour("build", ["integration"], UNTIMED)


@suite("adversarial", "build-gcc")
def adversarial(_):
    """attacks, each with its refusal"""
    return behaviour("build", ["adversarial"], UNTIMED)


@suite("timed", "build-gcc", alone=True)
def timed(_):
    """end to end and attacks, as far as they are held to a time"""
    outcome = Outcome()
    for kind in (TIMED, ALONE):
        outcome.add(behaviour("build", ("integration", "adversarial"), kind, left_out=()))
    return outcome


@suite("jails", "build-gcc", early=True)
def jails(_):
    """attacks from within a jail, and on what it is made of"""
    return about(ABOUT_JAILS, "build", "jails")


@suite("asan-unit", "build-asan")
def asan_unit(_):
    """unit tests under ASan and UBSan"""
    return units("build-asan", fixed_addresses(), SANITIZER_OPTIONS)


@suite("asan-integration", "build-asan")
def asan_integration(_):
    """end to end under ASan and UBSan"""
    return behaviour("build-asan", ["integration"], UNTIMED, SANITIZER_OPTIONS, left_out=ABOUT_REST + ABOUT_OTHERS)


@suite("asan-adversarial", "build-asan")
def asan_adversarial(_):
    """attacks that reach the library with hostile input, under ASan and UBSan"""
    return behaviour("build-asan", ["adversarial"], UNTIMED, SANITIZER_OPTIONS, left_out=ABOUT_REST + ABOUT_KERNEL)


@suite("asan-timed", "build-asan", alone=True)
def asan_timed(_):
    """timeouts under ASan and UBSan; not bombs, with which only the keeper deals, and that is never sanitized"""
    return behaviour("build-asan", ("integration", "adversarial"), TIMED, SANITIZER_OPTIONS,
                     left_out=ABOUT_TOOLS + ABOUT_JAILS)


@suite("tsan", "build-tsan")
def tsan(_):
    """what uses threads, under TSan"""
    outcome = behaviour("build-tsan", ["integration"], UNTIMED, SANITIZER_OPTIONS, ["-k", "thread"])
    settings = {"CHOKE_BUILD": os.path.join(ROOT, "build-tsan"), **SANITIZER_OPTIONS}
    return outcome.add(pytest(["tests/integration/test_lint.py"], settings, extra=["-k", "thread"]))


def fuzz_targets():
    return [os.path.basename(path)[5:-2] for path in beneath("tests/fuzz", r"fuzz_.*\.c")]


@suite("corpus", "build-gcc")
def corpus(_):
    """every file of the fuzz corpora, without a fuzzer"""
    def one(name):
        return check(f"build/tests/fuzz/fuzz_{name}", f"tests/fuzz/corpus/{name}")
    return in_parallel(one, fuzz_targets())


@suite("fuzz", "build-asan")
def fuzz(options):
    """libFuzzer with both sanitizers: the corpora, and from them on, some seconds each"""
    def one(name):
        with tempfile.TemporaryDirectory() as fresh:
            found = f"build-asan/found/{name}" if options.keep_inputs else fresh
            os.makedirs(os.path.join(ROOT, found), exist_ok=True)
            return check(
                f"build-asan/tests/fuzz/fuzz_{name}", f"-max_total_time={options.fuzz_seconds}", "-timeout=25",
                "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix=build-asan/{name}-", found,
                f"tests/fuzz/corpus/{name}", timeout=options.fuzz_seconds + 300, env=SANITIZER_OPTIONS)
    return in_parallel(one, fuzz_targets())


@suite("install", "build-gcc")
def install(_):
    """an installed library serves the examples, shared and static"""
    return check("tools/check/check-install.sh", "build")


@suite("demo", "build-gcc")
def demo(_):
    """make run shows what it says it shows"""
    return check("tools/demo.sh", "build/chokepoint")
