"""The package for Node, installed as a user installs it, and the programs that load it.

tools/node-packages.sh fetches other versions of Node, and TypeScript, into third_party/node.
"""
import functools
import os
import pathlib
import shutil
import subprocess

from feature import sanitized, scaled, skip

TOP = pathlib.Path(__file__).resolve().parents[2]
FETCHED = TOP / "third_party/node"
TESTS = TOP / "tests/node"

# By name: where the program is. The others are tried with tests/node/smoke.cjs.
NODES = {"node": pathlib.Path("/usr/bin/node"), "node18": FETCHED / "test/node_modules/node18/bin/node",
         "node26": FETCHED / "test/node_modules/node26/bin/node"}
OTHERS = {"bun": FETCHED / "runtimes/node_modules/@oven/bun-linux-x64/bin/bun",
          "deno": FETCHED / "runtimes/node_modules/@deno/linux-x64-glibc/deno"}


def fetched(name) -> pathlib.Path:
    """A set of packages. setup.sh has fetched it; a run of single tests fetches it here."""
    done = subprocess.run([TOP / "tools/node-packages.sh", name], capture_output=True, check=False, timeout=600)
    if done.returncode != 0:
        skip("npm-registry", done.stderr.decode()[-500:])
    return FETCHED / name / "node_modules"


def packed(place: pathlib.Path) -> pathlib.Path:
    """The package as npm gets it."""
    build = os.environ["CHOKE_BUILD"]
    done = subprocess.run([TOP / "tools/node-pack.sh", build, place], capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return next(place.glob("chokepoint-*.tgz"))


def installed(stage: pathlib.Path) -> pathlib.Path:
    """A directory with the tests, and with the package in its node_modules: from the archive, by npm, with scripts allowed
    and without a network."""
    place = stage / "node"
    place.mkdir()
    (place / "package.json").write_text('{"name": "tests", "private": true}', encoding="ascii")
    archive = packed(place)
    done = subprocess.run(["npm", "install", "--offline", "--no-audit", "--no-fund", archive], cwd=place, capture_output=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    for path in TESTS.iterdir():
        if path.is_file():
            shutil.copy(path, place)
    subprocess.run(["chmod", "-R", "go+rX", place], check=True)
    return place


@functools.lru_cache(maxsize=None)
def preloaded() -> str:
    """The runtime of clang's AddressSanitizer. Node has none, so it is loaded before everything else."""
    name = f"libclang_rt.asan-{os.uname().machine}.so"
    return subprocess.run(["clang", f"-print-file-name={name}"], capture_output=True, check=True, text=True).stdout.strip()


def environment(box) -> dict:
    settings = {"CHOKE_NODE_POLICY": str(box.policy), "CHOKE_NODE_COMMAND": box.command, "CHOKE_NODE_AUDIT": str(box.log.parent),
                "CHOKE_NODE_RUNS": str(scaled(100000, 400, 2000))}
    if not sanitized():
        return box.environment(**settings)
    # V8 keeps much until its end, so LeakSanitizer cannot judge here: leak.test.cjs counts. What is freed is kept from use for
    # a while, which must not look like a leak.
    options = os.environ["ASAN_OPTIONS"].replace("detect_leaks=1", "detect_leaks=0:quarantine_size_mb=8")
    return box.environment(**settings, LD_PRELOAD=preloaded(), ASAN_OPTIONS=options)


def program(name, stage: pathlib.Path) -> pathlib.Path:
    """A runtime at a place where every user can execute it."""
    fetched("test" if name in NODES else "runtimes")
    path = {**NODES, **OTHERS}[name]
    if not path.is_relative_to(FETCHED):
        return path
    copy = stage / "node" / "programs" / name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
        copy.chmod(0o755)
    return copy

