"""R32: if user namespaces are forbidden the native jail is Landlock and seccomp, and says so; for
root and for an ordinary user, by a sysctl and by a container's filter.
"""
import json
import os
import re
import shutil
import signal

import pytest

import bwrapped
from feature import skip
from no_userns import PART, WAYS, NoUserns, helper, on_fake_kernel

REFUSED = "EACCES"


@pytest.fixture(params=WAYS)
def no_userns(request, box):
    yield NoUserns(box, request.param)
    assert bwrapped.scratches(box) == []  # R31, after every test


@pytest.fixture
def switched(box):
    return NoUserns(box, "switch")


@pytest.fixture
def root_switched(root_box):
    return NoUserns(root_box, "switch")


def events(answer, name):
    found = [json.loads(line) for line in answer.err.splitlines() if line.startswith(b"{")]
    return [event for event in found if event["event"] == name]


# ---- what is said ----

@pytest.mark.parametrize("jail", ["auto", "native"])
def test_active_layers_are_in_the_result_and_in_one_warning(no_userns, jail):
    answer = no_userns.run("say_args", "word", jail=jail)
    assert (answer.outcome, answer["exit_code"], answer.stream("stdout")) == ("exited", 0, b"word\0")
    assert (answer["jail"], answer["layers"]) == ("native", PART)
    assert answer["kill"] in ("cgroup", "subreaper")
    warning, = events(answer, "subproc.native.skipped")
    assert (warning["level"], warning["reason"], warning["jail"]) == ("warning", "not_permitted", "native")
    assert warning["layers"] == ",".join(PART)


def test_a_whole_jail_warns_of_nothing(box):
    answer = box.run("true", options=["--jail", "native"])
    if answer.outcome == "jail_unavailable" or answer["layers"] == PART:
        skip("native", "the whole native jail is not available")
    assert not events(answer, "subproc.native.skipped")


