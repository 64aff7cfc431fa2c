"""Promise: Failure.
Attacker: a tool of an earlier run, or anybody on the machine, that takes the last page of memory or the last
descriptor of the system at the moment at which the command looks at a file.

Means: each system call with which the command opens, reads or examines a file fails once, one after the other, with
ENOMEM or ENFILE; strace injects the error. The runs are by a tool beneath the root, a link out of it, an interpreter with
plug-ins, a tool whose list has a loader, and tools to which directories of the host are shown.

Expected: that run does not take place (`spawn_failed`, with the errno), or it is as usual: the same layers, the same
reports, the same output. A file that could not be looked at is not taken for one that is missing, refused or harmless.
"""
import glob
import json
import os
import shutil

import pytest

from feature import full, skip
from jails import OPENED

LOADER = os.path.realpath(glob.glob("/lib*/ld-linux-*.so.[0-9]")[0])

CALLS = {"openat2": "ENFILE", "openat": "ENFILE", "readlink": "ENOMEM", "getdents64": "ENOMEM", "newfstatat": "ENOMEM",
         "pread64": "ENOMEM", "statx": "ENOMEM", "readlinkat": "ENOMEM"}
# Some have hundreds of calls. A full run has all.
USUAL = [("link", "openat2"), ("link", "readlink"), ("plugins", "getdents64"), ("loader", "readlink"), ("loader", "newfstatat"),
         ("machine", "newfstatat"), ("overlay", "getdents64")]

RUNS = {
    "link": (["tool"], {"path": "./tool", **OPENED}),
    "script": (["script"], {"path": "./script", **OPENED}),
    "plugins": (["php", "-r", "new DOMDocument(); echo 'loaded';"], OPENED),  # it has one directory of them
    "loader": (["sh", "-c", f"{LOADER} /usr/lib/git-core/git --version; echo $?"], {"execs": [LOADER]}),
    "overlay": (["sh", "-c", "echo x > new"], {"workspace": "overlay", "execs": []}),
    "reads": (["true"], {"reads": ["/opt"]}),
    "machine": (["true"], {}),  # with a link to /run in `reads`, which is refused
}
SAME = ("outcome", "exit_code", "signal", "stdout", "jail", "layers", "workspace_code", "denied", "limits")


@pytest.fixture
def prepared(user_box):
    (user_box.root / "tool").symlink_to("/usr/bin/true")
    (user_box.base / "machine").symlink_to("/run")
    user_box.own(user_box.directory("traced"))
    user_box.file("root/script", "#!/bin/sh\necho here\n", 0o755)
    return user_box


def failing(box, command, call):
    """Calls the command with one failed call after the other: (the call, the answer), until there is no call more."""
    log = box.base / "traced/log"
    for number in range(1, 1000):
        shutil.rmtree(box.home / ".cache", ignore_errors=True)  # plug-ins are searched, not remembered
        answer = box.call(["strace", "-qq", "-o", log, "-e", f"trace={call}", "-e",
                           f"inject={call}:error={CALLS[call]}:when={number}", *command])
        failed = next((line for line in log.read_text().splitlines() if "(INJECTED)" in line), None)
        log.unlink()
        if failed is None:
            assert number > 1 or call == "statx", "no call was made to fail"
            return
        yield failed, answer


def is_cautious(changes, usual):
    """A file that could not be read counts as one that runs later."""
    return changes == [{**one, "runs_later": one["runs_later"] or found["runs_later"]}
                       for one, found in zip(usual, changes)] and len(changes) == len(usual)


@pytest.mark.parametrize("name, call", [(name, call) for name in RUNS for call in CALLS] if full() else USUAL)
def test_call_that_fails_once_decides_nothing(prepared, name, call):
    argv, keys = RUNS[name]
    if not shutil.which(argv[0], path="/usr/bin") and "path" not in keys:
        skip(argv[0], f"{argv[0]} is not installed")
    keys = {**keys, **({"reads": [f"{prepared.base}/machine"]} if name == "machine" else {})}
    policy = prepared.write_policy([prepared.entry(argv[0], route="external", **keys)])
    command = prepared.run_argv(argv, policy=policy)
    usual = json.loads(prepared.call(command).out)
    assert usual["outcome"] == ("disallowed" if name == "machine" else "exited"), usual
    for failed, answer in failing(prepared, command, call):
        document = json.loads(answer.out) if answer.out else None
        if document is None or document["outcome"] == "spawn_failed":
            continue  # without a document, the loader ended the command
        if document["outcome"] == "policy" and "cannot open policy" in document["error"]["message"]:
            continue  # there is nothing to run by
        assert {key: document[key] for key in SAME} == {key: usual[key] for key in SAME}, (failed, document)
        assert document["changes_incomplete"] or is_cautious(document["changes"] or [], usual["changes"] or []), (failed, document)


def test_directory_that_is_not_empty_is_not_kept_into(prepared):
    policy = prepared.write_policy([prepared.entry("sh", route="external", workspace="overlay", execs=[])])
    prepared.own(prepared.directory("kept", 0o700))
    mine = prepared.file("kept/new", "mine\n")
    command = prepared.run_argv(["sh", "-c", "echo x > new"], policy=policy, options=["--keep", str(mine.parent)])
    usual = json.loads(prepared.call(command).out)
    assert usual["outcome"] != "exited", usual
    for failed, answer in failing(prepared, command, "getdents64"):
        assert json.loads(answer.out)["outcome"] != "exited" and mine.read_text() == "mine\n", (failed, answer)


