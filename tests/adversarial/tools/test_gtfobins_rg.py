"""Promise: Only listed arguments.
Attacker: whoever writes the request. Means: rg's options that start a program (--pre,
--hostname-bin, decompressors), read a configuration that does, follow a symlink out of the root,
or read a file outside as patterns.

Expected: refused, in every spelling, with the argument and the rule; a spelling that rg takes for
a pattern starts nothing. Plainly called, --pre and -z start the attacker's program.
"""
import gzip
import os

import pytest

from escapes import fires, refused, spellings

PROGRAMS = ("--pre", "--pre-glob", "--hostname-bin", "--hyperlink-format")


@pytest.fixture
def evil(user_box):
    """A program that leaves a trace, in the root as a hostile repository has it, and a file to search."""
    program = user_box.script("root/evil", user_box.canary())
    user_box.file("root/text", "needle\n")
    return str(program)


@pytest.mark.parametrize("option", PROGRAMS)
def test_programs_cannot_be_named(user_box, evil, option):
    for args in spellings(option, evil):
        for argv in (["rg", *args, "needle"], ["rg", "needle", *args], ["rg", "-n", *args, "-e", "needle", "text"]):
            refused(user_box, *argv)
    assert not user_box.canary().exists()


def test_plain_pre_starts_a_program(user_box, evil):
    fires(user_box, user_box.canary(), ["rg", "--pre", evil, "needle", "text"])
    fires(user_box, user_box.canary(), ["rg", f"--pre={evil}", "needle", "text"])


DECOMPRESSION = [["-z"], ["--search-zip"], ["-zn"], ["-nz"], ["-inz"], ["-nzi"], ["-z", "-z"], ["-zz"], ["--search-zi"],
                 ["--no-search-zip"], ["--search-zip=true"], ["-z="], ["-Nz"], ["-uuz"],
                 ["-z", "--no-search-zip", "-z"]]


@pytest.mark.parametrize("args", DECOMPRESSION, ids=" ".join)
def test_decompressors_cannot_be_asked_for(user_box, evil, args):
    refused(user_box, "rg", *args, "needle", named=args[0])
    refused(user_box, "rg", "needle", *args)


def test_plain_z_starts_what_is_called_gzip(user_box, evil):
    user_box.file("root/text.gz", gzip.compress(b"needle\n"))
    os.rename(evil, user_box.root / "gzip")
    env = user_box.environment(PATH=f"{user_box.root}:/usr/bin:/bin")
    fires(user_box, user_box.canary(), ["rg", "-z", "needle", "text.gz"], env=env)


@pytest.mark.parametrize("args", [["-L"], ["--follow"], ["-nL"], ["-Ln"], ["--foll"], ["--no-follow", "-L"]],
                         ids=" ".join)
def test_links_are_not_followed(user_box, args):
    user_box.file("outside/secret", "needle\n")
    os.symlink(user_box.outside, user_box.root / "link")
    refused(user_box, "rg", *args, "needle")
    assert b"needle" in user_box.call(["rg", "-L", "needle", "."]).out
    user_box.file("root/text", "hay\n")  # rg calls it an error when there is nothing to search
    answer = user_box.run("rg", "needle", policy="default")
    assert (answer["exit_code"], answer.stream("stdout")) == (1, b"")


@pytest.mark.parametrize("args", [["needle", "{outside}"], ["needle", "../outside"], ["needle", "link"],
                                   ["needle", "link/secret"], ["-e", "needle", "{outside}/secret"],
                                   ["-e", "needle", "text", "../outside/secret"], ["needle", "--", "{outside}"],
                                   ["--files", "{outside}"], ["--files", "../outside"], ["-f", "{outside}/secret"],
                                   ["-f{outside}/secret"], ["-f=../outside/secret"], ["--file={outside}/secret"],
                                   ["--file", "link/secret"], ["-nf", "{outside}/secret", "text"],
                                   ["--ignore-file={outside}/secret", "needle"], ["--ignore-file", "link/secret", "x"],
                                   ["needle", "text", "sub/../../outside"]], ids=" ".join)
def test_nothing_outside_is_read(user_box, evil, args):
    user_box.file("outside/secret", "needle\n")
    os.symlink(user_box.outside, user_box.root / "link")
    refused(user_box, "rg", *(word.format(outside=user_box.outside) for word in args))


@pytest.mark.parametrize("args", [["--", "--pre", "{evil}"], ["-e", "needle", "--", "--pre={evil}"],
                                   ["--", "-z", "text"], ["-e--pre={evil}", "text"], ["--regexp=--pre", "text"],
                                   ["-e", "x", "--", "-L"],
                                   ["-pre", "{evil}", "text"], ["-pre={evil}", "needle", "text"]], ids=" ".join)
def test_what_rg_takes_for_a_pattern_or_a_name_starts_nothing(user_box, evil, args):
    answer = user_box.run("rg", *(word.format(evil=evil) for word in args), policy="default")
    assert answer.outcome in ("exited", "disallowed")
    assert not user_box.canary().exists()


def test_value_that_looks_like_an_option_is_refused(user_box, evil):
    refused(user_box, "rg", "-e", f"--pre={evil}", "text", named="--pre")
    refused(user_box, "rg", "-g", "--pre", evil, "needle")


def test_configuration_file_is_not_read(user_box, evil):
    """RIPGREP_CONFIG_PATH of the caller never reaches rg, and --no-config comes first."""
    config = user_box.file("root/ripgreprc", f"--pre={evil}\n")
    env = user_box.environment(RIPGREP_CONFIG_PATH=str(config))
    answer = user_box.run("rg", "needle", "text", policy="default", env=env)
    assert answer.stream("stdout") == b"needle\n"
    assert not user_box.canary().exists()
    fires(user_box, user_box.canary(), ["rg", "needle", "text"], env=env)
    refused(user_box, "rg", "--config", str(config), "needle")
