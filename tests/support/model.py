"""A model that does what a script says, on loopback, for agents in a cage or outside.

A turn is {"say": TEXT}, or the calls of which the first that the agent offers is made: {"calls": [[TOOL, ARGUMENTS], ...]}. It speaks
the Responses API, Chat Completions, Anthropic's Messages and Gemini's generateContent, all as streams. What the agent sent is
in `asked`; what its tools answered in `answers`.
"""
import contextlib
import http.server
import json
import threading

USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
         "output_tokens_details": {"reasoning_tokens": 0}}


def command(text):
    """A turn that orders a shell command, by the names that agents have for that."""
    return {"calls": [["exec_command", {"cmd": text}], ["shell_command", {"command": text}], ["shell", {"command": ["bash", "-lc", text]}],
                      ["bash", {"command": text, "description": "as ordered"}], ["Bash", {"command": text, "description": "as ordered"}],
                      ["run_shell_command", {"command": text, "description": "as ordered"}]]}


def offered(body):
    """The names of the tools that the agent offers."""
    tools = body.get("tools") or []
    found = [(tool.get("function") or tool).get("name") for tool in tools]
    return found + [inner.get("name") for tool in tools for inner in tool.get("functionDeclarations") or tool.get("tools") or []]


def texts(value):
    """All strings in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def newest(said):
    """What the agent says since the model's last turn."""
    at = len(said)
    while at > 0 and said[at - 1].get("role") not in ("assistant", "model") and said[at - 1].get("type") != "function_call":
        at -= 1
    return said[at:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply("application/json", json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        kind, text = self.server.model.answer(self.path, dict(self.headers.items()), body)
        self.reply(kind, text)

    def reply(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Model:
    def __init__(self, turns, tls=None):
        self.turns, self.asked, self.answers, self.lock = list(turns), [], [], threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.model = self
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, path, headers, body):
        with self.lock:
            names = offered(body)
            turn = self.turns.pop(0) if names and self.turns else {"say": "done"}
            last = newest(body.get("input") or body.get("messages") or body.get("contents") or [])
            self.asked.append({"path": path, "headers": headers, "body": body, "turn": turn, "tools": bool(names)})
            if names:
                self.answers.append("\n".join(texts(last)))
            number = len(self.asked)
        call = next(((name, given) for name, given in turn.get("calls", []) if name in names), None)
        if turn.get("calls") and not call:
            raise ValueError(f"the agent offers {names}, and none of {turn['calls']}")
        make = (responses if "/responses" in path else messages if "/messages" in path else
                gemini if "enerateContent" in path else chat)
        return make(body, call, turn.get("say", ""), None if ":generateContent" in path else number)


def stream(events):
    return "text/event-stream", "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def responses(body, call, text, number):
    del body
    if call:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
                "arguments": json.dumps(call[1]), "status": "completed"}
    else:
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}
    response = {"id": f"resp_{number}", "object": "response", "created_at": 0, "status": "completed", "model": "scripted",
                "output": [item], "usage": USAGE}
    return stream([{"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
                   {"type": "response.output_item.added", "output_index": 0, "item": item},
                   {"type": "response.output_item.done", "output_index": 0, "item": item},
                   {"type": "response.completed", "response": response}])


def chat(body, call, text, number):
    del body
    delta, reason = {"role": "assistant", "content": text}, "stop"
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        delta = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}
        reason = "tool_calls"
    frame = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    chunks = [{**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
              {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
               "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]
    return "text/event-stream", "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def messages(body, call, text, number):
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}} if call else {"type": "text", "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call else {"type": "text_delta", "text": text}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", "scripted"), "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    if not body.get("stream"):
        whole = {**block, "input": call[1]} if call else {**block, "text": text}
        return "application/json", json.dumps({**message, "content": [whole], **stop})
    return stream([{"type": "message_start", "message": message},
                   {"type": "content_block_start", "index": 0, "content_block": block},
                   {"type": "content_block_delta", "index": 0, "delta": delta},
                   {"type": "content_block_stop", "index": 0},
                   {"type": "message_delta", "delta": stop, "usage": usage},
                   {"type": "message_stop"}])


# What Gemini CLI asks before the task, without a stream: which model shall have it.
RATING = json.dumps({"complexity_reasoning": "scripted", "complexity_score": 1})


def gemini(body, call, text, number):
    del body
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": text if number else RATING}
    whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "scripted"}
    return ("text/event-stream", f"data: {json.dumps(whole)}\n\n") if number else ("application/json", json.dumps(whole))


@contextlib.contextmanager
def scripted(*turns, **keywords):
    with Model(turns, **keywords) as model:
        yield model
