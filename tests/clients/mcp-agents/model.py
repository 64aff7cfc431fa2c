"""model.py SCRIPT LOG - a model that does what a script says, on loopback, for agents that are tested.

SCRIPT is a JSON list of turns: {"call": TOOL, "arguments": {...}} or {"text": "..."}. Each request of the agent that
offers tools gets the next turn; others (titles, summaries) get a word. It prints its port. LOG gets one line of JSON for
each request: what the agent had sent to the model. It speaks the Responses API and Chat Completions, both as streams.
"""
import http.server
import json
import sys

TURNS = json.loads(sys.argv[1])
LOG = sys.argv[2]


def offered(body):
    """The names that the agent offers, as the model must call them: (name, namespace)."""
    found = []
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            found += [(inner["name"], tool["name"]) for inner in tool["tools"]]
        else:
            found.append(((tool.get("function") or tool).get("name"), None))
    return found


def named(body, wanted):
    """The agent's name for a tool of the server: with the server's name before it, in some form."""
    return next(((name, space) for name, space in offered(body)
                 if name and (name.endswith(f"chokepoint_{wanted}") or name == wanted and space and "chokepoint" in space
                              or name.endswith(f"chokepoint__{wanted}"))), (wanted, None))


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turn = {"text": "ok"}
        if any("chokepoint" in f"{name}{space}" for name, space in offered(body)) and TURNS:
            turn = TURNS.pop(0)
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(json.dumps({"path": self.path, "body": body, "turn": turn}) + "\n")
        events = self.as_responses(body, turn) if "responses" in self.path else self.as_chat(body, turn)
        self.answer("text/event-stream", events)

    def answer(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    @staticmethod
    def as_responses(body, turn):
        if "call" in turn:
            name, space = named(body, turn["call"])
            item = {"type": "function_call", "id": f"fc_{len(TURNS)}", "call_id": f"call_{len(TURNS)}", "name": name,
                    "arguments": json.dumps(turn["arguments"]), "status": "completed", **({"namespace": space} if space else {})}
        else:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": turn["text"], "annotations": []}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "resp_1", "object": "response", "created_at": 0, "status": "completed", "model": "scripted", "output": [item], "usage": usage}
        events = [{"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
                  {"type": "response.output_item.added", "output_index": 0, "item": item},
                  {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": response}]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)

    @staticmethod
    def as_chat(body, turn):
        if "call" in turn:
            name, _ = named(body, turn["call"])
            delta = {"role": "assistant", "content": None, "tool_calls": [
                {"index": 0, "id": f"call_{len(TURNS)}", "type": "function", "function": {"name": name, "arguments": json.dumps(turn["arguments"])}}]}
            reason = "tool_calls"
        else:
            delta, reason = {"role": "assistant", "content": turn["text"]}, "stop"
        frame = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        chunks = [{**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                  {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
                   "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
