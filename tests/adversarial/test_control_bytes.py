"""Promise: Output.
Attacker: whoever writes the request or the tool's output. Means: escape sequences, newlines and bytes that are no
UTF-8 in names, paths, arguments and output, meant for the terminal or the log of whoever reads them.

Expected: no raw control byte in a message, an event or the JSON; the tool's own output is carried whole, as text or
base64.
"""
import json

import pytest

NASTY = [b"\x1b[31mred", b"\x1b]0;title\x07", b"a\rb", b"a\nsubproc.forged", b"\xff\xfe", b"\xc0\x80",
         b"\xed\xa0\x80", b"\x9b31m", b"\x7f", b"\x08\x08", b"\xc2\x9b31m", b"\xe2\x80\xae"]


def clean(data: bytes):
    """Nothing a terminal would obey: no C0 or C1 control, no DEL, valid UTF-8."""
    text = data.decode()
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0], data


def clean_document(data: bytes):
    """JSON as it must be: valid UTF-8, and no C0 control but the one newline at the end."""
    text = data.decode()
    assert text.endswith("\n") and not [c for c in text[:-1] if ord(c) < 32], data


@pytest.mark.parametrize("word", NASTY)
@pytest.mark.parametrize("form", ["--json", None, "--stream"])
def test_name_of_a_tool_is_escaped(user_box, word, form):
    answer = user_box.run(word, form=form)
    assert answer.status == 125
    clean(answer.out)
    clean(answer.err)
    assert b"forged" not in answer.err or b"\nsubproc.forged" not in answer.err


@pytest.mark.parametrize("word", NASTY)
def test_values_of_options_are_escaped(user_box, word):
    policy = user_box.write_policy(true={"env": ["GRANTED"]})
    given = {b"--policy": policy, b"--root": user_box.root, b"--cwd": user_box.root, b"--timeout": "5"}
    for option in (*given, b"--stdin", b"--env", b"--probe", b"--max-output", b"--jail", b"--egress", b"-" + word):
        words = {**given, option: word}
        flat = [part for pair in words.items() for part in pair]
        for form in ([], ["--json"]):
            answer = user_box.call([user_box.command, "run", *form, *flat, "--", "true"])
            assert answer.status == 125, (option, answer)
            clean(answer.out)
            clean(answer.err)


@pytest.mark.parametrize("word", NASTY)
def test_arguments_arrive_unchanged(user_box, word):
    answer = user_box.run("say_args", word)
    assert answer.stream("stdout") == word + b"\0"
    clean_document(answer.out)
    clean(answer.err)


def test_every_byte_of_output_is_carried(user_box):
    user_box.file("root/all", bytes(range(256)))
    answer = user_box.run("cat", "all")
    assert "base64" in answer["stdout"]
    assert answer.stream("stdout") == bytes(range(256))


def test_text_with_control_bytes_is_text_and_escaped(user_box):
    data = bytes(range(128)) + "\u00e9\u20ac\U0001f600\u2028".encode()
    user_box.file("root/all", data)
    answer = user_box.run("cat", "all")
    assert answer["stdout"]["text"].encode() == data
    clean_document(answer.out)


@pytest.mark.parametrize("data", [
    b"\xff", b"ok\xc3", b"\xf4\x90\x80\x80", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe0\x80\xaf"])
def test_what_is_no_utf8_is_base64(user_box, data):
    user_box.file("root/data", data)
    answer = user_box.run("cat", "data")
    assert "base64" in answer["stdout"]
    assert answer.stream("stdout") == data


def test_truncation_in_the_middle_of_a_character_loses_nothing(user_box):
    user_box.file("root/data", "\u20ac".encode() * 1000)
    answer = user_box.run("cat", "data", options=["--max-output", "102"])
    kept = answer.stream("stdout")
    assert len(kept) == 102
    assert kept.endswith("\u20ac".encode() * 28)


def test_policy_content_is_escaped(user_box):
    policy = user_box.file("policy/nasty.yaml", "version: 1\n\"\\e[31mkey\": 1\n", 0o600)
    answer = user_box.run("true", policy=policy)
    assert (answer.status, answer.outcome) == (125, "policy")
    clean(answer.out)
    clean(answer.err)
    assert json.loads(answer.out)
