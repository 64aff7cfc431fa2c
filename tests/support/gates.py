"""What the tests of the proxy share: a gate without a jail in the town, clients that say what they like, hosts that do too.

Sockets belong to the network in which they are made, and a thread can be in another network than its process: so a test talks
to the gate itself, from within the town.
"""
import concurrent.futures
import contextlib
import ctypes
import json
import os
import socket
import subprocess
import threading

from processes import wait_until

HOST, ADDRESS = "web.example.org", "93.184.216.10"
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
PATIENCE = 60


def in_network(test_network, function):
    """Calls it in a thread that is in the town's network."""
    def body():
        with open(f"/proc/{test_network.pid}/ns/net", "rb") as network:
            if LIBC.setns(network.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        return function()
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(body).result()


class Gate:
    """The program tests/helpers/hosts/gate.c, with these rules."""

    def __init__(self, stage, test_network, *rules, **settings):
        self.test_network = test_network
        self.into = ["nsenter", f"--target={test_network.pid}", "--net", "--mount", "--"]
        options = [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        self.process = subprocess.Popen([*self.into, str(stage / "tests/helpers/gate"), *options, *rules],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = json.loads(self.process.stdout.readline())["port"]
        self.events_read, self.totals = [], None
        self.reader = threading.Thread(target=self.read_events)
        self.reader.start()

    def read_events(self):
        """All the time, for a gate that cannot tell what happens does not go on."""
        for line in self.process.stdout:
            self.events_read.append(json.loads(line))

    def connect(self, *first):
        """A client's connection, with these bytes said."""
        client = in_network(self.test_network, lambda: socket.create_connection(("127.0.0.1", self.port), PATIENCE))
        try:
            for data in first:
                client.sendall(data)
        except OSError:  # the gate was quicker
            client.close()
            raise
        return client

    def tunnel(self, target):
        client = self.connect(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        answer = read_until(client, b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        return client

    def say(self, data):
        """All that comes back until the gate closes."""
        with self.connect(data) as client:
            with contextlib.suppress(OSError):  # the gate has closed it already: then it says why, or that it was reset
                client.shutdown(socket.SHUT_WR)
            return read_all(client)

    def curl(self, *args, scheme="http"):
        """Its output; what it says where it fails."""
        return subprocess.run([*self.into, "curl", "-sS", "--max-time", str(PATIENCE), "--proxy",
                               f"{scheme}://127.0.0.1:{self.port}", *args], capture_output=True, check=False)

    def memory_kib(self, field):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field + ":"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def close(self):
        """Ends the gate; then all has been told."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        said = self.process.stderr.read().decode()
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        assert self.process.wait(PATIENCE) == 0, said
        self.totals = self.events_read.pop()

    def events(self, verdict=None):
        """Ends the gate, if it has not ended, and looks whether its totals are true."""
        if self.totals is None:
            self.close()
        by = {name: [event for event in self.events_read if event["verdict"] == name]
              for name in ("opened", "refused", "failed", "closed")}
        assert {name: self.totals[name] for name in ("opened", "refused", "failed")} == \
            {name: len(by[name]) for name in ("opened", "refused", "failed")}
        assert sorted(event["connection"] for event in by["opened"]) == sorted(event["connection"] for event in by["closed"])
        assert [sum(event[way] for event in by["closed"]) for way in ("up", "down")] == [self.totals["up"], self.totals["down"]]
        return by[verdict] if verdict else self.events_read

    def reasons(self, verdict="refused"):
        return [event["reason"] for event in self.events(verdict)]


def read_all(client):
    data = b""
    while piece := client.recv(65536):
        data += piece
    return data


def read_until(client, end):
    data = b""
    while not data.endswith(end):
        piece = client.recv(1)
        assert piece, data
        data += piece
    return data


class ScriptedServer:
    """A host at a port of its own, which does with each connection what the test says, in a thread."""

    def __init__(self, test_network, serve):
        self.listener = in_network(test_network, lambda: socket.create_server((ADDRESS, 0)))
        self.port = self.listener.getsockname()[1]
        self.target = f"{HOST}:{self.port}"
        self.received_data, self.serve = [], serve
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            peer.settimeout(PATIENCE)
            with peer, contextlib.suppress(OSError):
                self.received_data.append(self.serve(peer))

    def wait_received(self, count=1):
        """What so many connections were for it."""
        wait_until(lambda: len(self.received_data) >= count, "the host has heard all")
        return self.received_data

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
