"""Promise: Credentials.
Attacker: a repository, another user of the machine, or a command line that names the wrong file. Means: a file for
--secret that they wrote, can read or can replace: in the root, by a link, a second link, open modes, another owner, a
FIFO, a device, a directory that the cage shows; a value that adds a line to a request; a host that is not listed, an
address, a header that says where a message ends; authorities in the root, by a variable, or that others may write.

Expected: refused before anything runs, with status 125, and the message does not repeat the value.
"""
import os

import pytest

from guards import Guarded
from tls_hosts import VALUE

HOST = "model.example.org"


@pytest.fixture
def held(box, cage_victims):
    made = Guarded(box, cage_victims)
    made.set_policy(carriers=("bash",), tools=("true",), section={"egress": [f"{HOST}:443", "*.example.net"]})
    return made


def run(held, secret, *more, env=None):
    return held.inside("bash", "-c", "echo ran", options=["--secret", secret, *more], **({"env": env} if env else {}))


def refused(held, secret, *more, env=None):
    answer = run(held, secret, *more, env=env)
    assert answer.status == 125 and b"ran" not in answer.out, (answer.out, answer.err)
    assert VALUE.encode() not in answer.out + answer.err
    return answer.err.decode()


def key(held, text=VALUE + "\n", name="policy/key", mode=0o600):
    return held.box.file(name, text, mode)


def with_file(path):
    return f"{HOST},X-Api-Key={path}"


def test_good_file_is_accepted(held):
    answer = run(held, with_file(key(held)))
    assert answer.status == 0 and answer.out == b"ran\n", answer.err
    assert answer.document["secrets"] == [{"host": HOST, "port": 443, "header": "X-Api-Key", "requests": 0}]
    assert f"'X-Api-Key' was added to 0 requests for {HOST} port 443" in answer.err.decode()


def test_dry_run_names_host_and_header(held):
    answer = held.box.call(held.argv("bash", options=["--dry-run", "--secret", with_file(key(held)), "--secret",
                                                      f"a.example.net:8443,Authorization={key(held)}"]))
    assert answer.status == 0, answer.err
    assert b"secret model.example.org:443 X-Api-Key\nsecret a.example.net:8443 Authorization\n" in answer.out
    assert VALUE.encode() not in answer.out + answer.err


def link(held, target, name):
    os.symlink(target, held.box.base / name)
    return held.box.own(held.box.base / name)


def second_link(held):
    path = key(held)
    os.link(path, held.root / "innocent")
    return path


def of_another_user(held):
    path = key(held)
    os.chown(path, 4242, 4242)
    return path


def in_a_directory_of_others(held):
    held.box.directory("shared", 0o777)
    return key(held, name="shared/key")


def fifo(held):
    path = held.box.base / "policy/fifo"
    os.mkfifo(path, 0o600)
    return held.box.own(path)


FILES = {
    "in the root": (lambda held: key(held, name="root/key"), "is inside the root"),
    "a link in the root": (lambda held: link(held, key(held), "root/link"), "is inside the root"),
    "a link into the root": (lambda held: link(held, key(held, name="root/key"), "policy/link"), "is inside the root"),
    "with a second link": (second_link, "has a second link"),
    "readable by others": (lambda held: key(held, mode=0o644), "is accessible to group or others"),
    "writable by a group": (lambda held: key(held, mode=0o620), "is accessible to group or others"),
    "of another user": (of_another_user, None),
    "in a directory of others": (in_a_directory_of_others, None),
    "a FIFO": (fifo, "is not a regular file"),
    "a directory": (lambda held: held.box.directory("policy/directory", 0o700), "is not a regular file"),
    "a device": (lambda held: "/dev/null", None),
    "of the system": (lambda held: "/etc/shadow", None),
    "missing": (lambda held: held.box.base / "policy/none", "does not exist"),
}


@pytest.mark.parametrize("what", FILES)
def test_file_that_is_no_secret_is_refused(held, what):
    make, message = FILES[what]
    path = make(held)
    err = refused(held, with_file(path))
    assert (message or "") in err and "'" in err, err


VALUES = {"nothing": "", "a line break only": "\n", "two lines": "one\ntwo\n", "a header more": f"{VALUE}\r\nX-More: y\n",
          "a carriage return": f"{VALUE}\r\n", "a NUL": f"{VALUE}\0", "a tab": f"{VALUE}\tx", "a blank first": f" {VALUE}",
          "a blank last": f"{VALUE} \n", "letters that are not ASCII": f"{VALUE}é", "too much": "v" * 8193, "far too much": "v" * 100000}


