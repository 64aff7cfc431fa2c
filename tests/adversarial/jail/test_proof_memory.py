"""Promise: Failure.
Attacker: whoever can write next to the caller's records of proofs, another container with the same /run, and
a tool whose root holds them.
Means: a forged, cut or huge record; a link, a pipe, a directory or wide modes instead of it; a directory
that is a link, a file or another owner's; other namespaces, capabilities, groups and sysctls after the
proof; other rules of a security module; a filter around the caller; a kernel that refuses what it allowed before.

Expected (R78): a record counts only where nothing differs; else the jail is proven again, or the run is
refused. A proof builds the jail once more, so a run calls pivot_root twice with a proof and once without.
"""
import os
import pathlib
import subprocess

import pytest

from machine import MachineBox
from processes import wait_until

ALLOW_ALL = r"""
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
code = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
text = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(text))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


class Rooms:
    """Callers of one user, each in a mount namespace in which /run is a directory of the test."""

    def __init__(self, box, place, variables):
        self.box, self.place, self.variables = box, place, variables
        self.trace = box.file(box.base / "trace", mode=0o666)

    @property
    def records(self):
        """The records by name, with inode and text."""
        found = self.place / "chokepoint"
        return {path.name: (path.stat().st_ino, path.read_text(encoding="ascii")) for path in found.iterdir()} \
            if found.is_dir() and not found.is_symlink() else {}

    def start(self, *before, command=None):
        """The number of times that the jail was built in one run."""
        run = command or self.box.run_argv(["true"], options=["--jail", "native", "--require-jail"])
        env = self.box.environment(**self.variables)
        answer = self.box.call([*before, "/usr/bin/strace", "-f", "-qq", "-e", "trace=pivot_root", "-o", str(self.trace), *run],
                               env=env)
        assert answer.status == 0, answer
        return self.trace.read_text(encoding="utf-8", errors="replace").count("pivot_root(")


class Room(Rooms):
    """One such caller that stays: a process holds its namespaces."""

    def __init__(self, box, place, flags):
        super().__init__(box, place, {})
        script = f"mount --bind {place} /run && echo ready && exec sleep 600"
        self.holder = subprocess.Popen(["/usr/bin/unshare", *flags, "--propagation", "private", "/bin/sh", "-c", script],
                                       stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == b"ready\n"
        self.enter = ["/usr/bin/nsenter", "-t", str(self.holder.pid), "-m", *(["-U"] if "-U" in flags else [])]

    def start(self, *before, command=None):
        return super().start(*self.enter, *before, command=command)

    def end(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


@pytest.fixture
def room(root_box, request):
    """make(): a new container over the same /run."""
    place = root_box.directory("run", 0o755)
    made = []

    def make(*flags):
        made.append(Room(root_box, place, ["-m", *flags]))
        request.addfinalizer(made[-1].end)
        return made[-1]
    root_box.write_policy([root_box.entry("true", route="external")])
    return make


@pytest.fixture
def user_rooms(user_box):
    user_box.write_policy([user_box.entry("true", route="external")])
    place = user_box.directory("run", 0o700)
    return Rooms(user_box, place, {"XDG_RUNTIME_DIR": str(place)})


@pytest.fixture(params=["root", "user"])
def rooms(request):
    return request.getfixturevalue("room")() if request.param == "root" else request.getfixturevalue("user_rooms")


def only(rooms):
    (name, (inode, text)), = rooms.records.items()
    return rooms.place / "chokepoint" / name, inode, text


def test_second_process_believes_the_first(rooms):
    assert rooms.start() == 2
    path, inode, _text = only(rooms)
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert rooms.start() == 1
    assert only(rooms)[1] == inode


FORGERIES = {
    "other conditions": lambda text: text.replace(text.split("\n")[1], "0" * 64),
    "one digit": lambda text: text.replace(text.split("\n")[1][1:3], "gg", 1),
    "cut": lambda text: text[:-2],
    "longer": lambda text: text + "\n",
    "empty": lambda _text: "",
    "NUL": lambda text: text + "\0",
    "large": lambda text: text * 10000,
}


@pytest.mark.parametrize("how", FORGERIES)
def test_forged_record(rooms, how):
    assert rooms.start() == 2
    path, _inode, text = only(rooms)
    forged = FORGERIES[how](text)
    assert forged != text
    path.write_text(forged, encoding="ascii")
    assert rooms.start() == 2
    assert only(rooms)[2] == text


def test_record_of_another_form(rooms):
    """A jail with loopback has other layers: it is proven by itself, whatever the record of the plain one is named."""
    assert rooms.start() == 2
    path, _inode, text = only(rooms)
    jail, _form, digit = path.name.split("-")
    for form in range(1, 16):
        copy = path.with_name(f"{jail}-{form}-{digit}")
        copy.write_text(text, encoding="ascii")
        copy.chmod(0o600)
        os.chown(copy, rooms.box.actor.uid, rooms.box.actor.gid)
    rooms.box.write_policy([rooms.box.entry("true", route="external", loopback=True)])
    assert rooms.start() == 2
    assert rooms.start() == 1


@pytest.mark.parametrize("how", ["writable", "link", "fifo", "directory"])
def test_planted_file(rooms, how):
    assert rooms.start() == 2
    path, _inode, text = only(rooms)
    other = rooms.box.file(rooms.box.base / "other", text)
    if how == "writable":
        path.chmod(0o666)
    else:
        path.unlink()
        {"link": lambda: path.symlink_to(other), "fifo": lambda: os.mkfifo(path), "directory": path.mkdir}[how]()
        os.chown(path, rooms.box.actor.uid, rooms.box.actor.gid, follow_symlinks=False)
    assert rooms.start() == 2


@pytest.mark.parametrize("how", ["writable", "link", "file", "other owner"])
def test_planted_directory(rooms, how):
    """Nothing is read or written there, and the run is proven by itself."""
    assert rooms.start() == 2
    path = rooms.place / "chokepoint"
    elsewhere = rooms.box.directory("elsewhere", 0o700)
    if how == "writable":
        path.chmod(0o777)
    elif how == "other owner":
        os.chown(path, 12345, 12345)
    else:
        path.rename(elsewhere / "chokepoint")
        if how == "link":
            path.symlink_to(elsewhere / "chokepoint")
        else:
            path.write_text("", encoding="ascii")
    assert rooms.start() == 2
    assert rooms.start() == 2


def test_another_container(room):
    """The same boot and the same /run, and another mount namespace: a record of one is none of the other's."""
    one, other = room(), room()
    assert one.start() == 2
    assert one.start() == 1
    assert other.start() == 2


