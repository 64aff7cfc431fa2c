"""Programs from a newer suite of Debian than the tests run on, unpacked beside the build and never installed.

The package of a fixed version is fetched and compared with its recorded SHA-256. The suite moves on; then what it has now
is taken, by an index that the keys of the archive have signed. The sources of the system's apt are not changed.
"""
import os
import pathlib
import re
import struct

import debian
from registry import kept_as

SUITE = "sid"
PACKAGES = {
    "gitleaks": ("pool/main/g/gitleaks/gitleaks_8.26.0-1+b1_amd64.deb",
                 "b228ade47a811ffc94d258bd84b1c257458b4e81e37c55201c9d912c0e01bfdb"),
    "tree-sitter-cli": ("pool/main/t/tree-sitter/tree-sitter-cli_0.26.11-1_amd64.deb",
                        "272c8379140719d1ff7c5251b3e26f97b83f15c3f3cf04d1777e8be5f5cca6b4"),
}
SHT_GNU_VERNEED = 0x6ffffffe


def fetch_pinned(name, directory):
    """True if the archive still has this version."""
    path, digest = PACKAGES[name]
    if os.uname().machine != "x86_64":
        return False
    return debian.call("/usr/lib/apt/apt-helper", "download-file", f"{debian.mirror()}/{path}", str(directory / "package.deb"),
                f"SHA256:{digest}", cwd=directory).returncode == 0


def fetch_newest(name, directory):
    debian.fetch(["download"], [name], SUITE, "amd64", directory)
    next(directory.glob(f"{name}_*.deb")).rename(directory / "package.deb")


def unpacked(name) -> pathlib.Path:
    """The directory with the files of the package."""
    def fetch(directory):
        if not fetch_pinned(name, directory):
            fetch_newest(name, directory)
        (directory / "unpacked").mkdir()
        debian.unpack([directory / "package.deb"], directory / "unpacked")
        return directory / "unpacked"
    return kept_as(f"{SUITE}-{pathlib.Path(PACKAGES[name][0]).stem}", fetch)


# ---- a program for a newer C library

def needed_versions(image):
    """The versions of symbols that the program needs: name to the position of its entry, its hash and its name."""
    table, = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, table + i * size) for i in range(count)]
    found = {}
    for section in sections:
        at = section[4] if section[1] == SHT_GNU_VERNEED else 0
        while at:
            _, entries, _, first, following = struct.unpack_from("<HHIII", image, at)
            entry = at + first
            for _ in range(entries):
                digest, _, _, text, step = struct.unpack_from("<IHHII", image, entry)
                start = sections[section[6]][4] + text
                found[image[start:image.index(0, start)].decode()] = (entry, digest, text)
                entry += step
            at = at + following if following else 0
    return found


def for_this_library(program: pathlib.Path) -> bytes:
    """The program, so that the C library of this machine loads it: what it needs of a newer one are weak symbols only
    (of process creation, which have a replacement), and these are now looked for in a version that is here."""
    image = bytearray(program.read_bytes())
    versions = needed_versions(image)
    here = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))
    for name, (entry, _, _) in versions.items():
        number = re.fullmatch(r"GLIBC_(\d+)\.(\d+)", name)
        if number and tuple(map(int, number.groups())) > here:
            _, digest, text = versions["GLIBC_2.34"]
            struct.pack_into("<I", image, entry, digest)
            struct.pack_into("<I", image, entry + 8, text)
    return bytes(image)


def gitleaks() -> pathlib.Path:
    return unpacked("gitleaks") / "usr/bin/gitleaks"


def tree_sitter() -> bytes:
    return for_this_library(unpacked("tree-sitter-cli") / "usr/bin/tree-sitter")
