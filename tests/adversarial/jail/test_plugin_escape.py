"""Promise: What it may execute.
Attacker: code of the repository, and whoever can write the caller's cache or a package of the interpreter.
Means: a list of plug-ins that names programs, links, files outside the system and libraries that nothing
needs; a plug-in that is a program, a link, a pipe, or may be written by others; a loader of the
repository with a program beneath /usr/lib; execution of a plug-in; a directory that changes all the
time, and one that is too deep.

Expected (R80): only plug-ins and what these need can be mapped, and none can be executed. A forged
list costs a search.
"""
import glob
import os
import shutil
import subprocess
import sysconfig
import threading
import time

import pytest

from jails import OPENED, Cell
from plugins import Python, a_plugin

PACKAGES = "/usr/lib/python3/dist-packages"
LIBRARIES = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"
UNNEEDED = f"{LIBRARIES}/gconv/UTF-16.so"
LINK = next(path for path in sorted(glob.glob(f"{LIBRARIES}/lib*.so.*")) if os.path.islink(path))
LOADER = os.path.realpath(glob.glob("/lib*/ld-linux-*.so.[0-9]")[0])
BENEATH = "/usr/lib/git-core/git"
FORGED = {"setuid": "/usr/bin/su", "program": BENEATH, "other_program": "/usr/bin/git", "static": "/usr/sbin/ldconfig",
          "unneeded": UNNEEDED, "link": LINK, "no_elf": "/usr/lib/os-release", "dots": f"{LIBRARIES}/gconv/../gconv/UTF-16.so",
          "in_the_table": f"{PACKAGES}/../../{os.path.basename(LIBRARIES)}/gconv/UTF-16.so",
          "directory": "/usr/lib/git-core"}


def line(path, kind="f"):
    status = os.stat(path)
    return (f"{kind} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {path}\n")


@pytest.fixture
def python(once_cell):
    return Python(once_cell)


# ---- the remembered list ----

@pytest.mark.parametrize("name", FORGED)
def test_forged_line_adds_nothing(python, name):
    path = FORGED[name]
    assert python.remembered() == {a_plugin(): "mapped"}
    good = python.cache.read_text()
    assert path not in good.split()
    for place in ("first", "last"):
        head, rest = good.split("\n", 1)
        python.cache.write_text(f"{head}\n{line(path)}{rest}" if place == "first" else good + line(path))
        said = python.maps(path, a_plugin()) if os.path.isfile(path) else python.maps(a_plugin())
        # The link's file may be a library that is needed, at its own path.
        assert said[a_plugin()] == "mapped" and (name == "link" or said.get(path, "refused") == "refused"), said
        python.remembered(holds=lambda: line(path) not in python.cache.read_text())  # the list is made again


def test_library_of_the_caller_is_not_named(box):
    """A good name and a good format, in a directory that the repository or the caller may write."""
    python = Python(Cell(box, "native"))
    own = box.directory("elsewhere") / "libown.so"
    shutil.copyfile(a_plugin(), own)
    box.own(own)
    python.remembered()
    python.cache.write_text(python.cache.read_text() + line(own))
    said = python.explained()
    assert "libown.so" not in said and f"code {a_plugin()}" in said
    python.remembered(holds=lambda: "libown.so" not in python.cache.read_text())


DAMAGED = {"empty": b"", "nul": b"\0", "cut": b"f", "bytes": b"\xff" * 4096, "long": b"f 1 2 3 4 5 /usr/bin/su\n" * 5000,
           "huge": b"d\n" * 700000}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_list_costs_a_search(python, name):
    python.remembered()
    head = python.cache.read_bytes().split(b"\n", 1)[0]
    for wrong in (DAMAGED[name], head + b"\n" + DAMAGED[name]):
        python.cache.write_bytes(wrong)
        assert python.maps(a_plugin(), BENEATH) == {a_plugin(): "mapped", BENEATH: "refused"}


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_list_that_others_may_write_is_not_read(python, mode):
    """Read, this one would leave the plug-in out."""
    python.remembered()
    lines = python.cache.read_text().splitlines(keepends=True)
    python.cache.write_text("".join(line for line in lines if a_plugin() not in line))
    os.chmod(python.cache, mode)
    assert python.maps(a_plugin()) == {a_plugin(): "mapped"}


def test_list_in_the_root_is_not_read(python):
    """The repository may have written it."""
    home = python.box.directory("root/home", 0o700)
    python.box.own(home)
    answer = python.run("maps.py", a_plugin(), env=python.box.environment(XDG_CACHE_HOME=str(home)))
    assert answer.status == 0 and not list(home.iterdir()), answer.document


# ---- what is in a directory of plug-ins ----

@pytest.fixture(params=["native", "bwrap"])
def hostile(request, root_box):
    """Only root can put a tree in a directory of the system, so only root's runs see one."""
    made = Python(Cell(root_box, request.param))
    made.tree = root_box.directory("tree", 0o755)
    shutil.copyfile(a_plugin(), made.tree / "good.so")
    return made


