"""Promise: Credentials.
Attacker: a confused model, or a caller in a hurry. Means: a key among the arguments or the extras,
bare or inside something else.

Expected: refused, exit 125, rule "credentials"; the value is on neither stream, in no event, in no
message and not in the audit log, which says what it looked like. An entry that says so may take
them; and ordinary hashes and names are not credentials.
"""
import base64
import hashlib
import json
import zlib

import pytest

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def letters(length, seed):
    """Random-looking letters and digits, the same in every run."""
    stream = b"".join(hashlib.sha256(f"{seed}{i}".encode()).digest() for i in range(1 + length // 32))
    return "".join(ALPHABET[byte % 62] for byte in stream[:length])


def base62(number):
    text = ""
    while number or len(text) < 6:
        number, digit = divmod(number, 62)
        text = ALPHABET[digit] + text
    return text


def with_checksum(prefix, body):
    """GitHub and npm append the CRC-32 of the body."""
    return prefix + body + base62(zlib.crc32(body.encode()))


def web_token():
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890", "iat": 1516239022})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join([*encoded, letters(43, "jwt")])


SECRETS = {
    "aws": "AKIA" + letters(16, "aws").upper().translate(str.maketrans("0189", "QRST")),
    "github": with_checksum("ghp_", letters(30, "gh")),
    "github-fine": "github_pat_" + letters(22, "fine") + "_" + letters(59, "fine2"),
    "gitlab": "glpat-" + letters(20, "gitlab"),
    "slack": "xoxb-" + "123456789012-1234567890123-" + letters(24, "slack"),
    "stripe": "sk_live_" + letters(24, "stripe"),
    "google": "AIza" + letters(35, "google"),
    "anthropic": "sk-ant-api03-" + letters(93, "ant") + "AA",
    "openai": "sk-proj-" + letters(20, "oa") + "T3BlbkFJ" + letters(20, "oa2"),
    "npm": with_checksum("npm_", letters(30, "npm")),
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\n" + letters(64, "pem") + "\n-----END RSA PRIVATE KEY-----\n",
    "web-token": web_token(),
}


def secret_part(secret):
    """The part that must not be seen anywhere: what follows the public prefix."""
    return max((part for part in secret.splitlines() if "PRIVATE KEY" not in part), key=len)[-16:].encode()


def recorded(box, secret):
    """The last record; the log has the secret in no form."""
    text = box.log.read_bytes()
    part = secret_part(secret)
    assert part not in text and part[::-1] not in text
    for skipped in range(3):  # base64 of it, at any offset in a longer text
        encoded = base64.b64encode(b"x" * skipped + part)[4:-4]
        assert len(encoded) >= 12 and encoded not in text
    return json.loads(text.splitlines()[-1])


def refused(answer, secret, outcome="disallowed"):
    assert (answer.status, answer.outcome) == (125, outcome), answer.document
    assert answer["rule"] == "credentials"
    assert secret_part(secret) not in answer.out + answer.err


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", [
    "{}", "--token={}", "https://user:{}@example.org/x.git", "Authorization: Bearer {}"])
def test_credential_in_an_argument_is_refused_and_not_repeated(user_box, kind, around):
    word = around.format(SECRETS[kind])
    refused(user_box.run("say_args", "first", word, "last"), SECRETS[kind])
    answer = user_box.run("say_args", word, form=None)
    assert answer.status == 125
    assert secret_part(SECRETS[kind]) not in answer.out + answer.err
    assert answer.err
    shown = recorded(user_box, SECRETS[kind])["argv"]
    assert shown[0] == "say_args" and shown[1].startswith("[redacted: a")


@pytest.mark.parametrize("kind", SECRETS)
def test_credential_in_an_extra_is_refused_and_not_repeated(user_box, kind):
    policy = user_box.write_policy(say_env={"env": ["VALUE"]})
    answer = user_box.run("say_env", policy=policy, options=["--env", "VALUE=" + SECRETS[kind]])
    refused(answer, SECRETS[kind], "env_forbidden")
    recorded(user_box, SECRETS[kind])


