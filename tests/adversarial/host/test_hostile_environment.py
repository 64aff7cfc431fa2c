"""Promise: The environment.
Attacker: whoever sets the caller's environment, or reads what leaves through it. Means: every name that a loader,
an interpreter or a tool obeys, and every name that carries a key.

Expected: the tool gets exactly PATH, HOME, LANG and LC_ALL; PATH is the policy's. Extras only by name, only where the
entry grants them.
"""
import json
import sys

import pytest

NAMES = """
LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG LD_BIND_NOW GIT_DIR GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT
GIT_ASKPASS GIT_EXEC_PATH GIT_CONFIG_GLOBAL NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS PYTHONPATH PYTHONSTARTUP
PYTHONHOME PYTHONINSPECT BASH_ENV ENV SHELLOPTS BASHOPTS PS4 IFS CDPATH SSH_AUTH_SOCK SSH_ASKPASS SUDO_ASKPASS
KUBECONFIG AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE GITHUB_TOKEN GH_TOKEN
OPENAI_API_KEY ANTHROPIC_API_KEY NPM_TOKEN DOCKER_HOST XDG_CONFIG_HOME RIPGREP_CONFIG_PATH HTTPS_PROXY http_proxy
LC_CTYPE LANGUAGE TERM TMPDIR PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS GCONV_PATH LOCPATH MALLOC_CHECK_ GLIBC_TUNABLES PWD
OLDPWD SHLVL _ CHOKEPOINT CHOKEPOINT_POLICY USER SHELL
""".split()


def environment_of(answer):
    assert answer.status == 0, answer.document
    variables = answer.stream("stdout").split(b"\0")[:-1]
    pairs = [word.decode().partition("=")[::2] for word in variables]
    assert len(dict(pairs)) == len(pairs), "a name is there twice"
    return dict(pairs)


# LD_* and the sanitizers' own must not disturb the command that the test starts, so their values are harmless.
HOSTILE = {name: "" if name.startswith(("LD_", "GCONV", "GLIBC", "MALLOC")) else "hostile" for name in NAMES}


