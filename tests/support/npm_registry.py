"""A registry of npm on loopback (verdaccio), with the packages that a test gives it.

verdaccio itself comes from the public registry, exactly as tests/support/verdaccio/package-lock.json has it. It has no
uplink: what was not published here does not exist.
"""
import base64
import contextlib
import gzip
import hashlib
import http.client
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tarfile

import registry
from processes import wait_until

RECIPE = pathlib.Path(__file__).parent / "verdaccio"
CONFIG = """storage: {storage}
uplinks: {{}}
packages: {{'**': {{access: $all, publish: $all, unpublish: $all}}}}
middlewares: {{}}
web: {{enable: false}}
max_body_size: 100mb
log: {{type: stdout, format: json, level: http}}
"""
TRACE = "a-script-was-here"
RUN = "require('./node_modules/verdaccio').runServer(process.argv[1]).then(s => s.listen(+process.argv[2], '127.0.0.1'))"


def server_modules() -> pathlib.Path:
    def fetch(directory):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(RECIPE / name, directory / name)
        registry.npm(["npm", "ci", *registry.INSTALL[2:]], directory)
        ready = directory / "ready"
        ready.mkdir()
        os.rename(directory / "node_modules", ready / "node_modules")
        return ready
    stamp = hashlib.sha256((RECIPE / "package-lock.json").read_bytes()).hexdigest()[:16]
    return registry.kept_as(f"verdaccio-{stamp}", fetch)


def packed(manifest, files=()) -> bytes:
    """A tarball as `npm pack` makes it; the same bytes every time. files: pairs of name and content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in [("package.json", json.dumps(manifest).encode()), *files]:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(content), 0o755 if content.startswith(b"#!") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(out.getvalue(), compresslevel=1, mtime=0)


def integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


class NpmRegistry:
    """into: the words before a command that put it into a network of the test; none: this machine's loopback."""

    def __init__(self, base: pathlib.Path, into=(), port=None):
        modules = server_modules()
        config = base / "config.yaml"
        config.write_text(CONFIG.format(storage=base / "storage"), encoding="ascii")
        self.port = port or free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}/"
        self.log = open(base / "log", "w+b")  # closed by close
        self.process = subprocess.Popen([*into, "node", "-e", RUN, str(config), str(self.port)], cwd=modules,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def wait(self):
        wait_until(lambda: self.process.poll() is not None or self.answers(), "the registry listens", 120)
        assert self.process.poll() is None, self.said()

    def said(self) -> str:
        self.log.flush()
        return pathlib.Path(self.log.name).read_text(encoding="utf-8", errors="replace")

    def requests(self) -> list:
        """The paths that were asked for, all since the start."""
        found = [json.loads(line) for line in self.said().splitlines() if line.startswith("{")]
        return [entry["request"]["url"] for entry in found if "request" in entry and "status" in entry]

    def answers(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/-/ping")[0] == 200
        return False

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def publish(self, manifest, files=(), data=None) -> bytes:
        """One version of a package, by the protocol of `npm publish`. data: another tarball than its own."""
        name, version = manifest["name"], manifest["version"]
        data = data or packed(manifest, files)
        file = f"{name}-{version}.tgz"
        dist = {"integrity": integrity(data), "shasum": hashlib.sha1(data).hexdigest(),
                "tarball": f"{self.url}{name}/-/{file}"}
        document = {"_id": name, "name": name, "dist-tags": {"latest": version},
                    "versions": {version: {**manifest, "dist": dist}},
                    "_attachments": {file: {"content_type": "application/octet-stream", "length": len(data),
                                            "data": base64.b64encode(data).decode()}}}
        status, said = self.ask("PUT", "/" + name.replace("/", "%2f"), json.dumps(document))
        assert status == 201, (status, said)
        return data

    def publish_installed(self, modules: pathlib.Path) -> int:
        """Everything that is installed there, at its versions. Returns how many packages that are."""
        published = set()
        for path in sorted(modules.rglob("package.json")):
            if not is_package(path):
                continue
            manifest = json.loads(path.read_text(encoding="utf-8"))
            manifest.pop("optionalDependencies", None)  # for other systems; not installed, so they are not here
            key = (manifest["name"], manifest["version"])
            if key in published:
                continue
            published.add(key)
            files = [(str(file.relative_to(path.parent)), file.read_bytes()) for file in sorted(path.parent.rglob("*"))
                     if file.is_file() and not file.is_symlink() and file != path
                     and "node_modules" not in file.relative_to(path.parent).parts]
            self.publish(manifest, files)
        return len(published)

    def publish_scripted(self):
        """A package whose scripts leave a trace in the working directory, and that has a program."""
        hooks = ("preinstall", "install", "postinstall", "prepare")
        self.publish({"name": "scripted", "version": "1.0.0", "bin": {"scripted": "run.js"},
                      "scripts": {hook: f"touch {TRACE}" for hook in hooks}}, [("run.js", b"#!/usr/bin/env node\n")])

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)
        self.log.close()


def is_package(path: pathlib.Path) -> bool:
    """node_modules/NAME/package.json or node_modules/@SCOPE/NAME/package.json."""
    above = path.parent.parent
    return above.name == "node_modules" or (above.name.startswith("@") and above.parent.name == "node_modules")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def grant(box, server, upstream=None, **more):
    """A policy: the default one, with the registry granted to the two subcommands that install."""
    rules = [{"name": "npm", "subcommand": name, "egress": [server.host], **more} for name in ("ci", "install")]
    document = {"version": 1, "extends": "default", "grant": rules, **({"upstream": upstream} if upstream else {})}
    return box.file("policy/registry.yaml", json.dumps(document), 0o600)