@pytest.mark.parametrize("jail", ["auto", "native"])
def test_a_required_jail_is_the_whole_jail(no_userns, jail):
    answer = no_userns.run("say_args", jail=jail, options=["--require-jail"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "request.jail")
    assert "without user namespaces" in answer.message and "user.max_user_namespaces" in answer.message


def test_bwrap_is_refused_by_name(no_userns):
    answer = no_userns.run("say_args", jail="bwrap")
    assert answer.outcome == "jail_unavailable" and "'bwrap'" in answer.message


def test_an_overlay_is_refused(no_userns):
    policy = no_userns.write_policy(attempt={"workspace": "overlay"})
    answer = no_userns.run("attempt", "plain", "/bin/true", policy=policy)
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.attempt.workspace")
    assert "overlay" in answer.message and "namespaces" in answer.message


def test_the_explanation_names_what_may_be_done(no_userns):
    answer = no_userns.run("say_args", options=["--dry-run"])
    decision = answer.document
    assert (decision["jail"], decision["layers"]) == ("native", PART)
    assert f"read {no_userns.box.root}" in decision["mounts"] and f"execute {no_userns.box.bin}/say_args" in decision["mounts"]
    assert [line for line in decision["mounts"] if line.startswith("write ")] == \
        ["write " + next(word for word in decision["env"] if word.startswith("HOME="))[5:]]
    assert not [line for line in decision["mounts"] if re.fullmatch("(read|write|execute) /(usr/)?s?bin", line)]


def test_doctor_names_the_switch(switched):
    answer = switched.call([switched.box.command, "doctor", "--json", "--policy", str(switched.policy)])
    layers = {layer["name"]: layer for layer in json.loads(answer.out)["layers"] if layer["group"] == "jail"}
    assert layers["native-degraded"]["holds"] and all(word in layers["native-degraded"]["detail"] for word in PART)
    for name in ("native", "bwrap"):
        assert not layers[name]["holds"]
        assert "sysctl user.max_user_namespaces is 0" in layers[name]["cause"]
        assert layers[name]["remedy"] == "sysctl -w user.max_user_namespaces=15000"


# ---- what holds ----

def test_other_files_of_the_user_cannot_be_read(no_userns):
    (no_userns.box.home / ".ssh").mkdir()
    key = no_userns.box.file("home/.ssh/id_ed25519", "a key", 0o600)
    no_userns.box.own(no_userns.box.home / ".ssh", 0o700)
    no_userns.breaks_out_only_outside("breach_files", "read", key, errnos=REFUSED)
    no_userns.breaks_out_only_outside("breach_files", "list", key.parent, errnos=REFUSED)
    os.symlink(key, no_userns.box.root / "link")
    no_userns.breaks_out_only_outside("breach_files", "read", "link", errnos=REFUSED)


@pytest.mark.parametrize("way", WAYS)
def test_passwords_cannot_be_read_by_root(root_box, way):
    NoUserns(root_box, way).breaks_out_only_outside("breach_files", "read", "/etc/shadow", errnos=REFUSED)


def test_nothing_but_scratch_can_be_written(no_userns):
    no_userns.box.file("root/old", "old")
    no_userns.box.file("outside/old", "old")
    for directory in (no_userns.box.root, no_userns.box.outside):
        for attack in (["write", directory / "old"], ["write", directory / "new"], ["remove", directory / "old"],
                       ["rename", directory / "old", directory / "moved"], ["symlink", "x", directory / "link"]):
            no_userns.refused_inside("breach_files", *attack, errnos=REFUSED)
        no_userns.refused_inside("breach_files", "mode", directory / "old", errnos="EPERM")
        assert (directory / "old").read_text() == "old" and os.listdir(directory) == ["old"]
    no_userns.refused_inside("breach_files", "write", "/tmp/planted-" + no_userns.box.base.name, errnos=REFUSED)
    no_userns.succeeds_outside("breach_files", "write", no_userns.box.outside / "old")


def test_home_is_a_scratch_directory(no_userns):
    policy = no_userns.write_policy(more=[no_userns.box.entry("sh", route="external", execs=["cat"])])
    script = 'cd "$HOME" && echo word > file && cat file && pwd'
    answer = no_userns.succeeds_inside("sh", "-c", script, policy=policy, options=["--probe", "some_probe"])
    word, directory = answer.stream("stdout").decode().split()
    assert word == "word" and re.fullmatch(f"{bwrapped.scratch_parent(no_userns.box)}/chokepoint-some_probe-[0-9a-f]{{16}}", directory)


def test_a_writable_workspace_can_be_written(no_userns):
    policy = no_userns.write_policy(breach_files={"workspace": "rw"})
    no_userns.succeeds_inside("breach_files", "write", "new", policy=policy)
    assert (no_userns.box.root / "new").exists()
    no_userns.refused_inside("breach_files", "write", no_userns.box.outside / "new", policy=policy, errnos=REFUSED)


@pytest.mark.parametrize("way", ["plain", "child", "thread", "procfd", "execveat", "opath", "memory"])
def test_no_other_program_is_executed(no_userns, way):
    no_userns.breaks_out_only_outside("attempt", way, "/bin/true", errnos="EACCES EPERM")


def test_no_shell_is_executed_by_the_loader(no_userns):
    """The loader must be executable, and maps any file; it cannot map a file that it cannot read."""
    with open(no_userns.box.bin / "attempt", "rb") as stream:
        loader = re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()
    attack = ["attempt", "plain", loader, "/bin/sh", "-c", "exit 0"]
    no_userns.succeeds_outside(*attack)
    answer = no_userns.inside(*attack)
    assert answer.status == 127 and b"cannot open shared object file: Permission denied" in answer.stream("stderr")


def test_a_written_file_is_not_executed(no_userns):
    no_userns.succeeds_outside("attempt", "home", "/usr/bin/true")
    policy = no_userns.write_policy(attempt={"execs": ["true"]})  # so that it can be read and copied
    no_userns.refused_inside("attempt", "home", "/usr/bin/true", policy=policy, errnos=REFUSED)


def test_known_limit_what_was_written_can_be_mapped_by_the_loader(switched):
    """docs/adr/0026, and the reason why an empty `execs` seals a tool."""
    with open("/usr/bin/true", "rb") as stream:
        loader = re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read()).group().decode()
    script = f'cp /usr/bin/true "$HOME/copy" && {loader} "$HOME/copy"'
    policy = switched.write_policy(more=[switched.box.entry("sh", route="external", execs=["cp", "true"])])
    switched.succeeds_inside("sh", "-c", script, policy=policy)
    policy = switched.write_policy(attempt={"execs": []})
    switched.refused_inside("attempt", "plain", loader, policy=policy, errnos=REFUSED)


def test_helpers_that_are_listed_are_executed(no_userns):
    policy = no_userns.write_policy(attempt={"execs": ["true"]})
    no_userns.succeeds_inside("attempt", "plain", "/usr/bin/true", policy=policy)
    no_userns.refused_inside("attempt", "plain", "/usr/bin/env", policy=policy, errnos=REFUSED)


@pytest.mark.parametrize("attack", [["socket", 2, 1], ["socket", 10, 1], ["socket", 1, 1], ["socket", 16, 3], ["uring"],
                                    ["keyring"]])
def test_no_socket_and_no_other_way_out(no_userns, attack):
    no_userns.refused_inside("breach_calls", *attack)


def test_other_processes_are_out_of_reach(no_userns):
    other = no_userns.box.popen(["sleep", "20"], raw=True)
    no_userns.refused_inside("breach_processes", "trace", other.pid, errnos="EPERM")
    no_userns.refused_inside("breach_processes", "write", other.pid, errnos="EPERM")
    no_userns.refused_inside("breach_files", "read", f"/proc/{other.pid}/environ", errnos=REFUSED)
    no_userns.refused_inside("breach_processes", "kill", other.pid, signal.SIGTERM.value, errnos="EPERM")
    assert other.poll() is None