@pytest.mark.parametrize("what", VALUES)
def test_value_that_is_not_one_line_is_refused(held, what):
    err = refused(held, with_file(key(held, VALUES[what])))
    assert "is longer than 8192 bytes" in err or "is not one line of printable ASCII" in err


OPTIONS = {
    "": "is not HOST[:PORT],HEADER=FILE",
    f"{HOST}": "is not HOST[:PORT],HEADER=FILE",
    f"{HOST},X-Api-Key": "is not HOST[:PORT],HEADER=FILE",
    f"{HOST},X-Api-Key=": "is not HOST[:PORT],HEADER=FILE",
    f"{HOST},=KEY": "has no valid name of a header",
    f"{HOST},X Api=KEY": "has no valid name of a header",
    f"{HOST},X-Api-Key:=KEY": "has no valid name of a header",
    f"{HOST},{'x' * 65}=KEY": "has no valid name of a header",
    f"{HOST}:0,X=KEY": "has no port from 1 to 65535",
    f"{HOST}:70000,X=KEY": "has no port from 1 to 65535",
    "127.0.0.1,X=KEY": "has an address for its host",
    "[::1]:443,X=KEY": "is not valid",
    "127.1,X=KEY": "is not valid",
    "*.example.net,X=KEY": "is not valid",
    f"user@{HOST},X=KEY": "is not valid",
    "other.example.org,X=KEY": "is not one of the hosts that the program may reach",
    f"{HOST}:8443,X=KEY": "is not one of the hosts that the program may reach",
    **{f"{HOST},{name}=KEY": "names a header that says where a message ends or goes" for name in
       ("Host", "content-length", "Transfer-Encoding", "Connection", "TE", "Trailer", "Upgrade", "Expect", "Proxy-Authorization")},
}


@pytest.mark.parametrize("text", OPTIONS)
def test_option_that_is_not_valid_is_refused(held, text):
    assert OPTIONS[text] in refused(held, text.replace("KEY", str(key(held))))


def test_host_outside_of_the_asked_ones_is_refused(held):
    assert "among --egress" in refused(held, with_file(key(held)), "--egress", "a.example.net")


def test_same_header_twice_is_refused(held):
    err = refused(held, with_file(key(held)), "--secret", f"{HOST}:443,x_api_key={key(held)}")
    assert "names a header that this host has already" in err


@pytest.mark.parametrize("word, reason", [("ghp_" + "a1B2" * 9, b"what looks like a credential"), ("Bearer 0a1b2c3d4e5f", b"does not exist"),
                                          ("correcthorsebattery", b"does not exist")])
def test_value_in_place_of_the_file_is_not_repeated(held, word, reason):
    answer = run(held, f"{HOST},Authorization={word}")
    assert answer.status == 125 and word.encode() not in answer.err and reason in answer.err, answer.err


def test_file_in_the_working_directory_needs_no_slash(held):
    key(held, name="policy/key")
    argv = held.argv("bash", "-c", "echo ran", options=["--secret", with_file("key")])
    assert held.box.call(argv, cwd=held.box.base / "policy").out == b"ran\n"


AUTHORITIES = {
    "in the root": (lambda held: held.box.file("root/ca.pem", "x"), "is inside the root"),
    "writable by others": (lambda held: held.box.file("policy/ca.pem", "x", 0o666), None),
    "no certificate": (lambda held: held.box.file("policy/ca.pem", "hello\n"), "has no certificate in PEM"),
    "missing": (lambda held: held.box.base / "policy/none", None),
    "a directory": (lambda held: held.box.directory("policy/cas", 0o700), None),
}


@pytest.mark.parametrize("what", AUTHORITIES)
def test_file_of_authorities_that_is_none_is_refused(held, what):
    make, message = AUTHORITIES[what]
    assert (message or "") in refused(held, with_file(key(held)), "--secret-ca", str(make(held)))


def test_authorities_of_the_environment_are_not_used(held):
    """Neither a file that exists nor one that does not makes a difference."""
    env = {**held.box.environment(), "SSL_CERT_FILE": "/nonexistent", "SSL_CERT_DIR": "/nonexistent", "CURL_CA_BUNDLE": "/nonexistent"}
    assert run(held, with_file(key(held)), env=env).status == 0


def test_directory_that_a_tool_is_shown_may_not_hold_it(held):
    """A tool behind a door, or a carrier, with `reads`."""
    shown = held.box.directory("shown", 0o700)
    path = key(held, name="shown/key")
    held.set_policy(carriers=("bash",), tools=(), section={"egress": [f"{HOST}:443"]},
                    more=[held.tool("cat", reads=[str(shown)])])
    answer = held.shell(f"cat {path}; echo end", options=["--secret", with_file(path)])
    assert VALUE.encode() not in answer.out + answer.err and b"holds a file of --secret" in answer.err, answer.err
