"""Promise: An overlay and its changes.
Attacker: a caller. Means: a tool with `workspace: overlay` is run by a tool with `workspace: ro`
that takes commands (`nice touch FILE`), without a jail or in one that has no overlay.

Expected: the call is refused, as the inner tool by itself is, and the repository is as it was; if
the caller names no jail, it is the native one."""
import pytest


@pytest.fixture
def policy(box):
    outer = box.entry("nice", workspace="ro", args={"command": "after_options"})
    return box.write_policy([outer, box.entry("touch", workspace="overlay"), box.entry("bwrap", route="jail")])


@pytest.mark.parametrize("jail", ["none", "bwrap"])
def test_inner_overlay_is_refused_without_the_native_jail(box, policy, jail):
    answer = box.run("nice", "touch", "new", policy=policy, options=["--jail", jail])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.touch.workspace"), answer.document
    assert "'touch'" in answer.message and not (box.root / "new").exists()


def test_inner_overlay_asks_for_the_native_jail(box, policy):
    answer = box.run("nice", "touch", "new", policy=policy)
    assert answer["jail"] == "native" and not (box.root / "new").exists(), answer.document
    assert b"Read-only file system" in answer.stream("stderr")
