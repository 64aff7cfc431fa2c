"""A trace of a browser over its debugging socket: how long each task kept the thread of a page busy. chromedriver's own log of
traces has gaps. The WebSocket protocol is small enough for the standard library (RFC 6455)."""
import base64
import contextlib
import json
import os
import socket
import struct
import urllib.request

PATIENCE = 120


class Socket:
    """Text messages over one connection."""

    def __init__(self, address, path):
        host, port = address.split(":")
        self.connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.stream = self.connection.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall((f"GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                 f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        assert b" 101 " in self.stream.readline()
        while self.stream.readline() != b"\r\n":
            pass

    def send(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        assert len(data) < 65536
        size = bytes([128 | len(data)]) if len(data) < 126 else bytes([128 | 126]) + struct.pack(">H", len(data))
        self.connection.sendall(b"\x81" + size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self):
        """The next message, from however many frames."""
        whole, final = b"", False
        while not final:
            head = self.stream.read(2)
            final, size = head[0] & 128, head[1] & 127
            if size > 125:
                size = int.from_bytes(self.stream.read(2 if size == 126 else 8), "big")
            whole += self.stream.read(size)
        return json.loads(whole)

    def until(self, holds, seen=None):
        while True:
            message = self.receive()
            if holds(message):
                return message
            if seen is not None:
                seen.append(message)

    def close(self):
        self.stream.close()
        self.connection.close()


@contextlib.contextmanager
def traced(address):
    """address: host:port of the browser's debugging. A dict that has "longest_ms" after the block: the longest that one task has kept the
    main thread of a page busy. It is the processor time of the thread, so that it is the same on a busy machine."""
    with urllib.request.urlopen(f"http://{address}/json/version", timeout=PATIENCE) as answer:
        path = "/" + json.load(answer)["webSocketDebuggerUrl"].split("/", 3)[3]
    found, messages = {}, []
    trace = Socket(address, path)
    try:
        trace.send({"id": 1, "method": "Tracing.start", "params": {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": ["toplevel"]}}})
        trace.until(lambda message: message.get("id") == 1)
        yield found
        trace.send({"id": 2, "method": "Tracing.end"})
        trace.until(lambda message: message.get("method") == "Tracing.tracingComplete", messages)
    finally:
        trace.close()
    events = [event for message in messages if message.get("method") == "Tracing.dataCollected" for event in message["params"]["value"]]
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    tasks = [event["tdur"] / 1000 for event in events if "tdur" in event and names.get((event["pid"], event["tid"])) == "CrRendererMain"]
    assert len(tasks) > 100, "the trace has no tasks"
    found["longest_ms"] = max(tasks)
