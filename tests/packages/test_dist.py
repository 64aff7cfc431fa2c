"""R110: what `make dist` makes, packed from the build directory. test_dist_twice.py makes whole builds, in a full run."""
import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest
from making import EPOCH, ROOT, new_key, run, unpacked

BUILD = pathlib.Path(os.environ.get("CHOKE_BUILD", ""))


def load(name):
    sys.path.insert(0, str(ROOT / "tools/dist"))
    spec = importlib.util.spec_from_file_location(f"dist_{name}", ROOT / f"tools/dist/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bytes_of(directory):
    return {path.name: path.read_bytes() for path in pathlib.Path(directory).iterdir()}


@pytest.fixture(scope="module")
def bill(release):
    return json.loads((release.directory / f"{release.name}.spdx.json").read_text(encoding="utf-8"))


# ---- the archive ----

def test_the_same_build_is_packed_into_the_same_bytes(release, tmp_path):
    env = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "7"}
    run(ROOT / "tools/dist/pack.py", os.path.relpath(BUILD, tmp_path), tmp_path / "again", env=env, cwd=tmp_path, umask=0o077)
    assert bytes_of(tmp_path / "again") == {name: data for name, data in bytes_of(release.directory).items() if name != "SHA256SUMS.sig"}


def test_another_time_gives_another_archive():
    """The control of the test above: the bytes do depend on what they may depend on."""
    pack = load("pack")
    contents = {"bin/one": (b"text", 0o755)}
    assert pack.archive("top", contents, 1) == pack.archive("top", contents, 1) != pack.archive("top", contents, 2)


def test_no_entry_of_the_archive_says_who_packed_it_and_when(release):
    with tarfile.open(release.directory / f"{release.name}.tar.gz") as tar:
        entries = tar.getmembers()
    assert {(entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime) for entry in entries} == {(0, 0, "root", "root", int(EPOCH))}
    assert {entry.mode for entry in entries} == {0o755, 0o644}
    assert all(entry.name == release.name or entry.name.startswith(release.name + "/") for entry in entries)
    assert not any(entry.issym() or entry.islnk() or entry.isdev() for entry in entries)


def test_the_programs_do_not_name_the_directory_they_were_built_in(release, tmp_path):
    top = unpacked(release, tmp_path)
    for program in ("bin/chokepoint", "libexec/chokepoint/chokepoint-attack"):
        data = (top / program).read_bytes()
        assert b"docs/adr" in data or program != "bin/chokepoint"  # such texts would be found
        assert str(ROOT).encode() not in data


def test_a_dynamic_command_is_not_packed(tmp_path):
    pack = load("pack")
    with pytest.raises(SystemExit, match="'/bin/ls' is not static"):
        pack.stripped("/bin/ls", tmp_path)


def test_a_command_at_a_fixed_address_is_not_packed(tmp_path):
    (tmp_path / "one.c").write_text("int main(void)\n{\n    return 0;\n}\n", encoding="ascii")
    run("cc", "-static", "-no-pie", "one.c", "-o", "one", cwd=tmp_path)
    with pytest.raises(SystemExit, match="one' is not position-independent"):
        load("pack").stripped(str(tmp_path / "one"), str(tmp_path))


def test_the_command_works_in_an_empty_root(release, tmp_path, superuser):
    """It is for any Linux of the architecture: there is no library, no /etc and no /proc here."""
    top = unpacked(release, tmp_path)
    (top / "bad.py").write_text("import os\nos.system('id')\n", encoding="ascii")
    (top / "work").mkdir()

    def inside(*argv):
        return subprocess.run(["/usr/sbin/chroot", top, "/bin/chokepoint", *argv], capture_output=True, text=True, check=False, env={})
    assert inside("--version").stdout == f"chokepoint {release.version}\n"
    assert "git" in inside("policy", "show").stdout
    found = inside("lint", "/bad.py")
    assert (found.returncode, "bad.py:2:1: error" in found.stdout) == (1, True), found


def test_the_command_of_the_archive_holds_against_its_attack_program(release, tmp_path):
    assert ", 0 broken," in run(unpacked(release, tmp_path) / "bin/chokepoint", "doctor", "--attack")


# ---- sums and signature ----

def verify(release, directory, key=None):
    return subprocess.run(["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", key or release.public, "-in", directory / "SHA256SUMS",
                           "-sigfile", directory / "SHA256SUMS.sig"], capture_output=True, check=False).returncode


def test_the_sums_are_those_of_the_files(release):
    lines = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release.directory).splitlines()
    assert lines == [f"{release.name}.spdx.json: OK", f"{release.name}.tar.gz: OK"]


def test_the_signature_is_of_these_sums_and_by_this_key(release, tmp_path):
    assert verify(release, release.directory) == 0
    for name in ("SHA256SUMS", "SHA256SUMS.sig"):
        (tmp_path / name).write_bytes((release.directory / name).read_bytes())
    assert verify(release, tmp_path) == 0
    assert verify(release, tmp_path, new_key(tmp_path / "other")[1]) != 0
    (tmp_path / "SHA256SUMS").write_bytes((release.directory / "SHA256SUMS").read_bytes().replace(b"linux", b"Linux"))
    assert verify(release, tmp_path) != 0


@pytest.mark.parametrize("kind, said", [("missing", "cannot find the key"), ("readable", "others can read the key"),
                                        ("rsa", "is not an Ed25519 key"), ("text", "cannot read a private key")])
