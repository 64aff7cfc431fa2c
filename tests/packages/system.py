"""A system of its own for packages: a namespace over this machine or over a fresh Debian, in memory."""
import contextlib
import os
import pathlib
import subprocess
import tempfile

from feature import skip

ENTER = pathlib.Path(__file__).parent / "enter.sh"
# Not /usr/local: what `make install` left there would be found before what the packages bring.
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
       "DEBIAN_FRONTEND": "noninteractive"}


class System:
    """lower: the root that it looks like at first. shared: a directory of the host, there at /srv."""

    def __init__(self, lower, holder):
        self.lower, self.holder = pathlib.Path(lower), holder

    def call(self, *argv, env=None, deadline=300, **keywords):
        """Runs a command in it, as root."""
        into = ["nsenter", "--target", str(self.holder), "--mount", "--pid", "--", *map(str, argv)]
        return subprocess.run(into, env={**ENV, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=deadline, check=False, **keywords)

    def check(self, *argv, **keywords):
        """The output of a command that must succeed."""
        done = self.call(*argv, **keywords)
        assert done.returncode == 0, f"{argv} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout

    def write(self, path, text):
        done = self.call("sh", "-c", 'mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"', "sh", path, text)
        assert done.returncode == 0, done.stderr

    def exists(self, path):
        return self.call("test", "-e", path).returncode == 0

    def changed(self):
        """Paths that exist here and not in the root below, and those that exist only there."""
        new, gone = set(), set()
        for line in self.check("find", "/mnt", "-mindepth", "1", "-printf", r"%y /%P\n").splitlines():
            kind, path = line.split(" ", 1)
            below = os.path.lexists(f"{self.lower}{path}")
            if kind == "c":  # what was removed from the root below is a character device here
                gone.add(path)
            elif not below:
                new.add(path)
        return new, gone


@contextlib.contextmanager
def over(lower, shared):
    with tempfile.TemporaryDirectory(prefix="choke-system-") as base:
        command = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "sh", str(ENTER), str(lower),
                   base, str(shared)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as outside:
            try:
                said = outside.stdout.readline()
                if said != "ready\n":
                    skip("overlay", f"a system of its own cannot be made here: {outside.communicate(timeout=60)[1][-500:]}")
                children = pathlib.Path(f"/proc/{outside.pid}/task/{outside.pid}/children").read_text(encoding="ascii")
                yield System(lower, int(children.split()[0]))
            finally:
                outside.kill()
