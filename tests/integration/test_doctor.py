"""chokepoint doctor (R45): which tools are available, which layers hold, and what is cached."""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

import pytest
from feature import skip
from processes import wait_until
from readiness import Toolbox, check_doctor, layers_of
from terminal import on_terminal

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def toolbox(box):
    return Toolbox(box)


@pytest.fixture
def root_toolbox(root_box):
    return Toolbox(root_box)


@pytest.fixture
def user_toolbox(user_box):
    return Toolbox(user_box)


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


# ---- tools ----

def test_a_tool_has_its_path_version_and_digest(toolbox):
    path = toolbox.tool("teller")
    tool = toolbox.found("teller")
    assert (tool["state"], tool["path"], tool["version"], tool["sha256"]) == (
        "ready", str(path), "1.2.3", digest(path))
    assert toolbox.asked("teller") == 1


def test_the_real_git_has_the_version_that_it_prints(box):
    answer = box.call([box.command, "doctor", "--json", "--no-cache"])
    said = subprocess.run(["/usr/bin/git", "--version"], check=True, capture_output=True, text=True).stdout
    assert answer.status == 0, answer
    document = json.loads(answer.out)
    check_doctor(document)
    (git,) = [tool for tool in document["tools"] if tool["name"] == "git"]
    assert git["version"] in said and git["sha256"] == digest(git["path"])
    names = [tool["name"] for tool in document["tools"]]
    assert "bwrap" in names and "sandbox-exec" not in names  # those for this platform


def test_an_optional_tool_that_is_missing_is_one_line_with_how_to_install_it(toolbox):
    toolbox.tool("teller", required=True)
    toolbox.list("absentee", install={"apt": "absentee-package"})
    answer = toolbox.text("doctor")
    (line,) = [line for line in answer.out.decode().splitlines() if "absentee" in line]
    assert "missing" in line and "apt-get install absentee-package" in line
    assert answer.err == b""


def test_a_tool_of_the_repository_depends_on_the_root(toolbox):
    """It is neither ready nor missing: doctor has no root."""
    toolbox.list("pytest", required=True, path="./.venv/bin/pytest", workspace="ro", workspace_code=True, route="external",
                 version_args=["--version"])
    tool = toolbox.found("pytest")
    assert (tool["state"], tool["path"], tool["install"]) == ("in_root", None, None)
    answer = toolbox.text("doctor")
    (line,) = [line for line in answer.out.decode().splitlines() if "pytest" in line]
    assert "in_root" in line and "'./.venv/bin/pytest' is a file of the repository" in line, line


def test_a_required_tool_that_is_missing_is_status_1_and_the_command(toolbox):
    toolbox.list("absentee", required=True, install={"apt": "absentee-package"})
    answer = toolbox.text("doctor", status=1)
    assert "not ready: absentee is required and missing; install it: apt-get install absentee-package" in (
        answer.out.decode())
    assert toolbox.found("absentee", status=1)["install"] == "apt-get install absentee-package"


def default_policy(toolbox, names):
    """The shipped policy, with a search path that has only these tools."""
    text = (ROOT / "policy/default.yaml").read_text(encoding="utf-8")
    for name in names:
        shutil.copy(shutil.which(name), toolbox.tools / name)
        toolbox.box.own(toolbox.tools / name, 0o755)
    assert text.count("search_path: [/usr/local/bin, /usr/bin, /bin]") == 1
    changed = text.replace("search_path: [/usr/local/bin, /usr/bin, /bin]", f"search_path: [{toolbox.tools}]")
    return toolbox.box.file("policy/default.yaml", changed, 0o600)


def test_without_semgrep_it_is_status_0_and_without_git_1(toolbox):
    policy = default_policy(toolbox, ["git"])
    answer = toolbox.text("doctor", policy=policy)
    lines = [line for line in answer.out.decode().splitlines() if "semgrep" in line]
    assert len(lines) == 1 and "https://semgrep.dev/" in lines[0], lines
    (toolbox.tools / "git").unlink()
    answer = toolbox.text("doctor", policy=policy, status=1)
    assert "git is required and missing; install it: apt-get install git" in answer.out.decode()


BARE_ROOT = """
set -e
mount --make-rprivate /
mount -t tmpfs none "$1"
mkdir -p "$1/usr/lib" "$1/usr/lib64" "$1/dev" "$1/proc" "$1/etc" "$1/usr/bin"
for place in usr/lib usr/lib64 dev proc; do mount --rbind "/$place" "$1/$place"; done
ln -s usr/lib "$1/lib"; ln -s usr/lib64 "$1/lib64"; ln -s usr/bin "$1/bin"
cp /etc/ld.so.cache "$1/etc/"
cp "$2" "$1/chokepoint"
exec /usr/sbin/chroot "$1" /chokepoint doctor --json
"""


