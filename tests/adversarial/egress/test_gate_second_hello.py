"""Promise: Egress.
Attacker: a tool that may reach one host. Means: a first TLS hello with the right name, and then
another one in the clear: after the host has asked for it (HelloRetryRequest), before it was asked
for, in the same record, after a ChangeCipherSpec, after early data, cut into pieces.

Expected: closed, with an event, and no hello with another name reaches the host, because a host
uses the last one. A real handshake with a retry passes, and so does one of TLS 1.2.
"""
import ssl
import struct

import pytest

from gates import HOST, read_all
from hellos import ALERT, OTHER, cut, extended, hello, record, server_name

TWIN = "bad.example.org"  # as long as the right one: its bytes can replace it
CHANGE = b"\x14\3\3\0\1\1"
EARLY = b"\x17\3\3\0\x20" + bytes(32)
WARNING = b"\x15\3\3\0\2\1\x5a"
RETRY_RANDOM = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


def server_hello(random, version=None):
    """The answer of a host, for a group that no first hello offers a key for."""
    extensions = b"" if version is None else struct.pack("!HHH", 43, 2, version)
    body = b"\3\3" + random + b"\0" + b"\x13\1" + b"\0" + struct.pack("!H", len(extensions)) + extensions
    return record(b"\2" + struct.pack("!I", len(body))[1:] + body)


RETRY = server_hello(RETRY_RANDOM, 0x0304)
ANSWER = server_hello(bytes(32), 0x0304)
OLD_ANSWER = server_hello(bytes(32))
assert len(TWIN) == len(HOST)


def contexts(network, **server):
    """A server that has no key for what a client offers first, and a client that believes it."""
    host = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    host.load_cert_chain(network.base / "host.pem", network.base / "host.key")
    host.set_ecdh_curve("secp384r1")
    client = ssl.create_default_context(cafile=network.base / "ca-certificates.crt")
    for name, value in server.items():
        setattr(host, name, value)
    return host, client


class Shaken:
    """A host with TLS. heard: the names it was asked for; the handshake's end says whether it came to that."""

    def __init__(self, context):
        self.context, self.names = context, []
        context.sni_callback = lambda _, name, __: self.names.append(name)

    def serve(self, peer):
        try:
            with self.context.wrap_socket(peer, server_side=True) as shaken:
                shaken.sendall(b"hello from inside")
                return "shaken"
        except ssl.SSLError:
            return "failed"


