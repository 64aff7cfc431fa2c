"""Promise: Credentials.
Attacker: a program whose requests for one host get a header with a secret. Means: its own copy of that header, in any
spelling and any place; a request that the proxy and the host read differently; a method that makes the host send it back.

Expected: the host gets the secret once, in the head of the request, and no copy of the program; what two programs could
read differently is refused. What the program gets is what the host has answered.
"""
import pytest

from gates import HOST, read_all
from tls_hosts import HEADER, OK, VALUE, answer_heads, headers


def request(host, *fields, method="GET", path="/v1", body=b"", end="Connection: close"):
    lines = [f"{method} http://{host.target}{path} HTTP/1.1", f"Host: {host.target}", *fields, end]
    return "\r\n".join(line for line in lines if line).encode("latin-1") + b"\r\n\r\n" + body


def test_host_gets_the_secret_and_the_program_does_not(secret_gates, secure_hosts):
    host = secure_hosts()
    gate = secret_gates(host)
    said = gate.say(request(host, "Accept: */*"))
    head = host.wait_received()[0]
    assert said.startswith(b"HTTP/1.1 200 OK") and said.endswith(b"ok") and VALUE.encode() not in said
    assert head.startswith(b"GET /v1 HTTP/1.1\r\n")
    assert headers(head).count((HEADER, VALUE)) == 1 and ("Host", host.target) in headers(head)
    opened, closed = gate.events("opened"), gate.events("closed")
    assert [(one["protocol"], one["secret"], one["requests"]) for one in opened] == [("http", HEADER, 0)]
    assert [(one["secret"], one["requests"]) for one in closed] == [(HEADER, 1)]
    assert VALUE not in str(gate.events())


COPIES = ["X-Api-Key: mine", "x-api-key: mine", "X-API-KEY: mine", "x_api_key: mine", "X-Api_Key: mine", "X-Api-Key:mine",
          "X-Api-Key:\tmine", "X-Api-Key:", "X-Api-Key: mine\r\nX-Api-Key: yours", "X-Api-Key: mine\r\nAccept: x\r\nx_Api-key: yours",
          "Connection: x-api-key\r\nX-Api-Key: mine"]


@pytest.mark.parametrize("copy", COPIES)
def test_copy_of_the_program_is_left_out(secret_gates, secure_hosts, copy):
    host = secure_hosts()
    assert secret_gates(host).say(request(host, copy)).startswith(b"HTTP/1.1 200")
    found = headers(host.wait_received()[0])
    ours = [(name, value) for name, value in found if name.lower().replace("_", "-") == HEADER.lower()]
    assert ours == [(HEADER, VALUE)], found


SHAPES = {
    "a folded copy": ["X: y\r\n X-Api-Key: mine"],
    "a folded copy, by a tab": ["X: y\r\n\tX-Api-Key: mine"],
    "a copy with a space before its colon": ["X-Api-Key : mine"],
    "a copy after a bare line feed": ["X: y\nX-Api-Key: mine"],
    "a copy after a bare carriage return": ["X: y\rX-Api-Key: mine"],
    "a copy with a NUL": ["X-Api-Key: mi\0ne"],
    "two lengths": ["Content-Length: 4", "Content-Length: 0"],
    "length and chunks": ["Content-Length: 4", "Transfer-Encoding: chunked"],
    "another host in Host": ["Host: other.example.org"],
    "a length that Connection removes": ["Connection: content-length", "Content-Length: 4"],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_request_with_two_readings_is_refused(secret_gates, secure_hosts, shape):
    host = secure_hosts()
    said = secret_gates(host).say(request(host, *SHAPES[shape], body=b"body"))
    assert said.startswith(b"HTTP/1.1 400 ") and host.received_data == []


@pytest.mark.parametrize("name", ["X-Api-Key", "x-api-key", "x_api_key", "Authorization"])
def test_trailer_with_the_name_is_refused(secret_gates, secure_hosts, name):
    def serve(peer):
        return read_all(peer)
    host = secure_hosts(serve)
    body = b"5\r\nhello\r\n0\r\n" + f"{name}: mine\r\n\r\n".encode()
    said = secret_gates(host).say(request(host, "Transfer-Encoding: chunked", method="POST", body=body))
    assert said.startswith(b"HTTP/1.1 400 ") and b"malformed chunked body" in said
    assert b"mine" not in b"".join(host.received_data)


@pytest.mark.parametrize("method", ["TRACE", "trace", "Trace", "TRACK"])
def test_request_that_comes_back_is_refused(secret_gates, secure_hosts, method):
    host = secure_hosts()
    gate = secret_gates(host)
    assert gate.say(request(host, method=method)).startswith(b"HTTP/1.1 501 ")
    assert host.received_data == [] and gate.reasons() == ["unsupported"]


def test_second_request_in_the_same_bytes_gets_it_once_too(secret_gates, secure_hosts):
    """On a connection of its own: a host that reads the first one differently cannot take the second for its body."""
    host = secure_hosts(answer_heads(OK))
    gate = secret_gates(host)
    said = gate.say(request(host, path="/one", end="") + request(host, "X-Api-Key: mine", path="/two"))
    assert said.count(b"HTTP/1.1 200 OK") == 2
    heads = host.wait_received(2)
    assert [head.split(b" ")[1] for head in heads] == [b"/one", b"/two"]
    assert [head.count(VALUE.encode()) for head in heads] == [1, 1] and b"mine" not in b"".join(heads)
    assert [one["requests"] for one in gate.events("closed")] == [1, 1]


def test_body_that_looks_like_a_request_gets_nothing(secret_gates, secure_hosts):
    inner = f"GET http://{HOST}/inner HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()

    def serve(peer):
        data = b""
        while not data.endswith(inner):
            data += peer.recv(65536)
        peer.sendall(OK)
        return data
    host = secure_hosts(serve)
    said = secret_gates(host).say(request(host, f"Content-Length: {len(inner)}", method="POST", body=inner))
    assert said.count(b"HTTP/1.1 ") == 1
    data = host.wait_received()[0]
    assert data.count(VALUE.encode()) == 1 and data.endswith(b"\r\n\r\n" + inner)


def test_old_request_without_host_gets_it(secret_gates, secure_hosts):
    host = secure_hosts()
    said = secret_gates(host).say(f"GET http://{host.target}/ HTTP/1.0\r\n\r\n".encode())
    assert said.startswith(b"HTTP/1.1 200")
    assert headers(host.wait_received()[0]).count((HEADER, VALUE)) == 1
