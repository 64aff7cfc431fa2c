"""The bill of materials (SPDX 2.3) of programs, from what the linker really put into them.

The linker's map of a program names every object file and every member of an archive that is in it. Files in the build directory
are our own. Every other file must belong to a package of Debian or it is an error: nothing is in the list by guess, and
nothing is left out. The grammars of the linter are in our own library; tools/grammars.lock says what they are made of.
"""
import base64
import dataclasses
import hashlib
import os
import re
import subprocess
import time
import urllib.parse

MEMBER = re.compile(r"^(/?[^\s()]+\.a)\([^()]+\)$")
LOADED = re.compile(r"^LOAD (.+)$")
NOTHING = "NOASSERTION"


@dataclasses.dataclass(frozen=True)
class Package:
    """A package of Debian whose files were linked."""
    name: str
    version: str
    architecture: str
    source: str
    files: tuple  # paths

    @property
    def licence_file(self):
        return f"/usr/share/doc/{self.name}/copyright"


def linked_files(map_path, build):
    """Files outside of the build directory that are in the program."""
    with open(map_path, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    members = {found.group(1) for found in map(MEMBER.match, lines) if found}
    loaded = {found.group(1) for found in map(LOADED.match, lines) if found}
    # An archive is loaded to look into it; it is in the program if one of its members is.
    used = members | {path for path in loaded if not path.endswith((".a", ".so"))}
    absolute = {os.path.realpath(os.path.join(build, path)) for path in used}
    return {path for path in absolute if not path.startswith(os.path.realpath(build) + "/")}


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout


def owners_of(paths):
    """The package of each file. dpkg knows a file by the path from before /usr was merged, or by the one from after."""
    spellings = {spelling: path for path in paths for spelling in (path, path.removeprefix("/usr"), "/usr" + path)}
    # It fails because it does not know some of the spellings, and prints the others.
    found = subprocess.run(["dpkg-query", "-S", *sorted(spellings)], capture_output=True, text=True, check=False).stdout
    owners = {spellings[path]: owner for owner, path in (line.split(": ", 1) for line in found.splitlines()) if path in spellings}
    strangers = sorted(set(paths) - set(owners))
    if strangers:
        raise SystemExit(f"sbom.py: '{strangers[0]}' was linked and belongs to no package")
    return owners


def described(owner, files):
    form = "${Package}\t${Version}\t${Architecture}\t${source:Package}"
    return Package(*said("dpkg-query", "-W", "-f", form, owner).split("\t"), tuple(sorted(files)))


def packages_of(files):
    by_owner = {}
    for path, owner in owners_of(files).items():
        by_owner.setdefault(owner, []).append(path)
    return sorted((described(owner, paths) for owner, paths in by_owner.items()), key=lambda package: package.name)


def compression():
    """The library that makes the bytes of the archive."""
    import zlib  # pylint: disable=import-outside-toplevel,unused-import
    with open("/proc/self/maps", encoding="utf-8") as stream:
        return {os.path.realpath(line.split()[-1]) for line in stream if "/libz.so" in line}


def tool_packages(compiler="cc"):
    """What the same bytes are made with again: compiler, linker, build system, and what packs the archive."""
    tools = {os.path.realpath(said("sh", "-c", f"command -v {tool}").strip()) for tool in (compiler, "ld", "meson", "ninja")}
    tools |= {os.path.realpath(said(compiler, "-print-prog-name=cc1").strip()), os.path.realpath("/usr/bin/python3")}  # of pack.py
    return packages_of(tools | compression())


def digests(path):
    with open(path, "rb") as stream:
        data = stream.read()
    return [{"algorithm": name, "checksumValue": hashlib.new(name, data).hexdigest()} for name in ("SHA1", "SHA256")]


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def quoted(version):
    """As a package URL has it."""
    return urllib.parse.quote(version, safe=":~")


def debian_entry(package, role):
    return {
        "SPDXID": identifier(role, package.name), "name": package.name, "versionInfo": package.version,
        "supplier": "Organization: Debian", "downloadLocation": NOTHING, "filesAnalyzed": False,
        "licenseConcluded": NOTHING, "licenseDeclared": NOTHING, "copyrightText": NOTHING,
        "sourceInfo": f"built from Debian's source package {package.source}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{package.name}@{quoted(package.version)}?arch={package.architecture}"}]}


def grammar_entries(lock_path):
    """The parser of the linter and its grammars: the archives of npm with the digest that was checked."""
    with open(lock_path, encoding="utf-8") as stream:
        rows = [line.split() for line in stream if line.strip() and not line.startswith("#")]
    return [{
        "SPDXID": identifier("Grammar", name), "name": name, "versionInfo": version, "supplier": NOTHING,
        "downloadLocation": NOTHING, "filesAnalyzed": False, "licenseConcluded": NOTHING, "licenseDeclared": "MIT",
        "copyrightText": NOTHING,
        "checksums": [{"algorithm": "SHA512",
                       "checksumValue": base64.b64decode(integrity.removeprefix("sha512-"), validate=True).hex()}],
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:npm/{name}@{version}"}]} for name, version, integrity in rows]


def file_entry(identity, name, path):
    return {"SPDXID": identity, "fileName": name, "checksums": digests(path), "licenseConcluded": NOTHING,
            "copyrightText": NOTHING}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(name, version, programs, build, lock_path, epoch):
    """programs: name in the archive, stripped file, map, whether the grammars are in it, for each program. Returns the
    document and the packages that were linked."""
    ours = "SPDXRef-chokepoint"
    packages, files, relations = {}, {}, [relation("SPDXRef-DOCUMENT", "DESCRIBES", ours)]
    grammars = grammar_entries(lock_path)
    entries = [{"SPDXID": ours, "name": "chokepoint", "versionInfo": version, "downloadLocation": NOTHING,
                "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
                "copyrightText": NOTHING, "packageFileName": f"{name}.tar.gz"}, *grammars]
    for program, stripped, map_path, has_grammars in programs:
        identity = identifier("Program", os.path.basename(program))
        files[identity] = file_entry(identity, f"./{program}", stripped)
        relations.append(relation(identity, "EXPANDED_FROM_ARCHIVE", ours))
        relations += [relation(identity, "STATIC_LINK", entry["SPDXID"]) for entry in grammars if has_grammars]
        for package in packages_of(linked_files(map_path, build)):
            packages.setdefault(package.name, package)
            relations.append(relation(identity, "STATIC_LINK", identifier("Linked", package.name)))
            for path in package.files:
                linked = identifier("File", path.lstrip("/"))
                files[linked] = file_entry(linked, "." + path, path)
                relations.append(relation(identity, "STATIC_LINK", linked))
                relations.append(relation(linked, "EXPANDED_FROM_ARCHIVE", identifier("Linked", package.name)))
    for tool in tool_packages():
        entries.append(debian_entry(tool, "Tool"))
        relations.append(relation(identifier("Tool", tool.name), "BUILD_TOOL_OF", ours))
    entries += [debian_entry(package, "Linked") for package in packages.values()]
    unique = [dict(pairs) for pairs in sorted({tuple(sorted(entry.items())) for entry in relations})]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    digest = hashlib.sha256("".join(entry["checksums"][1]["checksumValue"] for entry in files.values()).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: chokepoint-dist"]},
        "packages": sorted(entries, key=lambda entry: entry["SPDXID"]),
        "files": [files[identity] for identity in sorted(files)], "relationships": unique}, sorted(packages.values(), key=lambda p: p.name)
