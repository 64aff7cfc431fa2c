"""The blocking call: the shape of subprocess.run, results and exceptions (R96)."""
import io
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import chokepoint
import pytest
from chokepoint._run import context_for
from conftest import PACKAGE


def run(policy, root, *argv, **options):
    return chokepoint.run(list(argv), root=root, policy=policy, **options)


def test_result_has_the_fields_of_the_json(policy, root):
    result = run(policy, root, "sh", "-c", "echo out; echo err >&2; exit 3", timeout=20)
    assert (result.outcome, result.exit_code, result.returncode, result.signal) == ("exited", 3, 3, None)
    assert (result.stdout, result.stderr) == (b"out\n", b"err\n")
    assert result.tool["name"] == "sh" and result.rule == "tools.sh" and result.timeout_ms == 20000
    assert result.args == ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert result.stdout_total == 4 and not result.stdout_truncated and result.error is None
    command = {"stdout", "stderr", "outcome", "exit_code", "signal", "output_incomplete", "duration_ms", "user_ms", "system_ms",
               "max_rss_kib", "jail", "layers", "kill", "tool", "rule", "error", "limits", "limit_hit", "changes",
               "changes_incomplete", "kept_incomplete", "egress", "unrecorded", "workspace_code", "loopback", "denied",
               "denied_more", "egress_offer"}
    assert command <= set(vars(result))


def test_results_share_nothing_that_can_change(policy, root):
    """A result begins as a copy of what results usually have."""
    with pytest.raises(chokepoint.Refused) as refused:
        run(policy, root, "rm")
    first, second = run(policy, root, "true"), run(policy, root, "true")
    assert list(vars(first)) == list(vars(refused.value.result)) == list(vars(second))
    for name, value in vars(first).items():
        if isinstance(value, (list, dict)):
            value.clear()
        setattr(first, name, "changed")
    assert second.args == ["true"] and second.layers and second.tool["name"] == "true"
    assert vars(run(policy, root, "true")).keys() == vars(second).keys()
    assert run(policy, root, "true").layers == second.layers
    assert [getattr(refused.value.result, name) for name in ("exit_code", "signal", "stdout", "stdout_total", "layers", "limits")] == [
        None, None, b"", 0, [], []]


def test_signal_is_a_negative_returncode(policy, root):
    result = run(policy, root, "sh", "-c", "kill -9 $$", timeout=20)
    assert (result.outcome, result.returncode, result.exit_code) == ("signaled", -9, None)


def test_timeout_none_is_the_limit_of_the_entry(policy, root):
    assert run(policy, root, "true").timeout_ms == 60000


def test_text_keeps_every_byte(policy, root):
    result = run(policy, root, "printf", r"a\303\244\377", text=True)
    assert result.stdout == "aä\udcff" and result.stdout.encode("utf-8", "surrogateescape") == b"a\xc3\xa4\xff"


@pytest.mark.parametrize("given", [b"", b"words\x00\xff", "wörds\udcff", bytearray(b"array"), memoryview(b"view"), b"x" * 300000])
def test_input_reaches_the_tool(policy, root, given):
    wanted = given.encode("utf-8", "surrogateescape") if isinstance(given, str) else bytes(given)
    assert run(policy, root, "cat", input=given, timeout=20).stdout == wanted


def test_stdin_is_nothing_a_descriptor_or_a_file(policy, root, tmp_path):
    (tmp_path / "in").write_bytes(b"from a file")
    assert run(policy, root, "cat", timeout=20).stdout == b""
    assert run(policy, root, "cat", stdin=subprocess.DEVNULL, timeout=20).stdout == b""
    with open(tmp_path / "in", "rb") as stream:
        assert run(policy, root, "cat", stdin=stream, timeout=20).stdout == b"from a file"
    fd = os.open(tmp_path / "in", os.O_RDONLY)
    try:
        assert run(policy, root, "cat", stdin=fd, timeout=20).stdout == b"from a file"
    finally:
        os.close(fd)
    with pytest.raises(io.UnsupportedOperation):
        run(policy, root, "cat", stdin=io.BytesIO(b"no descriptor"), timeout=20)


def test_cwd_is_beneath_the_root(policy, root):
    (root / "sub").mkdir()
    assert run(policy, root, "sh", "-c", "pwd", cwd="sub", text=True).stdout.strip() == str((root / "sub").resolve())
    with pytest.raises(chokepoint.Refused) as caught:
        run(policy, root, "true", cwd="..")
    assert caught.value.outcome == "cwd" and caught.value.result.outcome == "cwd"