def test_changed_sysctl(room):
    """In a user namespace of its own: the sysctl is that of the namespace."""
    inner = room("-U", "-r")
    assert inner.start() == 2
    assert inner.start() == 1
    subprocess.run([*inner.enter, "/bin/sh", "-c", "echo 777 >/proc/sys/user/max_net_namespaces"], check=True)
    assert inner.start() == 2


@pytest.mark.parametrize("name", ["apparmor/revision", "lsm"])
def test_changed_security_module(room, name):
    """The label of a process stays the same when the rules for it are replaced. What the modules say is in /sys/kernel/security,
    here a directory of the test: a rule that is loaded counts up the revision of AppArmor."""
    one = room()
    place = one.box.directory("security", 0o755)
    (place / "apparmor").mkdir()
    for path in ("apparmor/revision", "lsm"):
        (place / path).write_text("1\n", encoding="ascii")
    subprocess.run([*one.enter, "/bin/sh", "-c", f"mount -t tmpfs none /sys/kernel && mkdir /sys/kernel/security && "
                    f"mount --bind {place} /sys/kernel/security"], check=True)
    assert one.start() == 2
    assert one.start() == 1
    (place / name).write_text("2\n", encoding="ascii")
    assert one.start() == 2
    assert one.start() == 1


@pytest.mark.parametrize("how", [["--no-new-privs"], ["--bounding-set", "-net_raw"], ["--groups", "4,5"],
                                 ["--inh-caps", "+net_raw"]], ids=lambda how: how[0])
