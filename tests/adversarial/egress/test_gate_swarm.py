"""Promise: Egress.
Attacker: a tool. Means: numbers. As many connections as it can make, each with as much as the proxy will hold; bytes without
end; hosts that vanish while bytes are on their way.

Expected: connections, memory and bytes stay within the budget; the program that the proxy is in goes on, even where it has no
descriptor left; and what is beyond is refused with a reason.
"""
import contextlib
import socket
import struct
import time

import pytest

from feature import sanitized
from gates import HOST, read_all, read_until
from processes import wait_until

SURPLUS = 5_000_000  # more than a client that does not read is sent
GET = f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()


def is_served(gate):
    """One that is turned away may find that out by a reset, if it has written."""
    try:
        return gate.say(GET).startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


def test_connections_at_once_are_bounded(gates):
    gate = gates(HOST, at_once=10)
    held = [gate.connect(b"G") for _ in range(10)]
    for _ in range(5):
        with gate.connect() as client:
            assert b"10 connections at once" in read_all(client)
    held.pop().close()
    wait_until(lambda: is_served(gate), "one that ended makes room for another")
    for client in held:
        client.close()
    assert set(gate.reasons()) == {"connections"}


def test_connections_in_all_are_bounded(gates):
    gate = gates(HOST, total=3)
    for _ in range(3):
        assert gate.say(GET).startswith(b"HTTP/1.1 200 ")
    with gate.connect() as client:
        assert b"all of its 3 connections" in read_all(client)
    with pytest.raises(ConnectionRefusedError):
        gate.connect()
    assert gate.reasons() == ["connections"]


def test_one_that_makes_no_more_than_it_may_is_refused_nothing(gates):
    gate = gates(HOST, total=3)
    for _ in range(3):
        assert gate.say(GET).startswith(b"HTTP/1.1 200 ")
    assert gate.reasons() == []


