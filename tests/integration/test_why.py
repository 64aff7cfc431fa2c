"""R82: --why names everything that the native jail refused, and changes nothing else."""
import pathlib
import shutil

import pytest

from feature import skip


class Asked:
    def __init__(self, box):
        self.box = box

    def run(self, tool, *argv, options=("--jail", "native", "--why"), form="--json", **keys):
        policy = self.box.write_policy([self.box.entry(tool, route="external", **keys)],
                                       search_path=["/usr/bin", "/bin"])
        return self.box.run(tool, *argv, policy=policy, options=list(options), form=form)

    def denied(self, *argv, **keys):
        """As (kind, path, by); nothing but an execution has a line to add."""
        answer = self.run(*argv, **keys)
        assert "execs_named" in answer["layers"] and answer["denied_more"] == 0, answer.document
        assert all(denial["add"] is None or denial["kind"] == "exec" for denial in answer["denied"])
        return [(denial["kind"], denial["path"], denial["by"]) for denial in answer["denied"]]


@pytest.fixture
def asked(box):
    return Asked(box)


SHELL = {"uses": ["shell"]}


def test_file_that_is_not_shown(asked):
    secret = asked.box.file("outside/secret", "x")
    assert asked.denied("sh", "-c", f"cat {secret} {secret}; cat {secret}-none /usr/none /none; exit 1", **SHELL) == [
        ("open", str(secret), "cat")]


def test_what_is_read_only(asked):
    asked.box.file("root/a", "x")
    script = "echo x > a; echo x > b; mkdir c; rm a; mv a d; ln -s a e; touch /usr/f; echo x > /tmp/ok; rm /tmp/ok; exit 1"
    found = asked.denied("sh", "-c", script, workspace="ro", **SHELL)
    assert {kind for kind, _, _ in found} == {"write"}
    assert {path for _, path, _ in found} == {"/work/a", "/work/b", "/work/c", "/work/d", "/work/e", "/usr/f"} and not any("ok" in path for _, path, _ in found)
    assert {by for _, _, by in found} >= {"sh", "mkdir", "rm", "mv", "ln", "touch"}


def test_writable_workspace_is_not_named(asked):
    script = "echo x > a; mkdir c; mv a c/a; ln -s a e; rm e; cat c/a"
    assert asked.denied("sh", "-c", script, workspace="rw", **SHELL) == []


def test_file_whose_mode_forbids_it(user_box):
    user_box.file("root/closed", "x", mode=0o000)
    assert Asked(user_box).denied("sh", "-c", "cat closed; exit 1", **SHELL) == [("open", "/work/closed", "cat")]


@pytest.mark.parametrize("keys", [{}, {"loopback": True}])
def test_network(asked, keys):
    if not shutil.which("python3", path="/usr/bin"):
        skip("python3", "python3 is not installed")
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    found = [denial for denial in asked.denied("python3", "-c", code, **keys) if denial[0] == "connect"]
    assert found == [("connect", "192.0.2.1:80" if keys else "IPv4 socket", "python3")]


def test_library_that_is_not_code(asked):
    if not shutil.which("python3", path="/usr/bin"):
        skip("python3", "python3 is not installed")
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    library = next(line.split()[-1] for line in maps if "libc.so.6" in line)
    shutil.copy(library, asked.box.root / "own.so")
    found = asked.denied("python3", "-c", "import ctypes; ctypes.CDLL('/work/own.so')", workspace="ro")
    assert ("map", "/work/own.so", "python3") in found


def test_executions_are_named_as_always(asked):
    answer = asked.run("sh", "-c", "ls; exit 1")
    assert answer["denied"] == [
        {"kind": "exec", "path": "/usr/bin/ls", "by": "sh", "errno": 13, "add": "uses: [shell]"}]


def test_text_is_complete_and_also_for_success(asked):
    answer = asked.run("sh", "-c", "touch f 2> /dev/null; exit 0", form=None, **SHELL)
    assert (answer.status, answer.err.decode()) == (
        0, "denied: touch tried to write /work/f (read-only in the jail); ask the owner of the policy\n")
    assert asked.run("sh", "-c", "true", form=None, **SHELL).err == b"denied: nothing\n"


def test_the_tool_gets_what_it_gets_without(asked):
    script = "cat /etc/shadow; touch /usr/f; echo x > a; ls; cat < /etc/hosts; exit 3"
    keys = {"execs": ["cat", "touch"], "workspace": "ro"}
    plain = asked.run("sh", "-c", script, options=["--jail", "native"], **keys)
    watched = asked.run("sh", "-c", script, **keys)
    for name in ("outcome", "exit_code", "stdout", "stderr", "layers", "jail"):
        assert plain[name] == watched[name], name


def test_null_where_nobody_watches(asked):
    answer = asked.run("sh", "-c", "cat /none", options=["--jail", "none", "--why"])
    assert answer["denied"] is None


def test_hostile_names_are_escaped(asked):
    answer = asked.run("sh", "-c", "touch '/usr/\x1b[31m' 2> /dev/null; exit 1", **SHELL)
    assert [denial["path"] for denial in answer["denied"]] == ["/usr/\\x1b[31m"]


def test_flood_is_counted(asked):
    script = "i=0; while [ $i -lt 300 ]; do [ -e x ] || (: > /usr/file-$i) 2> /dev/null; i=$((i+1)); done; exit 1"
    answer = asked.run("sh", "-c", script, **SHELL)
    assert len(answer["denied"]) == 64 and answer["denied_more"] >= 300 - 64


VARIANTS = {
    "sealed": {"execs": []},
    "overlay": {"workspace": "overlay", **SHELL},
    "workspace_code": {"workspace": "rw", "workspace_code": True, **SHELL},
    "loopback": {"loopback": True, **SHELL},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_form_of_the_jail_works_with_it(asked, variant):
    keys = VARIANTS[variant]
    script = "read line < /etc/hosts 2> /dev/null; echo x > made; read line < made && echo $line; read line < /etc/shadow; exit 3"
    plain = asked.run("sh", "-c", script, options=["--jail", "native"], **keys)
    watched = asked.run("sh", "-c", script, **keys)
    assert plain.status == watched.status == 3, watched.document
    for name in ("outcome", "exit_code", "stdout", "stderr", "layers", "changes"):
        assert plain[name] == watched[name], name
    assert ("open", "/etc/shadow") in [(denial["kind"], denial["path"]) for denial in watched["denied"]]


def test_direct_attempt_with_egress(asked):
    if not shutil.which("python3", path="/usr/bin"):
        skip("python3", "python3 is not installed")
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    answer = asked.run("python3", "-c", code, egress=["a.example.org"],
                       options=["--jail", "native", "--why", "--egress", "a.example.org"])
    assert [denial["path"] for denial in answer["denied"] if denial["kind"] == "connect"] == ["192.0.2.1:80"]


def test_script_as_a_tool(box):
    """Its interpreter is executed by path, after the filter is in place."""
    box.directory("tools")
    box.file("tools/greet", "#!/bin/sh\necho hello; read line < /etc/shadow\n", mode=0o755)
    policy = box.write_policy([box.entry("greet", route="external")],
                              search_path=[str(box.base / "tools"), "/usr/bin", "/bin"])
    answer = box.run("greet", policy=policy, options=["--jail", "native", "--why"])
    assert answer["stdout"]["text"] == "hello\n", answer.document
    assert [denial["path"] for denial in answer["denied"]] == ["/etc/shadow"]
