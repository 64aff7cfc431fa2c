"""Ordinary users for the tests.

useradd and userdel exchange /etc/passwd for another file, and a jail that is made at this moment finds the one gone that
it was to show. So a run of many suites makes its users before they begin and removes them when all have ended; each test
process takes one that nobody else has. One that runs by itself makes its own.
"""
import contextlib
import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid

POOL = "CHOKE_TEST_USERS"  # the variable; a directory with a file named like each of them, which is locked by who has it


def comment():
    return f"chokepoint test in {os.stat('/proc/self/ns/pid').st_ino} by"


def possible() -> bool:
    return os.geteuid() == 0 and shutil.which("useradd") is not None


def sweep() -> None:
    """Who was itself killed could not remove its users."""
    for entry in pwd.getpwall():
        maker, _, pid = entry.pw_gecos.rpartition(" ")
        if maker == comment() and not os.path.exists(f"/proc/{pid}"):
            remove(entry.pw_name)


def make() -> str:
    name = "choke" + uuid.uuid4().hex[:8]
    subprocess.run(["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell",
                    "/usr/sbin/nologin", "--comment", f"{comment()} {os.getpid()}", name], check=True)
    return name


def remove(name) -> None:
    subprocess.run(["userdel", "--force", name], check=False, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def pool(count):
    """Around all suites: the test processes that are started in it find these."""
    names = []
    with tempfile.TemporaryDirectory(prefix="choke-users-") as directory:
        try:
            if possible():
                sweep()
            while possible() and len(names) < count:
                names.append(make())
                with open(os.path.join(directory, names[-1]), "w", encoding="ascii"):
                    pass
            os.environ[POOL] = directory
            yield
        finally:
            os.environ.pop(POOL, None)
            for name in names:
                remove(name)


def lock_one():
    """The name of a user of the pool that nobody has, and the descriptor by which it is ours; None where there is none."""
    directory = os.environ.get(POOL)
    for name in sorted(os.listdir(directory)) if directory else []:
        fd = os.open(os.path.join(directory, name), os.O_RDONLY)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return name, fd
        except BlockingIOError:
            os.close(fd)
    return None


@contextlib.contextmanager
def one():
    """The name of a user that is ours for a while."""
    taken = lock_one()
    if taken:
        try:
            yield taken[0]
        finally:
            os.close(taken[1])
        return
    sweep()
    name = make()
    try:
        yield name
    finally:
        remove(name)