@pytest.mark.parametrize("kind", ["github", "aws"])
def test_credential_is_not_repeated_by_other_refusals(user_box, kind):
    """The tool is unknown, the extra not granted, the directory wrong: whatever comes first, the value is not reported."""
    secret = SECRETS[kind]
    for answer in (user_box.run("no-such-tool", secret), user_box.run(secret),
                   user_box.run("say_env", options=["--env", "VALUE=" + secret]),
                   user_box.run("say_env", options=["--env", secret]),
                   user_box.run("say_args", secret, cwd="/"), user_box.run("say_args", secret, options=["--dry-run"])):
        assert answer.status == 125
        assert secret_part(secret) not in answer.out + answer.err, answer
        recorded(user_box, secret)


def test_entry_may_allow_credentials(user_box):
    policy = user_box.write_policy(say_args={"credentials": "allow"})
    answer = user_box.run("say_args", SECRETS["github"], policy=policy)
    assert answer.stream("stdout") == SECRETS["github"].encode() + b"\0"
    assert secret_part(SECRETS["github"]) not in answer.err
    recorded(user_box, SECRETS["github"])
    intent = json.loads(user_box.log.read_bytes().splitlines()[1])
    assert intent["argv"] == ["say_args", "[redacted: a GitHub token]"]


@pytest.mark.parametrize("argument", [b"\xff%s", b"%s\xff", b"a\n%s", b"%s" + b" x" * 40000])
def test_credential_in_bytes_that_are_no_text_is_not_recorded(user_box, argument):
    policy = user_box.write_policy(say_args={"credentials": "allow"})
    answer = user_box.run("say_args", argument % SECRETS["github"].encode(), policy=policy)
    assert answer.outcome == "exited"
    recorded(user_box, SECRETS["github"])


def test_credential_in_a_path_is_not_recorded(user_box):
    directory = user_box.root / SECRETS["github"]
    directory.mkdir()
    user_box.own(directory)
    for shape in ({"cwd": directory}, {"root": directory, "cwd": directory}, {"cwd": directory / "missing"},
                  {"policy": user_box.write_policy(name="policy/" + SECRETS["github"])}):
        user_box.run("true", **shape)
        recorded(user_box, SECRETS["github"])
    assert len(user_box.log.read_bytes().splitlines()) == 8


def test_value_of_a_variable_is_not_recorded(user_box):
    policy = user_box.write_policy(say_env={"env": ["VALUE"], "set_env": [{"name": "SET", "value": "set-in-policy"}]})
    answer = user_box.run("say_env", policy=policy, options=["--env", "VALUE=some-plain-value"])
    assert b"VALUE=some-plain-value" in answer.stream("stdout") and b"set-in-policy" in answer.stream("stdout")
    text = user_box.log.read_bytes()
    assert b"some-plain-value" not in text and b"set-in-policy" not in text
    assert json.loads(text.splitlines()[1])["env"] == ["HOME", "LANG", "LC_ALL", "PATH", "SET", "VALUE"]


@pytest.mark.parametrize("word", [
    "da39a3ee5e6b4b0d3255bfef95601890afd80709", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000", "@scope/package@1.2.3", "https://example.org/a/b?c=d", "--max-count=100",
    "src/lib/very_long_directory_name/and_a_file_name.test.ts", "sha512-" + "A" * 86 + "==", "task-management", "AKIA",
    "sk-", "ghp_", "-----BEGIN CERTIFICATE-----", "user@example.org", "AKIAlooksalike"])
def test_ordinary_arguments_are_no_credentials(user_box, word):
    answer = user_box.run("say_args", word)
    assert (answer.status, answer.stream("stdout")) == (0, word.encode() + b"\0")
