"""chokepoint.exec: the acceptance tests of the story that the product comes from, with its names and signatures (R96)."""
import ast
import asyncio
import inspect
import logging
import os
import subprocess
import sys

import chokepoint
import pytest
from chokepoint import exec as gateway
from conftest import PACKAGE, entry, write_policy


@pytest.fixture
def here(policy, monkeypatch):
    """The module with the policy of the tests, in place of the machine's."""
    def context():
        loop = asyncio.get_running_loop()
        if loop not in gateway._contexts:
            gateway._contexts[loop] = chokepoint.Context(policy)
        return gateway._contexts[loop]
    monkeypatch.setattr(gateway, "_context", context)


def allowlisted(argv, cwd, timeout_s=30.0, **options):
    return asyncio.run(gateway.run_allowlisted(argv, cwd=cwd, timeout_s=timeout_s, **options))


def external(argv, cwd, probe="a_probe", timeout_s=30.0, allowlisted_egress=(), **options):
    return asyncio.run(gateway.run_external_cli(probe, argv, cwd=cwd, timeout_s=timeout_s, allowlisted_egress=allowlisted_egress, **options))


def test_signatures_are_those_of_the_story():
    first = inspect.signature(gateway.run_allowlisted)
    assert list(first.parameters) == ["argv", "cwd", "timeout_s", "env_extra"]
    assert first.parameters["env_extra"].default is None and inspect.iscoroutinefunction(gateway.run_allowlisted)
    second = inspect.signature(gateway.run_external_cli)
    assert list(second.parameters) == ["probe_name", "argv", "cwd", "timeout_s", "allowlisted_egress", "max_stdout_bytes"]
    assert second.parameters["max_stdout_bytes"].default == 64 * 1024 * 1024
    assert all(parameter.kind is parameter.KEYWORD_ONLY for signature in (first, second)
               for name, parameter in signature.parameters.items() if name not in ("argv", "probe_name"))
    assert gateway.ProcessResult._fields == ("returncode", "stdout", "stderr")
    assert issubclass(gateway.DisallowedSubprocessError, chokepoint.Refused)
    assert issubclass(gateway.ToolMissingError, chokepoint.ToolMissing)
    assert issubclass(gateway.SubprocessTimeoutError, chokepoint.Timeout)


def test_real_policy_is_used_without_a_test(root):
    result = asyncio.run(gateway.run_allowlisted(["git", "--version"], cwd=root, timeout_s=30))
    assert result.returncode == 0 and result.stdout.startswith(b"git version")
    with pytest.raises(gateway.DisallowedSubprocessError):
        asyncio.run(gateway.run_allowlisted(["bash", "-c", "true"], cwd=root, timeout_s=30))


@pytest.mark.parametrize("argv", [["bash", "-c", "id"], ["/bin/sh", "-c", "id"], ["./sh"], ["rm", "-rf", "."], ["sh\0"], [], [""]])
def test_argv_that_is_not_listed_is_disallowed(here, root, argv):
    with pytest.raises((gateway.DisallowedSubprocessError, ValueError)):
        allowlisted(argv, root)
    with pytest.raises((gateway.DisallowedSubprocessError, ValueError)):
        external(argv, root)


@pytest.mark.parametrize("argv", [["git", "-c", "core.pager=id", "log"], ["git", "--exec-path=/tmp", "log"]])
def test_arguments_are_checked_too(here, root, argv):
    with pytest.raises(gateway.DisallowedSubprocessError):
        allowlisted(argv, root)


def test_argv_as_a_string_is_a_type_error(here, root):
    with pytest.raises(TypeError):
        allowlisted("git log", root)


def test_result_of_another_status_is_returned(here, root):
    assert allowlisted(["sh", "-c", "echo a; echo b >&2; exit 7"], root) == gateway.ProcessResult(7, b"a\n", b"b\n")
    assert allowlisted(["sh", "-c", "kill -15 $$"], root).returncode == -15


def test_timeout_and_missing_raise(here, root):
    with pytest.raises(gateway.SubprocessTimeoutError) as late:
        allowlisted(["sleep", "50"], root, timeout_s=0.3)
    assert late.value.result.outcome == "timeout"
    with pytest.raises(gateway.ToolMissingError):
        allowlisted(["true-missing"], root)


def test_environment_has_four_names(here, root, monkeypatch):
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "LD_PRELOAD", "PYTHONPATH"):
        monkeypatch.setenv(name, "x")
    names = sorted(line.split(b"=")[0] for line in allowlisted(["env"], root).stdout.splitlines())
    assert names == [b"HOME", b"LANG", b"LC_ALL", b"PATH"]
    with pytest.raises(gateway.DisallowedSubprocessError) as caught:
        allowlisted(["env"], root, env_extra={"GITHUB_TOKEN": "x"})
    assert caught.value.outcome == "env_forbidden"


