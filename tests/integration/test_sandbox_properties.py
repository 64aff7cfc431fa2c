"""For every environment of the host, extras of the caller and allowlist, no secret enters a
sandbox (R14).

The filter is asked directly, because no command line can bring another allowlist, or a variable
without a name.
"""
import re
import subprocess

import hypothesis
import hypothesis.strategies as st
import pytest

from feature import scaled

SECRET = re.compile("key|token|secret|password", re.IGNORECASE)
LISTED = re.compile(r"(NODE_ENV|HTTPS_PROXY|NPM_CONFIG_[A-Za-z0-9_]+)=[^\x00-\x1f\x7f]*", re.DOTALL)
BASE = ["PATH=/usr/bin", "HOME=/tmp/probe", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"]
SETTINGS = hypothesis.settings(max_examples=scaled(600, 100, 150), deadline=None, database=None, derandomize=True,
                               suppress_health_check=list(hypothesis.HealthCheck))


class Filter:
    """tests/helpers/filter_sandbox, a process that answers many questions."""

    def __init__(self, box, mode):
        args = [str(box.stage / "tests/helpers/filter_sandbox"), mode]
        self.process = box.popen(args, raw=True, stdin=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        status = self.process.wait(timeout=30)
        assert kind is not None or status == 0, self.process.stderr.read()

    def _word(self):
        word = bytearray()
        while (byte := self.process.stdout.read(1)) != b"\0":
            assert byte, "the filter ended: " + self.process.stderr.read().decode(errors="replace")
            word += byte
        return word.decode(errors="surrogateescape")

    def _ask(self, *lists):
        args = [word for items in lists for word in (str(len(items)), *items)]
        self.process.stdin.write("".join(f"{word}\0" for word in args).encode(errors="surrogateescape"))
        self.process.stdin.flush()

    def rule(self, patterns, names):
        self._ask(patterns, names)
        return [self._word() for _ in range(int(self._word()))]

    def make(self, host, extras=()):
        self._ask(host, extras)
        outcome, message = self._word(), self._word()
        return outcome, message, [self._word() for _ in range(int(self._word()))]


def any_case(word):
    return st.tuples(*(st.sampled_from([c.lower(), c.upper()]) for c in word)).map("".join)


PART = st.text(alphabet="ABCxyz_019", max_size=8)
WORD = st.sampled_from(["KEY", "TOKEN", "SECRET", "PASSWORD"]).flatmap(any_case)
SECRET_NAME = st.tuples(st.sampled_from(["", "NPM_CONFIG_", "NODE_ENV", "HTTPS_PROXY", "PATH_"]), PART, WORD, PART).map(
    "".join)
NAME = st.one_of(SECRET_NAME, st.tuples(st.sampled_from(["", "NPM_CONFIG_", "npm_config_"]), PART).map("".join),
                 st.sampled_from(["NODE_ENV", "HTTPS_PROXY", "PATH", "NODE_OPTIONS", "LD_PRELOAD", "HOME", ""]),
                 st.text(alphabet=st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=12))
VALUE = st.one_of(st.sampled_from(["", "test", "http://proxy:3128", "http://user:word@proxy:3128", "ghp_" + "a" * 36]),
                  st.text(alphabet=st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=12))
VARIABLE = st.one_of(st.tuples(NAME, VALUE).map("=".join), NAME)


def patterns_for(name):
    """List entries that somebody could write to let the name pass."""
    cut = st.integers(0, len(name)).map(lambda length: name[:length] + "*")
    return st.lists(st.one_of(st.just(name), st.just("*"), cut, NAME), min_size=1, max_size=4)


def test_no_allowlist_lets_a_secret_pass(user_box):
    with Filter(user_box, "rule") as sieve:
        @SETTINGS
        @hypothesis.given(SECRET_NAME.flatmap(lambda name: st.tuples(st.just(name), patterns_for(name))))
        def check(case):
            name, patterns = case
            assert sieve.rule(patterns, [name]) == ["secret"]
        check()
        assert sieve.rule(["*"], ["HARMLESS", "A=B", ""]) == ["passes", "unlisted", "unlisted"]


def names_of(env):
    return [variable.partition("=")[0] for variable in env]


def test_what_passes_is_listed_and_no_secret(user_box):
    with Filter(user_box, "make") as sieve:
        @SETTINGS
        @hypothesis.given(st.lists(VARIABLE, max_size=12))
        def check(host):
            outcome, message, env = sieve.make(host)
            assert (outcome, message, env[:4]) == ("0", "", BASE)
            passed = env[4:]
            assert all(variable in host and LISTED.fullmatch(variable) for variable in passed), passed
            assert not any(SECRET.search(name) for name in names_of(passed))
            assert not any("user:word@" in variable or "ghp_" in variable for variable in passed)
            assert len({name.lower() for name in names_of(env)}) == len(env)
            assert sieve.make(["NODE_ENV=test", *host])[2][4] == "NODE_ENV=test"
        check()


def test_asking_for_a_secret_is_reported(user_box):
    with Filter(user_box, "make") as sieve:
        @SETTINGS
        @hypothesis.given(st.lists(VARIABLE, max_size=4), SECRET_NAME, VALUE)
        def check(host, name, value):
            hypothesis.assume(not name[0].isdigit())
            outcome, message, env = sieve.make(host, ["NODE_ENV=test", f"{name}={value}"])
            assert (outcome, env) == ("env_forbidden", [])
            assert f"'{name}' may not enter a sandbox" in message
            assert len(value) < 6 or value not in message
        check()


@pytest.mark.parametrize("extras", [["NODE_ENV=test"], ["NPM_CONFIG_CACHE=/c", "HTTPS_PROXY=http://proxy:3128"]])
def test_listed_extras_pass(user_box, extras):
    with Filter(user_box, "make") as sieve:
        assert sieve.make(["NODE_ENV=host"], extras)[2][4:] == extras + (
            [] if "NODE_ENV=test" in extras else ["NODE_ENV=host"])
