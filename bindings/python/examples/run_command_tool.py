#!/usr/bin/python3
"""A drop-in replacement for the `run_command` tool of an agent: the same schema, but chokepoint decides.

Most agents have a tool that takes a command and returns its output, and that calls subprocess with shell=True. Register this
one instead. It takes a list of arguments, never a line for a shell.

run_command_tool.py ROOT - reads one call as JSON from standard input, and prints the answer as JSON.
"""
from __future__ import annotations

import json
import sys
from typing import Any, Dict

import chokepoint

SCHEMA: Dict[str, Any] = {
    "name": "run_command",
    "description": "Runs an allowed tool in the repository. The command is a list: the tool's name and its arguments.",
    "input_schema": {
        "type": "object",
        "properties": {
            "command": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "timeout_s": {"type": "number", "exclusiveMinimum": 0, "maximum": 60},
        },
        "required": ["command"],
    },
}


def run_command(root: str, command: Any, timeout_s: Any = None) -> Dict[str, Any]:
    """What the agent gets. Nothing that a model can pass raises anything but what is caught here."""
    try:
        result = chokepoint.run(command, root=root, timeout=timeout_s, max_output=32768, keep_head=4096, text=True)
    except chokepoint.Error as error:
        return {"error": error.outcome, "message": str(error)}
    except (TypeError, ValueError) as error:
        return {"error": "invalid", "message": str(error)}
    return {"status": result.returncode, "stdout": result.stdout, "stderr": result.stderr,
            "truncated": result.stdout_truncated or result.stderr_truncated}


if __name__ == "__main__":
    call = json.load(sys.stdin)
    print(json.dumps(run_command(sys.argv[1], call.get("command"), call.get("timeout_s"))))
