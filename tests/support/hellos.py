"""First messages of TLS clients: real ones, changed ones, and cut into the pieces that a test
wants.
"""
import ssl
import struct

OTHER = "other.example.org"
ALERT = b"\x15\3\3\0\2\2\x31"  # access denied


def hello(name):
    """The first message of a real client; None: without a server name."""
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
    raise AssertionError("a handshake needs an answer")


def extended(name, *extensions):
    """The same message with more extensions after the others."""
    message = hello(name)[5:]
    body = message[4:]
    at = 2 + 32
    at += 1 + body[at]
    at += 2 + struct.unpack_from("!H", body, at)[0]
    at += 1 + body[at]
    old = body[at + 2:]
    new = old + b"".join(struct.pack("!HH", kind, len(data)) + data for kind, data in extensions)
    body = body[:at] + struct.pack("!H", len(new)) + new
    return record(b"\1" + struct.pack("!I", len(body))[1:] + body)


def record(*pieces):
    return b"".join(b"\x16\3\1" + struct.pack("!H", len(piece)) + piece for piece in pieces)


def cut(message, size):
    return record(*[message[at:at + size] for at in range(0, len(message), size)])


def server_name(name):
    data = name.encode()
    return 0, struct.pack("!HBH", len(data) + 3, 0, len(data)) + data
