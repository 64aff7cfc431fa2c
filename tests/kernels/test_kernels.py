"""Kernels and places that this machine is not: each is a virtual machine in which the command and its tests run.

The usual run has one kernel, with the cage of guard, escapes and all that `doctor` tries. A full run has every place of places.py
and leaves what it found in platforms/ of the build directory; tools/gen/platforms-page.py makes docs/platforms.md of it. A place
where something failed leaves nothing.
"""
import json
import os
import pathlib
import shutil
import xml.etree.ElementTree

import guests
import pytest
from feature import full
from places import SAMPLE_PLACE, SELINUX_CONTEXT, WHOLE

TOP = pathlib.Path(__file__).parents[2]
FOUND = pathlib.Path(os.environ["CHOKE_BUILD"]) / "platforms"
BUILDS = {"amd64": pathlib.Path(os.environ["CHOKE_BUILD"]), "arm64": TOP / "build-arm64"}
PLACES = WHOLE if full() else [SAMPLE_PLACE]
TIMEOUT_S = 5400 if full() else 900  # an idle machine needs a tenth of it
DOCKER = ("docker.io", "apparmor")  # docker confines a container by a profile where it finds the parser
UNITS = ("libcmocka0",)
LABELS = ("policycoreutils",)
PARSER = ["/job/apparmor/usr/lib64/ld-linux-x86-64.so.2", "--library-path", "/job/apparmor/usr/lib/x86_64-linux-gnu",
          "/job/apparmor/usr/sbin/apparmor_parser", "--base", "/job/apparmor/etc/apparmor.d", "--skip-cache", "--replace", "/job/profile"]


def add_tree(job, build):
    """The command, its library, the helpers, and what the tests read of the sources."""
    tree = job / "chokepoint"
    for name in ("tests", "docs", "policy", "lint", "include", "examples", "README.md", "SECURITY.md"):
        source = TOP / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tree / name) if source.is_file() else copy(source, tree / name, symlinks=True,
                                                                ignore=shutil.ignore_patterns("__pycache__", "corpus"))
    for directory in ("tests/helpers", "examples", "src", "bindings/python/chokepoint"):
        (tree / "build" / directory).mkdir(parents=True)
        for path in (build / directory).iterdir():
            if path.is_file() and (directory != "src" or ".so" in path.name):
                shutil.copy(path, tree / "build" / directory / path.name, follow_symlinks=False)
    for name in ("chokepoint", "chokepoint-attack", "src/chokepoint-door"):
        shutil.copy(build / name, tree / "build" / name)


def add_unit_tests(job, build):
    (job / "chokepoint/build/tests/unit").mkdir()
    for path in (build / "tests/unit").glob("test_*"):
        if path.is_file():
            shutil.copy(path, job / "chokepoint/build/tests/unit" / path.name)


def more_packages(place):
    if place.container:
        return DOCKER
    return LABELS if place.selinux is not None else UNITS if "unit" in place.tests else ()


def make_job(place, directory):
    job = directory / "disk"
    (job / "chokepoint").mkdir(parents=True)
    add_tree(job, BUILDS[place.arch])
    if "unit" in place.tests:
        add_unit_tests(job, BUILDS[place.arch])
    if place.profile:
        shutil.copytree(guests.apparmor_parser(), job / "apparmor", symlinks=True)
        (job / "profile").write_text(place.profile, encoding="ascii")
    if place.selinux is not None:
        shutil.copytree(guests.selinux_policy(place.selinux), job / "selinux")
    shutil.copy(TOP / "tests/kernels/inside/job.py", job / "run")
    (job / "run").chmod(0o755)
    tests = {name: ["-n", "2", "--dist", "loadgroup", *arguments] for name, arguments in place.tests.items()}
    prepare = [["mkdir", "-p", str(TOP.parent)], ["ln", "-s", "/job/chokepoint", str(TOP)], *place.prepare, *([PARSER] if place.profile else [])]
    (job / "job.json").write_text(json.dumps({
        "prepare": prepare, "profile": place.profile and place.name,
        "container": place.container, "selinux": "" if place.selinux is None else SELINUX_CONTEXT, "doctor": place.callers, "attack": place.jails, "tests": tests, "environment": place.environment,
        "require": "root,user,userns,landlock,bwrap" if place.jails else "root,user"}), encoding="ascii")
    return job


def layers_of(ended, caller):
    document = json.loads(ended.text(f"doctor-{caller}.json"))
    return {f"{layer['group']}.{layer['name']}": layer for layer in document["layers"]}


def check_layers(layers, expected):
    for name, (holds, text) in expected.items():
        layer = layers[name]
        said = layer["detail"] if layer["holds"] else layer["cause"]
        assert layer["holds"] is holds and (text in (said or "") or text in (layer["remedy"] or "")), (name, layer)


def counts_of(ended, name):
    """Of the tests that ran in the guest: passed, failed, skipped, with the log where one failed."""
    ended.text(f"{name}.log")
    report = xml.etree.ElementTree.fromstring(ended.results[f"{name}.xml"])
    totals = [sum(int(suite.get(key)) for suite in report.iter("testsuite")) for key in ("tests", "failures", "errors", "skipped")]
    return {"passed": totals[0] - sum(totals[1:]), "failed": totals[1] + totals[2], "skipped": totals[3]}


def attempts_of(ended, caller):
    document = json.loads(ended.text(f"attack-{caller}.json"))
    native = next(jail for jail in document["jails"] if jail["jail"] == "native")
    assert native["available"], native
    states = [attempt["state"] for promise in native["promises"] for attempt in promise["attempts"]]
    return {state: states.count(state) for state in ("held", "broken", "not_available")}


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_what_is_promised_holds_there(place, tmp_path):
    kept = FOUND / f"{place.name}.json"
    kept.unlink(missing_ok=True)
    kernel = guests.kernel(place.suite, place.arch)
    disk = guests.debian_disk(place.arch, more_packages(place))
    ended = guests.start(kernel, guests.MACHINES[place.arch], disk, make_job(place, tmp_path), tmp_path, place.append, TIMEOUT_S)
    found = {"title": place.title, "kernel": (kernel / "version").read_text(encoding="ascii").strip(), "callers": {}, "tests": {}}
    for caller in place.callers:
        layers = layers_of(ended, caller)
        found["callers"][caller] = {"layers": layers, "attempts": attempts_of(ended, caller) if caller in place.jails else None}
        check_layers(layers, place.expected.get(caller, {}))
    for name in place.tests:
        found["tests"][name] = counts_of(ended, name)
    for caller, had in found["callers"].items():
        assert had["attempts"] is None or had["attempts"]["broken"] == 0 and had["attempts"]["held"] > 50, (caller, had["attempts"])
    for name, counts in found["tests"].items():
        assert counts["failed"] == 0 and counts["passed"] > 0 and counts["skipped"] == 0, ended.text(f"{name}.log")[-6000:]
    FOUND.mkdir(exist_ok=True)
    kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
