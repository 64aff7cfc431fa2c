"""The package for Node (R97): its tests (tests/node) on Debian's Node, the oldest and the newest, as root and as a user.

Each file of tests is a program of node:test. It runs in a box: the policy is the box's, the root is its working
directory.
"""
import json
import re
import shutil
import subprocess
import tarfile

import pytest

import nodes
from feature import full

FILES = sorted(path.name for path in nodes.TESTS.glob("*.test.*"))
FLAGS = ["--expose-gc", "--trace-warnings", "--throw-deprecation", "--unhandled-rejections=strict"]


def passes(box, node, node_package, name):
    """Runs one file of tests and checks that none failed, none was skipped, and there was one."""
    answer = box.call([str(node), *FLAGS, "--test-reporter=tap", str(node_package / name)], env=nodes.environment(box), deadline=1800 if full() else 180)
    text = answer.out.decode(errors="replace")
    assert answer.status == 0, text[-6000:] + answer.err.decode(errors="replace")[-3000:]
    counts = dict(re.findall(r"^# (pass|fail|skipped|cancelled|todo) (\d+)$", text, re.MULTILINE))
    assert int(counts.pop("pass")) > 0 and set(counts.values()) == {"0"}, text[-3000:]
    assert b"Warning" not in answer.err, answer.err.decode()


@pytest.mark.parametrize("name", FILES)
def test_with_the_node_of_the_system(box, node_package, name):
    passes(box, nodes.program("node", box.stage), node_package, name)


# Without the count of leaks, except in a full run: Node's versions differ in Node-API, not in our memory.
@pytest.mark.parametrize("node", ["node18", "node26"])
@pytest.mark.parametrize("name", [name for name in FILES if full() or not name.startswith(("leak", "types"))])
def test_with_other_versions_of_node(user_box, node_package, node, name):
    passes(user_box, nodes.program(node, user_box.stage), node_package, name)


def test_with_other_runtimes(user_box, node_package):
    """Bun and Deno load Node-API addons too; a full run fetches them. Node always runs the same program."""
    for name, words in {"node": [], "deno": ["run", "--allow-all", "--quiet"], "bun": ["run"]}.items():
        if name in nodes.OTHERS and not full():
            continue
        env = {**nodes.environment(user_box), "DENO_NO_UPDATE_CHECK": "1"}
        answer = user_box.call([str(nodes.program(name, user_box.stage)), *words, str(node_package / "smoke.cjs")], env=env)
        assert (answer.status, answer.out) == (0, b"ok\n"), f"{name}: {answer.err.decode()}"


def test_package_has_the_addon_and_no_script(node_package):
    archive = next(node_package.glob("chokepoint-*.tgz"))
    with tarfile.open(archive) as contents:
        names = sorted(name.removeprefix("package/") for name in contents.getnames())
        manifest = json.load(contents.extractfile("package/package.json"))
    assert "prebuilds/linux-x64/chokepoint-node.node" in names and "index.d.ts" in names
    assert not any(name.endswith((".gyp", ".c", ".h", ".ts.map")) for name in names)
    assert manifest["gypfile"] is False and not {"scripts", "dependencies"} & manifest.keys()
    shipped = {name.rpartition("/")[2] for name in names if ".so" in name}
    addon = node_package / "node_modules/chokepoint/prebuilds/linux-x64/chokepoint-node.node"
    said = subprocess.run(["readelf", "-dW", addon], capture_output=True, check=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
    assert {name for name in needed if not name.startswith(("libc.", "ld-linux", "libm.", "libresolv."))} == shipped
    assert re.search(r"\(RUNPATH\).*\[\$ORIGIN\]", said)
    licences = [name for name in names if "/licences/" in name]
    linked = 2  # c-ares and BearSSL are linked into the addon
    assert len(licences) == len(shipped) + linked, licences


def test_addon_exports_its_entry_only(node_package):
    """Else Node's c-ares could be used by ours, or ours by another addon."""
    addon = node_package / "node_modules/chokepoint/prebuilds/linux-x64/chokepoint-node.node"
    said = subprocess.run(["nm", "-D", addon], capture_output=True, check=True, text=True).stdout.splitlines()
    defined = {line.split()[-1] for line in said if line.split()[-2] not in ("U", "w")}
    assert defined == {"napi_register_module_v1", "node_api_module_get_api_version_v1"}
    assert not [line for line in said if "ares_" in line]
    foreign = {line.split()[-1] for line in said if re.search(r" U (uv_|_ZN)", line)}
    assert not foreign, "the addon depends on Node-API alone"


TS_OPTIONS = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--target", "es2022", "--types", "node"]


def test_types_say_what_is_accepted(node_package, tmp_path):
    """tests/node/typed/use.ts compiles as both kinds of module. Its lines with @ts-expect-error must be errors."""
    modules = nodes.fetched("test")
    (tmp_path / "node_modules/@types").mkdir(parents=True)
    (tmp_path / "node_modules/chokepoint").symlink_to(node_package / "node_modules/chokepoint")
    for name in ("@types/node", "undici-types"):
        (tmp_path / "node_modules" / name).symlink_to(modules / name)
    for suffix in ("mts", "cts"):
        shutil.copy(nodes.TESTS / "typed/use.ts", tmp_path / f"use.{suffix}")
    command = ["/usr/bin/node", modules / "typescript/bin/tsc", *TS_OPTIONS, "--module", "node16", "use.mts", "use.cts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=300, text=True)
    assert done.returncode == 0, done.stdout
