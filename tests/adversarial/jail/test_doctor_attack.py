"""Promise: What each jail holds.
Attacker: the program of `chokepoint doctor --attack`, in every jail of the machine. Means: each attempt of its table.

Expected: every attempt is refused, in every jail, as root and as a user; the same attempts succeed without a jail, so that a
refusal says something; what is not refused, or ends in a way that says nothing, is called broken.
"""
import json
import os
import pathlib
import shutil
import socket

import pytest

from jails import JAILS
from no_userns import WAYS, NoUserns

STATES = {"held", "broken", "not_available"}
# Only root may do these, or the attempt is about what the machine may not have, or would leave a file in /tmp or send
# something.
RIGHTS = {"a copy in /tmp, by the loader", "the password file", "the keys of the user", "the same of a device node",
          "the same of its stdin", "modes, owner, times and flags of its own file", "the same by its file handle",
          "a device node", "a setting of the kernel", "a mount",
          "the root made writable", "the same by mount_setattr", "a copy of the mount tree", "a new file system", "chroot",
          "another user", "the mount namespace of the first process", "bpf", "performance counters", "userfaultfd",
          "typing into a terminal", "the same with high bits", "calls of i386", "calls of x32", "family packet",
          "family alg", "family vsock", "the memory map of the first process", "the root of the first process",
          "files that the first process has open", "the first process, traced", "the memory of the first process",
          "a descriptor of the first process", "inherited descriptors", "a copy in sealed memory", "a raw socket",
          "another machine", "another machine, by datagram"}


def check_shape(document):
    assert set(document) == {"version", "held", "uid", "jails"} and document["version"] == 1
    assert [jail["jail"] for jail in document["jails"]] == list(JAILS)
    for jail in document["jails"]:
        assert set(jail) == {"jail", "available", "reason", "layers", "promises"}
        assert (jail["reason"] is None) == jail["available"]
        for promise in jail["promises"]:
            assert set(promise) == {"promise", "state", "attempts"} and promise["state"] in STATES
            for attempt in promise["attempts"]:
                assert set(attempt) == {"attempt", "state", "layer", "entry", "argv", "detail"}
                assert attempt["state"] in STATES
    return document


def attempts(document, state=None):
    return [(jail["jail"], attempt["attempt"], attempt["detail"]) for jail in document["jails"]
            for promise in jail["promises"] for attempt in promise["attempts"] if state in (None, attempt["state"])]


def attacked(box, *options):
    answer = box.call([box.command, "doctor", "--attack", *options], deadline=120)
    return answer, check_shape(json.loads(answer.out)) if "--json" in options else answer.out.decode()


def test_everything_holds_here(box):
    before = set(pathlib.Path("/tmp").glob("chokepoint-attack-*"))  # of a killed test whose user had the same number
    answer, document = attacked(box, "--json")
    assert answer.status == 0 and document["held"] is True, attempts(document, "broken")
    assert attempts(document, "not_available") == [] and len(attempts(document)) > 150
    assert document["uid"] == box.actor.uid and answer.seconds < 30
    if box.actor.uid != 0:  # root's may belong to another test
        left = set(pathlib.Path("/tmp").glob("chokepoint-attack-*")) - before
        assert not [path for path in left if path.stat().st_uid == box.actor.uid]


def test_text_names_each_promise(box):
    answer, text = attacked(box)
    assert answer.status == 0 and "broken" not in text.splitlines()[0]
    assert text.count("no file outside of the root is read") == len(JAILS)
    assert text.splitlines()[-1].endswith(" held, 0 broken, 0 not_available"), text


