"""Promise: Only listed arguments.
Attacker: whoever writes the request, or a file that a tool reads. Means: the text tools of the catalogue as runners of
programs, as writers, and as readers of files outside the root: actions of find, commands of sed, output files and
programs of sort, the pager of diff, symlinks, lists of names, and the input of xargs.

Expected: refused, with the argument named, or without effect. Plainly called, the same lines work.
"""
import os

import pytest

from catalog import taking
from escapes import fires, some

TOOLS = ("cat", "head", "tail", "wc", "ls", "grep", "sed", "sort", "diff", "find", "xargs")
SECRET = "s3cret-of-the-host"

# {canary} is a file that must not appear, {secret} one that must not be read.
RUNS = [
    ["find", ".", "-exec", "touch", "{canary}", ";"], ["find", ".", "-maxdepth", "0", "-execdir", "touch", "{canary}", ";"],
    ["find", ".", "-fprintf", "{canary}", "x"], ["find", ".", "-fprint", "{canary}"], ["find", ".", "-fprint0", "{canary}"],
    ["find", ".", "-fls", "{canary}"], ["find", "--", ".", "-fprint", "{canary}"], ["find", "-P", "--", "-fprint", "{canary}"],
    ["find", "-D", "exec", ".", "-fprint", "{canary}"],
    ["sed", "-n", "1e touch {canary}", "a.txt"], ["sed", "w {canary}", "a.txt"], ["sed", "s/a/b/w {canary}", "a.txt"],
    ["sed", "s/.*/touch {escaped}/e", "a.txt"], ["sed", "-f", "evil.sed", "a.txt"],
    ["sed", "--expression=w {canary}", "a.txt"],
    ["sort", "-o", "{canary}", "a.txt"], ["sort", "-o{canary}", "a.txt"], ["sort", "a.txt", "-o", "{canary}"],
    ["sort", "--output={canary}", "a.txt"], ["sort", "--outp", "{canary}", "a.txt"], ["sort", "-uo", "{canary}", "a.txt"],
    ["sort", "-S1k", "--compress-program=./evil.sh", "big.txt"], ["sort", "-S1k", "--comp=./evil.sh", "big.txt"],
]

# Not tried without chokepoint: they wait, ask, write beneath the root, or are misspelled.
OTHERS = [
    ["find", ".", "-ok", "true", ";"], ["find", ".", "-okdir", "true", ";"], ["find", ".", "-name", "a.txt", "-delete"],
    ["find", ".", "--", "-delete"], ["find", ".", "--", "-fprint", "{canary}"], ["find", "--", "-delete"], ["find", ".", "-DELETE"], ["find", ".", "-exec=touch"],
    ["find", "-L", ".", "-name", "secret"], ["find", "-H", "dir"], ["find", ".", "-follow"],
    ["find", "-files0-from", "names"], ["find", "-O3", "."], ["find", "-Lexec"],
    ["sed", "-i", "s/a/b/", "a.txt"], ["sed", "-i.bak", "s/a/b/", "a.txt"], ["sed", "-ni", "p", "a.txt"],
    ["sed", "--in-place=.bak", "p", "a.txt"], ["sed", "--in", "p", "a.txt"], ["sed", "--follow-symlinks", "p", "a.txt"],
    ["sort", "-T", "/tmp", "a.txt"], ["sort", "--temporary-directory=/tmp", "a.txt"], ["sort", "--files0-from=names"],
    ["diff", "-l", "a.txt", "a.txt"], ["diff", "--paginate", "a.txt", "a.txt"], ["diff", "-ul", "a.txt", "names"],
    ["grep", "-R", "cret", "."], ["grep", "--dereference-recursive", "cret", "."], ["grep", "-iR", "cret", "."],
    ["ls", "-L"], ["ls", "-lH", "link"], ["ls", "--dereference"], ["ls", "--dired"], ["wc", "--files0-from=names"],
    ["tail", "-f", "a.txt"], ["tail", "-F", "a.txt"], ["tail", "--follow=name", "a.txt"], ["tail", "--pid=1", "a.txt"],
    ["xargs", "sh", "-c", "true"], ["xargs", "bash"], ["xargs", "find"], ["xargs", "sed"], ["xargs", "sort"],
    ["xargs"], ["xargs", "--", "cat"], ["xargs", "-o", "cat"], ["xargs", "-p", "cat"], ["xargs", "--interactive", "cat"],
    ["xargs", "--process-slot-var=LD_PRELOAD", "cat"], ["xargs", "-a", "{secret}", "cat"], ["xargs", "/bin/cat"],
    ["xargs", "./evil.sh"], ["xargs", "cat", "--help"],
]