def shake(gate, scripted_server, client, change):
    """A handshake by hand, and what the host says in it; what the client sends after its first flight goes through change."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    talk = client.wrap_bio(incoming, outgoing, server_hostname=HOST)
    flights = 0
    with gate.tunnel(scripted_server.target) as line:
        line.settimeout(20)
        while True:
            try:
                return talk.read(100) if flights else talk.do_handshake()
            except ssl.SSLWantReadError:
                said = outgoing.read()
                if said:
                    line.sendall(change(said) if flights else said)
                    flights += 1
            except (ssl.SSLError, ConnectionError):
                return None
            came = line.recv(65536)
            if not came:
                return None
            incoming.write(came)


def test_a_real_retry_passes(gates, scripted_servers, network):
    context, client = contexts(network)
    host = Shaken(context)
    scripted_server = scripted_servers(host.serve)
    gate = gates(HOST)
    assert shake(gate, scripted_server, client, lambda said: said) == b"hello from inside"
    assert set(host.names) == {HOST}
    assert gate.reasons() == []


def test_tls_before_1_3_passes(gates, scripted_servers, network):
    context, client = contexts(network, maximum_version=ssl.TLSVersion.TLSv1_2)
    host = Shaken(context)
    scripted_server = scripted_servers(host.serve)
    gate = gates(HOST)
    assert shake(gate, scripted_server, client, lambda said: said) == b"hello from inside"
    assert gate.reasons() == []


@pytest.mark.parametrize("rule", [HOST, f"{HOST} opaque"])
def test_a_real_host_does_not_see_the_name_of_a_second_hello(gates, scripted_servers, network, rule):
    context, client = contexts(network)
    host = Shaken(context)
    scripted_server = scripted_servers(host.serve)
    gate = gates(rule)

    def change(said):
        assert said.count(HOST.encode()) == 1, "no second hello: the host did not retry"
        return said.replace(HOST.encode(), TWIN.encode())
    assert shake(gate, scripted_server, client, change) is None
    assert scripted_server.wait_received() == ["failed"]
    assert TWIN not in host.names
    assert gate.reasons() == ["sni"]


def retries(*answers):
    """A host that says this when it hears something, and keeps all that it hears."""
    def serve(peer):
        received = peer.recv(65536)
        for answer in answers:
            peer.sendall(answer)
        return received + read_all(peer)
    return serve


# What the host answers; what the client sends with its first hello, and when it has that answer; the reason.
TRICKS = {
    "another name": (RETRY, b"", lambda: hello(OTHER), "sni"),
    "another name after a ChangeCipherSpec": (RETRY, b"", lambda: CHANGE + hello(OTHER), "sni"),
    "another name after early data": (RETRY, CHANGE + EARLY * 3, lambda: hello(OTHER), "sni"),
    "another name after a warning": (RETRY, b"", lambda: WARNING + hello(OTHER), "sni"),
    "another name in pieces": (RETRY, b"", lambda: cut(hello(OTHER)[5:], 3), "sni"),
    "no name": (RETRY, b"", lambda: hello(None), "no_sni"),
    "two names": (RETRY, b"", lambda: extended(HOST, server_name(OTHER)), "malformed"),
    "an encrypted name": (RETRY, b"", lambda: extended(HOST, (0xfe0d, b"\0\0\1\0\1x\0\0\0\4abcd")), "encrypted_sni"),
    "a third hello": (RETRY, b"", lambda: hello(HOST) + hello(OTHER), "sni"),
    "a third hello with the right name": (RETRY, b"", lambda: hello(HOST) * 2, "malformed"),
    "two in one flight": (RETRY, lambda: hello(OTHER), lambda: b"", "sni"),
    "two in one flight, of one name": (RETRY, lambda: hello(HOST), lambda: b"", "malformed"),
    "pieces with an alert between them": (RETRY, b"", lambda: record(hello(HOST)[5:15]) + WARNING, "malformed"),
    "something else than a hello": (RETRY, b"", lambda: record(b"\x10\0\0\1x"), "malformed"),
    "old SSL": (RETRY, b"", lambda: b"\x80\x2e\1\3\1\0\x15\0\0\0\x10", "malformed"),
    "a hello after the answer": (ANSWER, b"", lambda: hello(OTHER), "malformed"),
    "a hello after the keys of TLS 1.2": (OLD_ANSWER, b"", lambda: record(b"\x10\0\0\1x") + hello(OTHER), "malformed"),
    "a hello in the record of the keys": (OLD_ANSWER, b"", lambda: record(b"\x10\0\0\1x" + hello(OTHER)[5:]), "malformed"),
    "a hello after an answer that is not TLS": (b"220 ready\r\n", b"", lambda: hello(OTHER), "sni"),
    "two retries": (RETRY * 2, b"", lambda: hello(OTHER), "sni"),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_second_hello_with_a_trick_does_not_pass(gates, scripted_servers, trick):
    answer, with_first, second, reason = TRICKS[trick]
    scripted_server = scripted_servers(retries(answer))
    gate = gates(HOST)
    with gate.tunnel(scripted_server.target) as client:
        client.settimeout(20)
        try:
            client.sendall(hello(HOST) + (with_first() if callable(with_first) else with_first))
            if second():
                assert client.recv(65536)
                client.sendall(second())
            back = read_all(client)
        except ConnectionError:
            back = b""
    assert back.endswith(ALERT) or not back
    assert OTHER.encode() not in b"".join(scripted_server.wait_received())
    assert gate.reasons() == [reason]


def test_two_hellos_in_one_record_do_not_pass(gates, scripted_servers):
    scripted_server = scripted_servers(retries(RETRY))
    gate = gates(HOST)
    with gate.tunnel(scripted_server.target) as client:
        client.sendall(record(hello(HOST)[5:] + hello(OTHER)[5:]))
        assert read_all(client) in (ALERT, b"")
    assert scripted_server.wait_received() == [b""]
    assert gate.reasons() == ["malformed"]
