"""Promise: What each jail holds.
Attacker: the tool. Means: a listener on the host that obeys requests: a container daemon
(docker.sock), a message bus (abstract or in a directory), a language server with its socket in
/tmp or in the repository itself, a service on loopback.

Expected: nothing arrives. Outside the jail the same data reaches the same listener.
"""
import socket
import uuid

import pytest


class Listener:
    """What was received since the last call; no wait is needed, because a sent message is already there."""

    def __init__(self, family, address, kind=socket.SOCK_STREAM):
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        self.kind = kind
        if kind == socket.SOCK_STREAM:
            self.socket.listen(8)
        self.socket.setblocking(False)

    def received(self) -> bytes:
        try:
            if self.kind == socket.SOCK_DGRAM:
                return self.socket.recv(16)
            peer, _ = self.socket.accept()
            with peer:
                peer.setblocking(True)
                return peer.recv(16)
        except BlockingIOError:
            return b""


@pytest.fixture
def listen():
    made = []

    def make(*arguments):
        made.append(Listener(*arguments))
        return made[-1]
    yield make
    for listener in made:
        listener.socket.close()


def reached_only_outside(cell, listener, *attack):
    cell.succeeds_outside("breach_calls", *attack)
    assert listener.received() == b"word", "the listener cannot be reached; the test would prove nothing"
    cell.refused_inside("breach_calls", *attack)
    assert listener.received() == b""


def test_loopback_is_not_reached(cell, listen):
    listener = listen(socket.AF_INET, ("127.0.0.1", 0))
    reached_only_outside(cell, listener, "inet", listener.socket.getsockname()[1])


@pytest.mark.parametrize("name", ["/tmp/dbus-{}", "/containerd-shim/{}.sock", "{}"])
def test_abstract_socket_is_not_reached(cell, listen, name):
    name = name.format(uuid.uuid4().hex[:12])
    listener = listen(socket.AF_UNIX, "\0" + name)
    reached_only_outside(cell, listener, "abstract", name)


@pytest.mark.parametrize("name", ["docker.sock", "bus"])
@pytest.mark.parametrize("kind,way", [(socket.SOCK_STREAM, "path"), (socket.SOCK_DGRAM, "datagram")])
def test_socket_outside_of_the_repository_is_not_reached(cell, listen, name, kind, way):
    path = cell.box.home / name
    listener = listen(socket.AF_UNIX, str(path), kind)
    path.chmod(0o777)
    reached_only_outside(cell, listener, way, path)


@pytest.mark.parametrize("workspace", ["ro", "rw"])
@pytest.mark.parametrize("kind,way", [(socket.SOCK_STREAM, "path"), (socket.SOCK_DGRAM, "datagram")])
def test_socket_in_the_repository_is_not_reached(cell, listen, workspace, kind, way):
    """It is to be seen inside, since the repository is."""
    cell.policy = cell.write_policy(breach_calls={"workspace": workspace})
    path = cell.box.root / "server.sock"
    listener = listen(socket.AF_UNIX, str(path), kind)
    path.chmod(0o777)
    reached_only_outside(cell, listener, way, "server.sock")
