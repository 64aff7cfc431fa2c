#!/usr/bin/python3
"""pack.py BUILD DIRECTORY - makes of a build with a static command what is released.

    chokepoint-VERSION-linux-MACHINE.tar.gz         the command, its attack program, manuals, completions, schemas, licences
    chokepoint-VERSION-linux-MACHINE.spdx.json      what is in the programs (SPDX 2.3)
    SHA256SUMS                                      of both

The bytes depend on the sources, the tools and SOURCE_DATE_EPOCH, and on nothing else.
"""
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import sbom

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = {"bin/chokepoint": True, "libexec/chokepoint/chokepoint-attack": False}  # True: the grammars are in it
WANTED = re.compile(r"share/(man/man[15]/|bash-completion/|zsh/|chokepoint/)")
LICENCES = "share/doc/chokepoint/licences"
COMMON = re.compile(r"/usr/share/common-licenses/([A-Z][\w+-]*(?:\.\d+)*)")


def fail(message):
    raise SystemExit(f"pack.py: {message}")


def introspected(build, what):
    return json.loads(subprocess.run(["meson", "introspect", f"--{what}", build], capture_output=True, check=True).stdout)


def installed(build):
    """Built or source file by its place in the archive."""
    prefix = next(option["value"] for option in introspected(build, "buildoptions") if option["name"] == "prefix")
    places = {os.path.relpath(target, prefix): path for path, target in introspected(build, "installed").items()}
    wanted = {place: path for place, path in places.items() if place in PROGRAMS or WANTED.match(place)}
    missing = set(PROGRAMS) - set(wanted)
    if missing:
        fail(f"'{build}' does not build '{sorted(missing)[0]}'")
    return wanted


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def stripped(path, into):
    """The program without symbols; it must be static, and able to stand anywhere in memory."""
    headers = subprocess.run(["readelf", "-l", "-d", path], capture_output=True, text=True, check=True).stdout
    if "INTERP" in headers or "(NEEDED)" in headers:
        fail(f"'{path}' is not static: configure with -Dcommand=static")
    if "Elf file type is DYN " not in headers:
        fail(f"'{path}' is not position-independent: the kernel would load it at the same address each time")
    target = os.path.join(into, os.path.basename(path))
    subprocess.run(["strip", "--strip-all", "-o", target, path], check=True)
    return target


def licences(packages):
    """Texts by their place: ours, those of all that was linked, and those that they refer to."""
    texts = {"chokepoint.txt": read("/usr/share/common-licenses/Apache-2.0")}
    place = os.path.join(ROOT, "third_party/grammars/licences")
    texts.update({name: read(os.path.join(place, name)) for name in os.listdir(place)})
    texts.update({f"{package.name}.txt": read(package.licence_file) for package in packages})
    named = {name for text in texts.values() for name in COMMON.findall(text.decode("utf-8", "replace"))}
    texts.update({f"common/{name}": read(f"/usr/share/common-licenses/{name}") for name in named
                  if os.path.isfile(f"/usr/share/common-licenses/{name}")})
    return {f"{LICENCES}/{name}": text for name, text in texts.items()}


def archive(top, contents, epoch):
    """A tar.gz. contents: bytes and mode by place."""
    packed = io.BytesIO()
    directories = {place[:at] for place in contents for at, letter in enumerate(place) if letter == "/"}
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for place in ["", *sorted(directories | set(contents))]:
            entry = tarfile.TarInfo(f"{top}/{place}".rstrip("/"))
            entry.mtime, entry.uname, entry.gname = epoch, "root", "root"
            data, entry.mode = contents.get(place, (None, 0o755))
            if data is None:
                entry.type = tarfile.DIRTYPE
            else:
                entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data or b""))
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=0) as stream:
        stream.write(packed.getvalue())
    return out.getvalue()


def write(path, data):
    with open(path, "wb") as stream:
        stream.write(data)
    os.chmod(path, 0o644)


def main():
    build, target = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    if "SOURCE_DATE_EPOCH" not in os.environ:
        fail("SOURCE_DATE_EPOCH is not set: the archive would have the time of its making")
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    version = introspected(build, "projectinfo")["version"]
    name = f"chokepoint-{version}-linux-{os.uname().machine}"
    places = installed(build)
    with tempfile.TemporaryDirectory() as work:
        programs = {place: stripped(places[place], work) for place in PROGRAMS}
        bill, packages = sbom.document(
            name, version, [(place, path, os.path.join(build, os.path.basename(place) + ".map"), PROGRAMS[place])
                            for place, path in programs.items()], build, os.path.join(ROOT, "tools/grammars.lock"), epoch)
        contents = {place: (read(programs.get(place, path)), 0o755 if place in PROGRAMS else 0o644)
                    for place, path in places.items()}
    contents.update({place: (text, 0o644) for place, text in licences(packages).items()})
    os.makedirs(target, exist_ok=True)
    files = {f"{name}.tar.gz": archive(name, contents, epoch),
             f"{name}.spdx.json": (json.dumps(bill, indent=1, sort_keys=True) + "\n").encode()}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {file}\n" for file, data in sorted(files.items()))
    for file, data in {**files, "SHA256SUMS": sums.encode()}.items():
        write(os.path.join(target, file), data)
        print(f"{len(data):>9} {file}")
    print(f"{len(contents['bin/chokepoint'][0]):>9} bin/chokepoint in it")


if __name__ == "__main__":
    main()