def test_a_key_that_will_not_do_signs_nothing(kind, said, release, tmp_path):
    key = tmp_path / "key.pem"
    if kind == "rsa":
        run("openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out", key)
    elif kind == "readable":
        new_key(key)
        key.chmod(0o640)
    elif kind == "text":
        key.write_text("not a key\n", encoding="ascii")
    if kind in ("rsa", "text"):
        key.chmod(0o600)
    (tmp_path / "SHA256SUMS").write_bytes((release.directory / "SHA256SUMS").read_bytes())
    done = subprocess.run([ROOT / "tools/dist/sign.sh", key, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "SHA256SUMS.sig").exists()


# ---- the bill of materials ----

def symbols(path):
    """Functions that a program or an archive defines."""
    listed = run("nm", "--defined-only", "--format=posix", path)
    return {line.split()[0] for line in listed.splitlines() if line.split()[1:2] == ["T"]}


def test_the_bill_lists_what_is_in_the_command(bill):
    """What it names is compared with the symbols of the program, which the linker's map is not made of."""
    archives = [entry["fileName"][1:] for entry in bill["files"] if entry["fileName"].endswith(".a")]
    inside = symbols(BUILD / "chokepoint")
    known = {"libcyaml.a", "libyaml.a", "libsodium.a", "libjansson.a", "libseccomp.a", "libcares.a", "libbearssl.a", "libsqlite3.a", "libc.a"}
    assert known <= {os.path.basename(path) for path in archives}
    for path in archives:
        if os.path.basename(path) in known:
            assert symbols(path) & inside, path
    names = {entry["name"] for entry in bill["packages"]}
    assert {"libcyaml-dev", "libsodium-dev", "libc6-dev", "tree-sitter", "tree-sitter-python"} <= names
    assert any("tree_sitter_python" in line for line in run("nm", BUILD / "chokepoint").splitlines())
    assert not names & {"libcmocka-dev", "libcmocka0"}  # the unit tests are linked with it


def test_the_bill_names_what_the_same_bytes_are_made_with(bill):
    """Also what packs: another zlib makes another archive."""
    tools = {entry["name"] for entry in bill["packages"] if entry["SPDXID"].startswith("SPDXRef-Tool-")}
    compiler = os.path.realpath(run("sh", "-c", "command -v cc").strip())
    for path in (compiler, run("cc", "-print-prog-name=cc1").strip(), "/usr/bin/ld", "/usr/bin/ninja"):
        assert run("dpkg-query", "-S", os.path.realpath(path)).split(":")[0] in tools, path
    assert {"meson", "zlib1g"} <= tools and any(name.startswith("python3") for name in tools), tools


def test_the_bill_lists_nothing_that_is_not_in_the_program(tmp_path):
    """An archive that the linker only looked into is not in the program."""
    sbom = load("sbom")
    (tmp_path / "one.c").write_text("#include <yaml.h>\nint main(void)\n{\n    yaml_parser_t parser;\n"
                                    "    return !yaml_parser_initialize(&parser);\n}\n", encoding="ascii")
    run("cc", "-c", "-fPIE", "one.c", cwd=tmp_path)
    run("cc", "-static-pie", "one.o", "-o", "one", "-Wl,-Map=one.map", "-lyaml", "-lsodium", "-ljansson", cwd=tmp_path)
    found = {package.name for package in sbom.packages_of(sbom.linked_files(tmp_path / "one.map", tmp_path))}
    assert {"libyaml-dev", "libc6-dev"} <= found and not found & {"libsodium-dev", "libjansson-dev"}


def test_a_file_of_no_package_is_not_left_out(tmp_path):
    sbom = load("sbom")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "other.c").write_text("int other(void)\n{\n    return 0;\n}\n", encoding="ascii")
    run("cc", "-c", "-fPIE", "other.c", "-o", "other.o", cwd=stranger)
    build = tmp_path / "build"
    build.mkdir()
    (build / "main.c").write_text("int other(void);\nint main(void)\n{\n    return other();\n}\n", encoding="ascii")
    run("cc", "-c", "-fPIE", "main.c", cwd=build)
    run("cc", "-static-pie", "main.o", "../stranger/other.o", "-o", "main", "-Wl,-Map=main.map", cwd=build)
    with pytest.raises(SystemExit, match="was linked and belongs to no package"):
        sbom.packages_of(sbom.linked_files(build / "main.map", build))


def test_the_bill_is_whole_and_its_digests_are_right(bill, release, tmp_path):
    top = unpacked(release, tmp_path)
    assert (bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    identities = [entry["SPDXID"] for entry in bill["packages"] + bill["files"]]
    assert len(identities) == len(set(identities))
    named = {relation[end] for relation in bill["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    assert named == {*identities, "SPDXRef-DOCUMENT"}
    for entry in bill["files"]:
        name = entry["fileName"][2:]
        path = top / name if name.startswith(("bin/", "libexec/")) else pathlib.Path("/", name)
        digests = {checksum["algorithm"]: checksum["checksumValue"] for checksum in entry["checksums"]}
        assert digests == {"SHA1": hashlib.sha1(path.read_bytes()).hexdigest(), "SHA256": hashlib.sha256(path.read_bytes()).hexdigest()}
    for entry in bill["packages"]:
        assert {"name", "versionInfo", "downloadLocation", "filesAnalyzed", "licenseConcluded", "copyrightText"} <= set(entry)


def test_whatever_is_linked_comes_with_its_licence(bill, release, tmp_path):
    place = unpacked(release, tmp_path) / "share/doc/chokepoint/licences"
    linked = {entry["name"] for entry in bill["packages"] if entry["SPDXID"].startswith(("SPDXRef-Linked-", "SPDXRef-Grammar-"))}
    assert len(linked) >= 13
    for name in linked | {"chokepoint", "tree-sitter-unicode"}:
        assert len((place / f"{name}.txt").read_text(encoding="utf-8")) > 500, name
    assert (place / "common/LGPL-2.1").exists()  # libseccomp and glibc refer to it
