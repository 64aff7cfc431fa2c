"""Helpers for the tests of the proxy: a gate without a jail in the private network, clients that
send any bytes, hosts that do too.

A socket belongs to the network namespace in which it is made, and a thread can be in another
one than its process. So the test talks to the gate from a thread in the private network.
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
    """Calls it in a thread that is in the private network."""
    def body():
        with open(f"/proc/{test_network.pid}/ns/net", "rb") as network:
            if LIBC.setns(network.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        return function()
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(body).result()


class Gate:
    """Runs tests/helpers/hosts/gate.c with these rules."""

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
        """Reads all the time: a gate that cannot write its events blocks."""
        for line in self.process.stdout:
            self.events_read.append(json.loads(line))

    def connect(self, *first):
        """Opens a client's connection and sends these bytes."""
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
        """All bytes until the gate closes the connection."""
        with self.connect(data) as client:
            with contextlib.suppress(OSError):  # the gate has already closed it: then it says why, or that it was reset
                client.shutdown(socket.SHUT_WR)
            return read_all(client)

    def curl(self, *args, scheme="http"):
        """The output of curl; with its message if it fails."""
        return subprocess.run([*self.into, "curl", "-sS", "--max-time", str(PATIENCE), "--proxy",
                               f"{scheme}://127.0.0.1:{self.port}", *args], capture_output=True, check=False)

    def memory_kib(self, field):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field + ":"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def close(self):
        """Ends the gate; after that all events have been reported."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        said = self.process.stderr.read().decode()
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        assert self.process.wait(PATIENCE) == 0, said
        self.totals = self.events_read.pop()

    def events(self, verdict=None):
        """Ends the gate, if it has not ended, and checks its totals."""
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
    """A host at its own port. A thread does with each connection what the test says."""

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
        """Waits for this number of connections and returns what they sent."""
        wait_until(lambda: len(self.received_data) >= count, "the host has heard all")
        return self.received_data

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
