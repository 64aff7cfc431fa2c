"""The command itself: help, version, completions, options, stdin, stream, dry run, events (R12,
R26, R27).
"""
import json
import os
import re
import select
import shutil
import subprocess

import pytest

from command import SIXTEEN
from feature import skip
from no_userns import on_fake_kernel


def test_version(user_box):
    answer = user_box.call([user_box.command, "--version"])
    assert (answer.status, answer.out, answer.err) == (0, b"chokepoint 0.1.0\n", b"")


def test_help_names_every_command_and_option(user_box):
    overview = user_box.call([user_box.command, "--help"])
    assert overview.status == 0 and overview.err == b""
    assert overview.out == user_box.call([user_box.command, "help"]).out
    for name in ("run", "policy check", "policy show", "policy diff", "policy explain", "help", "completion", "--version"):
        assert name.encode() in overview.out
    page = user_box.call([user_box.command, "help", "run"])
    assert page.status == 0
    for option in ("--cwd", "--root", "--timeout", "--probe", "--egress", "--env", "--stdin", "--max-output", "--keep-head", "--jail",
                   "--require-jail", "--sandbox", "--policy", "--json", "--stream", "--dry-run"):
        assert option.encode() in page.out
    assert user_box.call([user_box.command, "run", "--help"]).out == page.out
    assert max(len(line) for line in (overview.out + page.out).splitlines()) <= 100


@pytest.mark.parametrize("args", [
    [], ["frobnicate"], ["--frobnicate"], ["help", "frobnicate"], ["help", "policy", "frobnicate"], ["completion"], ["completion", "fish"], ["run"],
    ["run", "--"], ["run", "--frobnicate", "--", "true"], ["run", "--stream", "--keep-head", "5", "--", "true"],
    ["run", "--time", "5", "--", "true"], ["run", "--cwd"], ["run", "--json=yes", "--", "true"], ["run", "--jail", "cage", "--", "true"],
    ["run", "--cwd", "/", "--cwd", "/", "--", "true"]])
def test_usage_errors_say_so(user_box, args):
    answer = user_box.call([user_box.command, *args])
    assert answer.status == 125
    if answer.out:
        assert "--json" in args and json.loads(answer.out)["outcome"] == "invalid"
    else:
        assert answer.err.startswith((b"chokepoint: ", b"Usage: "))


