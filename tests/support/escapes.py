"""Escapes: ways to turn an allowed tool into something else. The default policy refuses them;
called without chokepoint, they work.

A spelling that the tool does not read as an option (after "--") need not be refused: it must
have no effect.
"""
import os

from feature import sanitized


def some(vectors):
    """All of them. With sanitizers every fifth: the hundredth refusal finds nothing more there."""
    return vectors[::5] if sanitized() else vectors


def refused(box, *argv, named=None, options=(), cwd=None):
    """The call is disallowed by a rule about arguments that names the argument; no process starts."""
    answer = box.run(*argv, policy="default", options=options, cwd=cwd)
    assert (answer.status, answer.outcome) == (125, "disallowed"), f"{argv}: {answer.document}"
    assert answer["rule"].startswith("tools.") and ".args." in answer["rule"], answer["rule"]
    assert answer["stdout"]["bytes"] == 0
    if named is not None:
        assert named in answer.message, f"{argv}: {answer.message}"
    return answer


def spellings(option, value):
    """The spellings of a long option with a value. With one dash it may be a bundle of short
    options."""
    name = option.lstrip("-")
    yield [option, value]
    yield [f"{option}={value}"]
    yield [f"{option}=", value]
    yield [option]
    yield [f"{option}="]
    yield [option, ""]
    yield [option, "--", value]
    yield [option, value, option, value]
    yield [f"{option}={value}", f"{option}="]
    yield [option.upper(), value]
    yield [f"{option.upper()}={value}"]
    yield [f"---{name}", value]
    yield [f"{option} {value}"]
    yield [f"{option}\t{value}"]
    yield [f"--no-{name}"]
    for length in range(2, len(name)):
        yield [f"--{name[:length]}={value}"]


def fires(box, canary, argv, **keywords):
    """The attack works without chokepoint: a refusal of something harmless would prove nothing."""
    if os.path.exists(canary):
        os.unlink(canary)
    answer = box.call(argv, **keywords)
    assert os.path.exists(canary), f"{argv}: status {answer.status}: {answer.err[-500:]!r} {answer.out[-500:]!r}"
    os.unlink(canary)
    return answer
