"""What the tests of packages and releases share: commands that must succeed, keys, releases."""
import dataclasses
import pathlib
import shutil
import subprocess

from feature import skip

ROOT = pathlib.Path(__file__).parents[2]
EPOCH = "1790000000"  # the time of what the tests release


def need(*commands):
    """Missing commands are a skip, which CHOKE_TEST_REQUIRE makes a failure."""
    for command in commands:
        if not shutil.which(command, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"):
            skip("packages", f"'{command}' is missing; 'tools/setup.sh packages' installs it")


def run(*argv, **keywords):
    """A command that must succeed; its output."""
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **keywords)
    assert done.returncode == 0, f"{argv[0]} ended with {done.returncode}:\n{done.stdout[-8000:]}"
    return done.stdout


@dataclasses.dataclass
class Release:
    """What `make dist` leaves, and the public half of the key that it was signed with."""
    directory: pathlib.Path
    name: str
    version: str
    public: pathlib.Path


def new_key(path):
    """An Ed25519 key, and the file with its public half."""
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", path)
    path.chmod(0o600)
    public = path.with_suffix(".pub")
    run("openssl", "pkey", "-in", path, "-pubout", "-out", public)
    return path, public


def unpacked(release, into):
    """The directory in the archive."""
    run("tar", "-xzf", release.directory / f"{release.name}.tar.gz", "-C", into)
    return into / release.name
