"""Promise: Output.
Attacker: the tool. Means: it ends, but a grandchild in another session keeps stdout and stderr open, so that
end-of-file never comes.

Expected: the call ends when the tool ends, not at the timeout; what was written is there, and output_incomplete is
true.
"""
from promises import none_left


def test_call_ends_with_the_tool(box, marker):
    answer = box.run("escape", "holder", marker, timeout=60)
    none_left(marker)
    assert (answer.status, answer.outcome) == (0, "exited")
    assert answer.seconds < 40
    assert answer.stream("stdout") == b"ready\n"
    assert answer["output_incomplete"] is True


def test_complete_output_is_called_complete(box):
    answer = box.run("sh", "-c", "echo words; echo more >&2")
    assert answer["output_incomplete"] is False


def test_flooding_holder_does_not_delay_the_end(box, marker):
    """The grandchild goes on writing while the call wants to end."""
    script = f"(trap '' TERM; exec '{box.bin}/flood' 1000000000000 both) & echo ready; exit 4 # {marker}"
    answer = box.run("sh", "-c", script, timeout=60, options=["--max-output", "1000000"])
    assert (answer.status, answer.outcome) == (4, "exited")
    assert answer.seconds < 40
    assert answer["output_incomplete"] is True
