"""Packages of any suite and architecture of Debian, unpacked and never installed.

The index is fetched into lists of its own, and its signature is checked by the keys of the archive. The sources and the
lists of the system's apt are not changed; only the address of its mirror is used.
"""
import pathlib
import subprocess

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Missing(Exception):
    """The archive cannot be used: no list of it, or no network."""


def call(*argv, cwd):
    return subprocess.run(argv, cwd=cwd, capture_output=True, check=False, timeout=600, stdin=subprocess.DEVNULL)


def mirror():
    """The mirror that this machine has for the main archive."""
    targets = call("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Origin: Debian", "Created-By: Packages", cwd="/")
    found = [line.split() for line in targets.stdout.decode().splitlines()]
    plain = [uri for uri, codename in found if "-" not in codename]
    if not plain:
        raise Missing("apt has no list of the main archive; 'apt-get update' fetches it")
    return plain[0].rstrip("/")


def apt_options(suite, arch, directory):
    """For apt-get on another system, in this directory, on which nothing is installed."""
    for name in ("lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    (directory / "status").touch()
    (directory / "sources.list").write_text(f"deb [signed-by={KEYS}] {mirror()} {suite} main\n", encoding="ascii")
    settings = {"Dir::Etc::sourcelist": directory / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
                "Dir::Etc::preferencesparts": "/dev/null", "Dir::State::lists": directory / "lists",
                "Dir::State::status": directory / "status", "Dir::Cache": directory / "cache", "APT::Sandbox::User": "root",
                "Acquire::Languages": "none", "APT::Architecture": arch, "APT::Architectures": arch,
                "APT::Install-Recommends": "false", "APT::Get::Assume-Yes": "true", "Acquire::Retries": 3}
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def fetch(command, names, suite, arch, directory):
    """`apt-get COMMAND NAMES` for that system. The caller's directory has the archives, or cache/archives has."""
    options = apt_options(suite, arch, directory)
    for step in (["update"], [*command, *names]):
        done = call("apt-get", "-qq", *options, *step, cwd=directory)
        if done.returncode != 0:
            raise Missing(f"'apt-get {' '.join(step)}' for {suite} failed: {done.stderr.decode()[-500:]}")


def unpack(archives, directory):
    """A merged /usr is kept: /lib in an archive does not replace the symlink."""
    for archive in archives:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as packed:
            subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", directory], stdin=packed.stdout, check=True)
        assert packed.returncode == 0, archive


def installed(names, suite, arch, directory) -> list[pathlib.Path]:
    """The archives of the packages and of all that they depend on."""
    fetch(["install", "--download-only"], names, suite, arch, directory)
    return sorted((directory / "cache/archives").glob("*.deb"))
