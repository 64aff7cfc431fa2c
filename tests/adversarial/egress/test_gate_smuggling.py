"""Promise: Egress.
Attacker: a tool that talks to the proxy directly. Means: requests that the proxy and the host
could read in two ways, so that a second one, to another host or with another method, passes unseen
within the first.

Expected: such a request is refused, with a reason, and not a byte of it reaches a host. The same
request without its trick is answered.
"""
import pytest

from gates import HOST

POST = f"POST http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n"
GET = f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n"
INNER = f"GET http://{HOST}/inner HTTP/1.1\r\nHost: {HOST}\r\n\r\n"
CHUNKS = POST + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
HONEST = [CHUNKS + "X-Sum: 1\r\nX-Other:\r\n\r\n", GET + "\r\n", POST + "Content-Length: 5\r\n\r\nhello", POST + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"]
TRICKS = {
    "two lengths": POST + "Content-Length: 5\r\nContent-Length: 0\r\n\r\n" + INNER,
    "the same length twice": POST + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of lengths": POST + "Content-Length: 0, 5\r\n\r\n" + INNER,
    "length and chunks": POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + INNER,
    "chunks by another name": POST + "Transfer-Encoding: xchunked\r\n\r\n" + INNER,
    "chunks and more": POST + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + INNER,
    "chunks twice": POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + INNER,
    "chunks with a vertical tab": POST + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": POST + "Content-Length : 5\r\n\r\nhello",
    "a folded line": GET + "X: y\r\n Transfer-Encoding: chunked\r\n\r\n",
    "a folded first line": f"GET http://{HOST}/ HTTP/1.1\r\n Host: {HOST}\r\n\r\n",
    "bare line feeds": GET.replace("\r\n", "\n") + "\n",
    "one bare line feed": GET + "X: y\nContent-Length: 5\r\n\r\nhello",
    "one bare carriage return": GET + "X: y\rContent-Length: 5\r\n\r\nhello",
    "a NUL in a field": GET + "X: y\0z\r\n\r\n",
    "a NUL in the target": f"GET http://{HOST}/\0 HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "a length that Connection takes away": GET + "Connection: content-length\r\nContent-Length: 5\r\n\r\nhello",
    "a negative length": POST + "Content-Length: -1\r\n\r\n",
    "a length with a sign": POST + "Content-Length: +5\r\n\r\nhello",
    "a length that overflows": POST + "Content-Length: 18446744073709551617\r\n\r\nh",
    "a chunk whose size overflows": POST + "Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
    "a chunk that ends in LF": POST + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
    "a chunk with two sizes": POST + "Transfer-Encoding: chunked\r\n\r\n5 0\r\nhello\r\n0\r\n\r\n",
    "a chunk that is too long": POST + "Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n",
    "a trailer that is no field": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nGET /inner HTTP/1.1\r\n\r\n",
    "a trailer without a name": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\n: y\r\n\r\n",
    "a trailer with a space before its colon": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n",
    "a trailer that is folded": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n z\r\n\r\n",
    "a trailer that ends in LF": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n",
    "a length as a trailer": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
    "a coding as a trailer": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\ntransfer-encoding: chunked\r\n\r\n",
    "a host as a trailer": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nHOST: other.example.org\r\n\r\n",
    "credentials as a trailer": POST + "Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Basic eDp5\r\n\r\n",
    "chunks in HTTP/1.0": POST.replace("HTTP/1.1", "HTTP/1.0") + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two hosts": GET + f"Host: {HOST}\r\n\r\n",
    "another host": f"GET http://{HOST}/ HTTP/1.1\r\nHost: other.example.org\r\n\r\n",
    "another port": f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}:8443\r\n\r\n",
    "no host": f"GET http://{HOST}/ HTTP/1.1\r\n\r\n",
    "two versions": f"GET http://{HOST}/ HTTP/1.1 HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "another version": f"GET http://{HOST}/ HTTP/3.0\r\nHost: {HOST}\r\n\r\n",
    "an empty line first": "\r\n" + GET + "\r\n",
    "https in the clear": f"GET https://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "no absolute target": f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "a tunnel with a body": f"CONNECT {HOST}:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    "a tunnel in lower case": f"connect {HOST}:443 HTTP/1.1\r\n\r\n",
    "more fields than any": GET + "X: y\r\n" * 200 + "\r\n",
}


@pytest.mark.parametrize("request_text", HONEST)
def test_honest_request_is_answered(gates, request_text):
    assert gates(HOST).say(request_text.encode()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("trick", TRICKS)
def test_request_with_a_trick_is_refused(gates, network, trick):
    gate = gates(HOST, "other.example.org")
    network.take()
    said = gate.say(TRICKS[trick].encode("latin-1"))
    assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ", b"HTTP/1.1 501 ")), said
    assert said.count(b"Content-Length: ") == 1 and b"chokepoint: the request " in said
    assert not [line for line in network.take()["asked"] if " " in line]  # nobody was asked for anything
    reason, = gate.reasons()
    assert reason in ("malformed", "unsupported", "too_long")


# A request that cannot be forwarded is still reported with its host: a reader of the record wants to know.
ASKED = {
    "another host": (f"GET http://{HOST}/ HTTP/1.1\r\nHost: other.example.org\r\n\r\n", HOST, 80),
    "another port": (f"GET http://{HOST}:81/ HTTP/1.1\r\nHost: {HOST}:8443\r\n\r\n", HOST, 81),
    "two hosts": (GET + f"Host: {HOST}\r\n\r\n", HOST, 80),
    "two lengths": (POST + "Content-Length: 5\r\nContent-Length: 0\r\n\r\n", HOST, 80),
    "a tunnel with a body": (f"CONNECT {HOST}:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", HOST, 443),
    "https in the clear": (f"GET https://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n", HOST, 0),
    "an invalid port of SOCKS": ("\5\1\0\5\1\0\3" + chr(len(HOST)) + HOST + "\0\0", HOST, 0),
}


@pytest.mark.parametrize("trick", ASKED)
def test_refusal_says_which_host_was_asked_for(gates, trick):
    request, host, port = ASKED[trick]
    gate = gates(HOST, "other.example.org")
    gate.say(request.encode("latin-1"))
    refused, = gate.events("refused")
    assert (refused["host"], refused["port"]) == (host, port)


def test_other_host_of_a_refusal_is_named_too(gates):
    gate = gates(HOST, "other.example.org")
    said = gate.say(GET.encode().replace(b"Connection: close\r\n", b"\r\n") + ASKED["another host"][0].encode())
    assert b"('other.example.org')" in said
    opened, closed, refused = gate.events()
    assert [event["verdict"] for event in (opened, closed, refused)] == ["opened", "closed", "refused"]
    assert (opened["host"], closed["host"], refused["host"]) == (HOST, HOST, HOST) and refused["rule"] == ""
