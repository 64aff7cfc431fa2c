"""Promise: Egress.
Attacker: a tool, or a host that it reaches. Means: time. Connections that say nothing, or a byte now and then; tunnels and
answers in which nothing moves; hosts and name servers that never answer.

Expected: each is ended when its time is up, with a reason, and others are served meanwhile.
"""
import contextlib
import socket
import time

from gates import ADDRESS, HOST, PATIENCE, in_network, read_all, read_until

SHORT = 3000  # milliseconds; what is not slow is served meanwhile, on a busy machine too


def lasted(begin):
    return time.monotonic() - begin


def test_client_that_says_nothing_is_ended(gates):
    gate = gates(HOST, head_ms=SHORT)
    with gate.connect() as client:
        assert read_all(client).startswith(b"HTTP/1.1 408 ")
    assert gate.reasons() == ["slow"]


def test_client_that_says_a_byte_now_and_then_is_ended(gates):
    """The time is for the whole head, not for each byte."""
    gate = gates(HOST, head_ms=SHORT)
    begin = time.monotonic()
    with gate.connect() as client, contextlib.suppress(OSError):
        client.settimeout(SHORT / 10000)
        while lasted(begin) < PATIENCE:
            client.send(b"G")
            with contextlib.suppress(TimeoutError):
                if client.recv(1):
                    break
        assert SHORT / 1000 <= lasted(begin) < PATIENCE
    assert gate.reasons() == ["slow"]


def test_socks_client_that_stops_is_ended(gates):
    gate = gates(HOST, head_ms=SHORT)
    with gate.connect(b"\5\1\0\5\1\0\3") as client:
        assert read_all(client)[:4] == b"\5\0\5\6"
    assert gate.reasons() == ["slow"]


def test_tunnel_into_which_nothing_goes_is_ended(gates):
    gate = gates(HOST, head_ms=SHORT)
    with gate.tunnel(f"{HOST}:443") as client:
        client.send(b"\x16\3\1\2\0\1")
        read_all(client)
    assert gate.reasons() == ["slow"]


def test_tunnel_in_which_nothing_moves_is_ended(gates, scripted_servers):
    scripted_server = scripted_servers(lambda peer: peer.recv(100) and read_all(peer))
    gate = gates(f"{HOST} opaque", idle_ms=SHORT)
    with gate.tunnel(scripted_server.target) as client:
        client.sendall(b"x")
        assert client.recv(1) == b""
    assert gate.reasons("closed") == ["idle"]


def test_connection_between_two_requests_is_ended_without_a_message(gates):
    gate = gates(HOST, head_ms=SHORT)
    with gate.connect(f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()) as client:
        read_until(client, HOST.encode())
        assert client.recv(1) == b""
    assert gate.events("refused") == []


def test_host_that_does_not_answer_is_given_up(gates, scripted_servers):
    scripted_server = scripted_servers(read_all)
    gate = gates(HOST, idle_ms=SHORT)
    with gate.connect(f"GET http://{scripted_server.target}/ HTTP/1.1\r\nHost: {scripted_server.target}\r\n\r\n".encode()) as client:
        assert read_all(client).startswith(b"HTTP/1.1 504 ")
    assert gate.reasons("failed") == ["timeout"]


def test_host_that_does_not_take_the_connection_is_given_up(gates, network):
    """A queue of connections that is full answers nobody."""
    listener = in_network(network, lambda: socket.create_server((ADDRESS, 0), backlog=0))
    port = listener.getsockname()[1]
    fillers = in_network(network, lambda: [socket.socket() for _ in range(4)])
    for filler in fillers:
        filler.setblocking(False)
        filler.connect_ex((ADDRESS, port))
    gate = gates(HOST, dial_ms=SHORT)
    with gate.connect(f"CONNECT {HOST}:{port} HTTP/1.1\r\n\r\n".encode()) as client:
        with gate.connect(f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()) as other:
            assert read_until(other, HOST.encode()).startswith(b"HTTP/1.1 200 ")
        assert read_all(client).startswith(b"HTTP/1.1 504 ")
    for sock in (listener, *fillers):
        sock.close()
    assert gate.reasons("failed") == ["timeout"]


def test_name_server_that_does_not_answer_is_given_up(gates, network):
    silent = in_network(network, lambda: socket.socket(type=socket.SOCK_DGRAM))
    silent.bind(("127.0.0.2", 53))
    resolv = network.base / "resolv.conf"
    before = resolv.read_text(encoding="ascii")
    resolv.write_text("nameserver 127.0.0.2\n", encoding="ascii")
    try:
        gate = gates(HOST, ADDRESS, dial_ms=SHORT)
        with gate.connect(f"CONNECT {HOST}:443 HTTP/1.1\r\n\r\n".encode()) as client:
            with gate.connect(f"GET http://{ADDRESS}/ HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode()) as other:
                assert read_until(other, HOST.encode()).startswith(b"HTTP/1.1 200 ")
            assert read_all(client).startswith(b"HTTP/1.1 504 ")
        assert gate.reasons("failed") == ["timeout"]
    finally:
        resolv.write_text(before, encoding="ascii")
        silent.close()
