"""A private network: hosts with public addresses, a resolver, a certificate authority. Nothing of
it is outside this machine.

Run as a program (class Network does that) this file is the network. In its own network and
mount namespaces it brings loopback up, gives it the addresses, mounts its resolv.conf, hosts
and certificates over the machine's, serves, and ends with its stdin. Each line on stdin is a
question, each line on stdout an answer, in JSON:
  "take"             the requests to the hosts and to the resolver since the last time
  {"name": address}  from now on the resolver answers with this address
"""
import base64
import fcntl
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tarfile
import threading

from command import Box

HOSTS = {"web.example.org": "93.184.216.10", "git.example.org": "93.184.216.11", "npm.example.org": "93.184.216.12",
         "other.example.org": "93.184.216.13", "web.example.net": "93.184.216.14", "inner.example.org": "10.1.2.3",
         "meta.example.org": "169.254.169.254", "self.example.org": "127.0.0.1"}
PLAIN, SECURE, ODD = 80, 443, 8443
TWIN, GATE = "127.0.0.77", 3128  # another listener at the port that the proxy has inside
WORD = b"a word from "
BACKEND = "/usr/lib/git-core/git-http-backend"
BUNDLE = "ca-certificates.crt"
TRUNCATED = "ask again by TCP"  # instead of an address


# ---- the test's side ----

class Network:
    def __init__(self, base: pathlib.Path):
        self.base = base
        make_certificates(base)
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, __file__, str(base)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def ask(self, question):
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def take(self):
        """{"asked": hosts that got a request, "names": names that the resolver was asked for},
        since the last time."""
        return self.ask("take")

    def box(self, stage, actor, base):
        return NetworkBox(self, stage, actor, base)


class NetworkBox(Box):
    """A box with its caller in the private network."""

    def __init__(self, network, stage, actor, base):
        self.network = network
        super().__init__(stage, actor, base)

    def popen(self, argv, raw=False, env=None, shape=None, **keywords):
        command = list(argv) if raw else self.run_argv(argv, **(shape or {}))
        into = ["nsenter", f"--target={self.network.pid}", "--net", "--mount", "--", "setpriv", f"--reuid={self.actor.uid}",
                f"--regid={self.actor.gid}", "--clear-groups", "--"]
        return super().popen([*into, *command], raw=True, env=env, user=None, group=None, extra_groups=None, **keywords)


def make_certificates(base: pathlib.Path) -> None:
    """One authority, and one certificate for all hosts."""
    def openssl(*command):
        subprocess.run(["openssl", *command], cwd=base, check=True, capture_output=True)
    names = ",".join(f"DNS:{name}" for name in HOSTS)
    (base / "names").write_text(f"subjectAltName={names}\n", encoding="ascii")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", BUNDLE, "-days", "2", "-subj", "/CN=test network")
    openssl("req", "-new", *key, "-keyout", "host.key", "-out", "host.csr", "-subj", "/CN=host")
    openssl("x509", "-req", "-in", "host.csr", "-CA", BUNDLE, "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-out",
            "host.pem", "-extfile", "names")
    for path in base.iterdir():
        path.chmod(0o644)


# ---- the network's side ----

LOCK = threading.Lock()
NOTED = {"asked": [], "names": []}
ANSWERS = {name: [address] for name, address in HOSTS.items()}


def note(kind: str, what) -> None:
    with LOCK:
        NOTED[kind].append(what)


