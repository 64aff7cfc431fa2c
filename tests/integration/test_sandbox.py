"""run --sandbox: the exact environment that code of a repository gets, and a jail or no run (R14).

tests/adversarial/tools/test_sandbox_npm.py has code that wants more; test_sandbox_properties.py
has any environment.
"""
import json

import pytest

HOST = {"NODE_ENV": "test", "NPM_CONFIG_CACHE": "/c", "NPM_CONFIG_fixed": "host", "HTTPS_PROXY": "http://proxy:3128",
        "GITHUB_TOKEN": "x", "NPM_CONFIG_MY_KEY": "x", "NPM_CONFIG__password": "x", "https_proxy": "x", "COLOUR": "blue",
        "NODE_OPTIONS": "--x", "LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"}
PASSED = {"NODE_ENV": "test", "NPM_CONFIG_CACHE": "/c", "HTTPS_PROXY": "http://proxy:3128"}


@pytest.fixture
def policy(cell):
    return cell.write_policy(say_env={"env": ["COLOUR", "A_TOKEN"],
                                      "set_env": [{"name": "NPM_CONFIG_FIXED", "value": "by policy"}]})


def expected(cell, **more):
    return {"PATH": ":".join(cell.box.search_path), "HOME": "/tmp/probe", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
            "NPM_CONFIG_FIXED": "by policy", **more}


def run(cell, policy, *options):
    env = cell.box.environment(**HOST)
    return cell.run("say_env", options=["--sandbox", *options], policy=policy, env=env)


def environment(cell, policy, *options):
    """What the tool gets, and the same from a dry run."""
    answer = cell.inside("say_env", options=["--sandbox", *options], policy=policy, env=cell.box.environment(**HOST))
    assert answer.status == 0, answer.document
    variables = answer.stream("stdout").decode().split("\0")[:-1]
    shown = run(cell, policy, "--dry-run", *options)["env"]
    # bwrap sets PWD for the tool, and the plan cannot know it better.
    assert [word for word in variables if not word.startswith("PWD=")] == shown
    got = dict(word.split("=", 1) for word in shown)
    assert len(got) == len(shown), "a name is there twice"
    return got


def test_environment_is_the_base_and_what_may_pass(cell, policy):
    assert environment(cell, policy) == expected(cell, **PASSED)


def test_extra_replaces_that_of_the_host(cell, policy):
    options = ["--env", "NODE_ENV=production", "--env", "NPM_CONFIG_A=1"]
    assert environment(cell, policy, *options) == expected(cell, **{**PASSED, "NODE_ENV": "production",
                                                                    "NPM_CONFIG_A": "1"})


def test_policy_holds_against_an_extra(cell, policy):
    assert environment(cell, policy, "--env", "NPM_CONFIG_Fixed=by caller") == expected(cell, **PASSED)


def test_probe_gets_nothing_of_the_hosts(cell, policy):
    assert environment(cell, policy, "--probe", "some_probe") == expected(cell)


@pytest.mark.parametrize("extra,variables", [
    ("A_TOKEN=x", "'A_TOKEN' may not enter a sandbox: its name has 'TOKEN' in it"),
    ("NPM_CONFIG_SeCrEt=x", "its name has 'SECRET' in it"), ("COLOUR=red", "'COLOUR' may not enter a sandbox"),
    ("PATH=/evil", "search path"), ("HTTPS_PROXY=http://me:word@proxy", "looks like a URL with a password"),
    ("NPM_CONFIG__AUTH=bWU6d29yZA==", "its name has '_AUTH' in it"), ("NPM_CONFIG__auth=x", "its name has '_AUTH' in it"),
    ("npm_config_//host.example/:_auth=x", "its name has '_AUTH' in it"),
    ("NPM_CONFIG_//host.example/:_authToken=x", "its name has 'TOKEN' in it"),
    *((f"{name}={value}", "its value looks like") for name in ("HTTPS_PROXY", "NPM_CONFIG_HTTPS_PROXY", "NPM_CONFIG_Proxy")
      for value in ("http://me:word@proxy:3128", "http://me@proxy", "me:word@proxy:3128", "http:/me:word@proxy",
                    "http:\\\\me:word@proxy", "http://me%3Aword@proxy", "//me:word@proxy", "http://:word@proxy")),
    ("NPM_CONFIG_REGISTRY=https://word@registry.example/", "an address with a user or a password")])
def test_forbidden_extra_is_refused_with_a_message(user_box, extra, variables):
    tool = user_box.entry("say_env", route="external", env=["COLOUR", "A_TOKEN"], credentials="allow")
    policy = user_box.write_policy([tool])
    for more in ([], ["--dry-run"]):
        answer = user_box.run("say_env", policy=policy, options=["--sandbox", "--env", extra, *more])
        assert (answer.status, answer["outcome"], answer["rule"]) == (125, "env_forbidden", "sandbox")
        assert variables in answer.message and "me:word" not in answer.message
    refused = user_box.events(user_box.run("say_env", policy=policy, options=["--sandbox", "--env", extra]))
    assert [event["event"] for event in refused] == ["subproc.refused"]
    assert "me:word" not in json.dumps(refused)


def test_value_with_a_user_of_the_host_is_left_out(cell, policy):
    host = {"HTTPS_PROXY": "me:word@proxy:3128", "NPM_CONFIG__AUTH": "x", "NPM_CONFIG_PROXY": "http://me@proxy",
            "NPM_CONFIG_REGISTRY": "https://registry.example/@scope/", "NODE_ENV": "test"}
    answer = cell.inside("say_env", options=["--sandbox"], policy=policy, env=cell.box.environment(**host))
    variables = {word.partition("=")[0] for word in answer.stream("stdout").decode().split("\0")}
    assert variables & set(host) == {"NODE_ENV", "NPM_CONFIG_REGISTRY"}


@pytest.mark.parametrize("options", [["--jail", "none"], ["--env", "NODE_ENV"], ["--env", "NODE_ENV=1", "--probe", "p"],
                                     ["--env", "NODE_ENV=1", "--env", "NODE_ENV=1"]])
def test_request_that_contradicts_itself_is_invalid(user_box, options):
    answer = user_box.run("say_env", options=["--sandbox", *options])
    assert (answer.status, answer.outcome) == (125, "invalid")


def test_credential_in_the_policy_is_refused(user_box):
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    tool = user_box.entry("say_env", set_env=[{"name": "FIXED", "value": secret}])
    answer = user_box.run("say_env", policy=user_box.write_policy([tool]), options=["--sandbox"])
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "env_forbidden", "sandbox")
    assert "'FIXED'" in answer.message and secret not in answer.message


def test_direct_tool_is_in_a_jail_too(box):
    answer = box.run("say_env", options=["--sandbox"])
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert answer["jail"] in ("native", "bwrap") and "net_ns" in answer["layers"]


def test_large_environment_is_passed_or_reported(user_box):
    """The host's variables were within the kernel's bounds for the command; with the policy's they
    still are, or the run is refused with a message."""
    many = {f"NPM_CONFIG_{i}": "x" * 1000 for i in range(1000)}
    answer = user_box.run("say_env", options=["--sandbox"], env=user_box.environment(**many))
    assert answer.outcome == "exited" and answer.stream("stdout").count(b"NPM_CONFIG_") == 1000, answer.outcome
