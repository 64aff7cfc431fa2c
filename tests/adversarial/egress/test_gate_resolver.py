"""Promise: Egress.
Attacker: whoever answers for a listed name. Means: "too long, ask again by TCP", and then a
connection that ends and is reset at once. A write to such a socket raises SIGPIPE, and the
resolver library does not suppress it.

Expected: the name cannot be looked up, and the program with the proxy continues.
"""
import contextlib
import socket
import struct
import threading

import pytest

from gates import ADDRESS, PATIENCE, in_network, read_all
from network import TRUNCATED

COUNT = 200
GET = f"GET http://{ADDRESS}/ HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode()


@pytest.fixture
def rude_resolver(network):
    """By TCP, at the port of the network's resolver for datagrams."""
    listener = in_network(network, lambda: socket.create_server(("127.0.0.1", 53), backlog=COUNT))
    received = []

    def serve():
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError):
                received.append(peer)
                peer.shutdown(socket.SHUT_WR)
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    thread = threading.Thread(target=serve)
    thread.start()
    yield received
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(PATIENCE)


def test_resolver_that_resets_does_not_end_the_program(gates, network, rude_resolver):
    network.ask({"long.example.org": [TRUNCATED]})
    gate = gates(ADDRESS, "long.example.org", dial_ms=5000)
    for _ in range(2):
        clients = [gate.connect(b"CONNECT long.example.org:443 HTTP/1.1\r\n\r\n") for _ in range(COUNT)]
        for client in clients:
            with client, contextlib.suppress(ConnectionError):
                read_all(client)
    assert rude_resolver
    assert gate.process.poll() is None
    assert gate.say(GET).startswith(b"HTTP/1.1 200 ")
    assert set(gate.reasons("failed")) <= {"lookup", "timeout"}
