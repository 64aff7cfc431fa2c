"""R30, R31: the jail of the real bwrap, for root and for an ordinary user."""
import hashlib
import json
import os
import shutil
import subprocess

import pytest

import bwrapped
from feature import skip
from processes import wait_until
from promises import tried

LAYERS = ["user_ns", "mount_ns", "pid_ns", "net_ns", "ipc_ns", "uts_ns", "cgroup_ns", "fresh_root", "landlock", "execs",
          "seccomp", "no_capabilities", "no_new_privs"]


@pytest.fixture(autouse=True)
def bwrap(box):
    bwrapped.need_bwrap()
    bwrapped.write_policy(box, bwrapped.shell_entry(box), *[box.entry(tool) for tool in ("env", "python3", "sleep", "flood")])
    yield
    assert bwrapped.scratches(box) == []  # R31, after every test


def run(box, *argv, **shape):
    options = ["--jail", "bwrap", *shape.pop("options", ())]
    return box.run(*argv, options=options, env=bwrapped.environment(box), **shape)


def said(answer) -> str:
    assert answer.outcome == "exited", answer.document
    return answer.stream("stdout").decode()


def test_the_result_says_what_held(box):
    answer = run(box, "sh", "-c", "exit 7")
    assert (answer["exit_code"], answer["jail"], answer["kill"]) == (7, "bwrap", "pidns")
    assert answer["layers"] == LAYERS


def test_the_root_is_at_work_and_the_directory_beneath_it(box):
    box.file("root/file", "content")
    (box.root / "sub/deep").mkdir(parents=True)
    assert said(run(box, "sh", "-c", "pwd; cat file")) == "/work\ncontent"
    assert said(run(box, "sh", "-c", "pwd; cat ../../file", cwd=box.root / "sub/deep")) == "/work/sub/deep\ncontent"


def test_the_root_is_not_written(box):
    answer = run(box, "sh", "-c", "echo x >planted || echo refused; echo x >/work/sub || echo refused")
    assert said(answer) == "refused\nrefused\n"
    assert os.listdir(box.root) == []


def test_a_root_that_the_entry_lets_be_written_is(box):
    bwrapped.write_policy(box, bwrapped.shell_entry(box, workspace="rw"))
    script = "echo x >made && mkdir a b && touch a/f && python3 -c 'import os; os.rename(\"a/f\", \"b/f\")'"
    assert run(box, "sh", "-c", script)["exit_code"] == 0
    assert (box.root / "made").read_text() == "x\n" and (box.root / "b/f").exists()
    assert (box.root / "made").stat().st_uid == box.actor.uid


def test_an_overlay_is_refused_with_a_message(box):
    bwrapped.write_policy(box, bwrapped.shell_entry(box, workspace="overlay"))
    answer = run(box, "sh", "-c", "true")
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.sh.workspace")
    assert "overlay" in answer.message


def test_scratch_is_home_and_gone_afterwards(box):
    script = "echo $HOME; echo x >$HOME/f && cat $HOME/f; ls -a /tmp; echo y >/tmp/t && echo z >/dev/shm/s && echo ok"
    assert said(run(box, "sh", "-c", script)).split() == ["/tmp/probe", "x", ".", "..", "probe", "ok"]
    assert said(run(box, "sh", "-c", "ls $HOME /dev/shm")).split() == ["/dev/shm:", "/tmp/probe:"]


def test_scratch_is_named_after_the_probe(box):
    process = box.popen(["sleep", "30"], env=bwrapped.environment(box),
                        shape={"options": ["--jail", "bwrap", "--probe", "my_probe"]})
    wait_until(lambda: bwrapped.scratches(box), "the directory is there")
    (name,) = bwrapped.scratches(box)
    directory = bwrapped.scratch_parent(box) / name
    assert name.startswith("chokepoint-my_probe-")
    assert directory.stat().st_mode & 0o7777 == 0o700 and directory.parent.stat().st_mode & 0o7777 == 0o700
    process.terminate()
    process.wait(60)


def test_a_refused_run_makes_no_scratch(box):
    assert run(box, "sh", cwd=box.outside).outcome == "cwd"
    assert run(box, "sh", "-c", "true", options=["--dry-run"])["decision"] == "allowed"
    assert not bwrapped.scratch_parent(box).exists()


