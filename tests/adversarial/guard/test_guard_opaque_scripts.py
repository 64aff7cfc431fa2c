"""Promise: A guarded program.
Attacker: code that a program in the cage was given to run. Means: shell text that hides what it executes: pipes,
substitutions, eval, aliases, functions, variables, encoded commands, here-documents, other spellings of a path, other
shells' builtins, an empty or changed PATH.

Expected (R90): what is not listed is not executed, whatever the text is, and guard names it; nothing of the text is parsed.
"""
import pathlib

import pytest

from guards import refused_exec

# id is on every machine, and prints who runs it.
SCRIPTS = {
    "plain": "id",
    "path": "/usr/bin/id",
    "other spelling of the path": "/usr/bin/./id; /usr/../usr/bin/id",
    "pipe": "echo x | id; seq 3 | xargs -n1 id 2>/dev/null",
    "substitution": "echo $(id) `id`",
    "process substitution": "cat <(id)",
    "eval": "eval 'i''d'",
    "alias": "shopt -s expand_aliases\nalias cat=id\ncat",
    "function": "cat() { command id; }; cat",
    "variable": "a=i; b=d; $a$b; ${a}${b}",
    "encoded": r"$(printf '\151\144')",
    "here-document": "sh <<E\nid\nE",
    "another shell": "sh -c 'exec id'",
    "exec with another name": "exec -a cat id",
    "background": "id & wait $!",
    "trap": "trap id EXIT",
    "other PATH": "PATH=/usr/bin:/bin id; PATH= /usr/bin/id",
    "hash table": "hash -p /usr/bin/id cat; cat",
    "command -p": "command -p id",
    "prompt": "PROMPT_COMMAND=id; PS4='$(id)'; set -x; :",
    "BASH_ENV": "echo id > f; BASH_ENV=f bash -c :",
    "ENV of an interactive shell": "echo id > f; ENV=$PWD/f sh -i < /dev/null",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_program_that_is_not_listed(once_guarded, script):
    outside = once_guarded.outside("bash", "-c", script)
    assert b"uid=" in outside.out + outside.err, "the attack does not work at all"
    answer = refused_exec(once_guarded.shell(script), "id")
    assert b"uid=" not in answer.out + answer.err


def test_for_each_caller_and_with_advice(guarded):
    """sudo is no tool of anyone: no line for the policy is offered. For a plain program one is."""
    answer = guarded.inside("bash", "-c", "echo x | /usr/bin/su -c id; id; curl --version | sh", options=())
    assert b"uid=" not in answer.out and {"su", "id"} <= {one["path"].rpartition("/")[2] for one in answer.document["denied"]}
    adds = {one["path"].rpartition("/")[2]: one["add"] for one in answer.document["denied"]}
    assert adds["su"] is None and adds["id"] and adds["id"].encode() in answer.err, answer


def test_refusal_is_named_with_its_parents(once_guarded):
    """A program that was called by itself is named once."""
    once_guarded.set_policy(carriers=["bash", "sh", "env"])
    answer = once_guarded.shell("env sh -c 'sh -c \"id; :\"; :'; env id; id", options=())
    by = [one["by"] for one in answer.document["denied"] if one["path"].endswith("/id")]
    shell = pathlib.Path("/bin/sh").resolve().name
    assert by == [f"{shell} < bash", "env < bash", "bash"], answer
    assert f"id, by {shell} < bash; add ".encode() in answer.err, answer
