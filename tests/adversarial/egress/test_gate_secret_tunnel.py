"""Promise: Credentials.
Attacker: a program that reaches a host with a secret through a tunnel (CONNECT), as undici of node does for http:// too. Means:
requests in the clear in that tunnel, with another host, a URL, a tunnel, TLS, its own copy of the header, several requests; a
host that takes the body of a request for the next one.

Expected: what comes in the clear is a request like every other: it goes over TLS to that host alone, with the secret, or is
refused. What begins with TLS is the program's own and is not opened. A connection to the host carries one request, so that no secret
can become a part of another one.
"""
import ssl

import pytest

from gates import HOST, read_all, read_until
from tls_hosts import HEADER, OK, VALUE, answer_heads, headers

OTHER = "other.example.org"


def inner(host, *fields, line="GET /v1 HTTP/1.1", end="Connection: close", body=b""):
    return "\r\n".join(part for part in (line, f"Host: {host}", *fields, end) if part).encode("latin-1") + b"\r\n\r\n" + body


def within(gate, target, data):
    """All that the program gets after the answer to CONNECT."""
    with gate.tunnel(target) as client:
        client.sendall(data)
        return read_all(client)


def refused(gate, host, data, status):
    said = within(gate, host.target, data)
    assert said.startswith(f"HTTP/1.1 {status} ".encode()), said
    assert VALUE.encode() not in said and [data for data in host.received_data if data] == []
    return said


def test_request_in_the_clear_gets_the_secret_over_tls(secret_gates, secure_hosts):
    host = secure_hosts(answer_heads())
    gate = secret_gates(host)
    assert within(gate, host.target, inner(host.target, "X-Api-Key: mine", "x_api_key: mine")).endswith(b"ok")
    host.wait_received(2)
    [head] = [data for data in host.received_data if data]
    assert head.startswith(b"GET /v1 HTTP/1.1\r\n")
    assert headers(head) == [("Host", host.target), ("Connection", "close"), (HEADER, VALUE)]
    opened = [(one["protocol"], one["secret"]) for one in gate.events("opened")]
    assert opened == [("connect", ""), ("http", HEADER)]


def test_port_80_means_443_and_is_not_dialled(gates, network):
    """Port 80 is not listed, and no connection is made to it."""
    network.take()
    gate = gates("--secret", f"{HOST},Authorization={VALUE}", "--secret-ca", str(network.base / "ca-certificates.crt"), f"{HOST}:443")
    said = within(gate, f"{HOST}:80", inner(HOST, line="GET /api/x HTTP/1.1", end="") + inner(f"{HOST}:80", line="GET /api/x HTTP/1.1"))
    assert said.count(b"HTTP/1.1 200") == 2 and said.count(f'"{VALUE}"'.encode()) == 2  # this host repeats it
    assert [(one["protocol"], one["port"]) for one in gate.events("opened")] == [("http", 443)] * 2
    assert f"sni {HOST}" in network.take()["asked"]


@pytest.mark.parametrize("line", ["GET http://TARGET/ HTTP/1.1", f"GET http://{OTHER}/ HTTP/1.1", f"CONNECT {OTHER}:443 HTTP/1.1",
                                  "CONNECT TARGET HTTP/1.1", "OPTIONS * HTTP/1.1", "GET v1 HTTP/1.1", "TRACE / HTTP/1.1", "track / HTTP/1.1"])
def test_request_that_is_for_no_path_is_refused(secret_gates, secure_hosts, line):
    host = secure_hosts()
    gate = secret_gates(host, f"{OTHER}:443")
    refused(gate, host, inner(host.target, line=line.replace("TARGET", host.target)), 501)
    assert [one["host"] for one in gate.events("opened")] == [HOST], "of the tunnel, which is closed by then"