def test_record_that_was_not_read_is_not_new(prepared):
    """A widening is covered by a new record. If the older ones are not all read, each would be one."""
    entry = prepared.entry("true", route="external", execs=[])
    for name, keys in (("before", {}), ("after", {"egress": ["a.example.org"]})):
        prepared.directory(name)
        prepared.directory(f"{name}/adr")
        for number in ("0001", "0002", "0003"):
            prepared.file(f"{name}/adr/{number}-a.md", "# A\n")
        prepared.file(f"{name}/policy.yaml", json.dumps({"version": 1, "search_path": ["/usr/bin"], "adr_dir": "adr",
                                                         "tools": [{**entry, **keys}]}), 0o600)
    command = [prepared.command, "policy", "diff", *(str(prepared.base / name / "policy.yaml") for name in ("before", "after"))]
    assert prepared.call(command).status == 1
    for failed, answer in failing(prepared, command, "getdents64"):
        assert answer.status != 0, (failed, answer)


def test_deleted_log_is_not_begun_again(prepared):
    """Its rotated files show that it was there. If they are not seen, the deletion is not noticed."""
    command = prepared.run_argv(["true"], options=["--audit-max", "1000"])
    while not [path for path in prepared.log.parent.iterdir() if path.stem.startswith(f"{prepared.log.stem}-")]:
        assert prepared.call(command).status == 0
    prepared.log.unlink()
    assert prepared.call(command).status == 125
    for failed, answer in failing(prepared, command, "getdents64"):
        assert answer.status == 125 and not prepared.log.exists(), (failed, answer)


def test_capability_that_is_not_dropped_ends_the_run(root_box):
    """PR_CAPBSET_DROP copies the credentials, so it can lack memory. Here it does in each process, also in those of the
    proof: the jail is not taken for one that does not work here, and no weaker one is used."""
    log = root_box.base / "log"
    command = root_box.run_argv(["true"], policy=root_box.write_policy([root_box.entry("true", route="external")]))
    assert json.loads(root_box.call(command).out)["jail"] == "native"
    answer = root_box.call(["strace", "-f", "-qq", "-o", log, "-e", "trace=prctl", "-e", "inject=prctl:error=ENOMEM:when=10",
                            *command])
    lines = [line for line in log.read_text().splitlines() if "(INJECTED)" in line]
    assert any("PR_CAPBSET_DROP" in line for line in lines), lines
    assert json.loads(answer.out)["outcome"] == "spawn_failed", answer


LOCKED = {"policy": (["sh", "-c", "echo no"], ["--policy", "{policy}"]), "log": (["say_args"], ["--no-audit"]),
          "roots": (["say_args"], []), "record": (["say_env"], []), "jail": (["rg", "--version"], ["--jail", "none"])}


@pytest.mark.parametrize("call", CALLS if full() else ["openat2", "getdents64"])
@pytest.mark.parametrize("name", LOCKED)
def test_lock_holds_when_a_look_fails(machine_box, name, call):
    """Of the machine's policy, its records, the root and its home."""
    box = machine_box
    tools = [box.entry("say_args"), box.entry("say_env", adr="0002"), box.entry("rg", route="external")]
    box.install(tools, locked=True, **({"roots": [str(box.directory("allowed"))]} if name == "roots" else {}))
    box.own(box.directory("traced"))
    argv, options = LOCKED[name]
    command = box.run_argv(argv, options=[option.format(policy=box.policy) for option in options], policy="default", audit="default")
    assert json.loads(box.call(command).out)["outcome"] == "disallowed"
    for failed, answer in failing(box, command, call):
        assert answer.status in (125, 127), (failed, answer)


@pytest.mark.parametrize("errnum", ["EMFILE", "EIO", "EINTR", "EACCES", "ESTALE", "ENOTDIR"])
def test_failed_look_is_not_a_missing_file(machine_box, errnum):
    """The first openat2 of the command looks for the machine's policy. ENOENT alone means that there is none."""
    box = machine_box
    box.install([box.entry("say_args")], locked=True)
    box.own(box.directory("traced"))
    log = box.base / "traced/log"
    command = box.run_argv(["sh", "-c", "echo no"], options=["--no-audit"])  # by another policy
    when = "1+" if errnum == "EINTR" else "1"  # an interrupted call is repeated
    for injected, outcome in ((f"error={errnum}:when={when}", {"spawn_failed", "policy"}), ("error=ENOENT:when=1", {"exited"})):
        answer = box.call(["strace", "-qq", "-o", log, "-e", "trace=openat2", "-e", f"inject=openat2:{injected}", *command])
        assert '"/etc/chokepoint/policy.yaml"' in log.read_text().splitlines()[0]
        document = json.loads(answer.out)
        assert document["outcome"] in outcome and (answer.status == 125) == ("exited" not in outcome), document
        assert outcome == {"exited"} or "/etc/chokepoint/policy.yaml" in document["error"]["message"], document
