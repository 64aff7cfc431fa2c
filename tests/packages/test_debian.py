"""R110: the packages install, work, are upgraded and go, over this machine and in a fresh Debian.

Over this machine: a namespace in which everything that is written is in memory. It has the packages that ours depend on,
so it needs no network. A full run has a fresh Debian 12 as well, made by debootstrap from where this machine's apt gets its
packages, and runs autopkgtest in it.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from debs import OLDER, OURS, contents, field, made_older, own_tests, packages
from feature import full
from making import ROOT, need, run
from system import over

POLICY = """version: 1
adr_dir: adr
extends: default
"""
STATE = {"/etc/chokepoint/policy.yaml": POLICY, "/etc/chokepoint/adr/0001-a-record.md": "# 0001 A record\n",
         "/var/log/chokepoint/audit.jsonl": "a log of the machine\n",
         "/home/somebody/.local/state/chokepoint/audit.jsonl": "a log of a user\n",
         "/home/somebody/.config/chokepoint/anything": "kept\n"}
# What dpkg, apt, useradd and the tests of the packages leave by themselves.
OTHERS = re.compile(r"/(var/(lib/(apt|dpkg|systemd)|cache|log|mail|backups)|etc/(ld\.so\.cache|\.?(passwd|group|shadow|gshadow|subuid|subgid)-?"
                    r"(\.lock)?)|root/|home/somebody|etc/chokepoint(/adr)?$|tmp)")


class Kind:
    """How packages get into a system that looks like this machine at first."""

    def __init__(self, tmp_path):
        self.lower = "/"
        self.place = tmp_path

    def prepare(self, system):
        pass

    def install(self, system, debs):
        system.check("dpkg", "--install", *debs)

    def purge(self, system):
        system.check("dpkg", "--purge", *OURS)

    def own_tests(self, system):
        """Each test of debian/tests, where autopkgtest would run it."""
        for stanza in own_tests(ROOT / "packaging/debian/tests"):
            for name in stanza.names:
                system.check(f"/srv/source/debian/tests/{name}")


class Fresh(Kind):
    """The same in a Debian 12 that has never had anything installed."""

    def __init__(self, tmp_path):
        super().__init__(tmp_path)
        need("debootstrap")
        self.lower = tmp_path / "fresh"
        sources = run("apt-get", "indextargets", "--format", "$(SITE)|$(REPO_URI)|$(CODENAME)", "Created-By: Packages")
        mirror = next(line.split("|")[1] for line in sources.splitlines() if line.endswith("|bookworm"))
        run("debootstrap", "--variant=minbase", "bookworm", self.lower, mirror, timeout=1200)

        # The network and apt are those of this machine. Both are copied now, and nothing of them is in this file.
        shutil.copy("/etc/resolv.conf", self.lower / "etc/resolv.conf")
        for path in ("etc/apt", "usr/share/keyrings"):
            shutil.copytree(f"/{path}", self.lower / path, dirs_exist_ok=True)
        if not pathlib.Path("/etc/apt/sources.list").exists():
            (self.lower / "etc/apt/sources.list").unlink()

    def prepare(self, system):
        system.check("apt-get", "update")

    def install(self, system, debs):
        system.check("apt-get", "install", "--yes", "--no-install-recommends", *debs, deadline=900)

    def purge(self, system):
        system.check("apt-get", "purge", "--yes", *OURS)

    def own_tests(self, system):
        system.check("apt-get", "install", "--yes", "--no-install-recommends", "autopkgtest", deadline=900)
        done = system.call("autopkgtest", *sorted(f"/srv/new/{path.name}" for path in (self.place / "shared/new").glob("*.deb")),
                           "/srv/source", "--", "null", deadline=1800)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-8000:]
        assert {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" PASS")} == {"command", "library", "python"}


@pytest.fixture(params=[Kind, Fresh] if full() else [Kind])
def kind(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture
def shared(built, tmp_path):
    """What the system has at /srv: the packages, an older version of them, and their tests."""
    place = tmp_path / "shared"
    (place / "new").mkdir(parents=True)
    for path in packages(built).values():
        shutil.copy(path, place / "new")
    made_older(built, place / "old")
    shutil.copytree(built / "source", place / "source")
    return place


def in_system(directory, shared):
    return sorted(f"/srv/{directory}/{path.name}" for path in (shared / directory).glob("*.deb"))


def versions(system):
    return dict(line.split() for line in system.check("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *OURS).splitlines())


def check_state(system):
    """What the administrator and the users wrote is as they wrote it."""
    for path, text in STATE.items():
        assert system.check("cat", path) == text, path


def check_nothing_is_left(system, files, strictly):
    """strictly: there were no other packages to install."""
    new, gone = system.changed()
    left = {path for path in new if "choke" in path and path not in STATE and not OTHERS.match(path)} | (new & files)
    if strictly:
        # gone: the machine itself may add users meanwhile, whose lock files come and go beneath this system.
        left |= {path for path in (new - set(STATE)) | gone if not OTHERS.match(path)}
    assert not left
    assert not system.exists("/run/chokepoint")


def test_packages_install_work_upgrade_and_leave_only_what_others_wrote(kind, shared, superuser):
    files = set().union(*(contents(path) for path in packages(shared / "new").values()))
    with over(kind.lower, shared) as system:
        kind.prepare(system)
        kind.install(system, in_system("old", shared))
        assert versions(system) == dict.fromkeys(OURS, OLDER)
        for path, text in STATE.items():
            system.write(path, text)
        kind.install(system, in_system("new", shared))
        assert versions(system) == {name: field(path, "Version") for name, path in packages(shared / "new").items()}
        assert files <= system.changed()[0] and not system.exists("/usr/share/chokepoint/only-in-the-old-one")
        assert system.check("dpkg", "--verify", *OURS) == ""
        kind.own_tests(system)
        assert "/etc/chokepoint/policy.yaml" in system.check("chokepoint", "doctor").splitlines()[0]
        assert system.exists("/run/chokepoint")  # the proofs of the jails that the tests used
        system.write("/run/chokepoint/.chokepoint-0123456789abcdef", "a proof that was not written to its end\n")
        check_state(system)
        kind.purge(system)
        check_state(system)
        check_nothing_is_left(system, files, strictly=kind.lower == "/")


def test_each_package_has_its_part(built):
    """A program needs the library, whoever compiles needs the headers, and neither needs the command."""
    found = {name: contents(path) for name, path in packages(built).items()}
    assert set(found) == set(OURS)
    triplet = run("dpkg-architecture", "-q", "DEB_HOST_MULTIARCH").strip()
    assert {f"/usr/lib/{triplet}/libchokepoint.so.0"} <= found["libchokepoint0"]
    assert {"/usr/include/chokepoint.h", f"/usr/lib/{triplet}/libchokepoint.a", "/usr/share/man/man3/libchokepoint.3.gz",
            f"/usr/lib/{triplet}/pkgconfig/chokepoint.pc"} <= found["libchokepoint-dev"]
    assert {"/usr/bin/chokepoint", "/usr/libexec/chokepoint/chokepoint-attack", "/usr/share/man/man1/chokepoint.1.gz",
            "/usr/share/man/man5/chokepoint-policy.5.gz", "/usr/share/bash-completion/completions/chokepoint",
            "/usr/share/zsh/vendor-completions/_chokepoint", "/usr/share/chokepoint/policy.schema.json"} <= found["chokepoint"]
    assert {"/usr/lib/python3/dist-packages/chokepoint/_choke.abi3.so"} <= found["python3-chokepoint"]
    assert not any(path.startswith("/etc/") for files in found.values() for path in files)
    depends = {name: field(path, "Depends") for name, path in packages(built).items()}
    assert "libchokepoint0 (= " in depends["libchokepoint-dev"] and "libchokepoint0 (>= " in depends["python3-chokepoint"]
    assert "libsodium23" in depends["chokepoint"] and "libchokepoint0" not in depends["chokepoint"]  # Debian corrects libsodium


def test_the_libraries_that_are_linked_are_named_nowhere_by_hand(built):
    """What meson.build asks for is needed to build, and what the static library needs comes with the headers."""
    described = pathlib.Path(os.environ["CHOKE_BUILD"], "meson-private/chokepoint.pc").read_text(encoding="utf-8")
    words = re.findall(r"[^\s,]+", " ".join(re.findall(r"^(?:Requires|Libs)\.private: (.*)$", described, re.MULTILINE)))
    needed = set(run(ROOT / "tools/pkgconfig-packages.sh", *words).strip().split(","))
    assert {"libsodium-dev", "libbearssl-dev"} <= needed  # one with, and one without a file for pkg-config
    control = (built / "source/debian/control").read_text(encoding="utf-8")
    for names in (next(line for line in control.splitlines() if line.startswith("Build-Depends: ")),
                  field(packages(built)["libchokepoint-dev"], "Depends")):
        assert needed <= set(re.split(r"[ ,]+", names)), names
    assert not any(package in (ROOT / "packaging/debian/control").read_text(encoding="utf-8") for package in needed)


@pytest.mark.parametrize("name, said", [("stranger", "stranger.pc' belongs to no package"), ("-lstranger", "libstranger.a' belongs to no package"),
                                        ("-lnothing", "does not find the library 'nothing'"), ("nothing", "does not know 'nothing'")])
def test_a_library_of_no_package_is_an_error(name, said, tmp_path):
    (tmp_path / "stranger.pc").write_text("Name: stranger\nDescription: none\nVersion: 1\n", encoding="ascii")
    (tmp_path / "libstranger.a").write_bytes(b"!<arch>\n")
    done = subprocess.run([ROOT / "tools/pkgconfig-packages.sh", "libsodium", name], capture_output=True, text=True, check=False,
                          env={**os.environ, "PKG_CONFIG_PATH": str(tmp_path), "LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 1 and said in done.stderr and done.stdout == ""


def test_what_is_compiled_in_comes_with_its_licence(built, tmp_path):
    """The grammars are in the command and in the library. Of the licence of ICU its first part is about what the parser has."""
    def words(text):
        return " ".join(word for word in text.replace("\n .\n", "\n\n").split())
    texts = [path.read_text(encoding="utf-8").split("\n-----")[0] for path in (ROOT / "third_party/grammars/licences").glob("*.txt")]
    assert len(texts) >= 7
    for name, path in packages(built).items():
        run("dpkg-deb", "-x", path, tmp_path / name)
        written = words((tmp_path / name / f"usr/share/doc/{name}/copyright").read_text(encoding="utf-8"))
        for text in texts:
            assert words(text[re.search("Permission is hereby", text).start():]) in written, (name, text)


def test_the_changelog_has_the_version_of_the_sources(built):
    version = run(ROOT / "tools/version.sh").strip()
    assert {field(path, "Version") for path in packages(built).values()} == {version}
