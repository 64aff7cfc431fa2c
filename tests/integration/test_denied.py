"""R82: what a jail refused to execute is named, with the line of the policy that would help."""
import shutil

import pytest

import audit
from feature import skip
from no_userns import NoUserns, WAYS, on_fake_kernel
from promises import given_time

NATIVE = ["--jail", "native"]
OFFER = "denied: run with --why to see everything that was refused"


def needs(program):
    if not shutil.which(program, path="/usr/bin:/bin"):
        skip(program, f"{program} is not installed")


class Own:
    """A user's own tools: entries of a few lines, with nothing but what they must have."""

    def __init__(self, box):
        self.box = box

    def run(self, *argv, jail="native", form="--json", **keys):
        self.policy = self.box.write_policy(
            [self.box.entry(argv[0], route="external", **keys), self.box.entry("bwrap", route="jail")],
            search_path=["/usr/bin", "/bin", "/usr/local/bin"])
        return self.box.run(*argv, policy=self.policy, options=["--jail", jail], form=form)

    def denied(self, *argv, **keys):
        """As (path, by, add). The event and the record say the same."""
        answer = self.run(*argv, **keys)
        assert "execs_named" in answer["layers"] and answer["denied_more"] == 0, answer.document
        events = [event for event in self.box.events(answer) if event["event"] == "subproc.denied"]
        outcome = [record for record in audit.records(self.box.log) if record["kind"] == "outcome"][-1]
        assert (outcome["denied"], outcome["denied_more"]) == (answer["denied"], 0)
        for event, denial in zip(events, answer["denied"], strict=True):
            assert {**denial, "errno": str(denial["errno"]), "add": denial["add"] or ""} == {
                key: event.get(key, "") for key in denial}
            assert (event["level"], event["tool"]) == ("warning", argv[0])
        return [(denial["path"], denial["by"], denial["add"]) for denial in answer["denied"]]


@pytest.fixture
def own(box):
    return Own(box)


@pytest.fixture
def compiler(own):
    needs("gcc")
    own.box.file("root/a.c", "int main(void) { return 0; }\n")
    path = own.box.call(["gcc", "-print-prog-name=cc1"]).out.decode().strip()
    assert path.startswith("/")
    return path


def test_gcc_without_its_compiler(own, compiler):
    assert own.denied("gcc", "-c", "a.c", "-o", "/tmp/a.o") == [(compiler, "gcc", "uses: [c-compiler]")]
    answer = own.run("gcc", "-c", "a.c", "-o", "/tmp/a.o", form=None)
    assert answer.err.decode().splitlines()[-2] == (
        f"denied: gcc tried to execute {compiler} (not in execs); add  uses: [c-compiler]")


def test_suggested_line_is_enough(own, compiler):
    assert own.denied("gcc", "a.c", "-o", "/tmp/a", uses=["c-compiler"]) == []
    assert own.run("gcc", "a.c", "-o", "/tmp/a", uses=["c-compiler"]).status == 0


def test_suggested_execs_are_enough(own):
    """Each line is added as it is suggested, until the tool works."""
    needs("openssl")
    line = ("/usr/bin/openssl", "sh", "execs: [openssl]")
    assert own.denied("sh", "-c", "openssl version") == [line]
    assert own.denied("sh", "-c", "openssl version", execs=["openssl"]) == []
    assert own.run("sh", "-c", "openssl version", execs=["openssl"]).status == 0


def test_make_without_a_shell(own):
    needs("make")
    own.box.file("root/Makefile", "all:\n\techo one; echo two\n")
    assert own.denied("make") == [("/bin/sh", "make", "uses: [shell]")]
    assert own.denied("make", uses=["shell"]) == []
    assert own.run("make", uses=["shell"])["stdout"]["text"].endswith("one\ntwo\n")


def test_subprocess_of_python(own):
    needs("python3")
    code = "import subprocess; subprocess.run(['ls'])"
    assert own.denied("python3", "-c", code) == [("/usr/bin/ls", "python3", "uses: [shell]")]
    answer = own.run("python3", "-c", code, form="--stream")
    assert answer.err.decode().splitlines()[-2] == (
        "denied: python3 tried to execute /usr/bin/ls (not in execs); add  uses: [shell]")


def test_helper_is_named_as_who_tried(own):
    found = own.denied("sh", "-c", "env ls", execs=["env"])
    assert found == [("/usr/bin/ls", "env", "uses: [shell]")]


def test_relative_path_is_shown_in_full(own):
    own.box.file("root/tool", "#!/bin/sh\n", mode=0o755)
    assert own.denied("sh", "-c", "cd /usr/bin && ./env; cd /work && ./tool") == [
        ("/usr/bin/env", "sh", "uses: [shell]"), ("/work/tool", "sh", None)]


