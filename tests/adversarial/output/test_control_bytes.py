"""Promise: Output.
Attacker: whoever writes the request or the tool's output. Means: escape sequences, newlines, line
separators, tags, characters that are invisible or change the direction of text, and bytes that are
not UTF-8, in names, paths, arguments and output, meant for the terminal or the log of whoever
reads them.

Expected: none of them raw in a message, an event, a table, the JSON or the audit log; the tool's
own output is carried whole, as text or base64.
"""
import json
import sys
import unicodedata

import pytest

NASTY = [b"\x1b[31mred", b"\x1b]0;title\x07", b"a\rb", b"a\nsubproc.forged", b"\xff\xfe", b"\xc0\x80",
         b"\xed\xa0\x80", b"\x9b31m", b"\x7f", b"\x08\x08", b"\xc2\x9b31m", b"\xe2\x80\xae",
         *(c.encode() for c in ("\u0085forged", "\u2028forged", "\u2029forged", "a\U000e0072\U000e006d\U000e007f",
                                "\u200b\u2060\ufeff\u00ad", "\u3164\u115f", "a\ufe0f\U000e0100", "\ufff9\ufffb\uffff"))]

# Not in these categories, and still invisible: fillers, joiners, variation selectors, noncharacters.
UNSEEN = {0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f, 0x2065, 0x3164, 0xffa0, 0xfffe, 0xffff,
          *range(0xfdd0, 0xfdf0), *range(0xfe00, 0xfe10), *range(0xfff0, 0xfff9), *range(0xe0000, 0xe1000), 0x10fffe, 0x10ffff}


def is_hidden(character):
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") or ord(character) in UNSEEN


def clean(data: bytes):
    """Nothing a terminal would obey, and nothing that a reader does not see; valid UTF-8."""
    assert not [c for c in data.decode() if c != "\n" and is_hidden(c)], data


def clean_document(data: bytes):
    """JSON as it must be: the same, and no newline but the one at the end."""
    assert data.endswith(b"\n") and b"\n" not in data[:-1], data
    clean(data)


def hidden_characters():
    """All that this Python's Unicode has, in pieces that a message has room for."""
    codes = [code for code in range(1, sys.maxunicode + 1) if not 0xd800 <= code < 0xe000 and is_hidden(chr(code))]
    codes = [code for code in codes if not 0xe0080 <= code < 0xe0ff0 or code % 64 == 0]  # the plane of tags is one range
    for at in range(0, len(codes), 12):
        yield "".join(map(chr, codes[at:at + 12]))


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
        args = {**given, option: word}
        flat = [part for pair in args.items() for part in pair]
        for form in ([], ["--json"]):
            answer = user_box.call([user_box.command, "run", *form, *flat, "--", "true"])
            assert answer.status == 125, (option, answer)
            clean(answer.out)
            clean(answer.err)


@pytest.mark.parametrize("form", ["--json", None])
def test_no_hidden_character_is_shown(user_box, form):
    pieces = list(hidden_characters())
    assert len(pieces) > 30
    for piece in pieces:
        answer = user_box.run(piece.encode(), form=form)
        assert answer.status == 125
        clean(answer.out)
        clean(answer.err)
    clean(user_box.log.read_bytes())


def test_hidden_characters_of_a_record_are_read_back(user_box):
    """The log has them as escapes, pairs among them; it verifies, and show prints them as escapes too."""
    piece = "a\u2028b\U000e0041c\u00e9\U0001f600"
    assert user_box.run("say_args", piece).outcome == "exited"
    clean(user_box.log.read_bytes())
    assert json.loads(user_box.log.read_bytes().splitlines()[1])["argv"] == ["say_args", piece]
    verified = user_box.call([user_box.command, "audit", "verify", user_box.log])
    assert verified.status == 0, verified
    shown = user_box.call([user_box.command, "audit", "show", user_box.log])
    assert shown.status == 0 and "c\u00e9\U0001f600".encode() in shown.out, shown
    clean(shown.out)


def test_hidden_characters_of_a_policy_are_refused_or_escaped(user_box):
    for text in ("a\u2028b", "a\U000e0041b", "a\u3164b", "a\u115fb", "a\ufff9b"):
        policy = user_box.write_policy(true={"why": text})
        answer = user_box.run("true", policy=policy, form=None)
        assert answer.status == 125 and b": line " in answer.err, answer
        clean(answer.err)
    policy = user_box.write_policy(true={"path": "/usr/bin/tr\ufe0fue"})
    shown = user_box.call([user_box.command, "policy", "show", policy])
    assert shown.status == 0 and b"tr\\xef\\xb8\\x8fue" in shown.out, shown
    clean(shown.out)


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
def test_invalid_utf8_is_base64(user_box, data):
    user_box.file("root/data", data)
    answer = user_box.run("cat", "data")
    assert "base64" in answer["stdout"]
    assert answer.stream("stdout") == data


def test_truncation_in_the_middle_of_a_character_drops_nothing(user_box):
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
