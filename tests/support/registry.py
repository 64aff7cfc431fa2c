"""Tools from the npm registry, at fixed versions, installed without running their scripts.

The build directory keeps them, so they are fetched once. They are copied to where every user
can read them.
"""
import base64
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import debian
from feature import skip

PACKAGES = {"@ast-grep/cli": "0.51.0", "@sourcegraph/scip-typescript": "0.4.0", "typescript": "5.6.3", "undici": "6.21.1"}
PROGRAMS = {"ast-grep": "@ast-grep/cli-*/ast-grep", "scip-typescript": "@sourcegraph/scip-typescript/dist/src/main.js"}

# What the tests of projects use: a runner of tests each. Only a full run fetches all of them.
MOCHA = {"mocha": "10.8.2"}
RUNNERS = {**MOCHA, "esbuild": "0.21.5", "jest": "29.7.0", "vitest": "2.1.9"}
LINTERS = {"eslint": "9.15.0", "prettier": "3.3.3"}

# A package that is published with its test suite, which serves and asks by HTTP on 127.0.0.1. The digest is the
# registry's "integrity". What it needs is taken as it was on that day, so the same versions are installed later.
SUITE = {"package": "strong-remoting@3.17.0", "before": "2026-01-01",
         "sha512": "MfDyLxmoSizuxBE5C8S2A9nPmy4sQquoZNs6NtbSEmaX2OFKlvb/AhTKU9An+Xuee1RRQHEIun8Q/nO+Lp/H6g=="}

# A grammar of tree-sitter, as sources; what is in the archive is compiled.
GRAMMAR = {"package": "tree-sitter-json@0.24.8",
           "sha512": "Tc9ZZYwHyWZ3Tt1VEw7Pa2scu1YO7/d2BCBbKTx5hXwig3UfdQjsOPkPyLpDJOn/m1UBEWYAtSdGAwCSyagBqQ=="}

HELPERS = ["node-scripts"]  # the set that `npm test` needs

INSTALL = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=5"]


def kept_as(name, fetch) -> pathlib.Path:
    """A directory of the build directory. If it is missing, fetch makes it."""
    kept = pathlib.Path(os.environ["CHOKE_BUILD"]) / "test-tools" / name
    kept.parent.mkdir(exist_ok=True)
    with open(kept.parent / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes
        if not kept.is_dir():
            with tempfile.TemporaryDirectory(dir=kept.parent) as directory:
                try:
                    os.rename(fetch(pathlib.Path(directory)), kept)
                except debian.Missing as missing:
                    skip("debian-archive", str(missing))
    return kept


def npm(args, directory) -> bytes:
    done = subprocess.run(args, cwd=directory, capture_output=True, check=False, timeout=600, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        skip("npm-registry", f"'{' '.join(args)}' failed: {done.stderr.decode()[-500:]}")
    return done.stdout


def fetched(packages=None) -> pathlib.Path:
    """The directory with node_modules; it is made if it is missing."""
    packages = packages or PACKAGES

    def fetch(directory):
        npm([*INSTALL, "--prefix", str(directory), *(f"{name}@{version}" for name, version in packages.items())], directory)
        ready = directory / "ready"
        ready.mkdir()
        os.rename(directory / "node_modules", ready / "node_modules")
        return ready
    return kept_as("-".join(version for _, version in sorted(packages.items())), fetch)


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


def project(box, runner, test, packages=None):
    """A project in the root of a box with its node_modules, as `npm ci` leaves it."""
    shutil.copytree(fetched(packages or MOCHA) / "node_modules", box.root / "node_modules", symlinks=True)
    box.own(box.root / "node_modules")  # runners keep a cache there
    box.file("root/package.json", json.dumps({"name": "project", "version": "1.0.0", "scripts": {"test": runner}}))
    box.own(box.directory("root/test"))
    box.file("root/test/one.test.js", test)


def unpack(pinned, directory):
    """A package of the registry, as directory/package, after its digest was compared."""
    packed = npm(["npm", "pack", "--silent", pinned["package"]], directory).decode().split()[-1]
    digest = base64.b64encode(hashlib.sha512((directory / packed).read_bytes()).digest()).decode()
    assert digest == pinned["sha512"], f"{packed} is another file: {digest}"
    subprocess.run(["tar", "-xzf", packed, "--no-same-owner"], cwd=directory, check=True)


def grammar() -> pathlib.Path:
    """The package GRAMMAR, with a compiled json.so in it."""
    def fetch(directory):
        unpack(GRAMMAR, directory)
        package = directory / "package"
        shutil.rmtree(package / "prebuilds")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-Isrc", "src/parser.c", "-o", "json.so"], cwd=package, check=True)
        return package
    return kept_as(GRAMMAR["package"], fetch)


def suite() -> pathlib.Path:
    """The package SUITE, unpacked, with its node_modules."""
    def fetch(directory):
        unpack(SUITE, directory)
        npm([*INSTALL, f"--before={SUITE['before']}", "--prefix", str(directory / "package")], directory / "package")
        return directory / "package"
    return kept_as(SUITE["package"], fetch)


def locked(name) -> pathlib.Path:
    """The directory of tests/clients with its node_modules, exactly as its lock file says."""
    recipe = pathlib.Path(__file__).parents[1] / "clients" / name
    digest = hashlib.sha256((recipe / "package-lock.json").read_bytes()).hexdigest()[:12]

    def fetch(directory):
        for file in ("package.json", "package-lock.json"):
            shutil.copy(recipe / file, directory)
        # Not `npm ci`: it refuses a lock without optional packages for other systems, which a registry may not have.
        npm([*INSTALL, "--no-save"], directory)
        return directory
    kept = kept_as(f"{name}-{digest}", fetch)
    for file in recipe.iterdir():  # what runs there finds its modules beside it
        shutil.copy(file, kept)
    return kept