def test_the_default_policy_on_a_machine_without_tools_is_status_1(root_box):
    if not os.path.islink("/lib"):
        skip("merged-usr", "/lib is no link to /usr/lib here")
    directory = root_box.directory("bare")
    answer = root_box.call(["unshare", "-m", "sh", "-c", BARE_ROOT, "sh", str(directory), root_box.command])
    assert answer.status == 1, answer
    document = json.loads(answer.out)
    check_doctor(document)
    assert {tool["state"] for tool in document["tools"]} == {"missing"}
    assert not document["ready"] and document["policy"] == "default policy"


def test_an_untrusted_tool_is_refused_with_the_reason(toolbox):
    toolbox.tool("teller", required=True)
    os.chmod(toolbox.tools / "teller", 0o775)
    tool = toolbox.found("teller", status=1)
    assert tool["state"] == "refused" and "may be written by group or others" in tool["problem"]
    assert toolbox.asked("teller") == 0


@pytest.mark.parametrize("behaviour, argv", [
    ("exit 3", "status 3"),
    ("echo 1.2.3; printf 'first\\nlibx.so: cannot open\\n\\n' >&2; exit 3", "status 3; it printed 'libx.so: cannot open'"),
    ("echo no such option; exit 2", "status 2; it printed 'no such option'"),
    ("echo aborted >&2; kill -9 $$", "it printed 'aborted'"),
    ("exit 0", "printed nothing"),
    ("/usr/bin/yes 1.2.3 | /usr/bin/head -c 1000000", "too much to be a version"),
    ("kill -9 $$", "signal 9"),
    ("/bin/sleep 60", "timeout"),
])
def test_a_tool_without_a_version_is_failed_and_the_others_are_not(toolbox, behaviour, argv):
    toolbox.tool("odd", behaviour, limits={"timeout_s": 1 if argv == "timeout" else 30})
    toolbox.tool("teller", required=True)
    answer = toolbox.doctor()
    states = {tool["name"]: tool for tool in answer["tools"]}
    assert states["odd"]["state"] == "failed" and argv in states["odd"]["problem"], states["odd"]
    assert states["odd"]["version"] is None and len(states["odd"]["sha256"]) == 64
    assert states["teller"]["state"] == "ready"


def test_tools_are_asked_side_by_side(toolbox):
    # Each tool waits until the other has started as well.
    asked = toolbox.box.base / "asked"
    wait = "while [ ! -e '{}' ]; do /bin/sleep 0.01; done; echo 1.0"
    toolbox.tool("left", wait.format(asked / "right"))
    toolbox.tool("right", wait.format(asked / "left"))
    assert [tool["state"] for tool in toolbox.doctor()["tools"]] == ["ready", "ready"]


def test_many_tools_are_asked_with_few_descriptors(toolbox):
    for i in range(100):
        toolbox.tool(f"tool{i}", listed=False)
        toolbox.entries.append(toolbox.box.entry(f"tool{i}", version_args=["--version"]))
    toolbox.write()
    answer = toolbox.doctor(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)), deadline=120)
    assert {tool["state"] for tool in answer["tools"]} == {"ready"}


def test_a_jails_helper_is_asked_here_and_can_be_called_nowhere_else(toolbox):
    toolbox.tool("helper", route="jail")
    tool = toolbox.found("helper")
    assert tool["state"] == "ready" and tool["version"] == "1.2.3" and tool["route"] == "jail"
    answer = toolbox.box.run("helper", "--version")
    assert answer.outcome == "disallowed" and answer["rule"] == "tools.helper.route"
    assert toolbox.asked("helper") == 1


def test_a_tool_whose_arguments_are_closed_is_still_asked(toolbox):
    toolbox.tool("closed", args={"options": []})
    assert toolbox.found("closed")["version"] == "1.2.3"


def test_a_tool_without_version_args_is_not_run(toolbox):
    toolbox.tool("mute", version_args=[])
    toolbox.entries[-1].pop("version_args")
    toolbox.write()
    tool = toolbox.found("mute")
    assert tool["state"] == "ready" and tool["version"] is None and len(tool["sha256"]) == 64
    assert toolbox.asked("mute") == 0


