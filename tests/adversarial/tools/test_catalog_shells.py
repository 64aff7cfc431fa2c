"""Promise: What it may execute.
Attacker: the text that a shell of the catalogue is given, or a script of the repository. Means: sudo and su, compilers
and interpreters that are not in the set, a copy of a program, the loader, a program in memory, a start file in the
root, the network by /dev/tcp, files and links outside the root.

Expected: each fails in the jail, and the shell goes on. Without a jail the same text works where it needs no rights.
"""
import socket

import pytest

from catalog import taking

SHELLS = ("bash", "sh")
LOADER = "/lib64/ld-linux-x86-64.so.2"

ATTACKS = {
    "a program that is not in the set": "/usr/bin/git --version",
    "an interpreter": "/usr/bin/python3 -c 'print(1)'",
    "sudo": "{{ test -x /usr/bin/sudo || test -x /bin/su; }} && {{ sudo -n true || su -c true; }}",
    "a copy in the root": "cp /usr/bin/git ./copy && chmod 755 copy && ./copy --version",
    "a copy in /tmp": "c=$(mktemp -p /tmp); cp /usr/bin/git $c && chmod 755 $c && $c --version; s=$?; rm -f $c; exit $s",
    "a script with an interpreter": "printf '#!/usr/bin/python3\\nprint(1)\\n' > s && chmod 755 s && ./s",
    "the loader": LOADER + " /usr/bin/git --version",
    "env": "env /usr/bin/git --version",
    "find": "test $(find . -maxdepth 0 -exec /usr/bin/git --version \\; | wc -l) = 1",
    "xargs": "echo --version | xargs /usr/bin/git",
    "tar": "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='git --version > ran' link && test -s ran",
    "awk": "awk 'BEGIN {{ exit system(\"git --version\") }}'",
    "sed": "echo x | sed '1e git --version' | grep -q version",
    "a file outside": "cat {outside}/secret",
    "a file outside through a link": "cat link",
    "a file outside, written": "echo x > {outside}/written",
}


@pytest.fixture(params=["native", "bwrap"])
def place(request, once_box):
    """The library does the same for root and for a user."""
    once_box.file("outside/secret", "secret\n")
    once_box.outside.chmod(0o777)
    (once_box.root / "link").symlink_to(once_box.outside / "secret")
    taking(once_box, *SHELLS)
    return once_box, request.param


def shell(place, name, text, jail=None):
    box, usual = place
    return box.run(name, "-c", text.format(outside=box.outside), options=["--jail", jail or usual],
                   policy=box.base / "policy/catalog.yaml")


@pytest.mark.parametrize("name", SHELLS)
def test_each_fails_in_the_jail(place, name):
    text = "".join(f"if ( {attack} ) >/dev/null 2>&1; then echo {number}; fi\n" for number, attack in enumerate(ATTACKS.values()))
    answer = shell(place, name, text + "echo end")
    worked = answer.stream("stdout").decode().split()
    assert answer.outcome == "exited" and worked == ["end"], [list(ATTACKS)[int(n)] for n in worked[:-1]] or answer.document
    assert not (place[0].outside / "written").exists()


def test_each_works_without_one(once_box):
    """A file that cannot be executed for another reason would prove nothing."""
    once_box.file("outside/secret", "secret\n")
    (once_box.root / "link").symlink_to(once_box.outside / "secret")
    for what, attack in ATTACKS.items():
        if what != "sudo":
            answer = once_box.call(["bash", "-c", attack.format(outside=once_box.outside)])
            assert answer.status == 0, (what, answer)


def test_there_is_no_network(place):
    """127.0.0.1 inside is the run's own: the server of the host is not there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = "exec 3<>/dev/tcp/127.0.0.1/%d && echo reached" % port
        assert place[0].call(["bash", "-c", reach]).out == b"reached\n"
        answer = shell(place, "bash", f"( {reach} ); ( exec 3<>/dev/udp/192.0.2.1/53 && echo reached ); true")
    assert answer.outcome == "exited" and answer.stream("stdout") == b"", answer.document


@pytest.mark.parametrize("name", SHELLS)
def test_no_shell_without_a_jail(place, name):
    answer = shell(place, name, "echo ran", jail="none")
    assert answer.outcome == "jail_unavailable" and "ran" not in str(answer.document["stdout"]), answer.document


@pytest.mark.parametrize("name", SHELLS)
def test_start_files_are_not_read(place, name):
    box, jail = place
    for start in (".bashrc", ".profile", ".bash_profile", "env"):
        box.file(f"root/{start}", "echo started\n")
        box.file(f"home/{start}", "echo started\n")
    for env in ({}, {"BASH_ENV": "./env", "ENV": "./env"}):
        answer = box.run(name, "-c", "echo text", options=["--jail", jail], policy=box.base / "policy/catalog.yaml",
                         env=box.environment(**env))
        assert answer.stream("stdout") == b"text\n", answer.document


@pytest.mark.parametrize("argv", [["bash", "-i"], ["bash", "-l", "-c", "x"], ["bash", "--login"], ["bash", "--rcfile", "env"],
                                   ["bash", "--init-file=env"], ["bash", "-ic", "x"], ["bash", "-p"], ["bash", "-s"],
                                   ["bash", "/etc/profile"], ["bash", "../outside/secret"], ["bash", "link"], ["sh", "-i"],
                                   ["sh", "-s"], ["sh", "-l"], ["sh", "link"], ["sh", "/etc/profile"]], ids=" ".join)
def test_other_ways_in_are_refused(once_box, argv):
    once_box.file("outside/secret", "echo secret\n")
    (once_box.root / "link").symlink_to(once_box.outside / "secret")
    answer = once_box.run(*argv, policy=taking(once_box, *SHELLS))
    assert answer.outcome == "disallowed" and ".args." in answer["rule"], answer.document
