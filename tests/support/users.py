"""Ordinary users for the tests.

useradd and userdel replace /etc/passwd, and a jail that is made at that moment does not find
the file that it shows. So a run of many suites makes its users before they begin and removes
them after all have ended. Each test process takes one that is free. A test process that runs
alone makes its own.
"""
import contextlib
import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid

POOL = "CHOKE_TEST_USERS"  # the variable names a directory with one file per user; the process that uses a user holds a lock on it


def comment():
    return f"chokepoint test in {os.stat('/proc/self/ns/pid').st_ino} by"


def possible() -> bool:
    return os.geteuid() == 0 and shutil.which("useradd") is not None


def sweep() -> None:
    """A process that was killed could not remove its users."""
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
    """Around all suites: their test processes find these users."""
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
    """The name of a free user of the pool, and the descriptor that holds its lock; None if all are
    taken."""
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
