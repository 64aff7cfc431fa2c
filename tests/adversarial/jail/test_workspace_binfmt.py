"""Promise: What it may execute.
Attacker: the repository, on a machine where root has registered a handler of binfmt_misc (qemu, for foreign programs).
Means: a file beneath the root for which the kernel starts the handler's program, with each flag that decides how that
program is found. With F the kernel opened it when it was registered, so neither a mount nor Landlock is asked again.

Expected: without `workspace_code` no such file is executed. With it, a handler with F starts its program, and no other
does. SECURITY and docs/adr/0052 say so: that program has what the jail has, as a copy of it beneath the root would.
"""
import json
import shutil

import pytest

from feature import skip
from jails import JAILS, OPENED

SECRET = "what the owner keeps to himself"
# A binfmt_misc of a user namespace is its own (Linux 6.7), so nothing is registered on the machine.
ENTER = """set -e
mount -t binfmt_misc handlers "$1"
echo ":attack:M::MAGIC::$2:$3" > "$1/register"
shift 3
exec "$@"
"""


@pytest.fixture(params=JAILS)
def run(request, root_box):
    box = root_box
    handlers = box.directory("handlers")
    box.file("root/program", "MAGIC\n", 0o755)
    box.file("outside/secret", SECRET, 0o644)
    shutil.copy("/usr/bin/cat", box.base / "own-cat")

    def call(program, flags, keys):
        tools = [box.entry("env", route="external", **keys), box.entry("bwrap", route="jail")]
        policy = box.write_policy(tools, name="policy/binfmt.yaml")
        argv = ["env", "./program", str(box.base / "outside/secret")]
        within = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", ENTER, "sh", str(handlers), program, flags]
        if box.call([*within, "true"]).status != 0:
            skip("binfmt_misc", "no binfmt_misc in a user namespace")
        plain = box.call([*within, *argv])
        assert SECRET.encode() in plain.out, plain
        return json.loads(box.call([*within, *box.run_argv(argv, policy=policy, options=["--jail", request.param])]).out)

    call.box = box
    return call


@pytest.mark.parametrize("flags", ["", "F", "C", "FC"])
def test_file_of_the_root_is_not_executed_by_a_handler(run, flags):
    for program in ("/usr/bin/cat", str(run.box.base / "own-cat")):
        document = run(program, flags, {"workspace": "rw", "execs": []})
        assert (document["outcome"], document["exit_code"]) == ("exited", 126) and not document["stdout"]["text"], document


@pytest.mark.parametrize("flags", ["", "C"])
def test_workspace_code_starts_no_handler_that_is_looked_up(run, flags):
    document = run("/usr/bin/cat", flags, {**OPENED, "execs": []})
    assert (document["outcome"], document["exit_code"]) == ("exited", 126) and not document["stdout"]["text"], document


@pytest.mark.parametrize("flags", ["F", "FC"])
def test_handler_that_was_opened_before_is_in_the_jail(run, flags):
    """Should it fail to start one day, the documents have to change with it."""
    for program in ("/usr/bin/cat", str(run.box.base / "own-cat")):
        document = run(program, flags, {**OPENED, "execs": []})
        assert document["stdout"]["text"] == "MAGIC\n", document  # it was started, with the file
        assert SECRET not in json.dumps(document) and "No such file" in document["stderr"]["text"], document
