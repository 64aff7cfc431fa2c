"""The identity of the executed file (R5): `path`, `sha256`, pinned scripts, and the cache of
digests.
"""
import errno
import hashlib
import re
import shutil

import pytest

from feature import skip

SHELL = "#!/bin/sh\necho \"$0 $*\"\ncat \"$0\"\n"
PYTHON = "#!/usr/bin/python3\nimport sys\nprint(sys.argv)\nprint(open(sys.argv[0]).read(), end='')\n"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def tools(box):
    return box.directory("tools")


def pinned(box, path, **more):
    return box.write_policy([box.entry("tool", path=str(path), sha256=digest(path), **more)])


def test_path_is_the_only_directory(box, tools):
    shutil.copy(box.bin / "say_args", tools / "other-name")
    policy = box.write_policy([box.entry("sh", path=str(tools / "other-name"))])
    answer = box.run("sh", "-c", "echo", policy=policy)
    assert answer.stream("stdout") == b"-c\0echo\0"
    assert answer["tool"] == {"name": "sh", "path": str(tools / "other-name")}


def test_tool_that_is_not_at_its_path_is_missing(box, tools):
    policy = box.write_policy([box.entry("sh", path=str(tools / "sh"), install={"apt": "dash"})])
    answer = box.run("sh", "-c", "echo", policy=policy)
    assert (answer.status, answer.outcome, answer["rule"]) == (127, "tool_missing", "tools.sh.path")
    assert str(tools / "sh") in answer.message and "dash" in answer.message


def test_path_inside_the_root_is_refused(box):
    canary = box.canary()
    planted = box.script("root/tool", canary)
    answer = box.run("tool", policy=box.write_policy([box.entry("tool", path=str(planted))]))
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.tool.path")
    assert not canary.exists()


def test_right_digest_runs(box):
    answer = box.run("tool", "word", policy=pinned(box, box.bin / "say_args"))
    assert answer.stream("stdout") == b"word\0"


def test_digest_holds_in_the_search_path_too(box):
    good = box.write_policy([box.entry("say_args", sha256=digest(box.bin / "say_args"))])
    assert box.run("say_args", "word", policy=good).stream("stdout") == b"word\0"
    bad = box.write_policy([box.entry("say_args", sha256=digest(box.bin / "say_env"))])
    answer = box.run("say_args", "word", policy=bad)
    assert (answer.status, answer.outcome, answer["rule"]) == (125, "disallowed", "tools.say_args.sha256")
    assert digest(box.bin / "say_args") in answer.message and digest(box.bin / "say_env") in answer.message
    assert str(box.bin / "say_args") in answer.message


def test_file_that_cannot_be_read_is_refused_with_a_message(user_box):
    if user_box.actor.uid == 0:
        skip("user", "root reads every file")
    tools = user_box.directory("tools")
    shutil.copy(user_box.bin / "say_args", tools / "tool")
    sha256 = digest(tools / "tool")
    (tools / "tool").chmod(0o711)
    entry = user_box.entry("tool", path=str(tools / "tool"))
    assert user_box.run("tool", policy=user_box.write_policy([entry])).status == 0
    answer = user_box.run("tool", policy=user_box.write_policy([{**entry, "sha256": sha256}]))
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.tool.sha256")
    assert "not read" in answer.message


def test_pinned_shell_script_reads_itself(box, tools):
    script = box.file("tools/tool", SHELL, 0o755)
    answer = box.run("tool", "a", "b c", policy=pinned(box, script))
    assert answer.stream("stdout").decode() == "/dev/fd/3 a b c\n" + SHELL
    assert answer["tool"]["path"] == str(script)


def test_pinned_python_script_reads_itself(box, tools):
    script = box.file("tools/tool", PYTHON, 0o755)
    answer = box.run("tool", "a", "b c", policy=pinned(box, script))
    assert answer.stream("stdout").decode() == "['/dev/fd/3', 'a', 'b c']\n" + PYTHON


def test_script_without_a_digest_knows_its_own_name(box, tools):
    script = box.file("tools/tool", SHELL, 0o755)
    answer = box.run("tool", policy=box.write_policy([box.entry("tool", path=str(script))]))
    assert answer.stream("stdout").decode() == f"{script} \n" + SHELL


def test_pinned_script_has_its_copy_open_and_nothing_else(box, tools):
    script = box.file("tools/tool", "#!/bin/sh\nexec ls -l /proc/self/fd\n", 0o755)
    listing = box.run("tool", policy=pinned(box, script)).stream("stdout").decode()
    shown = dict(re.findall(r" (\d+) -> (.*)\n", listing))
    assert "memfd" in shown.pop("3")
    # The shell reads its script by another descriptor; the last one is the directory that ls lists.
    rest = {fd: name for fd, name in shown.items() if int(fd) > 2 and "memfd" not in name}
    assert len(rest) == 1 and "/proc/" in rest.popitem()[1], listing


