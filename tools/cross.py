#!/usr/bin/python3
"""cross.py - what a build for arm64 needs beside the cross compiler, once: third_party/arm64.

Leaves root/, Debian's libraries and headers for arm64, unpacked and never installed, with python3 and node to load the
bindings; qemu-aarch64, which runs programs for arm64 (Debian 12's own knows no openat2); and cross.ini for Meson. This
machine's packages and its list of architectures are not changed (docs/adr/0150). tools/grammars.sh compiles the parser of the linter for it.
"""
import fcntl
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests/support"))

import debian  # noqa: E402

PLACE = TOP / "third_party/arm64"
TRIPLET = "aarch64-linux-gnu"
SUITE, EMULATOR_SUITE = "bookworm", "trixie"
PACKAGES = ("libc6-dev libcyaml-dev libyaml-dev libjansson-dev libsodium-dev libseccomp-dev libc-ares-dev libbearssl-dev libsqlite3-dev libcmocka-dev "
            "libpython3-dev python3 nodejs").split()
CROSS = """[constants]
root = '{root}'
triplet = '{triplet}'

[binaries]
c = [triplet + '-gcc', '--sysroot=' + root]
ar = triplet + '-ar'
ld = triplet + '-ld'
objcopy = triplet + '-objcopy'
strip = triplet + '-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['{root}/../qemu-aarch64', '-L', root]

[properties]
sys_root = root
pkg_config_libdir = root / 'usr/lib' / triplet / 'pkgconfig:' + root / 'usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def stamp():
    return hashlib.sha256(pathlib.Path(__file__).read_bytes() + str(PLACE).encode()).hexdigest()


def keep_links_inside(root):
    """An absolute symlink would lead out of the root: the linker and qemu-user follow it on this machine."""
    for path in root.rglob("*"):
        if path.is_symlink() and os.readlink(path).startswith("/"):
            target = os.path.relpath(root / os.readlink(path)[1:], path.parent)
            path.unlink()
            path.symlink_to(target)


def owners(archives):
    """Which package has which library, a line for each: the package for npm has their licences."""
    for archive in archives:
        listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], check=True, stdout=subprocess.PIPE).stdout
        with tarfile.open(fileobj=io.BytesIO(listed)) as members:
            for member in members:
                name = os.path.basename(member.name)
                if member.isfile() and (".so." in name or name.endswith(".a")):
                    yield f"{name} {archive.name.split('_')[0]}\n"


def make_root(directory):
    root = directory / "root"
    for name in ("bin", "sbin", "lib"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    archives = debian.installed(PACKAGES, SUITE, "arm64", directory)
    debian.unpack(archives, root)
    (root / "owners").write_text("".join(owners(archives)), encoding="ascii")
    for name in ("man", "locale", "icons"):
        shutil.rmtree(root / "usr/share" / name, ignore_errors=True)
    keep_links_inside(root)
    return root


def make_emulator(directory):
    """It is linked statically since Debian 13."""
    arch = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
    place = directory / "emulator"
    place.mkdir()
    debian.fetch(["download"], ["qemu-user"], EMULATOR_SUITE, arch, place)
    debian.unpack(place.glob("qemu-user_*.deb"), place)
    return place / "usr/bin/qemu-aarch64"


def make():
    with tempfile.TemporaryDirectory(dir=PLACE) as directory:
        root = make_root(pathlib.Path(directory))
        os.rename(make_emulator(pathlib.Path(directory)), PLACE / "qemu-aarch64")
        shutil.rmtree(PLACE / "root", ignore_errors=True)
        os.rename(root, PLACE / "root")
    (PLACE / "cross.ini").write_text(CROSS.format(root=PLACE / "root", triplet=TRIPLET), encoding="utf-8")
    (PLACE / "stamp").write_text(stamp(), encoding="ascii")


def is_ready():
    mark = PLACE / "stamp"
    return mark.is_file() and mark.read_text(encoding="ascii") == stamp()


def main():
    PLACE.mkdir(parents=True, exist_ok=True)
    with open(PLACE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_ready():
            print("cross.py: fetching Debian's libraries for arm64, once", file=sys.stderr)
            try:
                make()
            except debian.Missing as missing:
                sys.exit(f"cross.py: {missing}")
    return subprocess.run([TOP / "tools/grammars.sh", TRIPLET, "third_party/arm64/root"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