def test_missing_program_is_not_a_refusal(own):
    assert own.denied("sh", "-c", "no-such-program; /no/such/program; exit 3") == []


def test_tool_that_may_execute_nothing(own):
    assert own.denied("sh", "-c", "ls; exit 3", execs=[]) == [("/usr/bin/ls", "sh", "uses: [shell]")]


@pytest.mark.parametrize("program", ["su", "passwd"])
def test_program_with_privileges_is_not_suggested(own, program):
    assert own.denied("sh", "-c", f"/usr/bin/{program}") == [(f"/usr/bin/{program}", "sh", None)]
    answer = own.run("sh", "-c", f"/usr/bin/{program}", form=None)
    assert answer.err.decode().endswith(
        f"denied: sh tried to execute /usr/bin/{program} (not in execs); ask the owner of the policy\n{OFFER}\n")


def test_tool_that_succeeds_says_nothing(own):
    answer = own.run("sh", "-c", "ls 2> /dev/null; exit 0", form=None)
    assert (answer.status, answer.err) == (0, b"")


def test_more_than_three_are_counted(own):
    answer = own.run("sh", "-c", "exec 2> /dev/null; ls; env; cat; id; exit 1", form=None)
    lines = answer.err.decode().splitlines()
    assert len(lines) == 3 and lines[2] == "denied: 2 more; run with --why to see everything that was refused"


def test_run_that_times_out_is_reported_too(own):
    policy = own.box.write_policy([own.box.entry("sh", route="external", execs=["sleep"])])
    answer = given_time(lambda timeout: own.box.run("sh", "-c", "ls; sleep 1000", policy=policy, options=NATIVE, timeout=timeout),
                        lambda answer: answer["denied"])
    assert answer.outcome == "timeout" and [denial["path"] for denial in answer["denied"]] == ["/usr/bin/ls"]


def test_execution_that_is_allowed_is_not_named(own):
    found = own.denied("sh", "-c", "for i in 1 2 3 4 5; do /usr/bin/env true; done", execs=["env", "true"])
    assert found == []


def test_egress_shares_the_listener(own):
    policy = own.box.write_policy([own.box.entry("sh", route="external", egress=["a.example.org"])])
    answer = own.box.run("sh", "-c", "ls; exit 4", policy=policy, options=[*NATIVE, "--egress", "a.example.org"])
    assert {"egress_named", "execs_named"} <= set(answer["layers"]) and answer.status == 4
    assert [denial["path"] for denial in answer["denied"]] == ["/usr/bin/ls"]


@pytest.mark.parametrize("jail", ["bwrap", "none"])
def test_null_where_nobody_watches(own, jail):
    answer = own.run("sh", "-c", "ls; exit 5", jail=jail)
    if answer.outcome == "jail_unavailable":
        skip(jail, answer.message)
    assert answer["denied"] is None and answer["denied_more"] == 0 and "execs_named" not in answer["layers"]
    answer = own.run("sh", "-c", "/usr/bin/no-such-program; exit 5", jail=jail, form=None)
    assert answer.status == 5 and b"denied: " not in answer.err


def test_kernel_that_cannot_notify(user_box):
    policy = user_box.write_policy([user_box.entry("sh", route="external")])
    answer = on_fake_kernel(user_box, "unasked", "sh", "-c", "ls; exit 6", policy=policy, options=NATIVE)
    assert (answer.status, answer["jail"], answer["denied"]) == (6, "native", None)
    assert "execs" in answer["layers"] and "execs_named" not in answer["layers"]


@pytest.mark.parametrize("way", WAYS)
def test_native_jail_without_user_namespaces(user_box, way):
    answer = NoUserns(user_box, way).run("attempt", "plain", "/usr/bin/env")
    assert answer["denied"] is None and "execs_named" not in answer["layers"]


@pytest.mark.parametrize("loopback", [False, True])
def test_execution_beneath_the_root_is_not_named_with_workspace_code(own, loopback):
    own.box.file("root/tool", "#!/bin/sh\n/usr/bin/env true\n", mode=0o755)
    keys = {"workspace": "ro", "loopback": True} if loopback else {"workspace": "ro"}
    assert own.denied("sh", "-c", "./tool; exit 1", workspace_code=True, **keys) == [
        ("/usr/bin/env", "sh", "uses: [shell]")]
    assert own.denied("sh", "-c", "./tool; exit 1", **keys) == [
        (("/work/tool"), "sh", None)]


def test_script_whose_interpreter_is_refused(own):
    """The script may be executed, its interpreter may not."""
    own.box.file("root/tool", "#!/usr/bin/awk -f\n", mode=0o755)
    assert own.denied("sh", "-c", "./tool", workspace="ro", workspace_code=True) == [
        ("/usr/bin/awk", "sh", "uses: [shell]")]
