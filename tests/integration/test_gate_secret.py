"""A gate that adds a secret: what passes through TLS is what passes without it."""
import hashlib
import socket
import ssl
import threading

import pytest

from gates import HOST, PATIENCE, read_all, read_until
from processes import wait_until
from tls_hosts import OK, VALUE, answer_heads
from upstreams import url_of

MIB = 1 << 20


def request(host, *fields, method="GET", end="Connection: close"):
    lines = [f"{method} http://{host.target}/v1 HTTP/1.1", f"Host: {host.target}", *fields, end]
    return "\r\n".join(line for line in lines if line).encode() + b"\r\n\r\n"


def body_of(said):
    return said.split(b"\r\n\r\n", 1)[1]


def test_events_arrive_as_they_are_sent(secret_gates, secure_hosts):
    """Each event is sent when the program has read the one before."""
    read = threading.Semaphore(0)

    def serve(peer):
        head = read_until(peer, b"\r\n\r\n")
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(5):
            assert read.acquire(timeout=PATIENCE)  # pylint: disable=consider-using-with
            peer.sendall(b"9\r\ndata: %d\n\n\r\n" % number)
        peer.sendall(b"0\r\n\r\n")
        return head
    host = secure_hosts(serve)
    with secret_gates(host).connect(request(host)) as client:
        read_until(client, b"\r\n\r\n")
        for number in range(5):
            read.release()
            assert read_until(client, b"\n\n\r\n") == b"9\r\ndata: %d\n\n\r\n" % number
        assert read_all(client) == b"0\r\n\r\n"


@pytest.mark.parametrize("way", ["length", "chunks"])
def test_large_bodies_pass_and_are_not_held(secret_gates, secure_hosts, way):
    """32 MiB both ways; the gate has not got that much memory."""
    block = bytes(range(256)) * 4096
    total = 32

    def serve(peer):
        read_until(peer, b"\r\n\r\n")
        seen, left = hashlib.sha256(), total * MIB
        while left > 0:
            piece = peer.recv(min(65536, left))
            seen.update(piece)
            left -= len(piece)
        framed = way == "chunks"
        field = b"Transfer-Encoding: chunked" if framed else b"Content-Length: %d" % (total * MIB)
        peer.sendall(b"HTTP/1.1 200 OK\r\n" + field + b"\r\n\r\n")
        for _ in range(total):
            peer.sendall(b"%x\r\n%s\r\n" % (MIB, block) if framed else block)
        if framed:
            peer.sendall(b"0\r\n\r\n")
        return seen.digest()
    host = secure_hosts(serve)
    gate = secret_gates(host)
    with gate.connect(request(host, f"Content-Length: {total * MIB}", method="POST")) as client:
        sender = threading.Thread(target=lambda: [client.sendall(block) for _ in range(total)])
        sender.start()
        pieces = []
        while piece := client.recv(1 << 18):
            pieces.append(piece)
        sender.join(PATIENCE)
    said, expected = b"".join(pieces), block * total
    assert (body_of(said) == expected) if way == "length" else (len(said) > total * MIB and said.endswith(b"\r\n0\r\n\r\n"))
    assert host.wait_received() == [hashlib.sha256(expected).digest()]
    assert gate.memory_kib("VmHWM") < 20 * 1024


def test_upload_waits_for_continue(secret_gates, secure_hosts):
    def serve(peer):
        head = read_until(peer, b"\r\n\r\n")
        peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = read_until(peer, b"word")
        peer.sendall(OK)
        return head + body
    host = secure_hosts(serve)
    with secret_gates(host).connect(request(host, "Expect: 100-continue", "Content-Length: 4", method="POST")) as client:
        assert read_until(client, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"word")
        assert read_all(client).endswith(b"ok")
    data = host.wait_received()[0]
    assert data.endswith(b"\r\n\r\nword") and data.count(VALUE.encode()) == 1


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_bytes_that_come_one_by_one_are_the_same(secret_gates, secure_hosts, piece):
    def serve(peer):
        data = read_until(peer, b"\r\n\r\n") + read_until(peer, b"0\r\n\r\n")
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        for at in range(0, len(answer), piece):
            peer.sendall(answer[at:at + piece])
        return data
    host = secure_hosts(serve)
    data = request(host, "Transfer-Encoding: chunked", method="POST") + b"5\r\nworld\r\n0\r\n\r\n"
    with secret_gates(host).connect() as client:
        for at in range(0, len(data), piece):
            client.sendall(data[at:at + piece])
        assert read_all(client).endswith(b"5\r\nhello\r\n0\r\n\r\n")
    seen = host.wait_received()[0]
    assert seen.count(VALUE.encode()) == 1 and seen.endswith(b"\r\n\r\n5\r\nworld\r\n0\r\n\r\n")


def test_longest_secret_and_several_of_a_host_are_added(gates, secure_hosts, authority):
    host = secure_hosts()
    words = [word for number in range(15) for word in ("--secret", f"{host.target},X-{number}={'v' * 8192}")]
    gate = gates(*words, "--secret-ca", str(authority.pem), host.target)
    assert gate.say(request(host)).startswith(b"HTTP/1.1 200")
    head = host.wait_received()[0]
    assert head.count(b"\r\nX-") == 15 and head.count(b"v" * 8192 + b"\r\n") == 15 and head.endswith(b"\r\n\r\n")


