"""A proxy of a site on loopback, which wants credentials: CONNECT and plain HTTP.

It is the other side of `upstream` of a policy, and notes what it is asked for. resolve says where a
name leads: nothing of it is looked up anywhere.
"""
import base64
import contextlib
import socket
import threading

from gates import PATIENCE, in_network
from processes import wait_until

USER, PASSWORD = "site-user", "Sup3r:s1lly%pass"


class SiteProxy:
    """behave: "serve"; "hang", "close" or "noise" instead of an answer; or the bytes of an answer."""

    def __init__(self, network=None, resolve=None, behave="serve", credentials=f"{USER}:{PASSWORD}"):
        def listen():
            return socket.create_server(("127.0.0.1", 0), backlog=256)
        self.listener = in_network(network, listen) if network else listen()
        self.network, self.resolve, self.behave = network, resolve or {}, behave
        self.expected = credentials and "Basic " + base64.b64encode(credentials.encode()).decode()
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.heads, self.asked, self.open = [], [], []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(peer)
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        peer.settimeout(PATIENCE)
        with contextlib.suppress(OSError, ValueError):
            while self.serve_one(peer):
                pass
        with contextlib.suppress(OSError):
            peer.close()

    def serve_one(self, peer):
        head = read_head(peer)
        if not head:
            return False
        self.heads.append(head)
        if self.behave != "serve":
            return self.misbehave(peer)
        line, *fields = head.decode("latin-1").split("\r\n")
        method, target, _ = line.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields if field)}
        if self.expected and headers.get("proxy-authorization") != self.expected:
            peer.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"site\"\r\n"
                         b"Content-Length: 6\r\n\r\ndenied")
            return False
        self.asked.append(f"{method} {target}")
        if method == "CONNECT":
            self.tunnel(peer, target)
        else:
            self.forward(peer, method, target, fields, headers)
        return False

    def misbehave(self, peer):
        if self.behave == "hang":
            peer.recv(1)
        elif self.behave == "noise":
            peer.sendall(b"SSH-2.0-x\r\n\r\n")
        elif self.behave != "close":
            peer.sendall(self.behave)
        return False

    def connect(self, authority, port):
        host, _, given = authority.rpartition(":") if ":" in authority else (authority, "", "")
        place = (self.resolve.get(host.strip("[]"), host.strip("[]")), int(given or port))

        def dial():
            return socket.create_connection(place, PATIENCE)
        return in_network(self.network, dial) if self.network else dial()

    def tunnel(self, peer, target):
        try:
            server = self.connect(target, 443)
        except OSError:
            peer.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return
        with server:
            peer.sendall(b"HTTP/1.1 200 Tunnel\r\nX-Proxy: site\r\n\r\n")
            splice(peer, server)

    def forward(self, peer, method, target, fields, headers):
        """One request, with its path alone; then the bytes as they come, until one side has closed."""
        authority, slash, path = target.removeprefix("http://").partition("/")
        kept = [field for field in fields if field and not field.lower().startswith(("proxy-", "connection:"))]
        with self.connect(authority, 80) as server:
            server.sendall("\r\n".join([f"{method} {slash}{path} HTTP/1.1", *kept, "Connection: close", "", ""]).encode("latin-1"))
            left = int(headers.get("content-length", 0))
            while left > 0 and (data := peer.recv(min(left, 65536))):
                server.sendall(data)
                left -= len(data)
            while data := server.recv(65536):
                peer.sendall(data)

    def wait_asked(self, count=1):
        wait_until(lambda: len(self.heads) >= count, "the proxy was asked")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for peer in self.open:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def read_head(peer) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = peer.recv(1)
        if not byte:
            return b""
        head += byte
    return head


def splice(one, other):
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
    back = threading.Thread(target=copy, args=(other, one), daemon=True)
    back.start()
    copy(one, other)
    back.join(PATIENCE)