def test_errors_have_the_result(policy, root):
    with pytest.raises(chokepoint.Refused) as refused:
        run(policy, root, "rm", "-rf", "/")
    assert refused.value.outcome == "disallowed" and refused.value.result.returncode == 125
    with pytest.raises(chokepoint.ToolMissing) as missing:
        run(policy, root, "true-missing")
    assert missing.value.result.outcome == "tool_missing"
    with pytest.raises(chokepoint.Timeout) as late:
        run(policy, root, "sh", "-c", "echo before; sleep 50", timeout=0.5)
    assert late.value.result.stdout == b"before\n" and isinstance(late.value, TimeoutError)
    with pytest.raises(chokepoint.Failed) as failed:
        run(policy, root, "false", check=True)
    assert failed.value.result.returncode == 1
    assert run(policy, root, "true", check=True).returncode == 0
    for error in (refused, missing, late, failed):
        assert isinstance(error.value, chokepoint.Error)
        again = pickle.loads(pickle.dumps(error.value))
        assert type(again) is type(error.value) and again.outcome == error.value.outcome


def test_policy_that_cannot_be_read_is_refused(tmp_path, root):
    with pytest.raises(chokepoint.Refused) as caught:
        run(str(tmp_path / "none.yaml"), root, "true")
    assert caught.value.outcome == "policy" and caught.value.result is None
    (tmp_path / "bad.yaml").write_text("version: 1\ntools: {}\nexecs: 3\n")
    with pytest.raises(chokepoint.Refused, match="bad.yaml"):
        run(str(tmp_path / "bad.yaml"), root, "true")


def test_changed_policy_is_read_again(policy, root):
    assert run(policy, root, "true").returncode == 0
    with open(policy, encoding="utf-8") as stream:
        text = stream.read()
    with open(policy, "w", encoding="utf-8") as stream:
        stream.write(text.replace('"name": "true"', '"name": "truer"'))
    with pytest.raises(chokepoint.Refused):
        run(policy, root, "true")


def test_relative_policy_is_the_one_of_this_directory(policy, root, tmp_path, monkeypatch):
    """Two directories have the same file by a link, and its state is the same; what it names beside itself is not."""
    other = tmp_path / "other"
    other.mkdir()
    os.link(policy, other / "policy.yaml")
    monkeypatch.chdir(os.path.dirname(policy))
    here = context_for("policy.yaml", None)
    assert context_for(policy, None) is here and context_for("policy.yaml", None) is here
    monkeypatch.chdir(other)
    assert context_for("policy.yaml", None) is not here and context_for(policy, None) is here


def test_policy_is_found_by_each_kind_of_path(policy, root):
    for path in (policy, pathlib.Path(policy), os.fsencode(policy), policy):
        assert chokepoint.run(["true"], root=root, policy=path).returncode == 0
    with pytest.raises(TypeError):
        run(5, root, "true")
    with pytest.raises(ValueError):
        run(policy + "\0", root, "true")


def test_environment_has_four_names_and_what_is_granted(policy, root, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "abc")
    lines = run(policy, root, "env", text=True).stdout.splitlines()
    assert sorted(line.split("=")[0] for line in lines) == ["HOME", "LANG", "LC_ALL", "PATH"]
    with pytest.raises(chokepoint.Refused) as caught:
        run(policy, root, "env", env={"LD_PRELOAD": "/tmp/x.so"})
    assert caught.value.outcome == "env_forbidden"


def test_output_over_the_cap_keeps_head_and_tail(policy, root):
    result = run(policy, root, "sh", "-c", "printf AAAA; yes b | head -c 100000; printf ZZZZ", max_output=1000, keep_head=4)
    assert result.stdout_truncated and len(result.stdout) == 1000 and result.stdout_total == 100008
    assert result.stdout.startswith(b"AAAA...[TRUNCATED]...") and result.stdout.endswith(b"ZZZZ")


def test_repr_is_short_and_shows_no_content(policy, root):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    result = run(policy, root, "sh", "-c", "echo hidden; yes x | head -c 100000")
    assert "hidden" not in repr(result) and "yes" not in repr(result) and len(repr(result)) < 200
    with pytest.raises(chokepoint.Error) as caught:
        run(policy, root, "cat", secret)
    assert secret not in str(caught.value) and secret not in repr(caught.value) and secret not in repr(caught.value.result)


def test_other_threads_go_on_while_a_run_waits(policy, root):
    """The lock of the interpreter is released."""
    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)
    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    run(policy, root, "sleep", "0.5", timeout=20)
    ended = time.monotonic()
    done.set()
    thread.join()
    assert sum(began < tick < ended for tick in ticks) > 5


