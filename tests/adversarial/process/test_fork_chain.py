"""Promise: The tree.
Attacker: the tool. Means: a thousand processes, each the parent of the next, some in their own
sessions; all stay, or all but the first and last leave so that the chain has no links.

Expected: all are dead when the call returns, by 1.5 times the timeout.
"""
import pytest

from promises import times_out


@pytest.mark.parametrize("manner", ["stay", "leave"])
def test_deep_chain_dies(box, marker, manner):
    times_out(box.run, "chain", "1000", manner, marker=marker, timeout=2, said=b"deep\n")
