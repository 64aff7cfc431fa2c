"""chokepoint audit verify, head and keygen (R50), on logs that the tests write from the
description of the format.

tests/unit/test_audit_verify.c tests the name of each edit, line by line. Here it is what a user
sees.
"""
import fcntl
import json
import os
import pathlib
import re
import stat
import subprocess
import threading

import pytest
from audit import Log, digest, rebuild, usual
from feature import sanitized
from processes import peak_kib

HEAD = re.compile(rb"ckh1\.[0-9a-f]{16}\.[0-9]+\.[0-9a-f]{64}")


class Reader:
    """The command, on a log of the caller."""

    def __init__(self, box):
        self.box = box
        self.path = box.base / "outside/audit.jsonl"

    def write(self, data, name="outside/audit.jsonl"):
        return self.box.file(name, data, 0o600)

    def audit(self, *args, **keywords):
        return self.box.call([self.box.command, "audit", *map(str, args)], **keywords)

    def verify(self, data, *args, status=0):
        answer = self.audit("verify", self.write(data), *args)
        assert answer.status == status, answer
        return answer


@pytest.fixture
def reader(user_box):
    return Reader(user_box)


def lines(*items):
    return b"".join(item + b"\n" for item in items)


# ---- what is printed ----

def test_proven_records_are_printed_unchanged(reader):
    log = usual()
    answer = reader.verify(log.text())
    assert answer.out == log.text()
    assert b"verified 100 records, 0 to 99" in answer.err and log.head.encode() in answer.err


def test_jq_reads_the_outcomes(reader):
    """The documented pipeline: chokepoint audit verify F | jq -r .outcome"""
    reader.write(usual().text())
    command = f"'{reader.box.command}' audit verify '{reader.path}' | jq -r .outcome"
    answer = reader.box.call(["bash", "-o", "pipefail", "-c", command])
    assert answer.status == 0
    args = answer.out.decode().split()
    assert len(args) == 100 and (args.count("exited"), args.count("timeout"), args.count("disallowed")) == (42, 7, 1)


def test_quiet_prints_nothing_but_damage(reader):
    answer = reader.verify(usual().text(), "--quiet")
    assert answer.out == answer.err == b""
    answer = reader.verify(usual().text().replace(b"log", b"lag", 1), "--quiet", status=1)
    assert answer.out == b"" and b"edited" in answer.err


def test_records_before_the_damage_are_printed_and_none_after_it(reader):
    log = usual()
    log.lines[60] = log.lines[60].replace(b"git", b"gut")
    answer = reader.verify(log.text(), status=1)
    assert answer.out == lines(*log.lines[:60])
    assert f"{reader.path}:61: edited: ".encode() in answer.err


# ---- exit status and names ----

def edits():
    log, other = usual(), Log("fedcba9876543210")
    other.call("git", "status")
    had = log.lines
    return {
        "edited": (lines(*had[:41], had[41].replace(b'"pid":4711', b'"pid":4712'), *had[42:]), 42),
        "dropped": (lines(*had[:40], *had[41:]), 41),
        "duplicated": (lines(*had[:41], *had[40:]), 42),
        "reordered": (lines(*had[:40], had[41], had[40], *had[42:]), 41),
        "spliced": (lines(*had[:40], other.lines[1], *had[40:]), 41),
        "rebuilt": (lines(*rebuild([*had[:40], had[40].replace(b"git", b"gut")], 40, had[39][-66:-2].decode()), *had[41:]),
                    42),
        "torn": (lines(*had)[:-30], 100),
        "malformed": (lines(*had[:40], b"hello", *had[40:]), 41),
        "cut": (b"", 0),
    }


@pytest.mark.parametrize("damage", sorted(edits()))
def test_the_first_bad_line_is_named_with_what_is_wrong(reader, damage):
    data, line = edits()[damage]
    answer = reader.verify(data, status=1)
    assert answer.err.decode().startswith(f"chokepoint: {reader.path}:{line}: {damage}: "), answer.err
    assert answer.err.count(b"\n") == 1