def test_output_is_capped_and_the_tail_is_kept(here, root):
    result = external(["sh", "-c", "yes a | head -c 100000; printf THE-END"], root, max_stdout_bytes=1024)
    assert len(result.stdout) == 1024 and result.stdout.startswith(b"...[TRUNCATED]...") and result.stdout.endswith(b"THE-END")


@pytest.mark.parametrize("probe", ["", "Bad", "1a", "a-b", "a" * 65])
def test_probe_has_a_plain_name(here, root, probe):
    with pytest.raises(gateway.DisallowedSubprocessError) as caught:
        external(["jq", "-n", "1"], root, probe=probe)
    assert caught.value.outcome == "invalid"


def test_egress_that_is_not_granted_is_disallowed(here, root):
    with pytest.raises(gateway.DisallowedSubprocessError):
        external(["jq", "-n", "1"], root, allowlisted_egress=["example.org"])


def test_directory_outside_is_refused(here, root, tmp_path):
    with pytest.raises(gateway.DisallowedSubprocessError):
        allowlisted(["true"], tmp_path / "none")


def test_wrapped_is_logged_for_each_run(here, root, caplog):
    with caplog.at_level(logging.DEBUG, logger="chokepoint"):
        for _ in range(3):
            assert external(["jq", "-n", "1"], root, probe="jq_probe").stdout == b"1\n"
    records = [record for record in caplog.records if record.name == "chokepoint"]
    wrapped = [record for record in records if record.event.endswith(".wrapped")]
    assert len(wrapped) == 3 and sum(record.event == "subproc.exited" for record in records) == 3
    assert all(record.levelno == logging.DEBUG and record.fields["probe_name"] == "jq_probe" for record in wrapped)


UNJAILED = """
import sys; sys.path.insert(0, sys.argv[1])
import asyncio, logging, chokepoint
from chokepoint import exec as gateway
seen = []
class Handler(logging.Handler):
    def emit(self, record):
        seen.append((record.event, record.levelname))
logging.getLogger("chokepoint").addHandler(Handler())
async def main():
    gateway._contexts[asyncio.get_running_loop()] = chokepoint.Context(sys.argv[2])
    for _ in range(3):
        assert (await gateway.run_external_cli("a_probe", ["true"], cwd=sys.argv[3], timeout_s=30, allowlisted_egress=())).returncode == 0
asyncio.run(main())
print(sorted(seen))
"""


def test_skipped_jail_is_warned_of_once(tmp_path, root):
    """On a machine without Landlock and user namespaces the tool runs, and one warning for each jail says that it is not
    confined."""
    place = tmp_path / "policy"
    place.mkdir(mode=0o700)
    policy = write_policy(place, [entry("true", route="external")])
    fake = os.path.join(os.environ["CHOKE_BUILD"], "tests/helpers/fake_kernel")
    command = [fake, "nolandlock", fake, "container", sys.executable, "-c", UNJAILED, PACKAGE, policy, str(root)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120)
    events = [event for event in ast.literal_eval(finished.stdout or "[]") if event[0].endswith(".skipped")]
    assert sorted(events) == [("subproc.bwrap.skipped", "WARNING"), ("subproc.native.skipped", "WARNING")], finished


def test_scratch_is_removed(tmp_path, root, monkeypatch):
    """What a probe leaves in its HOME and in /tmp is on no disk afterwards, and the next one does not see it."""
    place, name = tmp_path / "policy", f"left-{os.getpid()}"
    place.mkdir(mode=0o700)
    jailed = write_policy(place, [entry("sh", route="external", execs=[])])

    async def main():
        context = chokepoint.Context(jailed)
        monkeypatch.setattr(gateway, "_context", lambda: context)
        script = f'for d in "$HOME" /tmp; do test -e "$d/{name}" && echo seen; echo x > "$d/{name}" && echo "$d"; done'
        for _ in range(2):
            answer = await gateway.run_external_cli("a_probe", ["sh", "-c", script], cwd=root, timeout_s=30, allowlisted_egress=())
            written = answer.stdout.decode().splitlines()
            assert answer.returncode == 0 and len(written) == 2 and "seen" not in written, answer
            assert not any(os.path.exists(f"{directory}/{name}") for directory in written), written
        with pytest.raises(gateway.SubprocessTimeoutError):
            await gateway.run_external_cli("a_probe", ["sh", "-c", f"{script}; while :; do :; done"], cwd=root, timeout_s=0.5, allowlisted_egress=())
        assert not any(os.path.exists(f"{directory}/{name}") for directory in written), written
        context.close()
    asyncio.run(main())
    assert list(root.iterdir()) == []


def test_many_at_once_on_one_loop(here, root):
    async def main():
        results = await asyncio.gather(*(gateway.run_allowlisted(["sh", "-c", f"echo {number}"], cwd=root, timeout_s=50)
                                         for number in range(40)))
        assert [int(result.stdout) for result in results] == list(range(40))
    asyncio.run(main())