def test_threads_have_their_own_contexts(policy, root):
    outputs = []

    def work(number):
        for _ in range(5):
            outputs.append(run(policy, root, "sh", "-c", f"echo {number}", timeout=50, text=True).stdout)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == sorted(f"{number}\n" for number in range(4) for _ in range(5))


SLEEPER = """
import sys; sys.path.insert(0, sys.argv[1])
import chokepoint
try:
    chokepoint.run(["sh", "-c", "trap '' TERM INT; echo $$ > pid; while :; do sleep 1; done"], root=sys.argv[3], policy=sys.argv[2], timeout=60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


def test_ctrl_c_kills_the_tree_and_is_raised(policy, root):
    # A shell without job control starts programs in the background with SIGINT ignored, which is inherited.
    child = subprocess.Popen([sys.executable, "-X", "dev", "-c", SLEEPER, PACKAGE, policy, str(root)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 60
    while not (root / "pid").exists() or not (root / "pid").read_text().strip():
        assert child.poll() is None and time.monotonic() < deadline, child.communicate()[1][-2000:]
        time.sleep(0.02)
    tool = int((root / "pid").read_text())
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert out == b"interrupted\n" and b"KeyboardInterrupt" in err and child.returncode == -signal.SIGINT, err
    while os.path.exists(f"/proc/{tool}"):  # on a busy machine a run is given up, and its tree dies a moment later
        assert time.monotonic() < deadline + 60
        time.sleep(0.01)


def test_explain_runs_nothing(policy, root):
    decision = chokepoint.explain(["sh", "-c", "touch canary"], root=root, policy=policy)
    assert decision["decision"] == "allowed" and decision["argv"][1:] == ["-c", "touch canary"]
    refused = chokepoint.explain(["rm"], root=root, policy=policy)
    assert refused["decision"] == "refused" and refused["outcome"] == "disallowed"
    assert not list(root.iterdir())


def test_jail_of_the_entry_is_used(policy, root):
    result = run(policy, root, "jq", "-n", "1+1", timeout=50)
    assert result.stdout == b"2\n" and result.jail in ("native", "bwrap", "none") and isinstance(result.layers, list)


@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_jail_that_is_asked_for_is_used(policy, root, jail):
    outside = os.readlink("/proc/self/ns/net")
    result = run(policy, root, "readlink", "/proc/self/ns/net", jail=jail, require_jail=True, timeout=50)
    assert result.jail == jail and "net_ns" in result.layers
    assert result.stdout.startswith(b"net:[") and outside.encode() not in result.stdout


def test_doctor_lint_policy_and_audit_are_thin_objects(policy, root, tmp_path):
    report = chokepoint.doctor(policy=policy, layers=False, tools=["true", "true-missing"])
    assert {tool["name"]: tool["state"] for tool in report["tools"]}["true-missing"] == "missing"
    (root / "a.py").write_text("import os\nos.system('x')\n")
    found = chokepoint.lint(root, root=root)
    assert not found["clean"] and found["findings"][0]["line"] == 2
    reviewed = chokepoint.Policy(policy)
    assert reviewed.file == policy and reviewed.to_dict()["tools"] and "sh" in reviewed.to_yaml()
    assert any(finding["severity"] == "warning" for finding in reviewed.check())
    changes = chokepoint.Policy.embedded().diff(reviewed)
    assert any(change["kind"] == "widens" for change in changes) and chokepoint.Policy.catalog().to_dict()["tools"]
    log = tmp_path / "log" / "audit.jsonl"
    run(policy, root, "true", audit=log)
    report = chokepoint.audit.verify(log)
    assert report and report.records >= 2 and report.head == chokepoint.audit.head(log)
    assert [record["kind"] for record in chokepoint.audit.records(log)][-2:] == ["intent", "outcome"]
    text = log.read_text().replace("outcome", "0utcome", 1)
    log.write_text(text)
    assert not chokepoint.audit.verify(log) and chokepoint.audit.verify(log).damage != "none"


def test_context_shows_its_policy_and_tools(context, policy):
    assert {tool["name"] for tool in context.tools()} >= {"sh", "jq"}
    assert context.policy()["tools"] and context.running == 0


def test_closed_context_is_a_clear_error(policy, root):
    context = chokepoint.Context(policy)
    assert context.run_sync(["true"], root=root).returncode == 0
    context.close()
    context.close()
    assert context.closed
    for call in (lambda: context.run_sync(["true"], root=root), lambda: context.tools(), lambda: context.fileno(),
                 lambda: context.explain(["true"], root=root)):
        with pytest.raises(ValueError, match="closed"):
            call()
