"""R90 to R92: a program in a cage, its tools by doors, and what became of every execution."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

import audit
from feature import skip
from processes import descendants, executes, nothing_runs, wait_until
from promises import given_time

REPORT = "report.json"


class Guard:
    """The default policy, with a shell and small programs as carriers. git and rg are doors."""

    POLICY = {"version": 1, "extends": "default", "catalog": ["bash", "cat", "head", "sort", "tail"],
              "guard": {"carriers": ["bash", "cat", "head", "sort", "tail"]}}

    def __init__(self, box, **changes):
        self.box = box
        self.report = box.outside / REPORT
        self.policy = box.file("policy/guard.yaml", json.dumps({**self.POLICY, **changes}), 0o600)
        box.file("root/a.c", "int main(void) { return 0; }\n")
        self.git("init", "-q", ".")
        self.git("add", "a.c")
        self.git("commit", "-qm", "one")

    def git(self, *words):
        answer = self.box.call(["git", "-C", str(self.box.root), "-c", "user.name=a", "-c", "user.email=a@b", *words])
        assert answer.status == 0, answer.err

    def argv(self, *program, options=()):
        return [self.box.command, "guard", "--policy", str(self.policy), "--root", str(self.box.root), "--cwd",
                str(self.box.root), "--audit", str(self.box.log),
                *([] if "--report" in options else ["--report", str(self.report)]), *options, "--", *program]

    def run(self, *program, options=(), **keywords):
        self.report.unlink(missing_ok=True)
        answer = self.box.call(self.argv(*program, options=options), **keywords)
        answer.document = json.loads(self.report.read_text()) if self.report.exists() else None
        return answer

    def shell(self, script, **keywords):
        return self.run("bash", "-c", script, **keywords)


@pytest.fixture
def guard(box):
    for program in ("git", "rg"):
        if not shutil.which(program, path="/usr/bin:/bin"):
            skip(program, f"{program} is not installed")
    return Guard(box)


PIPELINE = "git log --oneline | head -3 && rg -c main . | sort | tail -1"


def test_pipeline_prints_what_it_prints_outside(guard):
    outside = guard.box.call(["bash", "-c", f"cd {guard.box.root} && {PIPELINE}"])
    answer = guard.shell(PIPELINE)
    assert (answer.status, answer.out) == (0, outside.out), answer.err
    executions = answer.document["executions"]
    assert executions == {"attempts": 6, "door": 2, "carrier": 4, "workspace": 0, "refused": 0, "not_found": 0, "failed": 0}
    assert answer.document["calls"] == {"ran": 2, "refused": 0, "malformed": 0, "abandoned": 0}
    assert answer.document["difference"] is None


def test_record_has_the_program_its_calls_and_their_number(guard):
    guard.shell(PIPELINE)
    records = list(audit.records(guard.box.log))
    assert sorted(record["kind"] for record in records) == sorted(["begin", "guard_begin", "guard_end", *["intent", "outcome"] * 2])
    begin, end = records[1], records[-1]
    assert (begin["kind"], end["kind"], end["guard"]) == ("guard_begin", "guard_end", begin["seq"])
    assert end["executions"]["door"] == end["executions"]["connections"] == end["executions"]["calls"] == 2
    assert {record["guard"] for record in records if record["kind"] == "intent"} == {begin["seq"]}
    assert guard.box.call([guard.box.command, "audit", "verify", "--complete", str(guard.box.log)]).status == 0


@pytest.mark.parametrize("script, named", [
    ("cp /bin/ls x && ./x", "/x"),
    ("/usr/bin/tac a.c", "/usr/bin/tac"),
    ("ln -s /usr/bin/tac y; ./y a.c", "/tac"),
])
def test_refused_by_the_kernel_and_named(guard, script, named):
    answer = guard.shell(script)
    assert answer.status == 126 and b"Permission denied" in answer.err, answer.err
    assert answer.document["executions"]["refused"] == 1
    [denial] = answer.document["denied"]
    assert denial["path"].endswith(named) and f"refused: {denial['path']}, by bash".encode() in answer.err
    assert (b"'workspace_code' in 'guard'" in answer.err) == (named == "/x"), "what to do about a file that the program made"


def test_a_loader_runs_no_program(guard):
    loader = "/lib64/ld-linux-x86-64.so.2" if os.uname().machine == "x86_64" else "/lib/ld-linux-aarch64.so.1"
    assert subprocess.run([loader, "/usr/bin/tac", "/etc/hostname"], capture_output=True, check=True).stdout
    answer = guard.shell(f"{loader} /usr/bin/tac a.c")
    assert answer.status != 0 and answer.out == b""


def test_a_call_that_the_policy_refuses_says_why(guard):
    answer = guard.shell("git push; echo status $?")
    assert answer.out == b"status 126\n" and b"'push' is not a subcommand that 'git' may be given" in answer.err
    assert answer.document["calls"]["refused"] == 1
    [refused] = [record for record in audit.records(guard.box.log) if record["kind"] == "refused"]
    assert refused["tool"]["name"] == "git"


@pytest.mark.parametrize("script, status", [("exit 7", 7), ("kill -9 $$", 137), ("git log --bad; exit 0", 0)])
def test_status_is_that_of_the_program(guard, script, status):
    assert guard.shell(script).status == status


def test_timeout(guard):
    answer = given_time(lambda limit: guard.shell("sleep 1000", options=["--timeout", str(limit)]),
                        lambda answer: answer.status == 124)
    assert answer.document["outcome"] == "timeout"


def test_what_cannot_be_the_program(guard):
    for program, reason in (("git", "is no carrier"), ("/bin/bash", "is a path"), ("nothing", "is not in the policy")):
        answer = guard.run(program)
        assert answer.status == 125 and reason.encode() in answer.err, answer.err


def test_what_a_cage_does_not_have_is_refused(box):
    guard = Guard(box, guard={"carriers": ["bash"], "workspace": "overlay"})
    answer = guard.shell("true")
    assert answer.status == 125 and b"'workspace: overlay' of the profile is not available" in answer.err


def test_streams_of_the_caller(guard):
    script = ("while read -r line; do git log --oneline -1 >>out; done <a.c; cat out; rm out; "
              "rg -c main <(cat a.c); cat a.c | rg -c main; git log --oneline 2>&1 >/dev/null; exec 3<a.c; git status --short 3<&3")
    answer = guard.shell(script)
    assert answer.status == 0 and answer.err.startswith(b"chokepoint: "), answer.err
    assert answer.out.decode().split("\n")[0].endswith(" one") and answer.out.decode().split("\n")[1:] == ["1", "1", ""]


def test_other_descriptors_of_the_caller(guard):
    """As they are, with their numbers, and from the program on to a tool. A directory would lead out of the cage."""
    other = guard.box.file("outside/other", "of another file\n")
    script = ('read -r line <&7; echo "$line"; cat <&9 | rg another; git log --oneline -1 >&8; '
              '[ -e /proc/self/fd/3 ]; echo $?')
    answer = guard.box.call(["bash", "-c", f'exec 7<{guard.box.root}/a.c 8>{other.parent}/log 9<{other} 3</; exec "$@"', "_",
                             *guard.argv("bash", "-c", script)])
    assert answer.out == b"int main(void) { return 0; }\nof another file\n1\n", answer
    assert (other.parent / "log").read_bytes().endswith(b" one\n")


def test_too_low_a_limit_for_other_descriptors_is_named(guard):
    argv = guard.argv("bash", "-c", "echo ran")
    answer = guard.box.call(["bash", "-c", 'ulimit -n 256; exec "$@" 5</dev/null', "bash", *argv])
    assert answer.status == 125 and b"RLIMIT_NOFILE, ulimit -n, 256" in answer.err, answer
    assert guard.box.call(["bash", "-c", 'ulimit -n 1024; exec "$@" 5</dev/null', "bash", *argv]).out == b"ran\n"


@pytest.mark.parametrize("end", ["limit", "signal"])
def test_stderr_that_is_not_read_does_not_keep_guard(guard, end):
    script = "while :; do echo x >&2; done & sleep 1000" if end == "limit" else "trap '' TERM; while :; do echo x >&2; done"
    with guard.box.popen(guard.argv("bash", "-c", script, options=["--timeout", "2"] if end == "limit" else []), raw=True) as process:
        if end == "signal":
            wait_until(lambda: any(executes(pid, "/bash") for pid in descendants(process.pid)), "the program runs")
            os.kill(next(pid for pid in [process.pid, *descendants(process.pid)] if executes(pid, "/chokepoint")), signal.SIGTERM)
        assert process.wait(60) == (124 if end == "limit" else 128 + signal.SIGTERM)


def test_home_of_a_tool_is_not_what_the_program_writes(guard):
    """A file that the cage leaves in its HOME or in /tmp would configure the tools."""
    answer = guard.shell("printf '[alias]\\n\\tx = !id\\n' >$HOME/.gitconfig; cp $HOME/.gitconfig /tmp; "
                         "git config --list --show-origin; git log --oneline -1")
    assert b"alias" not in answer.out and answer.status == 0, (answer.out, answer.err)


def test_tmp_is_shared_with_tools_and_nobody_else(guard):
    pathlib.Path(f"/tmp/choke-of-the-host-{os.getpid()}").touch()
    answer = guard.shell("echo main >/tmp/pattern; cd /tmp; rg -c main pattern; ls /tmp")
    pathlib.Path(f"/tmp/choke-of-the-host-{os.getpid()}").unlink()
    assert answer.out.decode().split()[0] == "1" and "pattern" in answer.out.decode().split(), answer.err
    assert b"of-the-host" not in answer.out
    assert not pathlib.Path("/tmp/pattern").exists()


def test_environment_is_built(guard):
    answer = guard.shell("env", env={**guard.box.environment(), "SECRET_OF_CALLER": "x", "TERM": "xterm"})
    names = {line.split("=")[0] for line in answer.out.decode().splitlines()}
    assert {"PATH", "HOME", "LANG", "LC_ALL"} <= names and not names & {"SECRET_OF_CALLER", "TERM"}


def test_no_network_and_no_sockets_of_the_host(guard):
    answer = guard.shell("exec 3<>/dev/tcp/127.0.0.1/9; echo $?; ls /run /var/run")
    assert b"Permission denied" in answer.err or b"not supported" in answer.err or b"refused" in answer.err
    assert answer.out in (b"", b"1\n")


def test_nothing_lives_after_a_killed_guard(guard):
    with guard.box.popen(guard.argv("bash", "-c", "sleep 1000 & git log --oneline; echo ready; wait"), raw=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while process.stdout.readline() != b"ready\n":
            assert process.poll() is None
        tree = descendants(process.pid)
        assert tree
        process.send_signal(signal.SIGKILL)
    wait_until(nothing_runs)


def test_a_door_that_dies_takes_its_tool_with_it(guard):
    answer = guard.shell("exec 3< <(sleep 1000); rg -c main - <&3 & sleep 0.5; kill -9 $!; wait $!; echo $?; git log --oneline -1")
    assert answer.out.decode().split("\n")[0] == "137" and answer.status == 0, answer.err


def test_sum_of_many_calls(guard):
    answer = guard.shell("for i in {1..50}; do git rev-parse HEAD; done")
    assert answer.document["executions"]["door"] == answer.document["calls"]["ran"] == 50
    assert answer.out.count(b"\n") == 50 and answer.document["difference"] is None


def test_files_that_a_tool_could_map_as_code_are_copied(box):
    """With workspace_code the root is not noexec: its files are not given to a tool that sees it as noexec."""
    guard = Guard(box, guard={"carriers": ["bash", "cat"], "workspace_code": True})
    answer = guard.shell("printf 'a\\nb\\n' >list; while read -r line; do git log --oneline -1 >/dev/null; echo $line; done <list; "
                         "git log --oneline -1 >out; echo after >>out; cat out; rg -c main <a.c")
    assert answer.out.decode().split("\n")[:2] == ["a", "b"], answer.err
    assert answer.out.decode().split("\n")[3:] == ["after", "1", ""], answer.out


def test_report_is_not_written_through_a_link_of_the_program(guard):
    """The report may be beneath the root, where the program can replace it."""
    victim = guard.box.file("outside/victim", "as it was\n")
    report = guard.box.root / "report.json"
    answer = guard.shell(f"ln -sf {victim} {report}; readlink {report}", options=["--report", str(report)])
    assert answer.status in (0, 125) and pathlib.Path(victim).read_text() == "as it was\n", answer.err


def test_report_that_is_there_is_not_removed(guard):
    """Guard does not start here. As root it removed /dev/null."""
    report = guard.box.file("outside/earlier.json", "of an earlier run\n")
    answer = guard.run("nothing", options=["--report", str(report)])
    assert answer.status == 125 and pathlib.Path(report).read_text() == "of an earlier run\n", answer.err
    new = guard.box.outside / "new.json"
    assert guard.run("nothing", options=["--report", str(new)]).status == 125 and not new.exists()


def test_report_replaces_a_longer_one(guard):
    report = guard.box.file("outside/earlier.json", "x" * 100000)
    assert guard.run("bash", "-c", "exit 3", options=["--report", str(report)]).status == 3
    assert json.loads(pathlib.Path(report).read_text())["status"] == 3


def test_report_may_be_a_device(guard):
    assert guard.run("bash", "-c", "exit 3", options=["--report", "/dev/null"]).status == 3


def test_a_signal_to_guard_ends_the_program(guard):
    with guard.box.popen(guard.argv("bash", "-c", "echo ready; sleep 1000"), raw=True) as process:
        assert process.stdout.readline() == b"ready\n"
        victim = next(pid for pid in [process.pid, *descendants(process.pid)] if executes(pid, "/chokepoint"))
        os.kill(victim, signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    wait_until(nothing_runs)
