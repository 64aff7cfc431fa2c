"""Promise: Credentials.
Attacker: a host that is not the one that a secret is for, or someone between it and the proxy. Means: a certificate that
has expired, is not valid yet, is for another name, is signed by itself or by a stranger, or by a certificate that is no
authority; old TLS, no TLS; a redirect; other ports and other hosts on one connection.

Expected: not a byte of the request leaves before the certificate is verified, and the program gets a 502 that says what is
wrong. The secret goes to its host and port alone.
"""
import contextlib
import ssl

import pytest

from gates import HOST, read_all, read_until
from tls_hosts import OK, RSA_KEY, VALUE, Authority, answer_heads, headers

LEAF_SIGNS = "basicConstraints=CA:FALSE\n"
SIGNS = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"


def request(target, *fields, method="GET", path="/", end="Connection: close"):
    lines = [f"{method} http://{target}{path} HTTP/1.1", f"Host: {target}", *fields, end]
    return "\r\n".join(line for line in lines if line).encode() + b"\r\n\r\n"


@pytest.fixture(scope="module")
def strangers(stage):
    return Authority(stage, "strangers")


def by_middle(authority, extra, whole=True):
    """A chain whose middle has these extensions; if it is not whole, the middle is not sent."""
    middle, key = authority.sign("middle", extra=extra)
    (authority.base / "extensions").write_text(f"subjectAltName=DNS:{HOST}\n", encoding="ascii")
    leaf = authority.request("leaf", ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"))
    authority.openssl("x509", "-req", "-in", f"{leaf}.csr", "-CA", middle, "-CAkey", key, "-CAcreateserial", "-days", "2", "-out",
                      f"{leaf}.pem", "-extfile", "extensions")
    if whole:
        with open(f"{leaf}.pem", "a", encoding="ascii") as chain, open(middle, encoding="ascii") as more:
            chain.write(more.read())
    return f"{leaf}.pem", f"{leaf}.key"


WRONG = {
    "expired": (lambda authority, strangers: authority.sign("old", days=-1), b"its certificate has expired, or is not valid yet"),
    "not valid yet": (lambda authority, strangers: authority.sign_for_later(), b"its certificate has expired, or is not valid yet"),
    "another name": (lambda authority, strangers: authority.sign("other", "DNS:other.example.org,DNS:*.web.example.org"),
                     b"its certificate is for another name"),
    "its address only": (lambda authority, strangers: authority.sign("address", "IP:93.184.216.10"),
                         b"its certificate is for another name"),
    "a wildcard that is too wide": (lambda authority, strangers: authority.sign("wide", "DNS:*.org,DNS:*"),
                                    b"its certificate is for another name"),
    "signed by itself": (lambda authority, strangers: authority.self_signed(), b"not from an authority that is trusted here"),
    "of a stranger": (lambda authority, strangers: strangers.sign(), b"not from an authority that is trusted here"),
    "of an authority that is not sent": (lambda authority, strangers: by_middle(authority, SIGNS, whole=False),
                                         b"not from an authority that is trusted here"),
    "signed by a host": (lambda authority, strangers: by_middle(authority, LEAF_SIGNS), b"its certificate cannot be verified"),
    "for clients": (lambda authority, strangers: authority.sign("client", extra="extendedKeyUsage=clientAuth,codeSigning\n"),
                    b"its certificate, or one above it, is not for hosts"),
    "by an authority for mail": (lambda authority, strangers: by_middle(authority, f"{SIGNS}extendedKeyUsage=emailProtection\n"),
                                 b"its certificate, or one above it, is not for hosts"),
    "by an authority for other names": (lambda authority, strangers: by_middle(authority, f"{SIGNS}nameConstraints=permitted;DNS:other.org\n"),
                                        b"its certificate, or one above it, is limited to certain names"),
    "a short key": (lambda authority, strangers: authority.sign("short", key=("-newkey", "rsa:1024", "-noenc")),
                    b"its certificate has a key that is too short"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_certificate_is_refused_and_named(secret_gates, secure_hosts, authority, strangers, what):
    make, message = WRONG[what]
    files = make(authority, strangers)
    host = secure_hosts(files=files, ciphers="DEFAULT@SECLEVEL=0")
    gate = secret_gates(host)
    said = gate.say(request(host.target))
    assert said.startswith(b"HTTP/1.1 502 ") and message in said and b"nothing was sent (certificate)" in said, said
    assert host.wait_received() == [b""] and host.failed == 1
    assert gate.reasons("failed") == ["certificate"] and VALUE not in str(gate.events())


def test_certificate_that_is_trusted_itself_is_for_its_name_too(gates, secure_hosts, authority):
    """--secret-ca names the certificate of the host, or of another one."""
    for name, status in ((HOST, b"200"), ("other.example.org", b"502")):
        files = authority.sign(f"itself-{name}", f"DNS:{name}")
        host = secure_hosts(files=files)
        gate = gates("--secret", f"{host.target},X-Api-Key={VALUE}", "--secret-ca", files[0], host.target)
        assert gate.say(request(host.target)).startswith(b"HTTP/1.1 " + status), name


@pytest.mark.parametrize("key", ["ec", "rsa"])
def test_right_certificate_is_accepted(secret_gates, secure_hosts, authority, key):
    names = f"DNS:other.example.org,DNS:{HOST}"
    host = secure_hosts(files=authority.sign(f"right-{key}", names, key=RSA_KEY if key == "rsa" else None))
    assert secret_gates(host).say(request(host.target)).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("use", ["serverAuth", "clientAuth,serverAuth", "anyExtendedKeyUsage", "1.2.3.4,serverAuth"])
def test_chain_that_is_for_hosts_is_accepted(secret_gates, secure_hosts, authority, use):
    files = by_middle(authority, f"{SIGNS}extendedKeyUsage={use}\n")
    host = secure_hosts(files=files)
    assert secret_gates(host).say(request(host.target)).startswith(b"HTTP/1.1 200 OK")


def test_wildcard_of_one_label_is_accepted(secret_gates, secure_hosts, authority):
    host = secure_hosts(files=authority.sign("wildcard", "DNS:*.example.org"))
    assert secret_gates(host).say(request(host.target)).startswith(b"HTTP/1.1 200 OK")


def test_host_that_only_speaks_newer_tls_is_refused_and_named(secret_gates, secure_hosts):
    host = secure_hosts(minimum=ssl.TLSVersion.TLSv1_3)
    gate = secret_gates(host)
    assert b"it does not accept TLS 1.2; nothing was sent (tls)" in gate.say(request(host.target))
    assert gate.reasons("failed") == ["tls"]


def test_host_with_weak_ciphers_only_is_refused(secret_gates, secure_hosts):
    host = secure_hosts(ciphers="AES128-SHA:ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0", maximum=ssl.TLSVersion.TLSv1_2)
    gate = secret_gates(host)
    assert b"it accepts none of the ciphers that are offered" in gate.say(request(host.target))


@pytest.mark.parametrize("first", [b"HTTP/1.1 400 Bad Request\r\n\r\n",
                                   b"\x16\x03\x03\xff\xff" + b"x" * 100, b"\x15\x03\x03\x00\x02\x02\x28",
                                   b"\x16\x03\x03\x00\x04\x0e\x00\x00\x00"])
def test_host_without_tls_gets_nothing(secret_gates, scripted_servers, first):
    def serve(peer):
        hello = peer.recv(65536)
        peer.sendall(first)
        with contextlib.suppress(ConnectionResetError):
            hello += read_all(peer)
        return hello
    host = scripted_servers(serve)
    gate = secret_gates(host)
    said = gate.say(request(host.target, "X-Mine: word"))
    assert said.startswith(b"HTTP/1.1 502 ") and b"(tls)" in said, said
    sent = host.wait_received()[0]
    assert sent[:1] == b"\x16" and b"GET" not in sent and b"word" not in sent and VALUE.encode() not in sent


def test_host_that_says_nothing_is_refused_in_time(secret_gates, scripted_servers):
    host = scripted_servers(read_all)
    gate = secret_gates(host, dial_ms=300)
    said = gate.say(request(host.target))
    assert said.startswith(b"HTTP/1.1 504 ") and b"no TLS within 300 ms" in said
    assert gate.reasons("failed") == ["timeout"]


def test_nothing_is_added_after_a_redirect(secret_gates, secure_hosts, scripted_servers):
    """To another host, to another port of the host, and to the host by the program's own TLS."""
    other = scripted_servers(lambda peer: read_until(peer, b"\r\n\r\n") + (peer.sendall(OK) or b""))
    place = f"http://other.example.org:{other.port}/"
    found = f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()
    host = secure_hosts(answer_heads(found))
    gate = secret_gates(host, f"{HOST}:{other.port}", "other.example.org")
    said = gate.curl("-L", "-H", "X-Mine: word", f"http://{host.target}/").stdout
    assert not said.endswith(b"ok")  # nobody listens at that port of the other host
    same = gate.say(request(other.target))
    assert same.startswith(b"HTTP/1.1 200 OK")
    assert host.wait_received()[0].count(VALUE.encode()) == 1
    assert VALUE.encode() not in b"".join(other.wait_received())


def test_next_request_on_the_connection_goes_to_its_own_host(secret_gates, secure_hosts, network):
    host = secure_hosts()
    gate = secret_gates(host, "other.example.org")
    network.take()
    with gate.connect(request(host.target, end="")) as client:
        assert read_until(client, b"ok").startswith(b"HTTP/1.1 200 OK")
        client.sendall(request("other.example.org"))
        said = read_all(client)
    assert said.endswith(b"other.example.org") and VALUE.encode() not in said
    closed = gate.events("closed")
    assert [(one["host"], one["secret"], one["requests"]) for one in closed] == [(HOST, "X-Api-Key", 1), ("other.example.org", "", 0)]


def test_tunnel_to_the_host_gets_nothing(secret_gates, secure_hosts, authority):
    """The program's own TLS is not opened."""
    host = secure_hosts()
    gate = secret_gates(host)
    trusted = ssl.create_default_context(cafile=authority.pem)
    with gate.tunnel(host.target) as client, trusted.wrap_socket(client, server_hostname=HOST) as inside:
        inside.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert read_until(inside, b"ok")
    assert headers(host.wait_received()[0]) == [("Host", "x")]
    assert [one["secret"] for one in gate.events("opened")] == [""]


def test_port_80_means_443_and_host_is_written_anew(gates, network):
    """The host of the network has the authority of the network."""
    network.take()
    gate = gates("--secret", f"{HOST},Authorization=Bearer {VALUE}", "--secret-ca", str(network.base / "ca-certificates.crt"),
                 f"{HOST}:443")
    for url in (f"http://{HOST}/api/x", f"http://{HOST}:443/api/x", f"http://{HOST.upper()}:80/api/x"):
        assert f'"Bearer {VALUE}"'.encode() in gate.curl(url).stdout  # this host repeats it
    assert {one["port"] for one in gate.events("opened")} == {443}
    assert f"sni {HOST}" in network.take()["asked"]


def test_host_that_is_not_listed_is_not_reached(gates, secure_hosts, authority):
    host = secure_hosts()
    gate = gates("--secret", f"{host.target},X-Api-Key={VALUE}", "--secret-ca", str(authority.pem), "other.example.org")
    assert gate.say(request(host.target)).startswith(b"HTTP/1.1 403 ") and host.received_data == []