def take():
    with LOCK:
        taken = {kind: list(found) for kind, found in NOTED.items()}
        for found in NOTED.values():
            found.clear()
    return taken


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status=200, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        note("asked", f"{self.server.name} {self.path}")
        path, _, query = self.path.partition("?")
        if self.server.name == "git.example.org":
            self.serve_git(path, query)
        elif self.server.name == "npm.example.org":
            self.serve_package(path)
        elif path.startswith("/api/"):
            self.serve_api(path)
        elif path == "/redirect":
            self.answer(302, Location=query)
        elif path.startswith("/moved/"):
            self.answer(302, Location=f"https://git.example.org/{path.removeprefix('/moved/')}?{query}")
        elif path == "/chunks":
            self.serve_chunks()
        elif path == "/flood":
            self.answer(200, bytes(int(query)))
        else:
            self.answer(200, WORD + self.server.name.encode())

    do_POST = do_HEAD = do_GET

    def serve_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Trailer", "X-Sum")
        self.end_headers()
        self.wfile.write(b"5\r\na wor\r\n1\r\nd\r\n0\r\nX-Sum: 6\r\n\r\n")

    def serve_git(self, path, query):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        env = {"PATH": "/usr/bin:/bin", "GIT_PROJECT_ROOT": str(self.server.base / "git"), "GIT_HTTP_EXPORT_ALL": "1",
               "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
               "CONTENT_TYPE": self.headers.get("Content-Type", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        out = subprocess.run([BACKEND], input=body, env=env, stdout=subprocess.PIPE, check=True).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.answer(int(headers.pop("Status", "200").split()[0]), body, **headers)

    def serve_api(self, path):
        """As much of GitHub's interface as lists one pull request; else the request itself."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pull = {"number": 7, "title": "a word", "state": "OPEN", "url": "https://web.example.org/o/r/pull/7"}
        body = {"method": self.command, "authorization": self.headers.get("Authorization")}
        if path == "/api/graphql":
            body = {"data": {"repository": {"pullRequests": {"totalCount": 1, "nodes": [pull], "pageInfo": {"hasNextPage": False}}}}}
        self.answer(200, json.dumps(body).encode(), Content_Type="application/json")

    def serve_package(self, path):
        package = make_package()
        if path == "/tiny":
            digest = base64.b64encode(hashlib.sha512(package).digest()).decode()
            version = {"name": "tiny", "version": "1.0.0",
                       "dist": {"tarball": "https://npm.example.org/tiny/-/tiny-1.0.0.tgz", "integrity": f"sha512-{digest}"}}
            body = json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode()
            self.answer(200, body, Content_Type="application/json")
        elif path.endswith(".tgz"):
            self.answer(200, package, Content_Type="application/octet-stream")
        else:
            self.answer(404)


def make_package() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        text = json.dumps({"name": "tiny", "version": "1.0.0"}).encode()
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return gzip.compress(gzip.decompress(out.getvalue()), mtime=0)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, name, address, base, context=None):
        super().__init__(address, Host)
        self.name, self.base, self.context = name, base, context
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass

    def get_request(self):
        peer, address = super().get_request()
        note("asked", f"{self.name}:{self.server_address[1]}")
        return peer, address

    def finish_request(self, request, client_address):
        if self.context is not None:
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)


class Resolver(socketserver.BaseRequestHandler):
    def handle(self):
        data, sock = self.request
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        question = data[12:at + 5]
        kind = struct.unpack("!H", data[at + 1:at + 3])[0]
        name = ".".join(labels)
        note("names", name)
        with LOCK:
            known = ANSWERS.get(name.lower())
            # The first of several answers is given once, the last one every time.
            address = known.pop(0) if known and len(known) > 1 and kind == 1 else known[0] if known else None
        flags = 0x8180 if known else 0x8183
        if address == TRUNCATED:
            address, flags = None, 0x8380
        found = [b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton(address)] if address and kind == 1 else []
        sock.sendto(data[:2] + struct.pack("!HHHHH", flags, 1, len(found), 0, 0) + question + b"".join(found),
                    self.client_address)


def request(name: str, address=None, flags=None) -> bytes:
    tail = struct.pack("h", flags) if flags is not None else \
        struct.pack("HH4s", socket.AF_INET, 0, socket.inet_aton(address))
    return struct.pack("16s24s", name.encode(), tail)


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, 0x8914, request("lo", flags=0x1 | 0x40))  # SIOCSIFFLAGS
        for index, address in enumerate(set(HOSTS.values()) - {"127.0.0.1"}):
            label = f"lo:{index}"
            fcntl.ioctl(sock, 0x8916, request(label, address))  # SIOCSIFADDR
            fcntl.ioctl(sock, 0x891c, request(label, "255.255.255.255"))  # SIOCSIFNETMASK


def cover(path: str, source: pathlib.Path) -> None:
    subprocess.run(["mount", "--bind", str(source), os.path.realpath(path)], check=True)


def settle(base: pathlib.Path) -> None:
    for name, text in (("resolv.conf", "nameserver 127.0.0.1\n"), ("hosts", "127.0.0.1 localhost\n")):
        (base / name).write_text(text, encoding="ascii")
        (base / name).chmod(0o644)
        cover(f"/etc/{name}", base / name)
    cover(f"/etc/ssl/certs/{BUNDLE}", base / BUNDLE)
    raise_loopback()


def make_repositories(base: pathlib.Path) -> None:
    """repo.git has one commit. hostile.git has two, and all that could make a clone run or fetch more:
    a submodule, filters, a configuration of LFS, links out of the work tree."""
    work = base / "work"
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
           "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}

    def git(*command):
        return subprocess.run(["git", *map(str, command)], env=env, check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    git("init", "-q", "-b", "main", work)
    git("-C", work, "commit", "-q", "--allow-empty", "-m", "first")
    git("clone", "-q", "--bare", work, base / "git/repo.git")
    for name, text in {".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = https://git.example.org/repo.git\n',
                       ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n*.evil filter=evil\n",
                       ".lfsconfig": "[lfs]\n\turl = https://other.example.org/lfs\n", "a.evil": "evil\n",
                       "a.bin": f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4\n"}.items():
        (work / name).write_text(text, encoding="ascii")
    os.symlink("/etc/passwd", work / "link")
    git("-C", work, "add", "-A")
    git("-C", work, "update-index", "--add", "--cacheinfo", f"160000,{git('-C', work, 'rev-parse', 'HEAD')},sub")
    git("-C", work, "commit", "-q", "-m", "second")
    git("-C", work, "tag", "v1")
    git("clone", "-q", "--bare", work, base / "git/hostile.git")
    shutil.rmtree(work)


def main(base: pathlib.Path) -> None:
    settle(base)
    make_repositories(base)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(base / "host.pem", base / "host.key")
    context.sni_callback = lambda _sock, name, _context: note("asked", f"sni {name}")
    for name, address in HOSTS.items():
        Server(name, (address, PLAIN), base)
        for port in (SECURE, ODD):
            Server(name, (address, port), base, context)
    Server("twin", (TWIN, GATE), base)
    resolver = socketserver.ThreadingUDPServer(("127.0.0.1", 53), Resolver)
    resolver.daemon_threads = True
    threading.Thread(target=resolver.serve_forever, daemon=True).start()
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        if question != "take":
            with LOCK:
                ANSWERS.update({name: list(addresses) for name, addresses in question.items()})
        print(json.dumps(take()), flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
