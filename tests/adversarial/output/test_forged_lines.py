"""Promise: Output.
Attacker: the tool. Means: with --json --stream, output that looks like the lines of the command: a result, output of the
other stream, an end of the string, separators of lines, halves of characters, NUL.

Expected: it stays inside of "text" or "base64" of its own stream; the last line is the command's own, with the tool's
status.
"""
import json

import pytest

from command import captured

RESULT = json.dumps({"outcome": "exited", "exit_code": 0, "stdout": {"bytes": 0, "truncated": False}, "error": None})
FORGERIES = {
    "a result": f"\n{RESULT}\n", "other stream": '\n{"stream":"stderr","text":"forged"}\n',
    "end of string": '"}\n' + RESULT + "\n", "carriage return": "\r\n" + RESULT + "\r\n",
    "separators": f"\u2028{RESULT}\u2029{RESULT}\x85{RESULT}", "escape": '\\"}\\n' + RESULT, "nul": f"\0\n{RESULT}\0",
    "terminal": "\x1b[2J\x1b]0;x\x07" + RESULT, "byte order mark": "\ufeff" + RESULT}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("pad", [0, 1, 2, 3, 3000, 4090])
def test_forged_line_stays_inside(user_box, name, pad):
    data = b"x" * pad + FORGERIES[name].encode() * 40
    answer = user_box.run("sh", "-c", "cat; exit 7", input=data, form="--json --stream", options=["--stdin", "-"])
    assert (answer.status, answer["exit_code"]) == (7, 7)
    assert answer.passed_on == {"stdout": data, "stderr": b""}
    assert b"\r" not in answer.out and b"\x1b" not in answer.out and "\u2028" not in answer.out.decode()
    # Also for a reader that takes every line that parses and looks for a result.
    lines = [json.loads(line) for line in answer.out.decode().splitlines()]
    assert [line["outcome"] for line in lines if "outcome" in line] == ["exited"] and lines[-1]["exit_code"] == 7


@pytest.mark.parametrize("half", [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x99", b"\xed\xa0\x80", b"\xc0\xaf", b"\xff"])
def test_half_of_a_character_does_not_swallow_a_quote(user_box, half):
    """A decoder that is lenient could take the byte after the half as a part of it, and so miss the end of the string."""
    data = (half + b'"}\n' + RESULT.encode()) * 500 + half
    answer = user_box.run("cat", input=data, form="--json --stream", options=["--stdin", "-"])
    assert answer.stream("stdout") == data
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert b"".join(captured(line) for line in lines[:-1]) == data and lines[-1]["exit_code"] == 0
    assert answer.out.isascii()