def test_pinned_script_cannot_change_its_copy(box, tools):
    script = box.file("tools/tool", "#!/bin/sh\necho evil >> /dev/fd/3 || echo kept\n", 0o755)
    assert box.run("tool", policy=pinned(box, script)).stream("stdout") == b"kept\n"


def test_pinned_script_can_be_large(box, tools):
    script = box.file("tools/tool", "#!/bin/sh\necho end\nexit\n" + "# filler\n" * 200000, 0o755)
    assert box.run("tool", policy=pinned(box, script)).stream("stdout") == b"end\n"


@pytest.mark.parametrize("text", ["#!/bin/sh\necho ran\n", "#!/usr/bin/env sh\necho ran\n",
                                  "#!/usr/bin/env -S sh -e\necho ran\n", "#! /bin/sh -e\necho ran\n"])
@pytest.mark.parametrize("pin", [False, True])
def test_script_with_execs_gets_its_interpreter_and_no_more(box, tools, text, pin):
    script = box.file("tools/tool", text + "/bin/cat /dev/null || echo bound\n", 0o755)
    more = {"sha256": digest(script)} if pin else {}
    policy = box.write_policy([box.entry("tool", path=str(script), execs=[], **more)])
    answer = box.run("tool", policy=policy)
    if answer.outcome == "jail_unavailable":
        skip("landlock", answer.message)
    # With -e the shell ends at the failure.
    said = answer.stream("stdout")
    assert said in (b"ran\nbound\n", b"ran\n") and "execs" in answer["layers"], answer.document
    assert b"ermission denied" in answer.stream("stderr")


def test_digest_is_remembered_until_the_file_changes(box, tools):
    tool = box.file("tools/tool", (box.bin / "say_args").read_bytes().ljust(100000, b"\0"), 0o755)
    assert box.host("host_pins", "tool", tool, policy=pinned(box, tool)).out == b"ok\n"


@pytest.mark.parametrize("error, reason", [(errno.ENOSYS, "no Landlock"), (errno.EOPNOTSUPP, "disabled at boot")])
def test_execs_without_landlock_is_refused_and_says_why(box, error, reason):
    policy = box.write_policy([box.entry("true", execs=[]), box.entry("cat")])
    assert reason in box.host("host_nolandlock", error, policy=policy).out.decode()


def test_nested_tool_is_called_by_its_trusted_path(box, tools):
    shutil.copy(box.bin / "say_args", tools / "inner")
    box.own(tools / "inner", 0o755)
    outer = box.entry("say_args", args={"command": "after_options"})
    policy = box.write_policy([outer, box.entry("inner", path=str(tools / "inner"))])
    assert box.run("say_args", "inner", "word", policy=policy).stream("stdout") == f"{tools}/inner\0word\0".encode()


def test_nested_tool_with_a_digest_is_refused(box):
    outer = box.entry("attempt", args={"command": "after_options"})
    policy = box.write_policy([outer, box.entry("say_args", sha256=digest(box.bin / "say_args"))])
    answer = box.run("attempt", "say_args", "word", policy=policy)
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.say_args.sha256")


def test_nested_tool_that_is_missing_is_missing(box):
    outer = box.entry("say_args", args={"command": "after_options"})
    policy = box.write_policy([outer, box.entry("gadget", install={"apt": "gadget-package"})])
    answer = box.run("say_args", "gadget", policy=policy)
    assert (answer.status, answer.outcome) == (127, "tool_missing")
    assert "gadget-package" in answer.message


@pytest.mark.parametrize("outer_execs", [None, []])
@pytest.mark.parametrize("inner_execs", [None, [], ["cat"]])
def test_execs_of_a_chain_are_united(box, outer_execs, inner_execs):
    """One of them has the key: then both may run, with the helpers of both, and nothing else."""
    def maybe(execs):
        return {} if execs is None else {"execs": execs}
    outer = box.entry("strace", args={"command": "after_options", "options": ["-o=<any>", "-f"]}, **maybe(outer_execs))
    policy = box.write_policy([outer, box.entry("sh", **maybe(inner_execs))])
    answer = box.run("strace", "-f", "-o", "/dev/null", "sh", "-c", "echo x | cat; /bin/true && echo free",
                     policy=policy)
    if answer.outcome == "jail_unavailable":
        skip("landlock", answer.message)
    bound = outer_execs is not None or inner_execs is not None
    assert ("execs" in answer["layers"]) == bound, answer.document
    expected = {False: b"x\nfree\n", True: b"x\n" if inner_execs else b""}[bound]
    assert answer.stream("stdout") == expected, answer.document
