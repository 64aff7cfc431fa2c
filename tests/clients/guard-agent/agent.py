"""agent.py TASK - the smallest agent with the shape of a real one: an interpreter, a shell for each command, a model over HTTP.

The model is at OPENAI_BASE_URL (Chat Completions). What was done is kept in ~/.agent, as agents keep their sessions."""
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

TOOL = {"type": "function", "function": {"name": "bash", "description": "Runs a command in a shell.",
                                         "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}


def ask(messages):
    """The message of the model, from its stream."""
    body = json.dumps({"model": "scripted", "stream": True, "messages": messages, "tools": [TOOL]}).encode()
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, {"content-type": "application/json"})
    message = {"role": "assistant", "content": None}
    with urllib.request.urlopen(request, timeout=60) as stream:
        for line in stream:
            if not line.startswith(b"data: {"):
                continue
            for choice in json.loads(line[6:])["choices"]:
                message.update({name: value for name, value in choice["delta"].items() if value is not None})
    return message


def main(task):
    state = pathlib.Path.home() / ".agent"
    state.mkdir(exist_ok=True)
    messages = [{"role": "user", "content": task}]
    while (message := ask(messages)).get("tool_calls"):
        messages.append(message)
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(["bash", "-lc", command], capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL)
            said = f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": said[-20000:]})
    with open(state / "session.jsonl", "a", encoding="utf-8") as log:
        log.write(json.dumps(messages) + "\n")
    print(message["content"])


main(sys.argv[1])
