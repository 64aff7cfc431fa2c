"""The proxy without a jail: what its clients and its hosts may do, and which events it reports."""
import hashlib
import http.client
import re
import socket
import ssl
import subprocess
import threading

import pytest

from feature import sanitized
from gates import ADDRESS, HOST, PATIENCE, read_all, read_until

GET = f"GET http://{HOST}%s HTTP/1.1\r\nHost: {HOST}\r\n%s\r\n"
WORD = b"a word from web.example.org"


def answers(data):
    """A host that answers each request with this."""
    def serve(peer):
        read_until(peer, b"\r\n\r\n")
        peer.sendall(data)
        return True
    return serve


def plain_get(scripted_server):
    return f"GET http://{scripted_server.target}/ HTTP/1.1\r\nHost: {scripted_server.target}\r\n\r\n".encode()


# ---- plain HTTP ----

def test_next_request_goes_to_the_same_host_or_to_another(gates):
    gate = gates("*.example.org")
    with gate.connect() as client:
        for host in (HOST, HOST, "other.example.org"):
            client.sendall(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert read_until(client, b"a word from " + host.encode()).startswith(b"HTTP/1.1 200 ")
    opened = gate.events("opened")
    assert [event["host"] for event in opened] == [HOST, "other.example.org"]
    assert {event["connection"] for event in opened} == {1}


def test_next_request_is_judged_like_the_first(gates, network):
    network.take()
    gate = gates(HOST)
    with gate.connect((GET % ("/", "")).encode()) as client:
        read_until(client, WORD)
        client.sendall(b"GET http://other.example.org/ HTTP/1.1\r\nHost: other.example.org\r\n\r\n")
        assert read_all(client).startswith(b"HTTP/1.1 403 ")
    assert gate.reasons() == ["not_listed"]
    assert network.take()["names"] == [HOST, HOST]  # A and AAAA


def test_requests_in_one_piece_are_answered_in_order(gates):
    gate = gates("*.example.org")
    other = b"GET http://other.example.org/ HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n"
    said = gate.say((GET % ("/", "")).encode() * 3 + other)
    assert re.findall(rb"a word from (\w+)", said) == [b"web", b"web", b"web", b"other"]


def test_bodies_arrive_unchanged(gates, scripted_servers):
    def serve(peer):
        head = read_until(peer, b"\r\n\r\n")
        body = read_until(peer, b"X-Sum: 1\r\n\r\n")
        peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nyes\r\n0\r\nX-Sum: 2\r\n\r\n")
        return head, body
    scripted_server = scripted_servers(serve)
    gate = gates(HOST)
    body = b"5;ext=1\r\nhello\r\n" + b"10000\r\n" + b"x" * 0x10000 + b"\r\n0\r\nX-Sum: 1\r\n\r\n"
    said = gate.say(f"POST http://{scripted_server.target}/a?b HTTP/1.1\r\nHost: {scripted_server.target}\r\nProxy-Authorization: Basic eA==\r\n"
                    "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode() + body)
    assert said == b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3;a=b\r\nyes\r\n0\r\nX-Sum: 2\r\n\r\n"
    (head, arrived), = scripted_server.wait_received()
    assert arrived == body
    assert head.startswith(b"POST /a?b HTTP/1.1\r\n") and b"Proxy-" not in head


def test_interim_answers_pass(gates, scripted_servers):
    def serve(peer):
        read_until(peer, b"\r\n\r\n")
        peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert read_until(peer, b"body") == b"body"
        peer.sendall(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return True
    scripted_server = scripted_servers(serve)
    gate = gates(HOST)
    head = f"POST http://{scripted_server.target}/ HTTP/1.1\r\nHost: {scripted_server.target}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    with gate.connect(head.encode()) as client:
        assert read_until(client, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        client.sendall(b"body")
        assert read_until(client, b"ok").startswith(b"HTTP/1.1 103 ")


def test_answer_before_the_end_of_the_request_passes(gates, scripted_servers):
    scripted_server = scripted_servers(answers(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"))
    gate = gates(HOST)
    with gate.connect(f"POST http://{scripted_server.target}/ HTTP/1.1\r\nHost: {scripted_server.target}\r\n"
                      "Content-Length: 1000000000\r\n\r\nx".encode()) as client:
        assert read_until(client, b"\r\n\r\nno").startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("answer, body", [
    (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"until the end"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcsurplus", b"abc"),
    (b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", b""),
])
def test_answer_ends_where_it_says(gates, scripted_servers, answer, body):
    scripted_server = scripted_servers(answers(answer))
    gate = gates(HOST)
    said = gate.say(plain_get(scripted_server) * 2)
    assert said.partition(b"\r\n\r\n")[2].startswith(body)
    assert b"surplus" not in said
    assert said.count(b"HTTP/1.") == (1 if b"HTTP/1.0" in answer else 2) and b"chokepoint" not in said


@pytest.mark.parametrize("answer, status", [
    (b"", b"502"), (b"HTTP/1.1 200 OK\r\nContent-Le", b"502"), (b"SSH-2.0-x\r\n\r\n", b"502"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", b"502"),
    (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", b"502"), (b"HTTP/1.1 200 OK\nX: y\n\n", b"502"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"502"),
])
def test_host_that_does_not_speak_http_is_a_bad_gateway(gates, scripted_servers, answer, status):
    scripted_server = scripted_servers(answers(answer))
    gate = gates(HOST)
    said = gate.say(plain_get(scripted_server))
    assert said.startswith(b"HTTP/1.1 " + status)
    assert gate.reasons("failed") == ["bad_answer"]


def test_answer_that_is_cut_is_not_made_whole(gates, scripted_servers):
    scripted_server = scripted_servers(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"))
    gate = gates(HOST)
    said = gate.say(plain_get(scripted_server))
    assert said.endswith(b"Content-Length: 10\r\n\r\nabc")
    assert gate.reasons("closed") == ["reset"]


# ---- tunnels ----

def hello(name):
    """The first message of a real client."""
    out = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def echo(peer):
    received = b""
    while data := peer.recv(65536):
        received += data
        peer.sendall(data)
    return received


def test_first_message_may_come_with_the_request_or_bit_by_bit(gates, scripted_servers):
    scripted_server = scripted_servers(echo)
    gate = gates(HOST)
    said = hello(HOST)
    request = f"CONNECT {scripted_server.target} HTTP/1.1\r\n\r\n".encode()
    with gate.connect(request + said) as client:
        assert read_until(client, said).startswith(b"HTTP/1.1 200 ")
    with gate.connect(request) as client:
        read_until(client, b"\r\n\r\n")
        for index in range(len(said)):
            client.sendall(said[index:index + 1])
        assert read_until(client, said) == said
    assert [(e["up"], e["down"]) for e in gate.events("closed")] == [(len(said), len(said))] * 2


def test_client_that_leaves_before_it_says_anything_is_no_refusal(gates, scripted_servers):
    scripted_server = scripted_servers(echo)
    gate = gates(HOST)
    gate.tunnel(scripted_server.target).close()
    events = gate.events()
    assert [event["verdict"] for event in events] == ["opened", "closed"]


def test_opaque_host_may_speak_first_and_each_side_may_end_first(gates, scripted_servers):
    def serve(peer):
        peer.sendall(b"220 ready\r\n")
        received = read_all(peer)
        peer.sendall(b"bye")
        return received
    scripted_server = scripted_servers(serve)
    gate = gates(f"{HOST} opaque")
    with gate.tunnel(scripted_server.target) as client:
        assert read_until(client, b"\n") == b"220 ready\r\n"
        client.sendall(b"EHLO")
        client.shutdown(socket.SHUT_WR)
        assert read_all(client) == b"bye"
    assert gate.events("closed")[0]["reason"] == "done"
    assert scripted_server.wait_received() == [b"EHLO"]


def test_opaque_host_that_goes_is_seen_by_a_silent_client(gates, scripted_servers):
    scripted_server = scripted_servers(lambda peer: peer.sendall(b"no"))
    gate = gates(f"{HOST} opaque")
    with gate.tunnel(scripted_server.target) as client:
        assert read_all(client) == b"no"


def test_megabytes_arrive_whole_both_ways_at_once_though_one_side_is_slow(gates, scripted_servers):
    block = bytes(range(256)) * 256
    count, rest = 512, b"the end"
    done = threading.Event()

    def serve(peer):
        digest = hashlib.sha256()
        writer = threading.Thread(target=lambda: [peer.sendall(block) for _ in range(count)] and peer.sendall(rest))
        writer.start()
        assert done.wait(PATIENCE)  # nothing is read before the other direction is through
        while data := peer.recv(65536):
            digest.update(data)
        writer.join()
        return digest.hexdigest()
    scripted_server = scripted_servers(serve)
    gate = gates(f"{HOST} opaque", nested=1)
    wanted = hashlib.sha256(block * count + rest).hexdigest()
    with gate.tunnel(scripted_server.target) as client:
        writer = threading.Thread(
            target=lambda: [client.sendall(block) for _ in range(count)] and client.sendall(rest) or client.shutdown(socket.SHUT_WR))
        writer.start()
        digest, size = hashlib.sha256(), 0
        while size < count * len(block) + len(rest):
            data = client.recv(65536)
            size += len(data)
            digest.update(data)
        done.set()
        writer.join()
        assert digest.hexdigest() == wanted
        assert client.recv(1) == b""
    assert gate.memory_kib("VmHWM") < (256 if sanitized() else 64) * 1024  # of 32 MiB each way at most one pipe is held, in the kernel and not in the gate's memory
    closed, = gate.events("closed")
    assert (closed["up"], closed["down"]) == (size, size)
    assert scripted_server.wait_received() == [wanted]


def test_thousand_tunnels_are_open_at_once(gates, scripted_servers):
    """A byte passes through each of them and back while all are open."""
    count, peers = 1000, []

    def serve(peer):
        peers.append(peer.dup())
        return True
    scripted_server = scripted_servers(serve)
    gate = gates(f"{HOST} opaque")
    clients = [gate.tunnel(scripted_server.target) for _ in range(count)]
    for number, client in enumerate(clients):
        client.sendall(number.to_bytes(2, "big"))
    scripted_server.wait_received(count)
    seen = set()
    for peer in peers:
        peer.settimeout(PATIENCE)
        data = peer.recv(2)
        seen.add(data)
        peer.sendall(data)
    assert len(seen) == count
    for number, client in enumerate(clients):
        assert client.recv(2) == number.to_bytes(2, "big")
    assert gate.memory_kib("VmHWM") < (256 if sanitized() else 64) * 1024
    for sock in (*clients, *peers):
        sock.close()
    assert len(gate.events("closed")) == count


# ---- real clients ----

@pytest.mark.parametrize("scheme, url", [("http", f"http://{HOST}/"), ("http", f"https://{HOST}/"),
                                         ("socks5h", f"https://{HOST}/")])
def test_curl(gates, scheme, url):
    gate = gates(HOST)
    answer = gate.curl(url, scheme=scheme)
    assert (answer.returncode, answer.stdout) == (0, WORD), answer.stderr
    opened, closed = gate.events()
    assert (opened["host"], opened["rule"], opened["address"]) == (HOST, HOST, ADDRESS)
    assert closed["verdict"] == "closed" and closed["up"] > 0 and closed["down"] > len(WORD)


NODE = """
const http = require('http'), https = require('https'), [port, host] = process.argv.slice(1);
const show = answer => answer.pipe(process.stdout);
http.get({port, path: `http://${host}/`, headers: {host}}, answer => answer.resume().on('end', () =>
  http.request({port, method: 'CONNECT', path: `${host}:443`}).on('connect', (_, socket) =>
    https.get({host, servername: host, path: '/', socket, agent: false}, show)).end()));
"""


def test_node(gates, network):
    """Plain HTTP, and TLS through a tunnel on the next connection."""
    gate = gates(HOST)
    answer = subprocess.run([*gate.into, "node", "-e", NODE, str(gate.port), HOST], capture_output=True, check=False,
                            env={"PATH": "/usr/bin:/bin", "NODE_EXTRA_CA_CERTS": str(network.base / "ca-certificates.crt")})
    assert (answer.returncode, answer.stdout) == (0, WORD), answer.stderr
    assert [(event["protocol"], event["port"]) for event in gate.events("opened")] == [("http", 80), ("connect", 443)]


def test_python_client_and_its_tunnel(gates, network):
    """http.client sends CONNECT without a Host, as HTTP/1.0."""
    gate = gates(HOST)
    context = ssl.create_default_context(cafile=str(network.base / "ca-certificates.crt"))
    connection = http.client.HTTPSConnection(HOST, context=context)
    connection.set_tunnel(HOST, 443)
    connection._create_connection = lambda *_: gate.connect()
    connection.request("GET", "/")
    assert connection.getresponse().read() == WORD
    connection.close()


# ---- lookups ----

def test_hosts_file_is_read_and_of_several_addresses_only_the_allowed_are_dialled(gates, network):
    hosts = network.base / "hosts"
    before = hosts.read_text(encoding="ascii")
    hosts.write_text(before + f"10.1.2.3 mixed.example.org\n{ADDRESS} mixed.example.org\n", encoding="ascii")
    try:
        gate = gates("mixed.example.org")
        answer = gate.curl("http://mixed.example.org/")
        assert answer.stdout == WORD
        opened, closed = gate.events()
        assert opened["address"] == closed["address"] == ADDRESS
    finally:
        hosts.write_text(before, encoding="ascii")


def test_resolver_that_does_not_answer_is_reported(gates, network):
    resolv = network.base / "resolv.conf"
    before = resolv.read_text(encoding="ascii")
    resolv.write_text(f"nameserver {ADDRESS}\n", encoding="ascii")  # no listener there, and the kernel reports that at once
    try:
        gate = gates(HOST, dial_ms=1500)
        assert gate.curl(f"http://{HOST}/").stdout.startswith(b"chokepoint: ")
        assert gate.reasons("failed") in (["timeout"], ["lookup"])
    finally:
        resolv.write_text(before, encoding="ascii")


def test_host_that_does_not_take_connections_is_reported(gates):
    gate = gates(HOST)
    assert b"Connection refused" in gate.curl(f"http://{HOST}:9/").stdout
    failed, = gate.events("failed")
    assert (failed["reason"], failed["address"]) == ("connect", ADDRESS)


# ---- the end ----

def test_gate_that_is_closed_ends_its_connections_and_reports_what_they_moved(gates, scripted_servers):
    scripted_server = scripted_servers(echo)
    gate = gates(f"{HOST} opaque")
    with gate.tunnel(scripted_server.target) as client:
        client.sendall(b"12345")
        assert client.recv(5) == b"12345"
        closed, = gate.events("closed")
        assert (closed["reason"], closed["up"], closed["down"]) == ("closed", 5, 5)
        assert client.recv(1) == b""
