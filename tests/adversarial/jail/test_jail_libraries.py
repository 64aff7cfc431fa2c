"""Promise: What it may execute.
Attacker: code of the repository, run by a Python tool that may map every library of the system.
Means: the loader with a program, by each of its names and as a copy in the scratch directory or in
the repository; programs beneath /usr/lib, executed, through the loader, and as libraries; another
loader; LD_PRELOAD, LD_AUDIT and dlopen of programs; a library that the tool wrote; a change of the
loader's file.

Expected (R33): none of these runs, though extension modules load (R80). Outside the jail each does.
"""
import glob
import os

import pytest

from jails import Cell

LOADER = os.path.realpath("/lib64/ld-linux-x86-64.so.2" if os.path.exists("/lib64/ld-linux-x86-64.so.2")
                          else "/lib/ld-linux-aarch64.so.1")
NAMES = [LOADER, "/lib64/" + os.path.basename(LOADER), "/usr/bin/ld.so", "/proc/self/root" + LOADER]
BENEATH = "/usr/lib/git-core/git"  # a program in a library directory
OUTSIDE = "/usr/bin/git"  # the same program in a directory of programs

# Each attack prints "ran" if what it attacks ran, and else why not.
PRELUDE = """
import ctypes, os, shutil, subprocess, sys
def run(*argv, **more):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20, **more)
    except OSError as error:
        print("refused", error.strerror)
        return
    print("ran" if "git version" in done.stdout else f"refused {done.returncode} {done.stderr}")
def memory(path, use):
    try:
        fd = os.memfd_create("code", 0)
    except OSError as error:
        print("refused", error.strerror)
        return
    os.write(fd, open(path, "rb").read())
    use(fd)
def copy(path, place):
    shutil.copyfile(path, place)
    os.chmod(place, 0o755)
    return place
"""


@pytest.fixture
def attacker(cell):
    """A Python tool with an entry of four keys. attack(text) is what the text prints inside."""
    return Attacker(cell)


class Attacker:
    def __init__(self, cell, **keys):
        self.cell = cell
        self.policy = cell.write_policy(more=[cell.box.entry("python3", route="external", **keys)])

    def script(self, text):
        self.cell.box.file("root/attack.py", PRELUDE + text)
        return ["python3", "attack.py"]

    def outside(self, text):
        return self.cell.succeeds_outside(*self.script(text), policy=self.policy).stream("stdout").decode()

    def inside(self, text):
        return self.cell.succeeds_inside(*self.script(text), policy=self.policy).stream("stdout").decode()

    def breaks_out_only_outside(self, *attacks):
        """Each attack is a line that prints one line. Two runs make all of them: one outside, one inside."""
        assert self.outside("\n".join(attacks) + "\n").splitlines() == ["ran"] * len(attacks)
        said = self.inside("\n".join(attacks) + "\n").splitlines()
        assert len(said) == len(attacks) and all(line.startswith("refused") for line in said), said
        return said


def test_modules_load(attacker):
    """Without this, all of the below could be refused because nothing is code."""
    assert attacker.inside("import ssl, sqlite3, ctypes\nprint(ctypes.CDLL('libz.so.1').zlibVersion() != 0)\n") == "True\n"


def test_program_by_the_loader(attacker):
    """By each name of the loader. Not even a program that may be executed: its arguments would be the attacker's."""
    names = list(filter(os.path.exists, NAMES))
    attacks = [f"run('{name}', '{program}', '--version')" for name in names for program in (OUTSIDE, BENEATH)]
    attacks.append(f"run('{LOADER}', '/usr/bin/python3', '-c', 'print(\"git version\")')")
    assert set(attacker.breaks_out_only_outside(*attacks)) == {"refused 126 "}


def test_arguments_and_environment_of_the_loader(attacker):
    """The stub walks over them to find how it was started."""
    given = [["--preload", "libz.so.1"], ["--argv0", "git"], ["--inhibit-cache"], ["--library-path", "/usr/lib"]]
    environments = [{}, {"LD_BIND_NOW": "1"}, {"A" * 1000 + str(i): "b" for i in range(50)}]
    attacks = [f"run('ld.so', *{options}, '{BENEATH}', '--version', executable='{LOADER}')" for options in given]
    attacks += [f"run('{LOADER}', '{BENEATH}', '--version', env={environment})" for environment in environments]
    assert set(attacker.breaks_out_only_outside(*attacks)) == {"refused 126 "}


def test_copy_of_the_loader_or_of_a_program(cell):
    """Written where it can be: the scratch directory, and a repository that may be written."""
    attacker = Attacker(cell, workspace="rw")
    places = [f"os.environ.get('HOME', '.') + '/{name}'" for name in "abc"] + ["'./a'", "'./b'", "'./c'"]
    attacks = []
    for loader, loader_for_beneath, program in zip(places[::3], places[1::3], places[2::3]):
        attacks += [f"run(copy('{LOADER}', {loader}), '{OUTSIDE}', '--version')",
                    f"run(copy('{LOADER}', {loader_for_beneath}), '{BENEATH}', '--version')",
                    f"run(copy('{OUTSIDE}', {program}), '--version')",
                    f"run('{LOADER}', {program}, '--version')"]
    said = attacker.breaks_out_only_outside(*attacks)
    assert said == 2 * (3 * ["refused Permission denied"] + ["refused 126 "])


def test_program_beneath_a_library_directory(attacker):
    assert attacker.breaks_out_only_outside(f"run('{BENEATH}', '--version')") == ["refused Permission denied"]


