"""Promise: Egress.
Attacker: a tool that may reach one host. Means: a tunnel to that host with something else in it: TLS for another host that lives
at the same address, TLS that hides for whom it is, no TLS at all.

Expected: closed, and not a byte of it reaches the host. Where the rule says "opaque" what cannot be seen passes; a name that can
be seen and is another one does not, even there.
"""
import pytest

from gates import ADDRESS, HOST, PATIENCE, read_all, read_until
from hellos import ALERT, OTHER, cut, extended, hello, server_name


ECH = (0xfe0d, b"\0\0\1\0\1x\0\0\0\4abcd")
GREASE = (0x2a2a, b"\0")
TRICKS = {
    "another name": (lambda: hello(OTHER), "sni"),
    "another name in pieces": (lambda: cut(hello(OTHER)[5:], 7), "sni"),
    "a name that begins like it": (lambda: hello(HOST + ".example.net"), "sni"),
    "no name": (lambda: hello(None), "no_sni"),
    "an encrypted name after the right one": (lambda: extended(HOST, ECH), "encrypted_sni"),
    "two names": (lambda: extended(HOST, server_name(OTHER)), "malformed"),
    "a NUL in the name": (lambda: extended(None, server_name(HOST + "\0." + OTHER)), "malformed"),
    "a list of two": (lambda: extended(None, (0, b"\0\x10" + b"\0\0\5a.org" * 2)), "malformed"),
    "a length that is wrong": (lambda: hello(HOST)[:3] + b"\0\1" + hello(HOST)[5:], "malformed"),
    "plain HTTP": (lambda: b"GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n", "not_tls"),
    "ssh": (lambda: b"SSH-2.0-OpenSSH_9.2\r\n", "not_tls"),
    "HTTP/2 in the clear": (lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "not_tls"),
    "old SSL": (lambda: b"\x80\x2e\1\3\1\0\x15\0\0\0\x10", "not_tls"),
}


def keeps(peer):
    return read_all(peer)


def through(gate, scripted_server, data):
    """What comes back, when the tunnel is done."""
    with gate.tunnel(scripted_server.target) as client:
        client.sendall(data)
        client.settimeout(PATIENCE)
        try:
            return read_all(client)
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize("trick", TRICKS)
def test_what_is_not_tls_for_the_host_does_not_pass(gates, scripted_servers, trick):
    make, reason = TRICKS[trick]
    scripted_server = scripted_servers(keeps)
    gate = gates(HOST)
    back = through(gate, scripted_server, make())
    assert gate.reasons() == [reason]
    assert back in ((b"",) if reason == "not_tls" else (ALERT, b""))
    assert scripted_server.wait_received() == [b""]


@pytest.mark.parametrize("make", [lambda: hello(HOST), lambda: extended(HOST, GREASE), lambda: hello(HOST.upper())])
def test_tls_for_the_host_passes(gates, scripted_servers, make):
    scripted_server = scripted_servers(lambda peer: peer.recv(100) and peer.sendall(b"heard"))
    gate = gates(HOST)
    with gate.tunnel(scripted_server.target) as client:
        client.sendall(make())
        assert read_until(client, b"heard") == b"heard"


@pytest.mark.parametrize("trick", [name for name, (_, reason) in TRICKS.items() if reason != "sni"])
def test_what_cannot_be_seen_passes_where_the_rule_says_so(gates, scripted_servers, trick):
    scripted_server = scripted_servers(lambda peer: peer.recv(5) and peer.sendall(b"heard"))
    gate = gates(f"{HOST} opaque")
    with gate.tunnel(scripted_server.target) as client:
        client.sendall(TRICKS[trick][0]())
        assert read_until(client, b"heard") == b"heard"


def test_name_of_another_host_does_not_pass_even_there(gates, scripted_servers):
    scripted_server = scripted_servers(keeps)
    gate = gates(f"{HOST} opaque")
    through(gate, scripted_server, hello(OTHER))
    refused, = gate.events("refused")
    assert refused["reason"] == "sni" and f"'{OTHER}'" in refused["message"]
    assert scripted_server.wait_received() == [b""]


def test_address_has_no_name(gates, scripted_servers):
    """So TLS to it must be allowed to name nobody."""
    scripted_server = scripted_servers(lambda peer: peer.recv(5) and peer.sendall(b"heard"))
    target = f"{ADDRESS}:{scripted_server.port}"
    closed, opened = gates(ADDRESS), gates(f"{ADDRESS} opaque")
    with closed.tunnel(target) as client:
        client.sendall(hello(None))
        assert read_all(client) in (ALERT, b"")
    assert closed.reasons() == ["no_sni"]
    with opened.tunnel(target) as client:
        client.sendall(hello(None))
        assert read_until(client, b"heard") == b"heard"