@pytest.mark.parametrize("path", ["absent.jsonl", "../outside", "closed.jsonl", "loop"])
def test_an_unreadable_log_has_its_own_status(reader, path):
    os.symlink("loop", reader.box.outside / "loop")
    closed = reader.write(usual().text(), "outside/closed.jsonl")
    closed.chmod(0)
    answer = reader.audit("verify", reader.box.outside / path)
    assert answer.status == 2 and answer.out == b"" and path.encode() in answer.err


@pytest.mark.parametrize("command", ["verify", "show"])
@pytest.mark.parametrize("rotated", [[], ["--rotated"]], ids=["", "rotated"])
def test_a_fifo_is_refused_whether_or_not_somebody_has_its_other_end(reader, command, rotated):
    fifo = reader.box.outside / "fifo"
    os.mkfifo(fifo, 0o666)
    reader.box.own(fifo)
    for flags in (None, os.O_RDWR):  # a silent writer could be waited for without end
        held = os.open(fifo, flags) if flags is not None else -1
        answer = reader.audit(command, *rotated, fifo)
        assert answer.status == 2 and b"neither a regular file nor a pipe" in answer.err
        if held >= 0:
            os.close(held)


def test_a_pipe_of_the_shell_is_read(reader):
    path = reader.write(usual().text())
    args = f"{reader.box.command} audit verify --quiet <(cat {path})"
    assert reader.box.call(["/bin/bash", "-c", args]).status == 0


def test_wrong_arguments_are_reported(reader):
    for args in (["--no-such"], ["--head"], ["--key", "a", "--key", "b"]):
        answer = reader.audit("verify", *args)
        assert answer.status == 125 and b"help audit verify" in answer.err
    assert reader.audit("keygen").status == reader.audit("head", "a", "b").status == 125
    assert reader.audit("verify", "--help").status == 0


