"""Tools from the npm registry, at fixed versions, installed without running their scripts.

The build directory keeps them, so they are fetched once. They are copied to where every user
can read them.
"""
import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile

from feature import skip

PACKAGES = {"@ast-grep/cli": "0.51.0", "@sourcegraph/scip-typescript": "0.4.0", "typescript": "5.6.3", "undici": "6.21.1"}
PROGRAMS = {"ast-grep": "@ast-grep/cli-*/ast-grep", "scip-typescript": "@sourcegraph/scip-typescript/dist/src/main.js"}


# What the tests of projects use: a runner of tests each. Only a full run fetches all of them.
MOCHA = {"mocha": "10.8.2"}
EXPRESS = "5.2.1"
RUNNERS = {**MOCHA, "jest": "29.7.0", "vitest": "2.1.9"}


def fetched(packages=None) -> pathlib.Path:
    """The directory with node_modules; it is made if it is missing."""
    packages = packages or PACKAGES
    name = "-".join(version for _, version in sorted(packages.items()))
    kept = pathlib.Path(os.environ["CHOKE_BUILD"]) / "test-tools" / name
    kept.parent.mkdir(exist_ok=True)
    with open(kept.parent / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes
        if not kept.is_dir():
            fetch(kept, packages)
    return kept


def fetch(kept: pathlib.Path, packages) -> None:
    with tempfile.TemporaryDirectory(dir=kept.parent) as directory:
        args = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=5", "--prefix", directory,
                 *(f"{package}@{version}" for package, version in packages.items())]
        done = subprocess.run(args, cwd=directory, capture_output=True, check=False, timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            skip("npm-registry", f"npm cannot fetch {', '.join(packages)}: {done.stderr.decode()[-500:]}")
        ready = pathlib.Path(directory) / "ready"
        ready.mkdir()
        os.rename(pathlib.Path(directory) / "node_modules", ready / "node_modules")
        os.rename(ready, kept)


def install(stage: pathlib.Path) -> pathlib.Path:
    """A directory of programs for a search path, in the stage."""
    modules = stage / "registry" / "node_modules"
    shutil.copytree(fetched() / "node_modules", modules, symlinks=True)
    programs = stage / "registry" / "bin"
    programs.mkdir()
    for name, pattern in PROGRAMS.items():
        found = next(iter(sorted(modules.glob(pattern))), None)
        if found is None:
            skip("npm-registry", f"there is no {name} for this machine")
        found.chmod(0o755)
        (programs / name).symlink_to(os.path.relpath(found, programs))
    return programs


def express() -> pathlib.Path:
    """The sources of express with its tests, which no package has, and its node_modules."""
    kept = pathlib.Path(os.environ["CHOKE_BUILD"]) / "test-tools" / f"express-{EXPRESS}"
    kept.parent.mkdir(exist_ok=True)
    with open(kept.parent / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.is_dir():
            fetch_express(kept)
    return kept


def fetch_express(kept: pathlib.Path) -> None:
    address = f"https://codeload.github.com/expressjs/express/tar.gz/refs/tags/v{EXPRESS}"
    with tempfile.TemporaryDirectory(dir=kept.parent) as directory:
        commands = [["curl", "-sSfL", "-o", "express.tar.gz", address], ["tar", "-xzf", "express.tar.gz"],
                    ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", f"express-{EXPRESS}"]]
        for command in commands:
            done = subprocess.run(command, cwd=directory, capture_output=True, check=False, timeout=300, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                skip("github", f"{command[0]} cannot fetch express: {done.stderr.decode()[-500:]}")
        os.rename(pathlib.Path(directory) / f"express-{EXPRESS}", kept)
