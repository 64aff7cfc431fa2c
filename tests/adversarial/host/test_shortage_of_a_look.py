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
USUAL = [("link", "openat2"), ("link", "readlink"), ("plugins", "getdents64"), ("loader", "readlink"), ("machine", "newfstatat")]

RUNS = {
    "link": (["tool"], {"path": "./tool", **OPENED}),
    "script": (["script"], {"path": "./script", **OPENED}),
    "plugins": (["php", "-r", "new DOMDocument(); echo 'loaded';"], OPENED),  # it has one directory of them
    "loader": (["sh", "-c", f"{LOADER} /usr/lib/git-core/git --version; echo $?"], {"execs": [LOADER]}),
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


def called(box, policy, argv, inject=()):
    """The document, and the call that failed; None: there are fewer calls. The loader may end the command itself."""
    log = box.base / "traced/log"
    shutil.rmtree(box.home / ".cache", ignore_errors=True)  # plug-ins are searched, not remembered
    answer = box.call([*inject, *box.run_argv(argv, policy=policy)])
    failed = [line for line in log.read_text().splitlines() if "(INJECTED)" in line] if inject else []
    log.unlink(missing_ok=True)
    return json.loads(answer.out) if answer.out else None, next(iter(failed), None)


@pytest.mark.parametrize("name, call", [(name, call) for name in RUNS for call in CALLS] if full() else USUAL)
def test_call_that_fails_once_decides_nothing(prepared, name, call):
    argv, keys = RUNS[name]
    if not shutil.which(argv[0], path="/usr/bin") and "path" not in keys:
        skip(argv[0], f"{argv[0]} is not installed")
    keys = {**keys, **({"reads": [f"{prepared.base}/machine"]} if name == "machine" else {})}
    policy = prepared.write_policy([prepared.entry(argv[0], route="external", **keys)])
    usual, _ = called(prepared, policy, argv)
    assert usual["outcome"] == ("disallowed" if name == "machine" else "exited"), usual
    for number in range(1, 1000):
        document, failed = called(prepared, policy, argv, [
            "strace", "-qq", "-o", str(prepared.base / "traced/log"), "-e", f"trace={call}", "-e",
            f"inject={call}:error={CALLS[call]}:when={number}"])
        if failed is None:
            break
        if document is None or document["outcome"] == "spawn_failed":
            continue
        if document["outcome"] == "policy" and "cannot open policy" in document["error"]["message"]:
            continue  # there is nothing to run by
        assert {key: document[key] for key in SAME} == {key: usual[key] for key in SAME}, (failed, document)
    assert number > 1 or call == "statx", "no call was made to fail"