@pytest.mark.parametrize("args, said", [
    (["gahter"], "did you mean 'gather'?"), (["git", "log"], "unknown command 'git'; a tool is run by 'chokepoint run -- TOOL'"),
    (["policy", "chekc"], "unknown command 'policy chekc'; did you mean 'check'?"), (["policy", "frobnicate"], "'policy frobnicate' (see"),
    (["mcp", "x"], "'mcp' takes no arguments, but got 1 argument"), (["report", "x", "y"], "--out FILE is missing")],
    ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_usage_error_says_what_would_be_right(user_box, args, said):
    answer = user_box.call([user_box.command, *args])
    assert answer.status == 125 and said in answer.err.decode(), answer


@pytest.mark.parametrize("name", ["report", "audit report", "fleet run"])
def test_required_option_has_no_brackets_in_the_usage(user_box, name):
    usage = user_box.call([user_box.command, "help", *name.split()]).out.decode().split("\n\n")[0]
    assert re.search(rf"^Usage: chokepoint {name} --out (FILE|DIR)\b", usage) and "[--help]" in usage


def test_options_end_at_two_dashes(user_box):
    answer = user_box.run("say_args", "--json", "--", "--timeout", "-x")
    assert answer.stream("stdout") == b"--json\0--\0--timeout\0-x\0"


def test_full_output_is_an_error(user_box):
    if not os.path.exists("/dev/full"):
        skip("devfull", "/dev/full is missing")
    with open("/dev/full", "wb") as full:
        for args in ([user_box.command, "--version"], [user_box.command, "--help"], user_box.run_argv(["true"]),
                      user_box.run_argv(["say_args", "x"], form=None), user_box.run_argv(["say_args", "x"], form="--stream"),
                      [user_box.command, "completion", "bash"]):
            answer = user_box.call(args, stdout=full)
            assert answer.status == 125, args
            assert b"No space left" in answer.err


def test_reader_that_goes_away_ends_the_tool(user_box):
    process = user_box.popen(["yes"], shape={"form": "--stream", "timeout": 20})
    assert process.stdout.read(2) == b"y\n"
    process.stdout.close()
    assert process.wait(60) != 0


def test_reader_that_does_not_read_cannot_hold_the_command(user_box):
    """--stream into a pipe that is full: the call still ends."""
    process = user_box.popen(["yes"], shape={"form": "--stream", "timeout": 1})
    assert process.wait(60) == 124  # else it waits for the reader for ever


# ---- stdin ------------------------------------------------------------------------------------

def test_stdin_is_empty_by_default(user_box):
    answer = user_box.run("cat", input=b"the caller's own input")
    assert (answer.status, answer.stream("stdout")) == (0, b"")


def test_stdin_from_a_file(user_box):
    path = user_box.file("input", b"from a file\n")
    assert user_box.run("cat", options=["--stdin", str(path)]).stream("stdout") == b"from a file\n"


def test_stdin_from_the_callers(user_box):
    data = bytes(range(256)) * 20000
    assert user_box.run("cat", options=["--stdin", "-"], input=data).stream("stdout") == data


def test_stdin_that_nobody_reads(user_box):
    path = user_box.file("input", b"x" * 1000000)
    assert user_box.run("true", options=["--stdin", str(path)]).status == 0
    assert user_box.run("true", options=["--stdin", "-"], input=b"x" * 100).status == 0


@pytest.mark.parametrize("name", ["/nonexistent/file", "/", ""])
def test_stdin_that_is_no_file_is_refused(user_box, name):
    answer = user_box.call(user_box.run_argv(["true"], options=["--stdin", name]))
    assert answer.status == 125


# ---- stream -----------------------------------------------------------------------------------

@pytest.mark.parametrize("form", ["--stream", None])
def test_output_is_passed_on_as_it_arrives(user_box, form):
    script = "echo first; read go; echo second; echo third >&2; exit 6"
    process = user_box.popen(["sh", "-c", script], stdin=subprocess.PIPE,
                             shape={"form": form, "options": ["--stdin", "-"]})
    assert process.stdout.readline() == b"first\n"
    out, err = process.communicate(b"go\n", timeout=60)
    assert (process.returncode, out, err) == (6, b"second\n", b"third\n")


def test_output_is_kept_to_the_end_where_a_cap_is_given(user_box):
    script = "echo first; read go; echo second"
    process = user_box.popen(["sh", "-c", script], stdin=subprocess.PIPE,
                             shape={"form": None, "options": ["--stdin", "-", "--max-output", "100"]})
    assert not select.select([process.stdout], [], [], 0.3)[0]
    assert process.communicate(b"go\n", timeout=20) == (b"first\nsecond\n", b"")
    assert process.returncode == 0


# ---- dry run ----------------------------------------------------------------------------------

def test_dry_run_runs_nothing_and_says_all(box):
    canary = box.canary()
    answer = box.run("sh", "-c", f": > '{canary}'", options=["--dry-run"], timeout=7)
    assert answer.status == 0
    assert not canary.exists()
    assert answer["decision"] == "allowed" and answer["outcome"] is None and answer["error"] is None
    assert answer["tool"] == {"name": "sh", "path": "/usr/bin/sh"}
    assert answer["argv"] == ["sh", "-c", f": > '{canary}'"]
    assert answer["env"] == [f"PATH={':'.join(box.search_path)}", f"HOME={box.home}", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"]
    assert answer["root"] == answer["cwd"] == str(box.root)
    assert (answer["timeout_ms"], answer["jail"]) == (7000, "none")
    assert box.run("sh", "-c", f": > '{canary}'", options=["--dry-run"], form=None).status == 0
    assert not canary.exists()


def test_dry_run_environment_is_what_the_tool_gets(box):
    policy = box.write_policy(say_env={"env": ["B"], "set_env": [{"name": "A", "value": "1"}]})
    shape = {"policy": policy, "env": box.environment(HOME="/x", LD_PRELOAD="")}
    real = box.run("say_env", options=["--env", "B=2"], **shape).stream("stdout")
    dry = box.run("say_env", options=["--env", "B=2", "--dry-run"], **shape)
    assert [variable.encode() for variable in dry["env"]] == real.split(b"\0")[:-1]


@pytest.mark.parametrize("argv,options,status,outcome", [
    (["bash"], [], 125, "disallowed"), (["true"], ["--cwd", "/"], 125, "cwd"),
    (["true"], ["--env", "A=b"], 125, "env_forbidden"), (["gone"], [], 127, "tool_missing")])
def test_dry_run_refuses_as_the_run_would(box, argv, options, status, outcome):
    policy = box.write_policy([box.entry("true"), box.entry("gone")])
    shape = {"policy": policy, "cwd": "default"} if "--cwd" in options else {"policy": policy}
    dry = box.run(*argv, options=[*options, "--dry-run"], **shape)
    real = box.run(*argv, options=options, **shape)
    assert (dry.status, dry["decision"], dry["outcome"]) == (status, "refused", outcome)
    assert (real.status, real.outcome, real["rule"], real["error"]) == (status, outcome, dry["rule"], dry["error"])


def test_dry_run_makes_no_process(user_box):
    if not shutil.which("strace"):
        skip("strace", "strace is not installed")
    args = user_box.run_argv(["true"], options=["--dry-run"])
    trace = user_box.canary()
    env = user_box.environment(ASAN_OPTIONS="detect_leaks=0")  # the leak detection uses ptrace too, and only one tracer can
    answer = user_box.call(["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=process", *args], env=env)
    if answer.status != 0 and b"ptrace" in answer.err.lower():
        skip("strace", "tracing is not permitted here")
    assert answer.status == 0, answer.err
    calls = trace.read_text()
    assert calls.count("execve(") == 1
    for call in ("clone(", "clone3(", "fork(", "vfork("):
        assert call not in calls


# ---- directories ------------------------------------------------------------------------------

def test_cwd_defaults_to_here_and_root_to_cwd(user_box):
    sub = user_box.directory("root/sub")
    policy = user_box.policy
    here = user_box.run("say_state", cwd="default", root="default", policy=policy, popen={"cwd": sub})
    assert f"cwd={sub}\n".encode() in here.stream("stdout")
    named = user_box.run("say_state", cwd="sub", root="default", policy=policy)
    assert f"cwd={sub}\n".encode() in named.stream("stdout")
    outside = user_box.run("say_state", cwd="..", root=".", policy=policy)
    assert outside.outcome == "cwd"


def test_root_may_be_reached_by_a_link(user_box):
    link = user_box.base / "link"
    link.symlink_to(user_box.root)
    answer = user_box.run("say_state", root=link, cwd=link)
    assert f"cwd={user_box.root}\n".encode() in answer.stream("stdout")


# ---- events -----------------------------------------------------------------------------------

def test_events_report_the_life_of_a_run(user_box):
    answer = user_box.run("say_args", "x", options=["--verbose", "--probe", "some_probe"])
    events = user_box.events(answer)
    assert [event["event"] for event in events] == ["subproc.started", "subproc.exited"]
    started, exited = events
    assert started["tool"] == "say_args" and started["path"] == answer["tool"]["path"] and started["jail"] == "none"
    assert exited["outcome"] == "exited" and exited["code"] == "0"
    assert {event["probe_name"] for event in events} == {"some_probe"}


def test_timeout_and_refusal_are_events(user_box):
    timeout = user_box.events(user_box.run("sleep", "20", timeout=0.1))
    assert [(event["event"], event["level"]) for event in timeout] == [("subproc.timeout", "warning")]
    assert timeout[0]["tool"] == "sleep" and timeout[0]["timeout_ms"] == "100"
    refused = user_box.events(user_box.run("bash"))
    assert [(event["event"], event["level"], event["outcome"]) for event in refused] == [
        ("subproc.refused", "warning", "disallowed")]
    assert "bash" in refused[0]["message"]


def test_text_form_writes_events_as_text(user_box):
    policy = user_box.write_policy(true={"route": "external"})
    answer = on_fake_kernel(user_box, "seccomp", "true", policy=policy, form=None)
    assert answer.status == 0
    assert answer.err.startswith(b"chokepoint: warning: subproc.native.skipped") and b"not_permitted" in answer.err
    refusal = user_box.run("bash", form=None)
    assert refusal.out == b""
    assert refusal.err.startswith(b"chokepoint: ") and refusal.err.count(b"\n") == 1


# ---- completions ------------------------------------------------------------------------------

@pytest.fixture
def completion(user_box):
    """The script for bash, in a file."""
    answer = user_box.call([user_box.command, "completion", "bash"])
    assert answer.status == 0
    return str(user_box.file("completion", answer.out))


def complete(box, completion, *args):
    """What bash offers for the last argument."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; '
              '_chokepoint; printf "%s\\n" "${COMPREPLY[@]}"')
    answer = box.call(["bash", "--norc", "-c", script, "bash", completion, "chokepoint", *args])
    assert answer.status == 0, answer.err
    assert answer.err == b""
    return answer.out.decode().split()


def test_bash_completion_is_sound(user_box, completion):
    assert user_box.call(["bash", "-n", completion]).err == b""
    script = 'source "$1"; complete -p chokepoint'
    assert user_box.call(["bash", "--norc", "-c", script, "bash", completion]).status == 0


def test_bash_completes_commands_options_and_tools(user_box, completion):
    assert {"run", "help", "completion"} <= set(complete(user_box, completion, ""))
    assert complete(user_box, completion, "ru") == ["run"]
    assert complete(user_box, completion, "run", "--tim") == ["--timeout"]
    assert complete(user_box, completion, "run", "--jail", "") == ["auto", "native", "bwrap", "none"]
    assert complete(user_box, completion, "run", "--json", "--jail", "n") == ["native", "none"]
    offered = complete(user_box, completion, "run", "--json", "--", "")
    assert offered == [name for name in SIXTEEN if name not in ("bwrap", "sandbox-exec")]
    assert complete(user_box, completion, "run", "--timeout", "") == []
    assert complete(user_box, completion, "help", "com") == ["completion"]
    assert {"bash", "zsh"} <= set(complete(user_box, completion, "completion", ""))


def test_bash_completes_subcommands(user_box, completion):
    assert complete(user_box, completion, "pol") == ["policy"]
    assert complete(user_box, completion, "policy", "") == ["--help", "check", "init", "learn", "show", "diff", "explain"]
    assert complete(user_box, completion, "policy", "di") == ["diff"]
    assert complete(user_box, completion, "policy", "diff", "--j") == ["--json"]
    assert complete(user_box, completion, "policy", "diff", "") == []  # bash offers files
    assert complete(user_box, completion, "policy", "explain", "--jail", "n") == ["native", "none"]
    assert complete(user_box, completion, "policy", "explain", "--", "gi") == ["git", "gitleaks"]
    assert complete(user_box, completion, "help", "pol") == ["policy"]


def test_help_of_a_group_names_its_commands(user_box):
    group = user_box.call([user_box.command, "help", "policy"])
    assert group.status == 0 and group.err == b""
    assert group.out == user_box.call([user_box.command, "policy", "--help"]).out
    for name in (b"policy check", b"policy show", b"policy diff", b"policy explain"):
        assert name in group.out
        page = user_box.call([user_box.command, "help", *name.decode().split()])
        assert page.status == 0 and page.out.startswith(b"Usage: chokepoint " + name)
        assert page.out == user_box.call([user_box.command, *name.decode().split(), "--help"]).out
        assert max(len(line) for line in page.out.splitlines()) <= 100
    bare = user_box.call([user_box.command, "policy"])
    assert (bare.status, bare.out, bare.err) == (125, b"", group.out)


def test_zsh_completion_is_sound(user_box):
    text = user_box.call([user_box.command, "completion", "zsh"])
    assert text.status == 0
    assert text.out.startswith(b"#compdef chokepoint")
    for word in (b"--timeout", b"--dry-run", b"semgrep", b"explain"):
        assert word in text.out
    if not shutil.which("zsh"):
        skip("zsh", "zsh is not installed")
    answer = user_box.call(["zsh", "-n"], input=text.out)
    assert (answer.status, answer.err) == (0, b"")