def test_a_full_disk_on_standard_output_is_reported(reader):
    path = reader.write(usual().text())
    with open("/dev/full", "wb") as full:
        process = reader.box.popen([reader.box.command, "audit", "verify", str(path)], raw=True, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 125 and b"cannot write to standard output" in err


# ---- several files ----

def pieces():
    first = Log()
    first.call("git", "one")
    second = first.rotate("audit-000000000000.jsonl")
    second.call("git", "two")
    third = second.rotate("audit-000000000003.jsonl")
    third.call("git", "three")
    return first, second, third


def write_pieces(reader, directory="outside"):
    for log, name in zip(pieces(), ("audit-000000000000.jsonl", "audit-000000000003.jsonl", "audit.jsonl")):
        reader.write(log.text(), f"{directory}/{name}")
    return b"".join(log.text() for log in pieces())


def test_files_are_one_chain_in_the_order_given(reader):
    whole = write_pieces(reader)
    names = [reader.box.outside / name for name in ("audit-000000000000.jsonl", "audit-000000000003.jsonl", "audit.jsonl")]
    answer = reader.audit("verify", *names)
    assert (answer.status, answer.out) == (0, whole) and b"verified 9 records, 0 to 8" in answer.err
    answer = reader.audit("verify", names[0], names[2])
    assert answer.status == 1 and b"audit.jsonl:1: dropped: records 3 to 5 are missing before it" in answer.err
    answer = reader.audit("verify", names[1], names[0], names[2])
    assert answer.status == 1 and b"audit-000000000000.jsonl:1: duplicated: " in answer.err


def test_a_log_with_two_names_is_read_once_and_a_copy_of_it_is_not(reader):
    """The state after a writer was killed in the middle of a rotation."""
    whole = write_pieces(reader)
    second = reader.box.outside / "audit-000000000006.jsonl"
    second.hardlink_to(reader.path)
    names = sorted(reader.box.outside.glob("audit*.jsonl"))
    assert len(names) == 4
    for args in (names, ["--rotated", reader.path]):
        answer = reader.audit("verify", *args)
        assert (answer.status, answer.out) == (0, whole) and b"verified 9 records, 0 to 8" in answer.err
    second.unlink()
    second.write_bytes(reader.path.read_bytes())
    answer = reader.audit("verify", *names)
    assert answer.status == 1 and b"audit.jsonl:1: duplicated: " in answer.err


def test_a_later_file_alone_holds_and_says_what_is_missing(reader):
    write_pieces(reader)
    answer = reader.audit("verify", reader.path)
    assert answer.status == 0 and b"verified 3 records, 6 to 8" in answer.err
    assert b"they are in 'audit-000000000003.jsonl'" in answer.err
    answer = reader.audit("verify", "--rotated", reader.path)
    assert answer.status == 0 and b"verified 9 records, 0 to 8" in answer.err and b"were not checked" not in answer.err


@pytest.mark.parametrize("variables", [{}, {"XDG_STATE_HOME": "state"}, {"XDG_STATE_HOME": "relative/is/ignored"}])
def test_without_a_file_it_is_the_log_of_the_command_with_its_rotated_files(reader, variables):
    state = reader.box.base / "state" if variables.get("XDG_STATE_HOME") == "state" else reader.box.home / ".local/state"
    (state / "chokepoint").mkdir(parents=True)
    whole = write_pieces(reader, state.relative_to(reader.box.base) / "chokepoint")
    if variables.get("XDG_STATE_HOME") == "state":
        variables = {"XDG_STATE_HOME": str(state)}
    environment = reader.box.environment(**variables)
    answer = reader.audit("verify", env=environment)
    assert (answer.status, answer.out) == (0, whole)
    assert reader.audit("head", env=environment).out.decode().strip() == pieces()[2].head
    assert reader.audit("show", "--json", env=environment).out == whole


def test_without_a_file_and_a_home_it_says_so(reader):
    answer = reader.audit("verify", env=reader.box.environment(HOME=""))
    assert answer.status == 2 and b"neither XDG_STATE_HOME nor HOME" in answer.err
    answer = reader.audit("verify")
    assert answer.status == 2 and b"/home/.local/state/chokepoint/audit.jsonl': it does not exist" in answer.err


def test_standard_input_and_files_put_together_are_read(reader):
    whole = write_pieces(reader)
    answer = reader.audit("verify", "-", input=whole)
    assert (answer.status, answer.out) == (0, whole)


# ---- heads and keys ----

def test_a_head_catches_a_cut_tail(reader):
    log = usual()
    kept = reader.box.file("outside/head", log.head + "\n")
    short = lines(*log.lines[:-10])
    assert reader.verify(short).status == 0  # a chain alone cannot show that
    for head in (log.head, kept):
        answer = reader.verify(short, "--head", head, status=1)
        assert b":90: cut: the log ends with record 89, but a head names record 99" in answer.err
        reader.verify(log.text(), "--head", head)


def test_a_head_catches_a_rebuilt_chain(reader):
    log = usual()
    forged = lines(*rebuild([line.replace(b'"git"', b'"rg"') for line in log.lines]))
    assert reader.verify(forged).status == 0  # a chain alone cannot show that
    answer = reader.verify(forged, "--head", log.head, status=1)
    assert b":100: rebuilt: it is not the record 99 that a head names" in answer.err


def test_a_head_catches_a_log_that_was_begun_anew(reader):
    fresh = Log("fedcba9876543210")
    fresh.call("git", "status")
    answer = reader.verify(fresh.text(), "--head", usual().head, status=1)
    assert b":1: rebuilt: a head is of log 0123456789abcdef, but this is log fedcba9876543210" in answer.err


def test_every_head_of_a_file_must_hold(reader):
    """The newest head was taken after the chain was rebuilt; an older one shows it."""
    log = Log()
    heads = []
    for number in range(5):
        log.call("git", str(number))
        heads.append(log.head)
    forged = lines(*rebuild([line.replace(b'"git","3"', b'"git","x"') for line in log.lines]))
    newest = f"ckh1.{log.log}.10.{forged[-67:-3].decode()}"
    kept = reader.box.file("outside/heads", "\n".join([*heads[:4], "", newest]) + "\n")
    assert reader.verify(forged, "--head", newest).status == 0
    answer = reader.verify(forged, "--head", kept, status=1)
    assert b":9: rebuilt" in answer.err
    assert reader.verify(log.text(), "--head", reader.box.file("outside/all", "\n".join(heads))).status == 0


@pytest.mark.parametrize("text, words", [("", b"no head"), ("\n\n", b"no head"), ("hello\n", b"not a head"),
                                         ("ckh1.0123\n", b"not a head")])
def test_a_file_without_a_head_is_not_taken_for_no_demand(reader, text, words):
    kept = reader.box.file("outside/head", text)
    answer = reader.verify(usual().text(), "--head", kept, status=2)
    assert words in answer.err and answer.out == b""


def test_audit_head_prints_the_last_whole_record(reader):
    log = usual()
    path = reader.write(log.text())
    assert reader.audit("head", path).out.decode() == log.head + "\n"
    reader.write(log.text() + b'{"v":1,"log":"0123')  # a torn tail is not a record
    assert reader.audit("head", path).out.decode() == log.head + "\n"
    reader.write(log.text()[:-1])  # a record without its newline is
    assert reader.audit("head", path).out.decode() == log.head + "\n"
    for data in (b"", b"hello\n", log.text().replace(b"disallowed", b"disallOwed")):
        reader.write(data)
        answer = reader.audit("head", path)
        assert answer.status == 2 and answer.out == b"" and b"cannot get the head" in answer.err
    assert reader.audit("head", "absent").status == 2


@pytest.fixture
def keys(reader):
    """Paths of two secret keys; the public ones are beside them."""
    made = []
    for name in ("one", "two"):
        path = reader.box.base / "policy" / name
        answer = reader.audit("keygen", path)
        assert answer.status == 0 and answer.out == path.with_suffix(".pub").read_bytes()
        made.append(path)
    return made


def test_a_signed_head_holds_with_its_key_only(reader, keys):
    log = usual()
    path = reader.write(log.text())
    signed = reader.audit("head", path, "--sign", keys[0]).out.decode().strip()
    assert signed.startswith(log.head + ".") and HEAD.match(signed.encode())
    public = keys[0].with_suffix(".pub")
    for key in (public, public.read_text().strip()):
        answer = reader.verify(log.text(), "--head", signed, "--key", key)
        assert b"not checked" not in answer.err
    answer = reader.verify(log.text(), "--head", signed)
    assert b"the signature of the head was not checked" in answer.err
    forged = signed[:-9] + ("B" if signed[-9] == "A" else "A") + signed[-8:]
    for head, key in ((signed, keys[1].with_suffix(".pub")), (forged, public), (log.head, public),
                      (signed.replace(".99.", ".98."), public)):
        answer = reader.verify(log.text(), "--head", head, "--key", key, status=2)
        assert answer.out == b""


def test_a_key_without_a_head_proves_nothing_and_says_so(reader, keys):
    answer = reader.verify(usual().text(), "--key", keys[0].with_suffix(".pub"), status=2)
    assert b"but no head" in answer.err


def test_a_secret_key_is_for_its_owner_and_never_shown(reader, keys):
    secret = keys[0].read_text().strip()
    assert stat.S_IMODE(keys[0].stat().st_mode) == 0o600 and secret.startswith("cks1.")
    answer = reader.verify(usual().text(), "--head", usual().head, "--key", keys[0], status=2)
    assert b"secret" in answer.err and secret[5:].encode() not in answer.err
    answer = reader.audit("keygen", keys[0])
    assert answer.status == 2 and b"never overwritten" in answer.err and keys[0].read_text().strip() == secret
    keys[0].chmod(0o640)
    answer = reader.audit("head", reader.write(usual().text()), "--sign", keys[0])
    assert answer.status == 2 and b"chmod 600" in answer.err and answer.out == b""


# ---- what others do meanwhile ----

def test_a_line_that_is_being_written_is_not_taken_for_a_torn_one(reader):
    """The writer holds its lock and is slow. A reader that ignores the lock would report a torn
    log."""
    log = usual()
    path = reader.write(log.text()[:-100])
    with open(path, "ab", buffering=0) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        timer = threading.Timer(0.3, lambda: (stream.write(log.text()[-100:]), fcntl.flock(stream, fcntl.LOCK_UN)))
        timer.start()
        answer = reader.audit("verify", path)
        timer.join()
    assert answer.status == 0 and b"verified 100 records" in answer.err


def test_a_repaired_tear_holds_and_is_reported(reader):
    log = usual()
    log.torn(b'{"v":1,"log":"0123456789abc')
    log.call("git", "status")
    answer = reader.verify(log.text())
    assert b"1 torn write was found" in answer.err
    assert [json.loads(line)["kind"] for line in answer.out.splitlines()[-3:]] == ["repair", "intent", "outcome"]
    changed = log.text().replace(b'123456789abc\n', b'123456789abd\n')
    assert b":101: malformed: " in reader.verify(changed, status=1).err


# ---- memory ----

def test_memory_does_not_grow_with_the_log(reader):
    log = Log()
    for _ in range(600):
        log.add("intent", argv=["x" * 60000])
    text = log.text()
    assert len(text) > 34 << 20
    process = reader.box.popen([reader.box.command, "audit", "verify", "--quiet", "-"], raw=True, stdin=subprocess.PIPE)
    process.stdin.write(text[:4 << 20])
    few = peak_kib(process.pid)  # a pipe holds 64 KiB, so almost all of it was read
    process.stdin.write(text[4 << 20:])
    process.stdin.flush()
    many = peak_kib(process.pid)
    process.stdin.close()
    spare = 8192 if sanitized() else 512  # the sanitizer keeps freed memory for a while
    assert process.wait(60) == 0 and 0 < many < few + spare


# ---- hostile bytes ----

@pytest.mark.parametrize("body", [',"a":"\x1b]0;owned\x07"', ',"a":"\u009b2J"', ',"a":"\x7f"', ',"a":1}\n{"b":2'])
def test_no_control_byte_gets_through_even_with_a_right_hash(reader, body):
    log = Log()
    log.add("intent", raw=body)
    answer = reader.audit("verify", reader.write(log.text()))
    assert answer.status == 1
    shown = answer.out + answer.err
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", shown) and answer.out == lines(log.lines[0])


def test_a_name_with_control_bytes_is_shown_escaped(reader):
    path = reader.write(b"hello\n", "outside/\x1b[31m.jsonl")
    answer = reader.audit("verify", path)
    assert answer.status == 1 and b"\x1b" not in answer.err and rb"\x1b[31m.jsonl:1: malformed" in answer.err


def test_the_recipe_of_the_manual_checks_a_log(reader):
    text = (pathlib.Path(__file__).parents[2] / "docs/audit.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"<!-- recipe:[^>]*-->\n```python\n(.*?)```", text, re.DOTALL)
    log = usual()
    args = ["/usr/bin/python3", "-c", recipe]
    assert reader.box.call(args, input=log.text()).out.decode() == log.head + "\n"
    for damage in ("edited", "dropped", "duplicated", "reordered", "spliced", "rebuilt"):
        assert reader.box.call(args, input=edits()[damage][0]).status != 0, damage


def test_the_oracle_has_the_hash_of_the_format():
    """RFC 7693: BLAKE2b with 32 bytes of digest, unkeyed."""
    assert digest(b"") == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"
