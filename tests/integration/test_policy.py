"""The policy file: what is refused, and which line and column the message names (R1, R3)."""
import json
import os
import re

import pytest

from feature import skip

HEAD = "version: 1\nsearch_path: [/usr/bin]\ntools:\n"
GOOD = HEAD + "  - {name: 'true', why: a test, adr: '0001', route: direct}\n"
ENTRY = "  - name: 'true'\n    why: a test\n    adr: '0001'\n    route: direct\n"


def try_policy(box, text):
    path = box.file("policy/tried.yaml", text, 0o600)
    return path, box.run("true", policy=path)


def test_smallest_policy_works(user_box):
    assert try_policy(user_box, GOOD)[1].outcome == "exited"
    assert try_policy(user_box, HEAD + ENTRY)[1].outcome == "exited"


# text, line and column of the fault, a word in the message
FAULTS = [
    ("unknown key at the top", "version: 1\nfrobnicate: 2\nsearch_path: [/usr/bin]\ntools: []\n", 2, 1, "frobnicate"),
    ("unknown key of a tool", HEAD + ENTRY + "    colour: red\n", 8, 5, "colour"),
    ("short digest", HEAD + ENTRY + "    sha256: '00'\n", 8, 13, "64 of 0-9 and a-f"),
    ("unknown key of args", HEAD + ENTRY + "    args: {opitons: [-x]}\n", 8, 12, "opitons"),
    ("option that cannot be read", HEAD + ENTRY + "    args: {options: [x]}\n", 8, 22, "begins with '-'"),
    ("unknown key of limits", HEAD + ENTRY + "    limits: {timeout_s: 1, colour: red}\n", 8, 28, "colour"),
    ("missing why", HEAD + "  - name: x\n    adr: '0001'\n    route: direct\n", 4, 5, "why"),
    ("missing name", HEAD + "  - why: x\n    adr: '0001'\n    route: direct\n", 4, 5, "name"),
    ("missing adr", HEAD + "  - name: x\n    why: x\n    route: direct\n", 4, 5, "adr"),
    ("missing route", HEAD + "  - name: x\n    why: x\n    adr: '0001'\n", 4, 5, "route"),
    ("unknown route", HEAD + ENTRY.replace("direct", "sideways"), 7, 12, "sideways"),
    ("duplicate tool", HEAD + ENTRY + ENTRY, 8, 11, "true"),
    ("duplicate key", HEAD + ENTRY + "    why: again\n", 8, 5, "why"),
    ("wrong type of tools", "version: 1\nsearch_path: [/usr/bin]\ntools: none\n", 3, 8, "tools"),
    ("wrong type of a tool", HEAD + "  - just text\n", 4, 5, "mapping"),
    ("wrong type of name", HEAD + ENTRY.replace("'true'", "[a]"), 4, 11, "name"),
    ("wrong version", GOOD.replace("version: 1", "version: 2"), 1, 10, "version"),
    ("version is no number", GOOD.replace("version: 1", "version: one"), 1, 10, "version"),
    ("timeout is no number", HEAD + ENTRY + "    limits: {timeout_s: soon}\n", 8, 25, "timeout_s"),
    ("timeout of zero", HEAD + ENTRY + "    limits: {timeout_s: 0}\n", 8, 25, "timeout_s"),
    ("negative timeout", HEAD + ENTRY + "    limits: {timeout_s: -1}\n", 8, 25, "timeout_s"),
    ("relative search path", GOOD.replace("[/usr/bin]", "[/usr/bin, bin]"), 2, 25, "bin"),
    ("empty search path entry", GOOD.replace("[/usr/bin]", "[/usr/bin, '']"), 2, 25, "search_path"),
    ("name with a slash", HEAD + ENTRY.replace("'true'", "/bin/true"), 4, 11, "/bin/true"),
    ("grant of the loader's", HEAD + ENTRY + "    env: [A, LD_PRELOAD]\n", 8, 14, "LD_PRELOAD"),
    ("set_env of PATH", HEAD + ENTRY + "    set_env: [{name: PATH, value: /evil}]\n", 8, 22, "PATH"),
    ("anchor", HEAD + ENTRY.replace("a test", "&x a test"), 5, 10, ""),
    ("alias", HEAD + ENTRY.replace("a test", "*x"), 5, 10, ""),
    ("tag", HEAD + ENTRY.replace("a test", "!!python/object:os.system x"), 5, 10, ""),
    ("second document", GOOD + "---\n" + GOOD, 5, 1, ""),
    ("tab for indentation", "version: 1\n\tsearch_path: []\n", 2, 1, ""),
    ("flow that never ends", "version: 1\nsearch_path: [/usr/bin\n", 3, 1, ""),
]


@pytest.mark.parametrize("text,line,column,word", [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS])
def test_fault_is_reported_with_file_line_and_column(user_box, text, line, column, word):
    path, answer = try_policy(user_box, text)
    assert (answer.status, answer.outcome) == (125, "policy")
    position = re.search(re.escape(f"'{path}'") + r": line (\d+), column (\d+): ", answer.message)
    assert position, answer.message
    assert (int(position[1]), int(position[2])) == (line, column), answer.message
    assert word in answer.message


def test_text_form_reports_it_too(user_box):
    path = user_box.file("policy/tried.yaml", GOOD + "more: 1\n", 0o600)
    answer = user_box.run("true", policy=path, form=None)
    assert answer.status == 125
    assert f"'{path}': line 5, column 1: ".encode() in answer.err
    assert answer.out == b""


@pytest.mark.parametrize("text", [
    "", "\n", "# nothing\n", "~\n", "[]\n", "version: 1\n", "\0", GOOD + "\0", "\xff\xfe", "{" * 100000, "[" * 100000,
    "- " * 50000, "a: " * 1000, "%YAML 9.9\n---\n", GOOD.encode("utf-16"), b"\xff" * 100, "x" * 100000, "? " * 10000])
def test_nonsense_is_refused_cleanly(user_box, text):
    answer = try_policy(user_box, text)[1]
    assert (answer.status, answer.outcome) == (125, "policy")


def test_oversize_file_is_refused(user_box):
    just = GOOD + "#" * ((1 << 20) - len(GOOD) - 1) + "\n"
    assert len(just) == 1 << 20
    assert try_policy(user_box, just)[1].outcome == "exited"
    answer = try_policy(user_box, just + "#")[1]
    assert (answer.status, answer.outcome) == (125, "policy")
    assert "larger than 1048576 bytes" in answer.message


def test_missing_file_is_reported(user_box):
    answer = user_box.run("true", policy=user_box.base / "policy" / "nowhere.yaml")
    assert (answer.status, answer.outcome) == (125, "policy")
    assert "nowhere.yaml" in answer.message


def test_unreadable_file_is_reported(user_box):
    if os.geteuid() != 0:
        skip("root", "a file of root's is needed")
    path = user_box.file("policy/secret.yaml", GOOD)
    os.chown(path, 0, 0)
    os.chmod(path, 0o600)
    answer = user_box.run("true", policy=path)
    assert (answer.status, answer.outcome) == (125, "policy")


def test_file_named_by_a_relative_path_out_of_the_root(user_box):
    """The current directory is the root, and the policy is beside it."""
    answer = user_box.run("true", policy="../policy/policy.yaml")
    assert answer.outcome == "exited"


def test_policy_is_read_once(user_box):
    """The file that decided is the file that was read: a FIFO or a device would give a second
    reader other bytes."""
    answer = user_box.call(user_box.run_argv(["true"], policy="/dev/stdin"), input=json.dumps({}).encode())
    assert answer.status == 125