READS = [
    ["cat", "{secret}"], ["cat", "link"], ["cat", "dir/secret"], ["cat", "../outside/secret"], ["cat", "--", "{secret}"],
    ["head", "-n1", "{secret}"], ["tail", "link"], ["wc", "{secret}"], ["grep", "", "{secret}"], ["grep", "-e", "", "link"],
    ["grep", "-f", "{secret}", "a.txt"], ["grep", "--file={secret}", "a.txt"], ["grep", "--exclude-from", "{secret}", "x"],
    ["grep", "-r", "", "dir"], ["sed", "p", "{secret}"], ["sed", "-f", "{secret}", "a.txt"], ["sed", "-n", "-e", "p", "link"],
    ["sort", "{secret}"], ["sort", "--random-source={secret}", "-R", "a.txt"], ["diff", "a.txt", "{secret}"],
    ["diff", "--from-file={secret}", "a.txt"], ["diff", "-X", "{secret}", "a.txt", "a.txt"], ["find", "{outside}"],
    ["find", "dir/", "-name", "*"], ["find", ".", "-newer", "{secret}"], ["find", ".", "-samefile", "{secret}"],
    ["ls", "{outside}"], ["ls", "dir/"], ["xargs", "cat", "{secret}"], ["xargs", "grep", "-e", "", "link"],
]


@pytest.fixture
def tree(user_box):
    box = user_box
    canary = box.canary()
    secret = box.file("outside/secret", SECRET + "\n")
    box.file("root/a.txt", "a\n")
    box.file("root/big.txt", "".join(f"{i * 7919 % 100000:06}\n" for i in range(20000)))
    box.file("root/evil.sed", f"w {canary}\n")
    box.file("root/names", f"{secret}\0")
    box.script("root/evil.sh", canary)
    os.symlink(secret, box.root / "link")
    os.symlink(box.outside, box.root / "dir")
    taking(box, *TOOLS)
    return {"canary": str(canary), "escaped": str(canary).replace("/", "\\/"), "secret": str(secret),
            "outside": str(box.outside)}


def filled(args, tree):
    return [word.format(**tree) if "{" in word else word for word in args]


def harmless(box, argv, jails=("none", "native")):
    """Refused by the rules about arguments, or run without effect, with a jail and without one."""
    for jail in jails:
        answer = box.run(*argv, options=["--jail", jail], policy=box.base / "policy/catalog.yaml")
        assert answer.outcome in ("disallowed", "exited"), (argv, answer.document)
        if answer.outcome == "disallowed":
            assert ".args." in answer["rule"] and answer["stdout"]["bytes"] == 0, answer.document
            return answer
    return answer


def of(tool, *lists):
    return some([args for vectors in lists for args in vectors if args[0] == tool])


@pytest.mark.parametrize("tool", ["find", "sed", "sort"])
def test_lines_work_without_chokepoint(user_box, tree, tool):
    for args in of(tool, RUNS):
        fires(user_box, tree["canary"], filled(args, tree))


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_runs_and_nothing_is_written(user_box, tree, tool):
    before = sorted(os.listdir(user_box.root))
    for args in of(tool, RUNS, OTHERS):
        answer = harmless(user_box, filled(args, tree))
        assert not os.path.exists(tree["canary"]) and sorted(os.listdir(user_box.root)) == before, args
        assert (user_box.root / "a.txt").read_text() == "a\n", args
        # Only commands of sed are judged by sed itself, which was told to refuse them.
        assert answer.outcome == "disallowed" or (tool == "sed" and answer.status == 1
                                                  and b"sandbox" in answer.stream("stderr")), answer.document


@pytest.mark.parametrize("tool", TOOLS)
def test_no_file_outside_is_read(user_box, tree, tool):
    for args in of(tool, READS):
        answer = harmless(user_box, filled(args, tree))
        assert answer.outcome == "disallowed" and SECRET not in answer.message, answer.document


def test_recursion_does_not_follow_links(user_box, tree):
    policy = user_box.base / "policy/catalog.yaml"
    for argv in (["grep", "-r", "cret", "."], ["find", ".", "-name", "secret"], ["diff", "-r", ".", "."], ["ls", "-R"]):
        answer = user_box.run(*argv, options=["--jail", "none"], policy=policy)
        assert answer.outcome == "exited" and SECRET.encode() not in answer.stream("stdout"), answer.document
        assert b"dir/secret" not in answer.stream("stdout")


INPUTS = [
    (["xargs", "-I", "cat", "cat"], "./evil.sh\n"), (["xargs", "-I", "{}", "cat", "{}"], "./evil.sh\n"),
    (["xargs", "grep"], "-f {secret} -r . {secret}\n"), (["xargs", "ls"], "-L link --dired {outside}\n"),
    (["xargs", "cat"], "{secret} dir/secret link\n"), (["xargs", "tail"], "--lines=1 {secret}\n"),
    (["xargs", "wc"], "--files0-from=names\n"), (["xargs", "head"], "{secret}\n"),
]


@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_input_of_xargs_has_no_effect_in_a_jail(user_box, tree, jail):
    for argv, data in INPUTS:
        answer = user_box.run(*argv, options=["--jail", jail, "--stdin", "-"], policy=user_box.base / "policy/catalog.yaml",
                              input=data.format(**tree).encode())
        assert answer.outcome == "exited" and SECRET.encode() not in answer.stream("stdout"), answer.document
        assert not os.path.exists(tree["canary"])