class World:
    """What the attempts are made on, for one user, as the command makes it."""

    def __init__(self, box, marker):
        box.directory("attacked")
        self.box, self.root = box, box.directory("attacked/root")
        self.secret = box.file("attacked/secret", "a secret\n", 0o600)
        box.file("attacked/root/script", "#!/bin/sh\nexit 0\n", 0o755)
        box.file("attacked/root/interpreted", "#!/usr/bin/env --version\n", 0o755)
        for name, target in (("link", self.secret), ("proc-link", f"/proc/self/root{self.secret}")):
            (self.root / name).symlink_to(target)
        self.sockets = [self.listen(socket.AF_INET, ("127.0.0.1", 0)), self.listen(socket.AF_UNIX, "\0" + marker),
                        self.listen(socket.AF_UNIX, str(self.root / "stream.socket")),
                        self.listen(socket.AF_UNIX, str(self.root / "datagram.socket"), socket.SOCK_DGRAM)]
        for name in ("stream.socket", "datagram.socket"):
            (self.root / name).chmod(0o777)
        self.other = box.popen(["sleep", "1000"], raw=True)
        self.values = {"{secret}": self.secret, "{port}": self.sockets[0].getsockname()[1], "{abstract}": marker,
                      "{pid}": self.other.pid, "{marker}": marker, "{number}": os.getpid() + 0x10000,
                      "{loader}": "/lib64/ld-linux-x86-64.so.2", "{inode}": self.secret.stat().st_ino}

    @staticmethod
    def listen(family, address, kind=socket.SOCK_STREAM):
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen(8)
        return made

    def attempt(self, argv):
        for name in ("new", "copied"):
            (self.root / name).unlink(missing_ok=True)
        self.box.file("attacked/root/victim", "a secret\n")
        args = [str(self.values.get(word, word)) for word in argv]
        return self.box.call([str(self.box.stage / "chokepoint-attack"), *args], cwd=self.root)


def test_attempts_succeed_without_a_jail(user_box, marker):
    """Not those about egress, for nothing is sent from here, nor about what is left: it would be."""
    world = World(user_box, marker)
    _, document = attacked(user_box, "--json")
    tried = 0
    for promise in document["jails"][0]["promises"]:
        for attempt in promise["attempts"]:
            if "egress" in promise["promise"] or "leaves" in promise["promise"] or "started" in promise["promise"] \
                    or attempt["attempt"] in RIGHTS:
                continue
            answer = world.attempt(attempt["argv"])
            assert answer.status == 0, (attempt, answer)
            tried += 1
    for made in world.sockets:
        made.close()
    assert tried > 35


@pytest.fixture
def with_other_attacker(box):
    """The command, with a program beside it that is not the attacker."""
    def make(victim):
        directory = box.directory("other")
        shutil.copy(box.command, directory / "chokepoint")
        shutil.copy(box.stage / "tests/helpers" / victim, directory / "chokepoint-attack")
        for name in ("chokepoint", "chokepoint-attack"):
            box.own(directory / name, 0o755)
        answer = box.call([str(directory / "chokepoint"), "doctor", "--attack", "--json"], deadline=60)
        return answer, json.loads(answer.out)
    return make


def test_attacker_that_succeeds_is_broken(with_other_attacker):
    answer, document = with_other_attacker("say_args")
    check_shape(document)
    assert answer.status == 1 and document["held"] is False
    seen = [detail for _, _, detail in attempts(document, "broken")]
    assert len(seen) > 140 and set(seen) == {"it was not refused"}


def test_attacker_that_says_nothing_proves_nothing(with_other_attacker):
    answer, document = with_other_attacker("breach_files")
    assert answer.status == 125 and "does not run" in document["error"]["message"], document


def test_missing_attacker_is_named(box):
    directory = box.directory("alone")
    shutil.copy(box.command, directory / "chokepoint")
    box.own(directory / "chokepoint", 0o755)
    answer = box.call([str(directory / "chokepoint"), "doctor", "--attack"])
    assert answer.status == 125 and b"not installed" in answer.err


def test_other_options_are_refused(box):
    answer = box.call([box.command, "doctor", "--attack", "--no-cache"])
    assert answer.status == 125 and b"--attack can be combined with --json only" in answer.err


@pytest.mark.parametrize("way", WAYS)
def test_missing_layers_are_named(box, way):
    answer = NoUserns(box, way).call([box.command, "doctor", "--attack", "--json"], deadline=60)
    document = check_shape(json.loads(answer.out))
    native, bwrap = document["jails"]
    assert answer.status == 0, attempts(document, "broken")
    assert not bwrap["available"] and native["available"]
    missing = {attempt["layer"] for promise in native["promises"] for attempt in promise["attempts"]
               if attempt["state"] == "not_available"}
    assert missing == {"egress", "execs_outside_root", "fresh_root", "ipc_ns", "mount_ns", "net_ns", "pid_ns"}