def test_no_memory_is_shared_with_another_run(no_userns):
    no_userns.refused_inside("breach_files", "keep_ipc", 4711, errnos="EPERM")
    no_userns.refused_inside("breach_files", "keep", "word-" + no_userns.box.base.name, errnos=REFUSED)


def test_modes_of_what_the_system_owns_stay(root_switched):
    """Root owns what it may read here, and an open descriptor is enough for fchmod."""
    policy = root_switched.write_policy(more=[root_switched.box.entry("python3", route="external")])
    text = "import os; os.fchmod(os.open('/etc/passwd', os.O_RDONLY), 0o644)"
    answer = root_switched.inside("python3", "-I", "-c", text, policy=policy)
    assert answer.status == 1 and b"Operation not permitted" in answer.stream("stderr")
    assert root_switched.run("python3", "-I", "-c", text, policy=policy, jail="none").status == 0


# ---- real tools ----

def test_git_does_its_work(no_userns):
    commit = no_userns.box.repository()
    no_userns.box.file("root/file", "a needle\n")
    policy = no_userns.box.default_policy()
    assert no_userns.succeeds_inside("git", "rev-parse", "HEAD", policy=policy).stream("stdout") == commit
    assert no_userns.succeeds_inside("git", "status", "--short", policy=policy).stream("stdout") == b"?? file\n"


def test_rg_and_jq_do_their_work(no_userns):
    no_userns.box.file("root/file", "a needle\n")
    no_userns.box.file("root/document", '{"a": [1, 2]}')
    policy = no_userns.box.default_policy()
    for name in ("rg", "jq"):
        if not shutil.which(name, path="/usr/bin:/bin"):
            skip(name, f"{name} is not installed")
    assert no_userns.succeeds_inside("rg", "needle", policy=policy).stream("stdout") == b"file:a needle\n"
    assert no_userns.succeeds_inside("jq", ".a[1]", "document", policy=policy).stream("stdout") == b"2\n"


def test_a_script_and_its_interpreter_run(no_userns):
    no_userns.box.file("tool", "#!/usr/bin/env python3\nprint('word')\n", 0o755)
    entries = [no_userns.box.entry("tool", route="external", path=str(no_userns.box.base / "tool"))]
    policy = no_userns.write_policy(more=entries)
    assert no_userns.succeeds_inside("tool", policy=policy).stream("stdout") == b"word\n"


def test_a_tracer_traces(switched):
    if not shutil.which("strace", path="/usr/bin:/bin"):
        skip("strace", "strace is not installed")
    entry = switched.box.entry("strace", route="external", args={"options": ["-f"], "command": "after_options"})
    policy = switched.write_policy(more=[entry])
    answer = switched.succeeds_inside("strace", "-f", "say_args", "word", policy=policy)
    assert answer.stream("stdout") == b"word\0" and b"execve(" in answer.stream("stderr")


# ---- a kernel that says yes and does nothing ----

@pytest.mark.parametrize("fault,layer", [("landlock", "landlock"), ("seccomp", "seccomp")])
def test_a_layer_that_does_not_hold_is_no_jail(box, fault, layer):
    for jail in ("native", "bwrap"):
        answer = on_fake_kernel(box, fault, "true", options=["--jail", jail])
        assert answer.outcome == "jail_unavailable", answer.document
        assert jail == "bwrap" or f"layer '{layer}' does not hold" in answer.message
    answer = on_fake_kernel(box, fault, "true", options=["--jail", "auto", "--require-jail"])
    assert answer.outcome == "jail_unavailable", answer.document
    answer = on_fake_kernel(box, fault, "true", options=["--jail", "auto"])
    assert (answer.outcome, answer["jail"]) == ("exited", "none"), answer.document


def test_capabilities_that_stay_are_no_jail(root_box):
    answer = on_fake_kernel(root_box, "capset", "true", options=["--jail", "native"])
    # With capabilities a file that covers another can be opened, too: that is noticed first.
    said = re.search(r"its layer '(\w+)' does not hold", answer.message)
    assert answer.outcome == "jail_unavailable" and said[1] in ("no_capabilities", "fresh_root"), answer.document


@pytest.mark.parametrize("fault", ["landlock", "seccomp"])
def test_a_layer_that_does_not_hold_is_no_part_of_a_jail(switched, fault):
    argv = [helper(switched.box, "fake_kernel"), fault, *switched.box.run_argv(["true"], options=["--jail", "native"])]
    document = json.loads(switched.call(argv).out)
    assert document["outcome"] == "jail_unavailable", document
    argv = [helper(switched.box, "fake_kernel"), fault, switched.box.command, "doctor", "--json", "--policy", str(switched.policy)]
    layers = {layer["name"]: layer for layer in json.loads(switched.call(argv).out)["layers"]}
    assert layers["native-degraded"]["cause"] == f"its layer '{fault}' does not hold on this machine"