def test_the_environment_is_the_built_one_and_no_more(box):
    lines = said(run(box, "env")).splitlines()
    assert lines == [f"PATH={':'.join(box.search_path)}", "HOME=/tmp/probe", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"]


def test_a_pwd_that_is_granted_is_the_one_inside(box):
    bwrapped.write_policy(box, box.entry("env", env=["PWD"]))
    answer = run(box, "env", options=["--env", "PWD=/elsewhere"])
    assert "PWD=/work" in said(answer).splitlines()


def test_there_is_no_network(box):
    script = """
import errno, os, socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK):
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_STREAM)
        print("made", family)
    except OSError as error:
        assert error.errno == errno.EAFNOSUPPORT, error
print(open("/proc/net/dev").read().count(":"))
"""
    assert said(run(box, "python3", "-c", script)) == "1\n"  # lo, and it is down


def test_the_tool_has_no_power_and_sees_no_other_process(box):
    script = """
import os
for line in open("/proc/self/status"):
    if line.startswith(("Cap", "NoNewPrivs", "Seccomp:")):
        print(*line.split())
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
print(sorted(os.listdir("/proc/self/fd")))
print(os.getuid(), os.uname().nodename)
"""
    lines = said(run(box, "python3", "-c", script)).splitlines()
    assert lines[:5] == [f"Cap{kind}: {0:016x}" for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")]
    assert lines[5:7] == ["NoNewPrivs: 1", "Seccomp: 2"]
    assert lines[7] == "[1, 2]" and lines[8] == "['0', '1', '2', '3']"  # 3 is the listing itself
    assert lines[9] == f"{box.actor.uid} jail"


def test_only_the_tool_and_its_execs_are_executed(box):
    script = "id -u; /usr/bin/git --version || echo $?; cat >$HOME/x </usr/bin/id; chmod 755 $HOME/x; $HOME/x || echo $?"
    answer = run(box, "sh", "-c", script)
    assert said(answer).splitlines() == [str(box.actor.uid), "126", "126"]


def test_a_script_is_run_by_its_path(box):
    box.file("tool.py", "#!/usr/bin/python3\nimport sys; print(sys.argv[0], sys.argv[1:])\n", 0o755)
    path = str(box.base / "tool.py")
    bwrapped.write_policy(box, box.entry("tool", path=path))
    name, arguments = said(run(box, "tool", "a b", "")).split(" ", 1)
    assert name.endswith("/tool.py") and arguments == "['a b', '']\n"


def test_a_pinned_script_is_run_from_what_was_hashed(box):
    path = box.file("tool.py", "#!/usr/bin/python3\nprint('pinned')\n", 0o755)
    bwrapped.write_policy(box, box.entry("tool", path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest()))
    assert said(run(box, "tool")) == "pinned\n"


def test_a_signal_is_reported_as_a_signal(box):
    answer = run(box, "sh", "-c", "kill -SEGV $$")
    assert (answer.outcome, answer["signal"], answer.status) == ("signaled", 11, 139)
    answer = run(box, "sh", "-c", "exit 139")
    assert (answer.outcome, answer["exit_code"]) == ("exited", 139)


def test_a_timeout_gives_the_tool_its_time_and_ends_the_rest(box):
    script = "trap 'echo ending; exit 3' TERM; (trap '' TERM; sleep 100; sleep 100) & while :; do sleep 0.02; done"
    answer = tried(lambda: run(box, "sh", "-c", script, timeout=0.5),
                   lambda answer: answer.stream("stdout") == b"ending\n" and answer["duration_ms"] < 750)
    assert answer.outcome == "timeout"
    answer = tried(lambda: run(box, "sh", "-c", "trap '' TERM; while :; do sleep 0.02; done", timeout=0.5),
                   lambda answer: answer["duration_ms"] < 750)
    assert answer.outcome == "timeout"


def test_what_is_left_running_dies_and_is_reported(box):
    answer = run(box, "sh", "-c", "sleep 100 & echo done")
    assert said(answer) == "done\n" and answer["output_incomplete"] is True
    script = "(exec >/dev/null 2>&1; echo >$HOME/ready; exec sleep 100) & while [ ! -e $HOME/ready ]; do sleep 0.01; done"
    answer = run(box, "sh", "-c", script + "; echo done")
    assert said(answer) == "done\n" and answer["output_incomplete"] is False


def test_much_output_and_input_pass(box):
    answer = run(box, "python3", "-c", "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d * 16)",
                 options=["--stdin", "-"], input=b"0123456789abcdef" * 65536)
    assert answer["stdout"]["bytes"] == 16 << 20


def test_a_dry_run_shows_the_command_line(box):
    answer = run(box, "sh", "-c", "exit 0", options=["--dry-run"])
    argv = answer["jail_argv"]
    assert argv[:5] == ["bwrap", "--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1"]
    assert argv[argv.index("/work") - 2:argv.index("/work") + 1] == ["--ro-bind", str(box.root), "/work"]
    assert argv[argv.index("--"):] == ["--", "/proc/self/fd/4", "ro:file", argv[-4], "sh", "-c", "exit 0"]
    assert answer["mounts"] == []
    text = box.run("sh", "-c", "exit 0", options=["--jail", "bwrap", "--dry-run"], form=None).out.decode()
    assert f"--ro-bind {box.root} /work" in text


def test_a_dry_run_of_native_shows_its_mounts(box):
    answer = box.run("sh", "-c", "exit 0", options=["--jail", "native", "--dry-run"])
    if answer["decision"] != "allowed":
        skip("userns", answer["error"]["message"])
    assert answer["mounts"][-1] == f"ro /work <- {box.root}" and answer["jail_argv"] == []


def test_without_an_entry_there_is_no_such_jail(box):
    box.write_policy(tools=[bwrapped.shell_entry(box)])
    answer = run(box, "sh", "-c", "true")
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "request.jail")
    assert "not_installed" in answer.message and "entry 'bwrap'" in answer.message


def test_an_entry_of_another_route_is_no_jail(box):
    box.write_policy(tools=[bwrapped.shell_entry(box), box.entry("bwrap")])
    assert run(box, "sh", "-c", "true").outcome == "jail_unavailable"


def test_one_that_is_not_there_is_not_installed(box):
    bwrapped.write_policy(box, bwrapped.shell_entry(box), helper={**bwrapped.JAIL_HELPER, "path": "/nonexistent/bwrap"})
    answer = run(box, "sh", "-c", "true")
    assert answer.outcome == "jail_unavailable" and "not_installed" in answer.message


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_a_setuid_bwrap_is_refused(box, mode):
    directory = box.directory("bin")
    shutil.copy("/usr/bin/bwrap", directory / "bwrap")
    box.own(directory / "bwrap", mode)
    bwrapped.write_policy(box, bwrapped.shell_entry(box), helper={**bwrapped.JAIL_HELPER, "path": str(directory / "bwrap")})
    answer = run(box, "sh", "-c", "true")
    assert answer.outcome == "jail_unavailable" and "setuid" in answer.message
    os.chmod(directory / "bwrap", 0o755)
    assert run(box, "sh", "-c", "true")["exit_code"] == 0


FAKE = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int proof = 0, land = 0, work = 0;
    for (int i = 1; i < argc && land == 0; i++) {
        if (strcmp(argv[i], "/work") == 0 && work == 0)
            work = i;
        if (strcmp(argv[i], "--") == 0)
            land = i + 1;
    }
    proof = strcmp(argv[land + 1], "prove") == 0;
    (void)proof;
    (void)work;
    %s
}
"""


def fake_bwrap(box, body):
    """A program that is called in place of bwrap."""
    source, program = box.file("fake.c", FAKE % body), box.base / "fake"
    subprocess.run(["cc", "-o", program, source], check=True)
    box.own(program, 0o755)
    bwrapped.write_policy(box, bwrapped.shell_entry(box), helper={**bwrapped.JAIL_HELPER, "path": str(program)})


def test_a_bwrap_without_a_jail_is_detected(box):
    fake_bwrap(box, "return execv(argv[land], argv + land);")
    answer = run(box, "sh", "-c", "true")
    assert answer.outcome == "jail_unavailable" and "not_permitted" in answer.message


def test_a_bwrap_that_leaves_out_a_layer_is_detected(box):
    fake_bwrap(box, """
    char *more[1000] = {argv[0], argv[1], "--share-net"};
    memcpy(more + 3, argv + 2, (size_t)(argc - 1) * sizeof *argv);
    return execv("/usr/bin/bwrap", more);""")
    answer = run(box, "sh", "-c", "true")
    assert answer.outcome == "jail_unavailable" and "layer 'net_ns'" in answer.message


ONLY_PROOFS = 'if (proof) return execv("/usr/bin/bwrap", argv);'


def test_an_error_message_of_bwrap_is_reported(box):
    fake_bwrap(box, ONLY_PROOFS + 'fputs("bwrap: no \\x1b[2Jmore\\nlines", stderr); return 1;')
    answer = run(box, "sh", "-c", "true")
    assert answer.outcome == "spawn_failed" and "bwrap: no \\x1b[2Jmore" in answer.message


def test_a_bwrap_that_ends_well_without_the_tool_has_not_run_it(box):
    fake_bwrap(box, ONLY_PROOFS + "return 0;")
    assert run(box, "sh", "-c", "true").outcome == "spawn_failed"


def test_another_directory_at_work_is_detected(box):
    fake_bwrap(box, ONLY_PROOFS + 'argv[work - 1] = "/usr/bin"; return execv("/usr/bin/bwrap", argv);')
    answer = run(box, "sh", "-c", "true")
    assert answer.outcome == "spawn_failed" and "stale" in answer.message.lower()


def test_a_command_line_that_is_too_long_for_bwrap_is_refused(box):
    answer = run(box, "sh", "-c", "true", *["x"] * 9000)
    assert answer.outcome == "jail_unavailable" and "9000" in answer.message


def test_a_root_with_any_name_works(box):
    root = box.directory("ro ot\n--bind\t$'\"\\")
    box.file(root / "file", "content")
    answer = run(box, "sh", "-c", "cat file", root=root, cwd=root)
    assert said(answer) == "content"


def test_many_at_once_do_not_meet(box):
    processes = [box.popen(["sh", "-c", f"echo {i} >$HOME/mine; sleep 0.2; cat $HOME/mine; ls $HOME"],
                           env=bwrapped.environment(box), shape={"options": ["--jail", "bwrap"]}) for i in range(8)]
    for i, process in enumerate(processes):
        document = json.loads(process.communicate(timeout=60)[0])
        assert document["stdout"]["text"] == f"{i}\nmine\n", document