def test_what_a_tool_prints_cannot_reach_the_terminal(toolbox):
    toolbox.tool("odd", r"printf '\033[31mred\007\n'")
    toolbox.tool("bad", r"printf '\033[31mgreen\007\n' >&2; exit 1")
    answer = toolbox.text("doctor")
    assert b"\033" not in answer.out and b"\007" not in answer.out
    assert b"\\x1b[31mred" in answer.out and b"\\x1b[31mgreen" in answer.out


def test_an_external_tool_is_asked_in_its_jail(toolbox):
    """What fails there is reported with the tool's own line, as a run of the tool would fail."""
    toolbox.list("python3", route="external", path="/usr/bin/python3",
                 version_args=["-c", "import os; print(os.path.isdir('/work') and '1.2.3'); os.mkdir('/work/x')"])
    tool = toolbox.found("python3")
    assert tool["state"] == "failed" and "it printed 'OSError: [Errno 30] Read-only file system: \\x27/work/x\\x27'" in tool["problem"], tool


def test_a_policy_that_cannot_be_used_is_status_125(toolbox):
    assert b"/nonexistent" in toolbox.text("doctor", policy="/nonexistent", status=125).err
    toolbox.text("doctor", "surplus", status=125)


# ---- output ----

def test_colour_is_for_terminals_that_want_it(toolbox):
    toolbox.list("absentee")
    argv = [toolbox.box.command, "doctor", "--policy", str(toolbox.box.policy)]
    assert b"\033[33mmissing" in on_terminal(toolbox.box, argv)[1]
    _, plain = on_terminal(toolbox.box, argv, env=toolbox.box.environment(NO_COLOR="1"))
    assert b"missing" in plain and b"\033" not in plain
    assert b"\033" not in toolbox.text("doctor").out


def test_columns_are_aligned(toolbox):
    toolbox.tool("teller")
    toolbox.tool("scip-typescript")
    lines = [line for line in toolbox.text("doctor").out.decode().splitlines() if "1.2.3" in line]
    assert len({re.search(r"1\.2\.3", line).start() for line in lines}) == 1 and len(lines) == 2


# ---- layers ----

def test_layers_are_what_the_machine_really_does(toolbox):
    toolbox.tool("teller")
    layers = layers_of(toolbox.doctor().document)
    keywords = toolbox.box.actor.as_keywords()
    for option, name in (("-U", "user"), ("-Um", "mount"), ("-Un", "net"), ("-Ui", "ipc"), ("-Uu", "uts"),
                         ("-UC", "cgroup"), ("-Upf", "pid")):
        can = subprocess.run(["unshare", option, "true"], check=False, capture_output=True, **keywords).returncode == 0
        assert layers[name]["holds"] == can, (name, layers[name])
    for name in ("no_new_privs", "subreaper", "pidfd", "openat2"):
        assert layers[name]["holds"]
    toolbox.box.write_policy()
    assert layers["cgroup.kill"]["holds"] == (toolbox.box.run("true")["kill"] == "cgroup")
    for name in ("native", "bwrap"):
        assert layers[name]["holds"] == (toolbox.box.run("true", options=["--jail", name]).outcome == "exited")
        assert layers[name]["holds"] or layers[name]["cause"]
    assert layers["seatbelt"]["cause"] == "not in this version"


def test_doctor_leaves_no_cgroup(root_toolbox):
    root_toolbox.tool("teller")
    root_toolbox.doctor()
    left = [name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith("chokepoint-doctor-")]
    # Another doctor may be at work; a leftover has a process that is gone.
    assert [name for name in left if os.path.exists("/proc/" + name.rpartition("-")[2])] == left


def test_a_switch_that_is_off_is_named(root_toolbox):
    root_toolbox.tool("teller")
    # The limit belongs to the user namespace in which it is set, so no other process is affected.
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    argv = ["unshare", "-Ur", "sh", "-c", script, "sh", root_toolbox.box.command, "doctor", "--json", "--policy",
             str(root_toolbox.box.policy)]
    answer = root_toolbox.box.call(argv)
    if b"unshare failed" in answer.err:
        skip("userns", answer.err.decode())
    document = json.loads(answer.out)
    check_doctor(document)
    user = layers_of(document)["user"]
    assert not user["holds"] and user["cause"] == "sysctl user.max_user_namespaces is 0"
    assert user["remedy"] == "sysctl -w user.max_user_namespaces=15000"


def test_a_cgroup_that_is_not_ours_is_named(user_toolbox):
    user_toolbox.tool("teller")
    layers = layers_of(user_toolbox.doctor().document)
    if layers["memory"]["holds"]:
        skip("undelegated", "this user has its own cgroup")
    assert "cgroup" in layers["memory"]["cause"] and layers["memory"]["remedy"]


