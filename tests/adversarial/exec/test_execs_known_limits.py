"""Promise: What it may execute.
Attacker: an allowed tool that runs code of its attacker's choice. Means: the loader, which must be executable, maps a
program that is not; and a memory file, to which no rule of Landlock applies.

Expected: both get around `execs` with a helper in it; without one the tool executes nothing. SECURITY and docs/adr/0016 say so; what closes them is the native jail. Should one of
these fail one day, the documents have to change with it.
"""
import re

from execs import bounded, refused_with, run_bounded, succeeds_without


def test_loader_maps_a_program_that_is_not_listed(box):
    with open(box.bin / "attempt", "rb") as stream:
        loader = re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()
    attack = ["plain", loader, str(box.bin / "say_args"), "word"]
    succeeds_without(box, *attack)
    assert run_bounded(box, "attempt", *attack, policy=bounded(box, ["true"])).stream("stdout") == b"word\0"
    refused_with(box, *attack, policy=bounded(box))


def test_memory_file_is_executed(box):
    attack = ["memory", str(box.bin / "say_args"), "word"]
    succeeds_without(box, *attack)
    assert run_bounded(box, "attempt", *attack, policy=bounded(box, ["true"])).stream("stdout") == b"word\0"
    refused_with(box, *attack, policy=bounded(box))
