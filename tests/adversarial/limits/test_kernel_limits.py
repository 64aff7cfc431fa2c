"""Promise: Limits.
Attacker: whoever writes the request. Means: arguments and extras up to the kernel's limits in
length and number, and one byte more.

Expected: what the kernel accepts arrives unchanged; what it does not accept is refused with a
message, and never cut.
"""
import pytest

LONGEST = 131071  # MAX_ARG_STRLEN without the NUL


def test_longest_argument_arrives(box):
    word = "x" * LONGEST
    answer = box.run("say_args", word)
    assert answer.stream("stdout") == word.encode() + b"\0"


def test_longest_extra_arrives(box):
    policy = box.write_policy(say_env={"env": ["LONG"]})
    value = "y" * (LONGEST - len("LONG="))
    answer = box.run("say_env", policy=policy, options=["--env", f"LONG={value}"])
    assert f"LONG={value}".encode() + b"\0" in answer.stream("stdout")


def test_two_mebibytes_of_arguments_arrive(box):
    args = [str(i % 10) * 130000 for i in range(15)]
    answer = box.run("say_args", *args)
    assert answer.stream("stdout") == b"".join(word.encode() + b"\0" for word in args)


def test_forty_thousand_arguments_arrive(box):
    args = [str(i) for i in range(40000)]
    answer = box.run("say_args", *args)
    assert answer.stream("stdout") == b"".join(word.encode() + b"\0" for word in args)


def test_empty_arguments_arrive(box):
    answer = box.run("say_args", "", "a", "", "")
    assert answer.stream("stdout") == b"\0a\0\0\0"


@pytest.mark.parametrize("what", ["argument", "extra", "count", "total"])
def test_library_refuses_more_than_the_kernel_takes(box, what):
    """No command line can carry such a request, so a host program makes it."""
    policy = box.write_policy(true={"env": ["LONG"]})
    assert box.host("host_limits", what, policy=policy).out == b"ok\n"