def test_only_plugins_of_a_directory_are_code(hostile):
    tree = hostile.tree
    shutil.copyfile("/usr/bin/true", tree / "program.so")
    shutil.copyfile("/usr/sbin/ldconfig", tree / "static.so")
    shutil.copyfile(f"{LIBRARIES}/libc.so.6", tree / "both.so")  # a library that can be executed, too
    shutil.copyfile(a_plugin(), tree / "plugin.txt")
    shutil.copyfile(a_plugin(), tree / "written.so")
    shutil.copyfile(a_plugin(), tree / "foreign.so")
    os.chmod(tree / "written.so", 0o666)
    os.chown(tree / "foreign.so", 65534, 65534)
    (tree / "link.so").symlink_to(BENEATH)
    (tree / "text.so").write_text("#!/bin/sh\n")
    (tree / "open").mkdir()
    shutil.copyfile(a_plugin(), tree / "open/in.so")
    os.chmod(tree / "open", 0o777)
    deep = tree / "/".join("abcdefghijkl")
    deep.mkdir(parents=True)
    shutil.copyfile(a_plugin(), deep / "deep.so")
    os.mkfifo(tree / "pipe.so")  # to open it for reading would wait
    names = ["good.so", "program.so", "static.so", "both.so", "plugin.txt", "written.so", "foreign.so", "link.so", "text.so",
             "open/in.so", "a/b/c/d/e/f/g/h/i/j/k/l/deep.so"]
    said = hostile.maps_over(tree, PACKAGES, *(f"{PACKAGES}/{name}" for name in names))
    assert said == {f"{PACKAGES}/{name}": "mapped" if name == "good.so" else "refused" for name in names}


def test_plugin_is_not_executed(hostile):
    """It may be mapped; Landlock does not allow to execute it."""
    shutil.copyfile(a_plugin(), hostile.tree / "good.so")
    os.chmod(hostile.tree / "good.so", 0o755)
    hostile.box.file("root/maps.py", "import os, sys\ntry:\n    os.execv(sys.argv[1], ['x'])\n"
                                     "except OSError as error:\n    print('refused' if error.errno == 13 else error, sys.argv[1])\n")
    assert hostile.maps_over(hostile.tree, PACKAGES, f"{PACKAGES}/good.so") == {f"{PACKAGES}/good.so": "refused"}


def test_directory_that_changes_during_the_search(hostile):
    """Files come, go and become programs. Each run works, and maps no program."""
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for number in range(20):
                other = hostile.tree / f"new{number}"
                shutil.copyfile("/usr/bin/true" if number % 2 else a_plugin(), other)
                other.rename(hostile.tree / "swapped.so")
            (hostile.tree / "swapped.so").unlink()
    shutil.copyfile("/usr/bin/true", hostile.tree / "program.so")
    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(5):
            said = hostile.maps_over(hostile.tree, PACKAGES, f"{PACKAGES}/good.so", f"{PACKAGES}/program.so")
            assert said == {f"{PACKAGES}/good.so": "mapped", f"{PACKAGES}/program.so": "refused"}
    finally:
        stop.set()
        changing.join()


def test_plugin_that_becomes_a_program_after_the_search(hostile):
    """Once in each run, at another time of it. What is mounted as code is the file that was checked, or nothing."""
    swapped, parts = hostile.tree / "swapped.so", 16

    def run(delay):
        shutil.copyfile(a_plugin(), swapped)
        shutil.copyfile("/usr/bin/true", hostile.tree / "other")
        swap = threading.Timer(delay, (hostile.tree / "other").rename, [swapped])
        started = time.monotonic()
        swap.start()
        sizes = hostile.sizes(hostile.run_over(hostile.tree, PACKAGES, f"{PACKAGES}/swapped.so"))
        seconds = time.monotonic() - started
        swap.join()
        swapped.unlink()
        return sizes.get(f"{PACKAGES}/swapped.so"), seconds
    _, seconds = run(0)
    found = [run(seconds * part / parts)[0] for part in range(parts)]
    assert set(found) <= {None, os.stat(a_plugin()).st_size}, found


def test_directory_with_more_plugins_than_are_taken(hostile):
    """The first ones in the order of their names are code."""
    for number in range(3000):
        os.link(hostile.tree / "good.so", hostile.tree / f"many{number}.so")
    said = hostile.maps_over(hostile.tree, PACKAGES, f"{PACKAGES}/good.so", f"{PACKAGES}/many999.so")
    assert said == {f"{PACKAGES}/good.so": "mapped", f"{PACKAGES}/many999.so": "refused"}


# ---- a loader of the repository ----

def test_loader_of_the_repository_runs_no_program(cell):
    """It has no stub. What it cannot map it cannot run; a program that is listed it can."""
    box = cell.box
    shutil.copyfile(LOADER, box.root / "loader")
    os.chmod(box.root / "loader", 0o755)
    assert b"git version" in subprocess.run([box.root / "loader", BENEATH, "--version"], capture_output=True, check=True).stdout
    policy = box.write_policy([box.entry("loader", route="external", path="./loader", uses=["python-tools"], **OPENED),
                               box.entry("bwrap", route="jail")], name="policy/loader.yaml")

    def runs(*argv):
        return box.run("loader", *argv, options=["--jail", cell.jail], policy=policy)
    answer = runs("/usr/bin/python3", "-c", "import ssl; print('listed')")
    assert answer.stream("stdout") == b"listed\n", answer.document
    for program in (BENEATH, "/usr/bin/git", "/usr/bin/su"):
        answer = runs(program, "--version")
        assert answer.status == 127 and b"failed to map segment" in answer.stream("stderr"), answer.document
