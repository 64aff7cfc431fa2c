"""Promise: Egress.
Attacker: a tool that may reach some hosts through the proxy of the site. Means: names that are not listed; names of the
local network below a listed suffix, which the proxy would look up where it is; addresses; other hosts in the request,
in the tunnel and by a redirect; credentials of its own for the proxy.

Expected: refused before the proxy is asked. The address of what is asked for cannot be checked, and events say so.
"""
import socket
import struct

import pytest

from gates import HOST, PATIENCE, in_network, read_all, read_until
from site_proxy import SiteProxy

SUFFIXES = ["*.example.org", "*.corp.internal", "*.box.local", "*.run.localhost", "*.net.home.arpa"]
LOCAL = ["vault.corp.internal", "a.b.corp.internal", "printer.box.local", "x.run.localhost", "nas.net.home.arpa"]
NOT_LISTED = ["localhost", "metadata", "metadata.google.internal", "printer.local", "other.example.net", "127.0.0.1", "[::1]",
              "169.254.169.254", "10.0.0.1", "93.184.216.10", "2130706433", "0x7f.1", "web.example.org.example.net"]


@pytest.fixture
def site(network, gates):
    """A gate with a proxy of the site behind it."""
    proxy = SiteProxy(network, resolve={HOST: "93.184.216.10", "vault.corp.internal": "93.184.216.10"}, credentials=None)
    proxy.gate = lambda *rules: gates("--upstream", proxy.url, *rules)
    yield proxy
    proxy.close()


def connect(name):
    return f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode()


def get(name):
    return f"GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n\r\n".encode()


def by_socks(name):
    data = name.strip("[]").encode()
    return b"\5\1\0\5\1\0\3" + bytes([len(data)]) + data + struct.pack("!H", 443)


@pytest.mark.parametrize("request_of", [connect, get, by_socks])
def test_names_of_the_local_network_are_refused_below_a_suffix(site, network, request_of):
    network.take()
    gate = site.gate(*SUFFIXES)
    for name in LOCAL:
        assert b" 200 " not in gate.say(request_of(name))
    assert gate.reasons() == ["address"] * len(LOCAL)
    assert all("local network" in event["message"] and event["via"] == event["address"] == "" for event in gate.events("refused"))
    assert site.heads == [] and network.take()["names"] == []


@pytest.mark.parametrize("request_of", [connect, get, by_socks])
def test_what_is_not_listed_is_refused(site, network, request_of):
    network.take()
    gate = site.gate(*SUFFIXES)
    for name in NOT_LISTED:
        assert b" 200 " not in gate.say(request_of(name))
    assert set(gate.reasons()) <= {"not_listed", "name"} and len(gate.reasons()) == len(NOT_LISTED)
    assert site.heads == [] and network.take()["names"] == []


@pytest.mark.parametrize("rule,name", [("vault.corp.internal", "vault.corp.internal"), ("vault.corp.internal:443", "vault.corp.internal"),
                                       ("localhost", "localhost"), ("93.184.216.10", "93.184.216.10"), ("127.0.0.0/8", "127.0.0.1")])
def test_what_is_listed_by_itself_is_asked_for(site, rule, name):
    gate = site.gate(*SUFFIXES, rule)
    gate.say(connect(name))
    assert site.asked == [f"CONNECT {name}:443"]


def test_next_request_on_a_connection_is_judged_like_the_first(site):
    gate = site.gate(HOST)
    with gate.connect(get(HOST)) as client:
        read_until(client, b"a word from web.example.org")
        client.sendall(get("vault.corp.internal"))
        assert read_all(client).startswith(b"HTTP/1.1 403 ")
    assert site.asked == [f"GET http://{HOST}/"] and gate.reasons() == ["not_listed"]


def test_tls_for_another_host_is_refused_in_the_tunnel(site):
    """The proxy has made the tunnel; nothing of the tool has reached the host."""
    gate = site.gate(HOST)
    gate.curl("-k", "--connect-to", f"other.example.org:443:{HOST}:443", "https://other.example.org/")
    assert gate.reasons() == ["sni"]
    assert [event["up"] for event in gate.events("closed")] == [0]


def test_credentials_of_the_tool_do_not_reach_the_proxy(network, gates):
    proxy = SiteProxy(network, resolve={HOST: "93.184.216.10"}, credentials="a:b")
    try:
        gate = gates("--upstream", proxy.url, HOST)
        mine = "Proxy-Authorization: Basic YTpi\r\n"  # right by chance
        said = gate.say(f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n{mine}\r\n".encode())
        assert said.startswith(b"HTTP/1.1 502 ")
        said = gate.say(f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n{mine}\r\n".encode())
        assert said.startswith(b"HTTP/1.1 502 ") and b"Proxy-Authenticate" not in said
        assert not any(b"roxy-" in head for head in proxy.heads) and len(proxy.heads) == 2
        assert gate.reasons("failed") == ["upstream_auth"] * 2
    finally:
        proxy.close()


def test_opaque_tunnel_gets_the_first_bytes_of_the_host_once(site):
    site.behave = b"HTTP/1.1 200 OK\r\n\r\n220 hello\r\n"
    gate = site.gate(f"{HOST}:25 opaque")
    with gate.connect(f"CONNECT {HOST}:25 HTTP/1.1\r\n\r\n".encode()) as client:
        assert read_all(client) == b"HTTP/1.1 200 Connection established\r\n\r\n220 hello\r\n"
    closed, = gate.events("closed")
    assert closed["down"] == len(b"220 hello\r\n") and closed["via"] == site.url


def test_half_an_answer_of_the_proxy_ends_at_the_deadline(gates, network):
    listener = in_network(network, lambda: socket.create_server(("127.0.0.1", 0)))
    with listener:
        gate = gates("--upstream", f"http://127.0.0.1:{listener.getsockname()[1]}", "--dial-ms", "1500", HOST)
        with gate.connect(connect(HOST)) as client:
            peer, _ = listener.accept()
            with peer:
                peer.settimeout(PATIENCE)
                peer.sendall(b"HTTP/1.1 200 ")
                assert read_all(client).startswith(b"HTTP/1.1 504 ")
    assert gate.reasons("failed") == ["timeout"]