def test_memory_file(attacker):
    """Through the loader, and executed."""
    attacker.breaks_out_only_outside(
        f"memory('{OUTSIDE}', lambda fd: run('{LOADER}', f'/proc/self/fd/{{fd}}', '--version', pass_fds=[fd]))",
        f"memory('{OUTSIDE}', lambda fd: run(f'/proc/self/fd/{{fd}}', '--version', pass_fds=[fd]))")


def every_program():
    """Programs beneath the library directories, one for each directory that has some."""
    found = {}
    for pattern in ("/usr/lib/*/*", "/usr/lib/*/*/*", "/usr/lib/*/*/*/*", "/usr/lib32/*"):
        for path in glob.glob(pattern):
            if os.access(path, os.X_OK) and os.path.isfile(path):
                found.setdefault(os.path.dirname(path), os.path.realpath(path))
    return sorted(set(found.values()) - {LOADER})


def test_every_directory_of_programs(attacker):
    """Also other loaders and libraries that can be executed, such as libc.so.6."""
    programs = every_program()
    libc = os.path.join(os.path.dirname(LOADER), "libc.so.6")
    others = [path for path in glob.glob("/usr/lib*/ld-*") + glob.glob("/usr/lib/*/ld-*") if os.path.realpath(path) != LOADER]
    text = (f"for path in {[libc, *others, *programs]}:\n"
            "    try:\n        subprocess.run([path, '--version'], capture_output=True, timeout=20)\n"
            "    except PermissionError:\n        continue\n"
            "    except OSError as error:\n        print(path, error)\n        continue\n"
            "    print('ran', path)\n")
    assert len(programs) > 3
    assert attacker.inside(text) == ""


def test_program_as_a_library(attacker):
    """glibc refuses to load a program that way, and the mount refuses to map one in a directory of programs."""
    for program in (OUTSIDE, BENEATH):
        text = f"try:\n    ctypes.CDLL('{program}')\n    print('ran')\nexcept OSError as error:\n    print('refused', error)\n"
        for name in ("LD_PRELOAD", "LD_AUDIT"):
            text += f"run('/usr/bin/python3', '-c', 'print(2)', env={{'{name}': '{program}'}})\n"
        said = attacker.inside(text)
        assert said.count("refused") == 3 and said.count("cannot") >= 2 and "ran" not in said.split(), said


def test_library_that_the_tool_wrote(cell):
    """Copies of a library that may be mapped, at every place that can be written."""
    attacker = Attacker(cell, workspace="rw")
    text = ("for place in ('/tmp/a.so', '/tmp/probe/a.so', '/dev/shm/a.so', './a.so'):\n"
            f"    shutil.copyfile('{os.path.dirname(LOADER)}/libz.so.1', place)\n"
            "    try:\n        ctypes.CDLL(place)\n        print('ran', place)\n"
            "    except OSError as error:\n        print('refused', error)\n")
    said = attacker.inside(text).splitlines()
    assert len(said) == 4 and all("failed to map segment" in line for line in said), said


def test_loader_cannot_be_changed(attacker):
    """Not its content, not its mode, not the file that it was copied from."""
    text = (f"places = ['{LOADER}'] + ['/' + name for name in os.listdir('/') if 'loader' in name]\n"
            "for place in places:\n"
            "    for change in (lambda: open(place, 'r+b'), lambda: os.chmod(place, 0o777), lambda: os.unlink(place),\n"
            "                   lambda: os.rename(place, place + '.old'), lambda: os.truncate(place, 0)):\n"
            "        try:\n            change()\n            print('changed', place)\n"
            "        except OSError:\n            pass\n"
            "    try:\n"
            f"        done = subprocess.run([place, '{BENEATH}', '--version'], capture_output=True)\n"
            "        print(done.returncode)\n"
            "    except PermissionError:\n        print(126)\n")
    assert set(attacker.inside(text).split()) == {"126"}


def test_listed_loader_is_no_way_around(cell):
    """A policy that lists the loader by name gets the same copy."""
    attacker = Attacker(cell, execs=["/usr/bin/ld.so" if os.path.exists("/usr/bin/ld.so") else LOADER])
    said = attacker.inside(f"run('{LOADER}', '{BENEATH}', '--version')\nrun('{LOADER}', '{OUTSIDE}', '--version')\n")
    assert "ran" not in said.split() and said.count("refused") == 2, said


@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_root_beneath_a_library_directory(root_box, jail):
    """What the tool writes at /work is at its own path too, and must not be code there."""
    cell = Cell(root_box, jail)
    place = f"/usr/local/lib/chokepoint-test-{os.getpid()}"
    os.mkdir(place)
    try:
        with open(place + "/planted", "w") as stream:
            stream.write("x" * 4096)
        attack, shape = ["attempt", "mapped", place + "/planted"], {"root": place, "cwd": place}
        cell.refused_inside(*attack, policy=cell.write_policy(attempt={"workspace": "rw"}), errnos="EPERM", **shape)
        cell.succeeds_inside(*attack, policy=cell.write_policy(), **shape)
    finally:
        os.unlink(place + "/planted")
        os.rmdir(place)


def test_program_of_a_library_directory_that_is_listed(cell):
    """As java is: it runs, and nothing else in its directory does."""
    entry = cell.box.entry("git", route="external", path=BENEATH)
    policy = cell.write_policy(more=[entry])
    assert cell.succeeds_inside("git", "--version", policy=policy).stream("stdout").startswith(b"git version")
    answer = cell.inside("git", "-c", "alias.x=!/usr/lib/git-core/git-sh-i18n--envsubst --version", "x", policy=policy)
    assert answer.status != 0 and answer.stream("stdout") == b"", answer.document