SHAPES = {
    "another host": lambda host: inner(OTHER),
    "the host without its port": lambda host: inner(HOST),
    "no host": lambda host: inner(host.target).replace(b"Host: ", b"X-Host: "),
    "two hosts": lambda host: inner(host.target, f"Host: {host.target}"),
    "a folded copy": lambda host: inner(host.target, "X: y\r\n X-Api-Key: mine"),
    "two lengths": lambda host: inner(host.target, "Content-Length: 4", "Content-Length: 0", body=b"body"),
    "length and chunks": lambda host: inner(host.target, "Content-Length: 4", "Transfer-Encoding: chunked", body=b"body"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_request_with_two_readings_is_refused(secret_gates, secure_hosts, shape):
    host = secure_hosts()
    refused(secret_gates(host), host, SHAPES[shape](host), 400)


def test_each_request_of_a_tunnel_is_for_its_host(secret_gates, secure_hosts):
    host = secure_hosts(answer_heads())
    gate = secret_gates(host, f"{OTHER}:443")
    said = within(gate, host.target, inner(host.target, end="") + inner(OTHER))
    assert said.startswith(OK) and b"HTTP/1.1 400 " in said and b"differs from its target" in said
    assert sum(data.count(VALUE.encode()) for data in host.wait_received(2)) == 1


@pytest.mark.parametrize("secret", [f"{HOST}:80", f"{HOST}:443"])
def test_tls_where_there_is_none_is_refused(gates, network, secret):
    """A tunnel to port 80 is for requests: the program's own TLS has the other port."""
    gate = gates("--secret", f"{HOST},Authorization={VALUE}", "--secret-ca", str(network.base / "ca-certificates.crt"), f"{HOST}:443")
    hello = b"\x16\x03\x01\x00\x05hello"
    clear = secret.endswith(":80")
    with gate.tunnel(secret) as client:
        client.sendall(hello if clear else inner(f"{HOST}:443", end=""))
        if not clear:
            assert read_until(client, b"\r\n\r\n").startswith(b"HTTP/1.1 200 ")
            client.sendall(hello)
        assert b"HTTP/1.1 501 " in read_all(client)
    assert "unsupported" in gate.reasons()


def test_tls_of_the_program_is_still_its_own(secret_gates, secure_hosts, authority):
    host = secure_hosts()
    trusted = ssl.create_default_context(cafile=authority.pem)
    with secret_gates(host).tunnel(host.target) as client, trusted.wrap_socket(client, server_hostname=HOST) as inside:
        inside.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert read_until(inside, b"ok")
    assert headers(host.wait_received()[0]) == [("Host", "x")]


def test_other_bytes_and_other_hosts_are_refused_as_ever(secret_gates, secure_hosts, scripted_servers):
    plain = scripted_servers(read_all)
    host = secure_hosts()
    gate = secret_gates(host, plain.target, f"{HOST}:80")
    with gate.tunnel(plain.target) as client:
        client.sendall(inner(plain.target))
        assert read_all(client) == b""
    assert within(gate, host.target, b"SSH-2.0-x\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert gate.reasons() == ["not_tls", "malformed"] and plain.wait_received() == [b""]


def test_wrong_certificate_is_refused_there_too(secret_gates, secure_hosts, authority):
    host = secure_hosts(files=authority.sign("wrong", f"DNS:{OTHER}"))
    said = within(secret_gates(host), host.target, inner(host.target))
    assert said.startswith(b"HTTP/1.1 502 ") and b"its certificate is for another name" in said


@pytest.mark.parametrize("tunnel", [False, True])
def test_no_secret_follows_a_body_that_a_host_takes_for_a_request(secret_gates, secure_hosts, tunnel):
    """The host does not read the body of a GET. What is in it begins a request that stores what follows."""
    def serve(peer):
        data = read_until(peer, b"\r\n\r\n")
        peer.sendall(OK)
        return data + read_all(peer)
    host = secure_hosts(serve)
    gate = secret_gates(host)
    store = f"POST /store HTTP/1.1\r\nHost: {host.target}\r\nContent-Length: 500\r\n\r\n".encode()
    first = inner(host.target, f"Content-Length: {len(store)}", end="", body=store)
    if not tunnel:
        first = first.replace(b"/v1", f"http://{host.target}/v1".encode(), 1)
    second = first.replace(store, b"").replace(f"Content-Length: {len(store)}".encode(), b"Connection: close")
    with gate.tunnel(host.target) if tunnel else gate.connect() as client:
        client.sendall(first)
        assert read_until(client, b"ok").startswith(b"HTTP/1.1 200 OK")
        client.sendall(second)
        assert read_until(client, b"ok").startswith(b"HTTP/1.1 200 OK")
    received = [data for data in host.wait_received(2 + tunnel) if data]
    assert [data.count(VALUE.encode()) for data in received] == [1, 1]
    assert [data.endswith(store) for data in received] == [True, False]
    assert all(("Connection", "close") in headers(data.split(b"\r\n\r\n")[0]) for data in received)
