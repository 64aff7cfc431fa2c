"""Hosts that speak TLS, with any certificate, for the tests of host secrets.

A SecureHost is a ScriptedServer (gates.py) behind TLS. What it decrypts is what the proxy has sent, with the secret.
"""
import contextlib
import pathlib
import ssl
import subprocess

from gates import HOST, PATIENCE, ScriptedServer, read_until

HEADER = "X-Api-Key"
VALUE = "Bearer sk-live-4711-secret-word"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Authority:
    """A certificate authority in a directory."""

    def __init__(self, base: pathlib.Path, name="authority"):
        self.base = base / name
        self.base.mkdir()
        self.base.chmod(0o755)
        self.pem, self.key = self.base / "ca.pem", self.base / "ca.key"
        self.openssl("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.pem, "-days", "2", "-subj", f"/CN={name}")

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], cwd=self.base, check=True, capture_output=True)

    def request(self, label, key):
        path = self.base / label
        self.openssl("req", "-new", *key, "-keyout", f"{path}.key", "-out", f"{path}.csr", "-subj", f"/CN={label}")
        return path

    def sign(self, label="host", names=f"DNS:{HOST}", days=2, key=None, extra=""):
        """The files of a certificate and its key, as load_cert_chain takes them."""
        path = self.request(label, key or NEW_KEY)
        (self.base / "extensions").write_text(f"subjectAltName={names}\n{extra}", encoding="ascii")
        self.openssl("x509", "-req", "-in", f"{path}.csr", "-CA", self.pem, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                     "-out", f"{path}.pem", "-extfile", "extensions")
        return f"{path}.pem", f"{path}.key"

    def sign_for_later(self):
        path = self.request("later", NEW_KEY)
        (self.base / "index.txt").write_text("")
        (self.base / "serial").write_text("01\n")
        (self.base / "ca.cnf").write_text(LATER, encoding="ascii")
        self.openssl("ca", "-batch", "-config", "ca.cnf", "-in", f"{path}.csr", "-cert", self.pem, "-keyfile", self.key,
                     "-startdate", "20900101000000Z", "-enddate", "20910101000000Z", "-out", f"{path}.pem", "-notext")
        return f"{path}.pem", f"{path}.key"

    def self_signed(self):
        path = self.base / "alone"
        self.openssl("req", "-x509", *NEW_KEY, "-keyout", f"{path}.key", "-out", f"{path}.pem", "-days", "2", "-subj", f"/CN={HOST}",
                     "-addext", f"subjectAltName=DNS:{HOST}")
        return f"{path}.pem", f"{path}.key"


NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
RSA_KEY = ("-newkey", "rsa:2048", "-noenc")
LATER = f"""[ca]
default_ca = here
[here]
database = index.txt
serial = serial
default_md = sha256
policy = any
new_certs_dir = .
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = DNS:{HOST}
"""


def context(files, minimum=None, maximum=None, ciphers=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if ciphers:
        made.set_ciphers(ciphers)
    made.load_cert_chain(*files)
    if minimum:
        made.minimum_version = minimum
    if maximum:
        made.maximum_version = maximum
    return made


class SecureHost(ScriptedServer):
    """serve(peer) gets the decrypted connection. `failed` counts handshakes that were not completed."""

    def __init__(self, test_network, serve, tls):
        self.tls, self.inner, self.failed = tls, serve, 0
        super().__init__(test_network, self.secured)

    def secured(self, peer):
        try:
            with self.tls.wrap_socket(peer, server_side=True) as inside:
                inside.settimeout(PATIENCE)
                return self.inner(inside)
        except (ssl.SSLError, ConnectionError):
            self.failed += 1
            return b""


def answer_heads(*answers):
    """Reads as many heads as there are answers, and returns the heads."""
    def serve(peer):
        heads = b""
        for answer in answers or (OK,):
            heads += read_until(peer, b"\r\n\r\n")
            peer.sendall(answer)
        with contextlib.suppress(OSError):
            heads += peer.recv(1)
        return heads
    return serve


def headers(head: bytes):
    """[(name, value)] of a head, as a strict reader splits it."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")[1:]
    return [tuple(part.strip().decode() for part in line.split(b":", 1)) for line in lines]
