"""Packages for the tests: what dpkg says of them, an older version of them, and their own tests."""
import dataclasses
import pathlib
import shutil
import subprocess

OURS = ("chokepoint", "libchokepoint0", "libchokepoint-dev", "python3-chokepoint")
OLDER = "0.0.1"


def field(path, name):
    return subprocess.run(["dpkg-deb", "-f", path, name], capture_output=True, text=True, check=True).stdout.strip()


def contents(path):
    """The files and links in a package, without directories."""
    listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
    names = subprocess.run(["tar", "-t"], input=listed, capture_output=True, check=True).stdout.decode().splitlines()
    return {name[1:] for name in names if not name.endswith("/")}


def packages(directory):
    """The four packages of a directory by name; those with debug symbols are not among them."""
    found = {field(path, "Package"): path for path in sorted(pathlib.Path(directory).glob("*.deb"))}
    return {name: path for name, path in found.items() if not name.endswith("-dbgsym")}


def made_older(directory, into):
    """The same packages with a smaller version number, each with a file that the newer one does not have."""
    into.mkdir()
    for name, path in packages(directory).items():
        work = into / name
        subprocess.run(["dpkg-deb", "-R", path, work], check=True)
        control = work / "DEBIAN/control"
        version = field(path, "Version")
        control.write_text(control.read_text(encoding="utf-8").replace(version, OLDER), encoding="utf-8")
        extra = work / f"usr/share/{name}/only-in-the-old-one"
        extra.parent.mkdir(parents=True, exist_ok=True)
        extra.write_text("old\n", encoding="ascii")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", work, into], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(work)
    return packages(into)


@dataclasses.dataclass
class Stanza:
    """One of debian/tests/control."""
    names: list
    depends: list
    restrictions: list


def own_tests(directory):
    found = []
    for text in (pathlib.Path(directory) / "control").read_text(encoding="utf-8").strip().split("\n\n"):
        keys = dict(line.split(": ", 1) for line in text.splitlines())
        found.append(Stanza(*(keys[key].replace(",", " ").split() for key in ("Tests", "Depends", "Restrictions"))))
    return found
