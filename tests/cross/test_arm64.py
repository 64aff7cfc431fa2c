"""What was built for arm64, run by qemu-user on this machine: all that needs no jail.

An emulator of one process has no seccomp, no Landlock and no namespaces of its own. The jails, the cage of guard and the
door are tried on a kernel for arm64 (tests/kernels, in a full run).
"""
import json
import os
import pathlib
import struct
import subprocess
import zipfile

import pytest
from feature import full

TOP = pathlib.Path(__file__).parents[2]
HERE, THERE = pathlib.Path(os.environ["CHOKE_BUILD"]), TOP / "build-arm64"
ROOT = TOP / "third_party/arm64/root"
EMULATOR = TOP / "third_party/arm64/qemu-aarch64"
LOADER = "lib/ld-linux-aarch64.so.1"
EM_AARCH64 = 183
PROGRAMS = ["chokepoint", "src/chokepoint-keeper", "src/chokepoint-door", "src/chokepoint-bwrap-init", "src/chokepoint-witness"]
MORE = ["chokepoint-attack", "src/libchokepoint.so.0.1.0", "bindings/python/chokepoint/_choke.abi3.so", "bindings/node/chokepoint-node.node"]


def run(argv, patience=300, **keywords):
    return subprocess.run(list(map(str, argv)), capture_output=True, check=False, timeout=patience, stdin=subprocess.DEVNULL, **keywords)


def emulated(argv, root=None, **keywords):
    """root: of the loader and the libraries of a dynamic program. A static one gets none: files are looked for there, too."""
    return run([EMULATOR, *(["-L", root] if root else []), *argv], **keywords)


def same(name, *argv, **keywords):
    """The program ends and prints as that of this machine does."""
    here, there = run([HERE / name, *argv], **keywords), emulated([THERE / name, *argv], **keywords)
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
    return there


@pytest.mark.parametrize("name", PROGRAMS + (MORE if full() else []))
def test_it_is_for_arm64(name):
    assert struct.unpack_from("<H", (THERE / name).read_bytes(), 18)[0] == EM_AARCH64


# ---- programs without libc: their first instructions are ours

def test_the_keeper_without_a_caller_ends_as_here():
    assert same("src/chokepoint-keeper").returncode != 0


def test_the_door_without_a_guard_ends_as_here():
    there = same("src/chokepoint-door", "x", "y")
    assert there.returncode == 126 and there.stderr


# ---- the stub

@pytest.fixture(name="jail_root")
def a_root_with_a_stub(tmp_path):
    """Debian's files for arm64, with the loader that a jail has."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "usr").symlink_to(ROOT / "usr")
    (tmp_path / "lib/aarch64-linux-gnu").symlink_to(ROOT / "usr/lib/aarch64-linux-gnu")
    made = emulated([THERE / "tests/helpers/stubbed_loader", ROOT / LOADER, tmp_path / LOADER], root=ROOT)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / LOADER).read_bytes() != (ROOT / LOADER).resolve().read_bytes()
    return tmp_path


def test_a_program_starts_with_the_stub_in_its_loader(jail_root):
    done = emulated([ROOT / "usr/bin/python3.11", "-c", "print(6 * 7)"], root=jail_root)
    assert (done.returncode, done.stdout) == (0, b"42\n"), done.stderr


@pytest.mark.parametrize("arguments", [[], ["--version"], [str(ROOT / "usr/bin/python3.11"), "-c", "print(6 * 7)"]])
def test_the_loader_itself_ends_with_126(jail_root, arguments):
    attack = emulated([ROOT / LOADER, "--library-path", ROOT / "usr/lib/aarch64-linux-gnu", ROOT / "usr/bin/python3.11", "-c", "print(6 * 7)"])
    assert attack.stdout == b"42\n"  # without the stub it runs any program
    done = emulated([jail_root / LOADER, *arguments], root=jail_root)
    assert (done.returncode, done.stdout, done.stderr) == (126, b"", b"")


# ---- the command: what starts no process

@pytest.mark.parametrize("argv", [["--version"], ["policy", "check", "policy/default.yaml"], ["policy", "show", "--json"], ["policy", "show", "catalog"],
                                  ["policy", "explain", "--", "git", "push"], ["policy", "diff", "policy/default.yaml", "examples/policy.yaml"],
                                  ["lint", "tests/support", "tests/unit", "tools"]], ids=" ".join)
def test_the_command_says_what_it_says_here(argv):
    assert same("chokepoint", *argv, cwd=TOP).stdout


# ---- bindings

PYTHON = """
import chokepoint, platform
print(platform.machine(), chokepoint.__version__, chokepoint.credential_kind("x"), len(chokepoint.Policy.embedded().to_dict()["tools"]))
"""
NODE = """
const { version, credentialKind } = require('chokepoint');
console.log(process.arch, version, credentialKind('x'));
"""


def python(path, *libraries):
    """The package, as the interpreter for arm64 loads it."""
    library = ["-E", f"LD_LIBRARY_PATH={libraries[0]}"] if libraries else []
    done = emulated([*library, "-E", f"PYTHONPATH={path}", "-E", f"PYTHONHOME={ROOT}/usr", "-E", "PYTHONDONTWRITEBYTECODE=1",
                     ROOT / "usr/bin/python3.11", "-c", PYTHON], root=ROOT)
    assert done.returncode == 0, done.stderr
    machine, _, _, tools = done.stdout.split()
    assert machine == b"aarch64" and int(tools) >= 16
    return done.stdout


if full():  # they need all that is built for arm64
    def test_python_loads_the_module_of_the_build():
        python(THERE / "bindings/python", THERE / "src")

    def test_the_wheel_is_for_arm64_and_brings_the_library(tmp_path):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "_PYTHON_HOST_PLATFORM": "linux-aarch64"}
        made = run(["/usr/bin/pip", "wheel", "-q", "--no-build-isolation", "--no-index", "--no-deps", "-w", tmp_path,
                    f"--config-settings=setup-args=--cross-file={TOP}/third_party/arm64/cross.ini", "."], cwd=TOP / "bindings/python",
                   env=env, patience=1800)
        assert made.returncode == 0, made.stderr[-3000:]
        [wheel] = tmp_path.glob("*.whl")
        assert wheel.name.endswith("-cp39-abi3-linux_aarch64.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "site")
        python(tmp_path / "site")

    def test_the_package_for_node_has_both_machines(tmp_path):
        packed = run([TOP / "tools/node-pack.sh", HERE, tmp_path, THERE, ROOT])
        assert packed.returncode == 0, packed.stderr
        (tmp_path / "package.json").write_text('{"private": true}', encoding="ascii")
        [archive] = tmp_path.glob("*.tgz")
        done = run(["npm", "install", "--offline", "--no-audit", "--no-fund", archive], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        package = tmp_path / "node_modules/chokepoint"
        assert json.loads((package / "package.json").read_text(encoding="utf-8"))["cpu"] == ["arm64", "x64"]
        beside = [sorted(path.name for path in (package / "prebuilds" / name).rglob("*")) for name in ("linux-arm64", "linux-x64")]
        assert beside[0] == beside[1] and len(beside[0]) > 10
        there = emulated([ROOT / "usr/bin/node", "-e", NODE], root=ROOT, cwd=tmp_path)
        here = run(["node", "-e", NODE], cwd=tmp_path)
        assert here.returncode == there.returncode == 0, (here.stderr, there.stderr)
        assert there.stdout.split()[0] == b"arm64" and there.stdout.split()[1:] == here.stdout.split()[1:]
