"""A client of `chokepoint mcp` for tests: it sends any bytes, and checks what every message must be.

One line is one message, and nothing else is on the server's standard output. Structured content is
checked by the output schema that the server itself lists.
"""
import json
import os
import select
import time

import jsonschema

META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18")
TOOLS = ["run", "explain", "tools", "gather", "lint"]
PATIENCE_S = 60


class Client:
    """era: the revision that requests are written in."""

    def __init__(self, box, *options, era=MODERN, capabilities=None, policy=None, root=None, audit=True, **keywords):
        import subprocess  # pylint: disable=import-outside-toplevel
        self.box, self.era, self.capabilities = box, era, capabilities or {}
        command = [box.command, "mcp", "--root", str(root or box.root)]
        if policy != "default":
            command += ["--policy", str(policy or box.policy)]
        if audit:
            command += ["--audit", str(box.log), "--audit-sync", "none"]
        self.process = box.popen([*command, *map(str, options)], raw=True, stdin=subprocess.PIPE, **keywords)
        self.out = self.process.stdout.fileno()
        self.buffer, self.notes, self.answers, self.asked = b"", [], {}, []
        self.next_id, self.schemas = 0, None
        self.roots = None  # what this client answers to roots/list of the legacy era
        if era in LEGACY:
            answer = self.request("initialize", {"protocolVersion": era, "capabilities": self.capabilities,
                                                 "clientInfo": {"name": "test", "version": "1"}})
            assert answer["result"]["protocolVersion"] == era, answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)

    # ---- bytes

    def send_bytes(self, data: bytes) -> None:
        os.write(self.process.stdin.fileno(), data) if len(data) < 4096 else self.process.stdin.write(data)  # pylint: disable=expression-not-assigned
        self.process.stdin.flush()

    def send(self, message) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})})

    def read(self, seconds=PATIENCE_S):
        """The next message, or None at the end of output. Fails if nothing comes."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.out], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no message within {seconds} s"
            data = os.read(self.out, 1 << 20)
            if not data:
                assert self.buffer == b"", "half a message"
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        assert len(line) <= 10 << 20, "clients refuse a message of more than 10 MiB"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", message
        return message

    # ---- requests

    def meta(self, **more):
        return {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities, **more}

    def ask(self, method, params=None, meta=None, id=None):
        """Sends a request and returns its id."""
        if id is None:
            self.next_id += 1
            id = self.next_id
        params = dict(params or {})
        if self.era == MODERN:
            params["_meta"] = {**self.meta(), **(meta or {})}
        elif meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})})
        return id

    def take(self, message) -> None:
        if "method" in message and "id" in message:
            self.asked.append(message)
            if message["method"] == "roots/list" and self.roots is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": self.roots}})
        elif "id" in message:
            key = json.dumps(message["id"])
            assert key not in self.answers, f"a second answer to {key}"
            self.answers[key] = message
        else:
            self.notes.append(message)

    def answer(self, id, seconds=PATIENCE_S):
        while json.dumps(id) not in self.answers:
            message = self.read(seconds)
            assert message is not None, "the server ended"
            self.take(message)
        return self.answers.pop(json.dumps(id))

    def request(self, method, params=None, meta=None):
        return self.answer(self.ask(method, params, meta))

    def result(self, method, params=None, meta=None):
        answer = self.request(method, params, meta)
        assert "error" not in answer, answer
        if self.era == MODERN:
            assert answer["result"]["resultType"] == "complete"
            assert answer["result"]["_meta"][META + "serverInfo"]["name"] == "chokepoint"
        else:
            assert "resultType" not in answer["result"] and "ttlMs" not in answer["result"]
        return answer["result"]

    def error(self, method, params=None, meta=None):
        answer = self.request(method, params, meta)
        assert "result" not in answer, answer
        return answer["error"]

    # ---- tools

    def tools(self):
        return self.result("tools/list")["tools"]

    def ask_tool(self, name, arguments, meta=None, id=None, **more):
        return self.ask("tools/call", {"name": name, "arguments": arguments, **more}, meta, id)

    def check(self, name, result):
        """Text and structured content are each complete by themselves, and in the form that the server lists."""
        if self.schemas is None:
            self.schemas = {tool["name"]: tool["outputSchema"] for tool in self.tools()}
        jsonschema.Draft202012Validator(self.schemas[name]).validate(result["structuredContent"])
        assert result["content"] and all(block["type"] == "text" for block in result["content"])
        return result

    def tool(self, name, arguments=None, meta=None, **more):
        params = {"name": name, "arguments": arguments or {}, **more}
        return self.check(name, self.result("tools/call", params, meta))

    def run(self, *argv, **arguments):
        return self.tool("run", {"argv": list(argv), **arguments})

    def end(self):
        """Closes the input; returns the status."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


def text_of(result) -> str:
    return "\n".join(block["text"] for block in result["content"])
