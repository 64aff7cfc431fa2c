"""Promise: Credentials.
Attacker: a confused model, or a caller in a hurry. Means: a credential of any of the kinds that
are in use, by itself, in a header, an assignment, a file's text, a URL or after an option; among
the arguments, or in the other strings of a request: the probe, the directories, the directory to
keep.

Expected: of more than 76 shapes fewer than 8 pass, and these are named here; of 100,000 ordinary
vectors none is refused. Nothing of a shape that is known is in an event, the JSON, a message or
the log, wherever it was.
"""
import json
import subprocess

import pytest

import secrets_corpus as corpus
from feature import sanitized

# By themselves they are letters: a word of that length, a hash, a UUID, and docker's user and group.
PASSING = {"cloudflare token, bare", "twilio token, bare", "heroku key, bare", "-u user:password"}


def looked_at(box, vectors):
    """{number of the vector: what one of its arguments looks like}, in the order of the vectors."""
    text = "".join("\x1f".join(args) + "\x1e" for args in vectors)
    done = subprocess.run([box.stage / "tests/helpers/find_secrets"], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return {int(line.split()[0]): line for line in done.stdout.decode().splitlines()}


@pytest.mark.parametrize("seed", range(20))
def test_shapes_are_known(user_box, seed):
    shapes = corpus.shapes(seed)
    assert len(shapes) > 110
    seen = looked_at(user_box, shapes.values())
    missed = {name for number, name in enumerate(shapes) if number not in seen}
    assert missed == PASSING, missed ^ PASSING
    assert len(missed) < 8


def test_ordinary_vectors_are_no_credentials(user_box):
    vectors = list(corpus.ordinary(100_000))
    seen = looked_at(user_box, vectors)
    assert not seen, [(line, vectors[number]) for number, line in list(seen.items())[:20]]


def test_patterns_are_none(user_box):
    vectors = [[before + pattern + after] for pattern in corpus.PATTERNS for before, after in (("", ""), ("-e", ""), ("--regexp=", ""), ("'", "'"))]
    seen = looked_at(user_box, vectors)
    assert not seen, [(line, vectors[number]) for number, line in seen.items()]


# ---- elsewhere in a request

PLACES = {"github": "github fine-grained", "stripe": "stripe test"}


def unseen(box, answer, args):
    """Neither in what the command prints, events included, nor in the log; also not cut, or escaped."""
    part = corpus.secret_of(args).encode()
    assert len(part) == 10
    log = box.log.read_bytes() if box.log.exists() else b""
    assert part not in answer.out + answer.err and part not in log, answer


@pytest.mark.parametrize("form", ["--json", None])
@pytest.mark.parametrize("kind", ["github"] if sanitized() else ["github", "stripe"])
@pytest.mark.parametrize("option", ["--cwd", "--root", "--keep", "--stdin", "--policy", "--audit", "--probe", "--egress", "--env"])
@pytest.mark.parametrize("long", [False, True])
def test_no_string_of_a_request_is_repeated(user_box, option, kind, form, long):
    """Missing, not a directory, of a wrong shape: whatever the refusal is about, it does not repeat the value."""
    word = corpus.shapes()[PLACES[kind]][0]
    value = f"{user_box.root}/" + "d/" * (110 if long else 0) + word if option not in ("--probe", "--egress", "--env") else word
    for more in ([], ["--dry-run"], ["--verbose"]):
        answer = user_box.run("true", options=[option, value, *more], form=form)
        assert answer.status != 0, answer
        unseen(user_box, answer, [word])


@pytest.mark.parametrize("form", ["--json", None])
def test_probe_that_looks_like_a_credential_is_refused(user_box, form):
    """Small letters, digits and '_' are what a probe's name is made of, and a key may be."""
    word = "sk" + "_test_" + corpus.Maker(3).run(24, corpus.LOWER)
    answer = user_box.run("true", options=["--probe", word], form=form)
    assert answer.status == 125
    unseen(user_box, answer, [word])
    record = json.loads(user_box.log.read_bytes().splitlines()[-1])
    assert record["probe"] is None


@pytest.mark.parametrize("form", ["--json", None])
def test_directory_that_looks_like_a_credential_is_used_and_not_shown(cell, form):
    box = cell.box
    word = corpus.shapes()["github classic"][0]
    directory = box.root / word
    directory.mkdir()
    box.own(directory)
    for shape in ({"cwd": directory}, {"root": directory, "cwd": directory}):
        for more in ([], ["--dry-run"]):
            answer = box.run("say_args", "x", policy=cell.policy, options=["--jail", cell.jail, "--verbose", *more], form=form, **shape)
            assert answer.status == 0, answer
            unseen(box, answer, [word])


@pytest.mark.parametrize("long", [False, True])
def test_directory_to_keep_is_not_shown(user_box, long):
    """It is inside the root, which is refused; or there is no directory above it."""
    word = corpus.shapes()["github classic"][0]
    policy = user_box.write_policy([user_box.entry("say_args", route="external", workspace="overlay")])
    for top in (user_box.root, user_box.base / "missing"):
        value = f"{top}/" + "d/" * (110 if long else 0) + word
        answer = user_box.run("say_args", policy=policy, options=["--keep", value, "--verbose"])
        assert answer.status == 125, answer
        unseen(user_box, answer, [word])


def test_value_after_an_option_is_refused_and_not_recorded(user_box):
    args = corpus.shapes()["--token"]
    answer = user_box.run("say_args", "x", *args)
    assert (answer.status, answer["rule"]) == (125, "credentials")
    unseen(user_box, answer, args)
    assert json.loads(user_box.log.read_bytes().splitlines()[-1])["argv"][2:] == ["--token", "[redacted: a token]"]
    policy = user_box.write_policy(say_args={"credentials": "allow"})
    answer = user_box.run("say_args", *args, policy=policy)
    assert answer.stream("stdout").split(b"\0")[:-1] == [word.encode() for word in args]
    assert args[1].encode() not in user_box.log.read_bytes()
