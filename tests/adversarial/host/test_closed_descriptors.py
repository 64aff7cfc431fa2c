"""Promise: Failure.
Attacker: none; a program that closes every descriptor it does not know (closefrom, a daemon
library), and then opens its own, which get the numbers of a context's descriptors.

Means: closefrom(3) after a run, or while a tool runs; then files, directories, sockets and epoll
sets of the program, or a second context, with the same descriptor numbers as the first one had.

Expected: calls on the context fail and name the cause; freeing it closes and removes nothing of
the program; what ran has ended.
"""
import pytest


@pytest.mark.parametrize("running", [[], ["running"], ["twin"]], ids=["idle", "running", "twin"])
@pytest.mark.parametrize("jail", ["none", "native", "bwrap"])
def test_what_the_program_opened_since_is_left_alone(box, jail, running):
    box.file("root/open", "public")
    policy = box.write_policy([box.entry("cat"), box.entry("sleep"), box.entry("bwrap", route="jail")],
                              name="policy/closed.yaml")
    assert box.host("host_closed_fds", jail, *running, policy=policy).out == b"ok\n"
    assert (box.root / "open").read_text() == "public"