def expected(box, **more):
    return {"PATH": ":".join(box.search_path), "HOME": str(box.home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **more}


def test_nothing_but_the_four_passes(box):
    env = box.environment(**HOSTILE)
    assert environment_of(box.run("say_env", env=env)) == expected(box)
    assert environment_of(box.run("say_env", env=env, options=["--probe", "some_probe"])) == expected(box)


def test_callers_values_of_home_and_language_pass(box):
    env = box.environment(HOME="/some/home", LANG="de_DE.UTF-8", LC_ALL="C")
    got = environment_of(box.run("say_env", env=env))
    assert (got["HOME"], got["LANG"], got["LC_ALL"]) == ("/some/home", "de_DE.UTF-8", "C")


def test_fixed_values_where_the_parent_has_none(box):
    answer = box.run("say_env", env={name: value for name, value in box.environment().items() if "SAN_" in name})
    assert environment_of(answer) == {"PATH": ":".join(box.search_path), "HOME": "/nonexistent", "LANG": "C.UTF-8",
                                      "LC_ALL": "C.UTF-8"}


@pytest.mark.parametrize("value", ["/home\n/x", "/home/\x1b[31m", "\x7f"])
def test_values_with_control_bytes_are_replaced(box, value):
    got = environment_of(box.run("say_env", env=box.environment(HOME=value, LANG=value, LC_ALL=value)))
    assert got == {**expected(box), "HOME": "/nonexistent"}


def test_same_name_twice_in_the_parent_gives_it_once(box):
    """execve takes any list of strings; getenv and the copy must not disagree about which one counts."""
    program = ("import ctypes, sys; libc = ctypes.CDLL(None); argv = [a.encode() for a in sys.argv[1:]]; "
               "env = [b'HOME=/first', b'HOME=/second', b'LD_PRELOAD', b'=x', b'', b'PATH=/evil']; "
               "vector = lambda words: (ctypes.c_char_p * (len(words) + 1))(*words, None); "
               "libc.execve(argv[0], vector(argv), vector(env))")
    variables = box.run_argv(["say_env"])
    answer = box.call([sys.executable, "-I", "-c", program, *variables])
    assert answer.status == 0, answer.err
    variables = json.loads(answer.out)["stdout"]["text"].split("\0")[:-1]
    assert [word.partition("=")[0] for word in variables] == ["PATH", "HOME", "LANG", "LC_ALL"]
    assert f"PATH={':'.join(box.search_path)}" in variables


def test_granted_extra_passes(box):
    policy = box.write_policy(say_env={"env": ["COLOUR", "_x1"]})
    answer = box.run("say_env", policy=policy, options=["--env", "COLOUR=blue = sky", "--env", "_x1="])
    assert environment_of(answer) == expected(box, COLOUR="blue = sky", _x1="")


def test_granted_name_is_not_taken_from_the_parent(box):
    policy = box.write_policy(say_env={"env": ["COLOUR"]})
    assert environment_of(box.run("say_env", policy=policy, env=box.environment(COLOUR="red"))) == expected(box)


def test_set_env_is_added(box):
    policy = box.write_policy(say_env={"set_env": [{"name": "FIXED", "value": "by policy"}]})
    answer = box.run("say_env", policy=policy, env=box.environment(FIXED="by caller"))
    assert environment_of(answer) == expected(box, FIXED="by policy")
    answer = box.run("say_env", policy=policy, options=["--probe", "p"])
    assert environment_of(answer) == expected(box, FIXED="by policy")


@pytest.mark.parametrize("name", [
    "COLOR", "colour", "COLOUR2", "COLOU", "PATH", "HOME", "LANG", "LC_ALL", "LD_PRELOAD"])
def test_extra_that_is_not_granted_is_forbidden(box, name):
    policy = box.write_policy(say_env={"env": ["COLOUR"]})
    answer = box.run("say_env", policy=policy, options=["--env", f"{name}=x"])
    assert (answer.status, answer.outcome) == (125, "env_forbidden")
    assert name in answer.message
    assert answer["rule"] == "tools.say_env.env"


def test_extra_on_a_probes_call_is_invalid(box):
    policy = box.write_policy(say_env={"env": ["COLOUR"]})
    answer = box.run("say_env", policy=policy, options=["--env", "COLOUR=blue", "--probe", "some_probe"])
    assert (answer.status, answer.outcome) == (125, "invalid")


@pytest.mark.parametrize("word", ["COLOUR", "=x", "", "A B=x", "1A=x", "A-B=x", "A\x1b=x"])
def test_malformed_extra_is_refused(box, word):
    policy = box.write_policy(say_env={"env": ["COLOUR"]})
    answer = box.run("say_env", policy=policy, options=["--env", word])
    assert answer.status == 125
    assert answer.outcome in ("invalid", "env_forbidden")
    assert b"\x1b" not in answer.out + answer.err


def test_same_extra_twice_is_refused(box):
    policy = box.write_policy(say_env={"env": ["COLOUR"]})
    answer = box.run("say_env", policy=policy, options=["--env", "COLOUR=blue", "--env", "COLOUR=red"])
    assert (answer.status, answer.outcome) == (125, "invalid")


@pytest.mark.parametrize("name", [
    "LD_PRELOAD", "LD_LIBRARY_PATH", "PATH", "HOME", "LC_ALL", "BASH_ENV", "NODE_OPTIONS"])
def test_no_policy_can_grant_what_would_undo_it(box, name):
    policy = box.write_policy(say_env={"env": [name]})
    answer = box.run("say_env", policy=policy, options=["--env", f"{name}=x"])
    assert (answer.status, answer.outcome) == (125, "policy")
    assert name in answer.message


@pytest.mark.parametrize("name", ["a" * 64, "a", "semgrep_probe", "x9_"])
def test_good_probe_name_is_accepted(box, name):
    assert box.run("true", options=["--probe", name]).status == 0


@pytest.mark.parametrize("name", [
    "", "A", "9a", "_a", "a-b", "a b", "a" * 65, "a/b", "..", "a\n", "\u00e4", "a\x1b[0m"])
def test_bad_probe_name_is_invalid(box, name):
    answer = box.call(box.run_argv(["true"], options=["--probe", name]))
    assert answer.status == 125
    assert b"\x1b" not in answer.out + answer.err