def test_program_keeps_its_connection_and_the_host_gets_one_for_each_request(secret_gates, secure_hosts):
    """So that nothing of the program precedes a secret on its connection (test_gate_secret_tunnel.py)."""
    host = secure_hosts(answer_heads())
    gate = secret_gates(host)
    with gate.connect() as client:
        for _ in range(20):
            client.sendall(request(host, end=""))
            assert read_until(client, b"ok").startswith(b"HTTP/1.1 200")
    heads = host.wait_received(20)
    assert all(head.count(VALUE.encode()) == 1 and b"\r\nConnection: close\r\n" in head for head in heads)
    assert [one["requests"] for one in gate.events("closed")] == [1] * 20


def test_each_request_counts_as_a_connection(secret_gates, secure_hosts):
    """One client could make any number of them, and of records, by one connection."""
    host = secure_hosts(answer_heads())
    gate = secret_gates(host, total=3)
    said = gate.say(request(host, end="") * 3 + request(host))
    assert said.count(b"HTTP/1.1 200") == 3 and said.count(b"HTTP/1.1 429") + said.count(b"HTTP/1.1 503") + said.count(b"HTTP/1.1 403") == 1, said
    assert gate.reasons() == ["connections"]


ENDS = {
    "nothing at all": (b"", b"HTTP/1.1 502 "),
    "half of a head": (b"HTTP/1.1 200 OK\r\nContent-", b"HTTP/1.1 502 "),
    "no HTTP": (b"hello\r\n\r\n", b"HTTP/1.1 502 "),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", b"HTTP/1.1 502 "),
}


@pytest.mark.parametrize("what", ENDS)
def test_host_that_does_not_answer_well_is_named(secret_gates, secure_hosts, what):
    sent, wanted = ENDS[what]

    def serve(peer):
        head = read_until(peer, b"\r\n\r\n")
        peer.sendall(sent)
        return head
    host = secure_hosts(serve)
    gate = secret_gates(host)
    assert gate.say(request(host)).startswith(wanted)
    assert gate.reasons("failed") == ["bad_answer"]


def cut_off(peer):
    """The end of the connection without the end of TLS."""
    raw = socket.socket(fileno=socket.dup(peer.fileno()))
    raw.shutdown(socket.SHUT_RDWR)
    raw.close()


@pytest.mark.parametrize("head", [b"Content-Length: 100\r\n\r\n",
                                  b"Transfer-Encoding: chunked\r\n\r\n64\r\n", b"Connection: close\r\n\r\n"])
@pytest.mark.parametrize("cut", [True, False])
def test_answer_that_was_cut_is_never_whole(secret_gates, secure_hosts, head, cut):
    """Only an answer without a length, ended by TLS itself, is complete."""
    def serve(peer):
        read_until(peer, b"\r\n\r\n")
        peer.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"some")
        if cut:
            cut_off(peer)
        else:
            peer.unwrap()
        return b""
    host = secure_hosts(serve)
    gate = secret_gates(host)
    whole = not cut and head.startswith(b"Connection")
    with gate.connect(request(host)) as client:
        try:
            assert b"some" in read_all(client) or not whole
        except ConnectionResetError:
            assert not whole
    assert gate.reasons("closed") == ["done" if whole else "reset"]


def test_slow_host_and_slow_program_are_waited_for(secret_gates, secure_hosts):
    """The program reads when the host has nothing more to give away: both wait for each other, and nothing is lost."""
    total = 8 * MIB
    full = threading.Event()

    def serve(peer):
        read_until(peer, b"\r\n\r\n")
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % total)
        peer.settimeout(1)
        sent = 0
        while sent < total:
            try:
                sent += peer.send(bytes(min(16384, total - sent)))
            except (TimeoutError, ssl.SSLWantWriteError):
                full.set()
                peer.settimeout(PATIENCE)
        full.set()
        return b""
    host = secure_hosts(serve)
    gate = secret_gates(host)
    with gate.connect(request(host)) as client:
        assert full.wait(PATIENCE)
        assert gate.memory_kib("VmHWM") < 20 * 1024
        assert len(body_of(read_all(client))) == total


def test_host_that_answers_early_is_not_used_again(secret_gates, secure_hosts):
    def serve(peer):
        data = read_until(peer, b"\r\n\r\n")
        peer.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        return data
    host = secure_hosts(serve)
    with secret_gates(host).connect(request(host, "Content-Length: 1000", method="POST", end="")) as client:
        assert read_until(client, b"\r\n\r\n").startswith(b"HTTP/1.1 413 ")
        client.sendall(b"x" * 1000 + request(host))
        assert b"HTTP/1.1 200" not in read_all(client)
    assert len(host.wait_received()) == 1


def test_nothing_is_left_of_ended_connections(secret_gates, secure_hosts):
    host = secure_hosts(answer_heads())
    gate = secret_gates(host)
    assert gate.say(request(host))
    before = gate.descriptors()
    for _ in range(20):
        assert gate.say(request(host)).startswith(b"HTTP/1.1 200")
    wait_until(lambda: gate.descriptors() <= before, "the descriptors of ended connections are closed")


def test_secret_works_through_the_proxy_of_a_site(gates, proxies, secure_hosts, authority):
    """The proxy of the site makes a tunnel, and sees neither request nor secret."""
    proxy = proxies()
    host = secure_hosts()
    secret = ("--secret", f"{host.target},X-Api-Key={VALUE}", "--secret-ca", str(authority.pem))
    gate = gates("--upstream", url_of(proxy), *secret, host.target)
    assert gate.say(request(host)).endswith(b"ok")
    assert host.wait_received()[0].count(VALUE.encode()) == 1
    assert [head.split(b"\r\n")[0] for head in proxy.heads] == [f"CONNECT {HOST}:{host.port} HTTP/1.1".encode()]
    assert all(one["via"] for one in gate.events("opened"))