# ---- the cache ----

def test_the_second_doctor_runs_no_tool(toolbox):
    path = toolbox.tool("teller")
    first = toolbox.found("teller")
    toolbox.remember("teller")
    asked = toolbox.asked("teller")
    for _ in range(3):
        tool = toolbox.found("teller")
        assert tool == {**first, "cached": True}
    assert toolbox.asked("teller") == asked and asked >= 1
    assert tool["sha256"] == digest(path)
    assert toolbox.cache.stat().st_mode & 0o777 == 0o600 and toolbox.cache.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_changed_is_run_again(toolbox):
    path = toolbox.tool("teller")
    toolbox.remember("teller")
    asked = toolbox.asked("teller")
    status = path.stat()
    text = path.read_text(encoding="utf-8").replace("1.2.3", "1.2.4")
    toolbox.box.file(path, text, 0o755)  # the same size, and below the same times
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    tool = toolbox.found("teller")
    assert (tool["version"], tool["cached"], tool["sha256"]) == ("1.2.4", False, digest(path))
    assert toolbox.asked("teller") == asked + 1


def test_an_interpreter_that_changed_is_a_change(toolbox):
    interpreter = toolbox.tools / "interpreter"
    shutil.copy("/bin/sh", interpreter)
    toolbox.box.own(interpreter, 0o755)
    toolbox.tool("teller", interpreter=interpreter)
    toolbox.remember("teller")
    asked = toolbox.asked("teller")
    interpreter.unlink()
    shutil.copy("/bin/sh", interpreter)
    toolbox.box.own(interpreter, 0o755)
    assert not toolbox.found("teller")["cached"] and toolbox.asked("teller") == asked + 1


def test_a_policy_that_changed_asks_again_and_the_old_one_stays_known(toolbox):
    toolbox.tool("teller")
    toolbox.remember("teller")
    asked = toolbox.asked("teller")
    other = toolbox.box.file("policy/other.yaml", toolbox.box.policy.read_bytes() + b"\n# changed\n", 0o600)
    assert not toolbox.found("teller", policy=other)["cached"]
    assert toolbox.asked("teller") == asked + 1
    assert toolbox.found("teller", policy=other)["cached"] and toolbox.found("teller")["cached"]


def test_a_file_written_just_now_is_not_remembered(toolbox):
    path = toolbox.tool("teller")
    for _ in range(20):  # until a doctor ran while the file was young
        toolbox.cache.unlink(missing_ok=True)
        os.utime(path)  # its ctime is now
        assert not toolbox.found("teller")["cached"]
        if time.time() - path.stat().st_ctime < 1.9:
            break
    else:
        pytest.fail("no doctor was done within 1.9 seconds")
    assert not toolbox.cache.exists()


def test_no_cache_neither_reads_nor_writes_it(toolbox):
    toolbox.tool("teller")
    assert toolbox.doctor("--no-cache")["cache"] is None and not toolbox.cache.exists()
    toolbox.remember("teller")
    asked, text = toolbox.asked("teller"), toolbox.cache.read_bytes()
    assert not [tool for tool in toolbox.doctor("--no-cache")["tools"] if tool["cached"]]
    assert toolbox.asked("teller") == asked + 1 and toolbox.cache.read_bytes() == text


def test_xdg_cache_home_comes_before_home(toolbox):
    toolbox.tool("teller")
    directory = toolbox.box.directory("xdg", 0o700)
    env = toolbox.box.environment(XDG_CACHE_HOME=str(directory))
    wait_until(lambda: toolbox.found("teller", env=env)["cached"], "the tool is remembered")
    assert (directory / "chokepoint/tools.json").exists() and not toolbox.cache.exists()


def test_a_tool_that_failed_is_asked_again(toolbox):
    toolbox.tool("odd", "exit 1")
    toolbox.tool("teller")
    toolbox.remember("teller")
    asked = toolbox.asked("odd")
    assert toolbox.found("odd")["state"] == "failed" and toolbox.asked("odd") == asked + 1


# ---- the library ----

def test_a_program_with_jobs_of_its_own_is_not_disturbed(toolbox):
    toolbox.tool("teller", required=True)
    toolbox.entries += [toolbox.box.entry("sleep"), toolbox.box.entry("true")]
    toolbox.box.write_policy(toolbox.entries, search_path=[str(toolbox.tools), "/usr/bin", "/bin"])
    assert toolbox.box.host("host_ready", toolbox.box.root / "tools.lock").out == b"ok\n"