def test_connections_in_all_are_bounded_for_a_client_that_keeps_its_own(gates):
    """Each request for another host is another connection outside, and two more events."""
    gate = gates("*.example.org", total=3)
    with gate.connect() as client:
        for host in (HOST, "other.example.org", HOST):
            client.sendall(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert read_until(client, b"a word from " + host.encode()).startswith(b"HTTP/1.1 200 ")
        client.sendall(b"GET http://other.example.org/ HTTP/1.1\r\nHost: other.example.org\r\n\r\n")
        assert read_all(client).startswith(b"HTTP/1.1 503 ")
    assert len(gate.events("opened")) == 3
    assert gate.reasons() == ["connections"]


def test_refusals_are_bounded(gates):
    """Each is reported: a tool could fill the store of events."""
    gate = gates(HOST, refusals=5)
    for _ in range(5):
        assert gate.say(b"CONNECT other.example.org:443 HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    with gate.connect() as client:
        assert b"no more connections are accepted" in read_all(client)
    with pytest.raises(ConnectionRefusedError):
        gate.connect()
    reasons = gate.reasons()
    assert reasons == ["not_listed"] * 5 + ["connections"]


def test_clients_that_do_not_read_take_few_descriptors_and_little_memory(gates, scripted_servers):
    """A pipe is two descriptors, and holds a MiB of the kernel's memory."""
    def serve(peer):
        peer.sendall(bytes(SURPLUS))
        return True
    gate = gates(f"{HOST} opaque")
    before = gate.descriptors()
    made = [scripted_servers(serve) for _ in range(60)]
    held = [gate.tunnel(scripted_server.target) for scripted_server in made]
    wait_until(lambda: rests(gate), "all have been filled")
    assert gate.descriptors() - before < 60 * 2 + 40 * 2
    assert [len(read_all(client)) for client in held] == [SURPLUS] * 60
    for client in held:
        client.close()


def test_nothing_passes_a_gate_without_a_budget(gates):
    gate = gates(HOST, total=0)
    with pytest.raises(ConnectionRefusedError):
        gate.connect()


def test_memory_is_bounded_with_heads_of_the_largest_size(gates):
    """A thousand connections with 31 KiB each, unfinished."""
    gate = gates(HOST)
    before = gate.memory_kib("VmRSS")
    head = GET[:-2] + b"X: " + b"y" * 31 * 1024
    clients = [gate.connect(head) for _ in range(1000)]
    assert gate.say(GET).startswith(b"HTTP/1.1 200 ")
    assert gate.memory_kib("VmHWM") - before < (1000 * 40 + 16 * 1024) * (3 if sanitized() else 1)
    for client in clients:
        client.close()


def test_head_that_is_too_long_is_refused(gates):
    gate = gates(HOST)
    with gate.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        client.sendall(GET[:-2] + b"X: " + b"y" * 768 * 1024)  # it writes all before it reads
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).startswith(b"HTTP/1.1 431 ")
    assert gate.reasons() == ["too_long"]


def test_head_without_end_is_cut_off(gates):
    gate = gates(HOST)
    with gate.connect() as client, pytest.raises(ConnectionError):
        client.sendall(GET[:-2] + b"X: " + b"y" * 64 * 1024 * 1024)
    assert gate.reasons() == ["too_long"]


@pytest.mark.parametrize("way", ["up", "down"])
def test_bytes_are_bounded(gates, scripted_servers, way):
    budget = 1_000_000
    sent = bytes(budget * 4)

    def serve(peer):
        if way == "down":
            peer.sendall(sent)
        return read_all(peer)
    scripted_server = scripted_servers(serve)
    gate = gates(f"{HOST} opaque", **{f"{way}_bytes": budget})
    with gate.tunnel(scripted_server.target) as client, contextlib.suppress(ConnectionError):
        if way == "up":
            client.sendall(sent)
        assert len(read_all(client)) <= budget
    assert gate.say(f"CONNECT {scripted_server.target} HTTP/1.1\r\n\r\nx".encode()).startswith(b"HTTP/1.1 200 ")
    events = gate.events()
    assert "bytes" in [event["reason"] for event in events if event["verdict"] == "refused"]
    assert sum(event[way] for event in events) <= budget


@pytest.mark.parametrize("how", ["reset", "end"])
def test_hosts_that_vanish_do_not_end_the_program(gates, scripted_servers, how):
    """A write to a socket that had ended and was then reset raises SIGPIPE, which by itself ends a program."""
    def serve(peer):
        peer.recv(1)
        if how == "reset":
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return True
    scripted_server = scripted_servers(serve)
    gate = gates(f"{HOST} opaque")
    for _ in range(10):
        with gate.tunnel(scripted_server.target) as client, contextlib.suppress(ConnectionError):
            client.sendall(b"x")
            assert client.recv(1) == b""
            while True:
                client.sendall(bytes(1000))
    with gate.connect(f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()) as client:
        assert read_until(client, HOST.encode())
    assert gate.process.poll() is None


def rests(gate):
    """What it uses in half a second is measured: it must not turn in circles."""
    clock = (~gate.process.pid << 3) | 2
    used = time.clock_gettime_ns(clock)
    time.sleep(0.5)
    return time.clock_gettime_ns(clock) - used < 100_000_000


def test_host_that_has_gone_is_not_asked_again_and_again(gates, scripted_servers):
    """Both directions have ended, and the client does not read the rest: more than it was sent, less than is in transit."""
    left = SURPLUS // 5

    def serve(peer):
        read_all(peer)
        peer.sendall(bytes(left))
        return True
    scripted_server = scripted_servers(serve)
    gate = gates(f"{HOST} opaque")
    with gate.tunnel(scripted_server.target) as client:
        client.shutdown(socket.SHUT_WR)
        scripted_server.wait_received()
        wait_until(lambda: rests(gate), "it turns in no circle")
        assert len(read_all(client)) == left


def test_program_without_descriptors_goes_on(gates):
    """It takes no more, rests meanwhile, and serves again when there are some."""
    gate = gates(HOST, descriptors=40)
    clients = [gate.connect(b"G") for _ in range(60)]
    wait_until(lambda: gate.descriptors() >= 40, "no descriptor is left")
    wait_until(lambda: rests(gate), "it turns in no circle")
    for client in clients:
        client.close()
    wait_until(lambda: gate.say(GET).startswith(b"HTTP/1.1 200 "), "it serves again")


def test_nothing_is_left_of_what_ended(gates, scripted_servers):
    scripted_server = scripted_servers(lambda peer: peer.sendall(b"x"))
    gate = gates(HOST, f"{scripted_server.target} opaque")
    gate.say(GET)
    before = gate.descriptors()
    for _ in range(50):
        gate.say(GET)
        gate.tunnel(scripted_server.target).close()
        gate.connect(b"GET http").close()
        gate.say(b"\5\1\0")
    wait_until(lambda: gate.descriptors() <= before + 4, "no descriptor is kept")
