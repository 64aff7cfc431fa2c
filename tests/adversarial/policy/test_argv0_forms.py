"""Promise: Only listed tools.
Attacker: whoever writes the request (a prompt, a model). Means: argv[0] that names a program by
path, by another case, with spaces, as an empty string, or as a tool that only an adapter may call.

Expected: refused before anything is spawned, exit 125; the message names what was wrong and which
tools there are.
"""
import pytest


NAMES = ["/usr/bin/sh", "./sh", "../bin/sh", "bin/sh", "sh/", "SH", "Sh", "sh ", " sh", "sh\n", "sh\t", "-sh", "bash",
         "env", "s*", "sh;id", "$(sh)", "sh\x7f", "\u202esh", "x" * 5000]


@pytest.mark.parametrize("word", NAMES)
def test_anything_but_an_exact_name_is_refused(box, word):
    canary = box.canary()
    answer = box.run(word, "-c", f": > '{canary}'")
    assert (answer.status, answer.outcome) == (125, "disallowed") or "/" in word and answer.outcome == "invalid"
    assert not canary.exists()
    assert answer["tool"] == {"name": None, "path": None}
    assert answer["rule"]


def test_empty_name_is_refused(box):
    answer = box.run("")
    assert answer.status == 125
    assert answer.outcome in ("invalid", "disallowed")


def test_no_command_at_all_is_refused(box):
    answer = box.call(box.run_argv([], form=None))
    assert answer.status == 125
    assert answer.err


def test_refusal_names_the_tools_there_are(box):
    policy = box.write_policy([box.entry("alpha"), box.entry("beta")])
    message = box.run("gamma", policy=policy).message
    assert "gamma" in message and "alpha" in message and "beta" in message


def test_jail_tools_cannot_be_named(box):
    policy = box.write_policy([box.entry("sh", route="jail"), box.entry("true")])
    answer = box.run("sh", "-c", "echo no", policy=policy)
    assert (answer.status, answer.outcome) == (125, "disallowed")


def test_no_shell_reads_the_arguments(box):
    canary = box.canary()
    args = [f"; touch {canary}", f"$(touch {canary})", f"`touch {canary}`", f"| touch {canary}", "*", "~", "$HOME"]
    answer = box.run("say_args", *args)
    assert answer.stream("stdout") == b"".join(word.encode() + b"\0" for word in args)
    assert not canary.exists()
