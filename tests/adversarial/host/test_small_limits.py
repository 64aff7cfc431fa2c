"""Promise: Failure.
Attacker: circumstances, or whoever starts the host program. Means: RLIMIT_FSIZE of a few KiB, at
which the kernel sends SIGXFSZ with the error of a write, also of one into a memory file; a stack
of 96 KiB for the command; a thread of the host with a stack of 64 KiB; JSON that is nested deeply.

Expected: with the small limit a run works, or is refused as spawn_failed with EFBIG, and nothing
ends by a signal; every other call works or says why not. On the small stack everything works.
"""
import json
import os
import resource

import pytest

from feature import sanitized
from gathered import gather_argv

# A sanitizer makes frames several times as large; there it is only tried that nothing else goes wrong.
STACK = 1 << 20 if sanitized() else 64 << 10
COMMAND_STACK = 8 << 20 if sanitized() else 96 << 10
SIZES = (0, 100, 5 << 10, 40 << 10, 128 << 10)
LONG = "x" * 200


@pytest.fixture
def prepared(box):
    """A root with something for the linter, deep down a long path, and a policy with all that needs work."""
    box.directory("place", 0o700)
    top = box.root
    for _ in range(8):
        top = top / LONG
    top.mkdir(parents=True)
    (box.root / "package.json").write_text("{}\n", encoding="utf-8")
    nested = "(" * 300 + "1" + ")" * 300
    (top / "a.py").write_text(f"import os\nos.system('x')\ny = {nested}\n", encoding="utf-8")
    (box.root / "b.sh").write_text("eval \"$1\"\n", encoding="utf-8")
    (box.root / "c.js").write_text("require('child_process').exec(x)\n", encoding="utf-8")
    for parent, _, files in os.walk(box.root):
        for path in (parent, *(os.path.join(parent, name) for name in files)):
            os.chown(path, box.actor.uid, box.actor.gid)
    entries = [box.entry("true"), box.entry("cat", egress=["a.example.org"]),
               box.entry("sh", route="external", workspace="overlay", execs=["rm"]), box.entry("bwrap", route="jail")]
    box.policy = box.write_policy(entries, name="policy/small.yaml")
    return box.base / "place"


def limited(which, value):
    return {"preexec_fn": lambda: resource.setrlimit(which, (value, value))}


@pytest.mark.parametrize("size", SIZES)
def test_no_write_of_the_library_ends_its_host(box, prepared, size):
    answer = box.host("host_small_limits", prepared, "fsize", size)
    failures = int(answer.out.split()[1])
    assert (failures > 0) == (size <= 40 << 10), answer.out


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("jail", ["none", "native", "bwrap"])
def test_run_reports_that_there_is_no_space(user_box, jail, size):
    """To a pipe: the limit is on files."""
    policy = user_box.write_policy([user_box.entry("true"), user_box.entry("bwrap", route="jail")], name="policy/b.yaml")
    answer = user_box.run("true", options=["--jail", jail], policy=policy, popen=limited(resource.RLIMIT_FSIZE, size))
    if size == 128 << 10:
        assert answer.outcome == "exited"
    else:
        assert answer.outcome == "spawn_failed" and "File too large" in answer.message


def test_message_names_the_limit(user_box):
    answer = user_box.run("true", options=["--no-audit"], popen=limited(resource.RLIMIT_FSIZE, 40 << 10))
    assert answer.outcome == "spawn_failed" and "RLIMIT_FSIZE" in answer.message


@pytest.mark.parametrize("size", [0, 40 << 10])
@pytest.mark.parametrize("command", [["doctor"], ["lock"], ["lint"], ["policy", "show"], ["audit", "keygen", "key"],
                                     ["gather", ".", "--no-audit"]], ids=" ".join)
def test_no_command_ends_by_the_signal(user_box, command, size):
    box = user_box
    options = ["--policy", box.policy] if command[0] in ("doctor", "lock", "gather") else []
    answer = box.call([box.command, *command, *options], **limited(resource.RLIMIT_FSIZE, size))
    assert 0 <= answer.status <= 127, answer
    with open(box.base / "printed", "wb") as stream:  # and where what it prints is too much for its file
        answer = box.call([box.command, *command, *options], stdout=stream, **limited(resource.RLIMIT_FSIZE, size))
    assert 0 <= answer.status <= 127, answer


def test_tool_gets_the_signal_as_ever(user_box):
    """The command ignores it for itself alone."""
    script = "printf '%s' \"$(grep SigIgn /proc/self/status)\""
    policy = user_box.write_policy([user_box.entry("sh")], name="policy/sh.yaml")
    answer = user_box.run("sh", "-c", script, policy=policy, options=["--jail", "none"])
    ignored = int(answer.stream("stdout").split()[1], 16)
    assert ignored == 0


def test_whole_interface_on_a_small_stack(box, prepared):
    answer = box.host("host_small_limits", prepared, "stack", STACK)
    used = int(answer.out.split()[1])
    assert used <= STACK


@pytest.mark.parametrize("command", [["run", "--json", "--no-audit", "--jail", "native", "--", "true"],
                                     ["run", "--json", "--no-audit", "--jail", "bwrap", "--", "true"],
                                     ["run", "--json", "--no-audit", "--jail", "none", "--", "true"],
                                     ["doctor"], ["lock"], ["lint"], ["policy", "show"], ["policy", "check"],
                                     ["audit", "keygen", "key"]], ids=" ".join)
def test_commands_on_a_small_stack(box, prepared, command):
    options = ["--policy", box.policy] if command[0] in ("run", "doctor", "lock") else []
    at = command.index("--") if "--" in command else len(command)
    answer = box.call([box.command, *command[:at], *options, *command[at:]], **limited(resource.RLIMIT_STACK, COMMAND_STACK))
    assert 0 <= answer.status <= 1, answer
    if command[0] == "run":
        assert json.loads(answer.out)["outcome"] == "exited", answer


@pytest.mark.parametrize("depth", [70, 2000])  # the parser's own limit is 2048
def test_deep_files_on_a_small_stack(box, prepared, depth):
    """A parser that calls itself for each level would use it up; lock files and caches are not always one's own."""
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    lock = box.file("root/tools.lock", deep)
    popen = limited(resource.RLIMIT_STACK, COMMAND_STACK)
    answer = box.call([box.command, "lock", "--policy", box.policy, "--check", lock], **popen)
    assert answer.status == 125 and b"nested more than" in answer.err, answer
    box.directory("cache", 0o700)
    box.directory("cache/chokepoint", 0o700)
    box.file("cache/chokepoint/tools.json", deep, 0o600)
    answer = box.call([box.command, "doctor", "--policy", box.policy],
                      env=box.environment(XDG_CACHE_HOME=str(box.base / "cache")), **popen)
    assert 0 <= answer.status <= 1 and b"is damaged" in answer.err, answer


def test_gather_on_a_small_stack(box, prepared):
    answer = box.call(gather_argv(box, "--json"), **limited(resource.RLIMIT_STACK, COMMAND_STACK))
    assert answer.status in (0, 1) and json.loads(answer.out)["probes"], answer