def test_changed_caller(room, how):
    one = room()
    assert one.start() == 2
    assert one.start("/usr/bin/setpriv", *how) == 2
    assert one.start("/usr/bin/setpriv", *how) == 1


def test_filter_around_the_caller(rooms):
    """Nobody can read what a filter does, so nothing is remembered inside one."""
    inside = ["/usr/bin/python3", "-c", ALLOW_ALL]
    assert rooms.start() == 2
    before = rooms.records
    assert rooms.start(*inside) == 2
    assert rooms.start(*inside) == 2
    assert rooms.records == before


def test_doctor_proves_itself(rooms):
    """It proves native, without and with egress, as it does where nothing is remembered."""
    doctor = [rooms.box.command, "doctor", "--policy", str(rooms.box.policy), "--json"]
    alone = rooms.start(command=doctor)
    assert rooms.start() == 2
    assert rooms.start(command=doctor) == alone


@pytest.mark.parametrize("variable", [None, "run", "/nonexistent/run", "others"])
def test_no_place(user_rooms, variable):
    if variable == "others":
        variable = str(user_rooms.box.base / "of-root")
        pathlib.Path(variable).mkdir(mode=0o777)
    user_rooms.variables = {} if variable is None else {"XDG_RUNTIME_DIR": variable}
    assert user_rooms.start() == 2
    assert user_rooms.start() == 2
    assert not user_rooms.records and not any(user_rooms.box.root.iterdir())


def test_root_that_holds_it(rooms):
    """A tool that writes its root could write a record for later runs."""
    box = rooms.box
    box.write_policy([box.entry("true", route="external", workspace="rw"), box.entry("say_args", route="external", workspace="ro")])
    before = getattr(rooms, "enter", [])
    env = box.environment(**rooms.variables)
    root = "/run" if before else str(rooms.place)
    for made in (False, True):
        if made:
            assert rooms.start() in (1, 2) and rooms.records
        answer = box.call([*before, *box.run_argv(["true"], options=["--jail", "native"], root=root, cwd=root)], env=env)
        assert answer.status == 125 and b"remembers its proofs" in answer.out, answer
    answer = box.call([*before, *box.run_argv(["say_args"], options=["--jail", "native"], root=root, cwd=root)], env=env)
    assert answer.status == 0, answer


def test_locked_policy(machine_box):
    """Under a locked policy each process proves the jail itself."""
    place = machine_box.directory("run", 0o700)
    assert isinstance(machine_box, MachineBox)
    for locked in (False, True):
        machine_box.install([machine_box.entry("true", route="external")], locked=locked)
        answer = machine_box.plain("true", env=machine_box.environment(XDG_RUNTIME_DIR=str(place)))
        assert answer.outcome == "exited" and answer["jail"] == "native"
        records = list(place.glob("chokepoint/native-*"))
        assert bool(records) is not locked, records
        for path in records:
            path.unlink()


def test_jail_that_cannot_be_built(rooms):
    """The record says that it holds; the kernel refuses: the run fails, and the record is gone."""
    assert rooms.start() == 2
    assert rooms.records
    box = rooms.box
    run = box.run_argv(["true"], options=["--jail", "native", "--require-jail"])
    answer = box.call([*getattr(rooms, "enter", []), "/usr/bin/strace", "-f", "-qq", "-e", "inject=pivot_root:error=EPERM",
                       "-o", "/dev/null", *run], env=box.environment(**rooms.variables))
    assert answer.status == 125 and b'"outcome":"spawn_failed"' in answer.out, answer
    wait_until(lambda: not rooms.records)
    assert rooms.start() == 2
