"""Promise: Egress.
Attacker: a tool that may reach one host. Means: other spellings of names and addresses, in each of
the protocols, that a resolver or the kernel would understand differently from the proxy.

Expected: refused before the resolver gets a query.
"""
import struct

import pytest

from gates import HOST, read_all

NAMES = ["127.1", "0x7f.1", "0x7f000001", "017700000001", "2130706433", "127.0.0.01", "1.2.3.4.5", "[::1", "[::ffff:127.0.0.1]",
         "[fe80::1%25lo]", "[fe80::1%lo]", f"{HOST}@other.example.org", f"other.example.org%00.{HOST}", f"{HOST}\\.example.net",
         f".{HOST}", f"{HOST}..", "web..example.org", f"{HOST}:80:443", "w\u0435b.example.org", "web\u3002example\u3002org",
         "*.example.org", "-web.example.org", "a" * 64 + ".example.org", "a." * 130 + "org", f"{HOST}/", f"{HOST}\t",
         f"{HOST}\x00", f"\x00{HOST}", f"{HOST}\r\nX", "localhost", "93.184.216.10", "web.example.org.example.net"]


def connect(name):
    return f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode()


def get(name):
    return f"GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n\r\n".encode()


def socks(name):
    data = name.strip("[]").encode()[:255]
    return b"\5\1\0\5\1\0\3" + bytes([len(data)]) + data + struct.pack("!H", 443)


@pytest.mark.parametrize("form", [connect, get, socks])
def test_other_spellings_are_refused(gates, network, form):
    gate = gates(HOST)
    network.take()
    for name in NAMES:
        said = gate.say(form(name))
        if form is socks:
            assert said[:3] == b"\5\0\5" and said[3] != 0, (name, said)
        else:
            assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 ")), (name, said)
    assert network.take() == {"asked": [], "names": []}
    assert set(gate.reasons()) <= {"name", "not_listed", "malformed"} and gate.events_read[-1]["connection"] == len(NAMES)


@pytest.mark.parametrize("name", [HOST, HOST.upper(), HOST + "."])
def test_the_same_name_is_the_same(gates, name):
    gate = gates(HOST)
    assert gate.say(connect(name)).startswith(b"HTTP/1.1 200 ")
    assert gate.say(socks(name))[:4] == b"\5\0\5\0"
    assert {event["host"] for event in gate.events("opened")} == {HOST}


@pytest.mark.parametrize("form", [connect, get, socks])
@pytest.mark.parametrize("user", ["joe:hunter2", "hunter2", "joe:hunter2@x"])
def test_credentials_in_a_name_are_not_reported(gates, form, user):
    gate = gates(HOST)
    assert b"hunter2" not in gate.say(form(f"{user}@{HOST}"))
    event, = gate.events("refused")
    assert (event["reason"], event["host"]) == ("name", HOST if form is not connect else f"{HOST}:443")
    assert "hunter2" not in str(event) and "a user name" in event["message"]


@pytest.mark.parametrize("data, code", [
    (b"\5\1\0\5\2\0\1\0\0\0\0\0\0", 7), (b"\5\1\0\5\3\0\1\0\0\0\0\0\0", 7), (b"\5\1\0\5\1\0\x09abcdefgh", 8)])
def test_socks_does_nothing_but_connect(gates, data, code):
    gate = gates(HOST)
    with gate.connect(data) as client:
        said = read_all(client)
    assert said[:2] == b"\5\0" and said[3] == code
    assert gate.reasons() == ["unsupported"]


@pytest.mark.parametrize("data, said", [(b"\5\1\2", b"\5\xff"), (b"\4\1\0\x50\1\2\3\4\0", b"\5\xff")])
def test_socks_without_the_open_method_is_refused(gates, data, said):
    gate = gates(HOST)
    with gate.connect(data) as client:
        assert read_all(client) == said
    assert gate.reasons() == ["unsupported"]


def test_tls_to_the_proxy_itself_is_reported(gates):
    gate = gates(HOST)
    assert b"http://" in gate.say(b"\x16\3\1\0\5hello")
    assert gate.reasons() == ["unsupported"]
