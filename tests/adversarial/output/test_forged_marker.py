"""Promise: Output.
Attacker: the tool. Means: output that begins with the truncation marker, so that whole output looks cut, or cut
output whole.

Expected: the bytes are untouched; the flag, not the text, says whether anything was cut.
"""
import pytest

from command import MARK


@pytest.mark.parametrize("cap", [18, 100, 65536, 65537])
def test_whole_output_that_begins_with_the_marker_is_untouched(user_box, cap):
    answer = user_box.run("flood", str(cap), "both", MARK, options=["--max-output", str(cap)])
    for name in ("stdout", "stderr"):
        kept = answer.stream(name)
        assert len(kept) == cap and kept.startswith(MARK)
        assert answer[name]["truncated"] is False
        assert answer[name]["bytes"] == cap


def test_one_byte_more_is_truncated(user_box):
    answer = user_box.run("flood", "101", "out", MARK, options=["--max-output", "100"])
    assert len(answer.stream("stdout")) == 100
    assert answer["stdout"]["truncated"] is True
    assert answer["stdout"]["bytes"] == 101
