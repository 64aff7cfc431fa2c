"""Promise: Only listed arguments.
Attacker: whoever writes the request. Means: jq as a reader of any file: as input, as a program, as a variable, as a
module path.

Expected: refused, with the argument named; plainly called, jq prints the file.
"""
import os

import pytest

from escapes import refused, some

SECRET = "s3cret-of-the-host"

VECTORS = [
    ["-Rr", ".", "{secret}"], ["-Rr", ".", "../outside/secret"], ["-R", ".", "link"], ["-R", ".", "dir/secret"],
    [".", "good.json", "{secret}"], [".", "--", "{secret}"], ["-n", "input", "{secret}"],
    ["-nR", "[inputs]", "{secret}"], ["-n", "--rawfile", "x", "{secret}", "$x"],
    ["-n", "--rawfile", "x", "../outside/secret", "$x"], ["-n", "--rawfile", "x", "link", "$x"],
    ["-n", "--slurpfile", "x", "{secret}", "$x"], ["--slurpfile", "x", "link", "."],
    ["-n", "--argfile", "x", "{secret}", "$x"], ["-n", "--rawfil", "x", "{secret}", "$x"],
    ["-n", "--rawfile=x", "{secret}", "$x"], ["-f", "{secret}"], ["--from-file", "{secret}"],
    ["-f", "link", "good.json"], ["-nf", "../outside/secret"], ["-rf", "{secret}"], ["good.json", "-f", "{secret}"],
    ["{secret}", "-f"], ["{secret}", "--from-file", "good.json"], ["-f", "good.json", "{secret}"],
    ["--from-file={secret}"], ["-f{secret}"], ["--from-fil", "{secret}"], ["-L", "{outside}", "import \"x\" as x; ."],
    ["-L{outside}", "."], ["-L", ".", "."], ["-nL", "{outside}", "."], ["--library-path", "{outside}", "."],
    ["--library-path={outside}", "."], ["-L"], ["--run-tests", "{secret}"], ["--run-tests"],
    ["--debug-dump-disasm", "."], ["--debug-trace", "."], ["-h"], ["--help"], ["-V"], ["--indent"],
    ["--indent", "x", "."], ["--arg", "x"], ["--arg"], ["-o", "x", "."], ["-i", ".", "good.json"],
    [".", "dir/../../outside/secret"], [".", "http://localhost/x"], [".", ""], ["-z"], ["--ARG", "a", "b", "."],
]


@pytest.fixture
def tree(user_box):
    secret = user_box.file("outside/secret", SECRET + "\n")
    user_box.file("root/good.json", "1\n")
    os.symlink(secret, user_box.root / "link")
    os.symlink(user_box.outside, user_box.root / "dir")
    return {"secret": str(secret), "outside": str(user_box.outside)}


@pytest.mark.parametrize("args", some(VECTORS), ids=lambda args: " ".join(args)[:60])
def test_no_file_outside_is_read(user_box, tree, args):
    answer = refused(user_box, "jq", *(word.format(**tree) if "{" in word else word for word in args))
    assert SECRET not in answer.message


@pytest.mark.parametrize("args", [["-Rr", ".", "{secret}"], ["-R", ".", "link"],
                                   ["-n", "--rawfile", "x", "{secret}", "$x"],
                                   ["-nRr", "input", "dir/secret"]], ids=" ".join)
def test_plain_jq_prints_the_file(user_box, tree, args):
    argv = [word.format(**tree) if "{" in word else word for word in args]
    assert SECRET in user_box.call(["jq", *argv]).out.decode()


def test_text_that_only_looks_like_a_path_is_no_file(user_box, tree):
    """A program and the values of --arg are text."""
    answer = user_box.run("jq", "-n", "--arg", "x", tree["secret"], "$x", policy="default")
    assert answer.stream("stdout").decode() == f'"{tree["secret"]}"\n'
    answer = user_box.run("jq", "-n", '"/etc/passwd"', policy="default")
    assert answer.stream("stdout") == b'"/etc/passwd"\n'


def test_environment_has_no_secret(user_box):
    env = user_box.environment(GITHUB_TOKEN="x", AWS_SECRET_ACCESS_KEY="y")
    answer = user_box.run("jq", "-nc", "env | keys", policy="default", env=env)
    assert answer.stream("stdout") == b'["HOME","LANG","LC_ALL","PATH"]\n'
