"""Promise: What it may execute.
Attacker: a tool in the native jail. Means: everything that misleads, floods or holds up the process that names refused
executions: a path that changes while it is read, paths at the end of the memory or in none, memory that
cannot be read, thousands of files, processes that are killed while they wait, signals, pipes with a name,
control characters, other values of the arguments that the kernel ignores, its own filter with a listener, the
descriptors of that process, hundreds of processes that ask at once.

Expected (R82): nothing more is executed. The run ends, in time. Each refusal is named once, at most 64, and
the rest is counted. Names are escaped. Only a name can be wrong or missing.
"""
import audit
import pytest

from jails import Cell
from promises import is_in_time, tried

PROGRAM = "/usr/bin/env"
MOST = 64  # CK_DENIALS_MAX


class Watched(Cell):
    """With --why everything else that is refused is named, too."""

    def run(self, *argv, options=(), **shape):
        return super().run(*argv, options=[*options, "--why"], **shape)


@pytest.fixture(params=["listed", "sealed", "why"])
def native(request, box):
    """Without `execs` the tool may execute itself; with an empty list it may execute nothing."""
    cell = (Watched if request.param == "why" else Cell)(box, "native")
    cell.why = request.param == "why"
    if request.param == "sealed":
        cell.policy = cell.write_policy(breach_execs={"execs": []})
    cell.sealed = request.param == "sealed"
    return cell


def denied(answer):
    assert "execs_named" in answer["layers"], answer.document
    return [denial["path"] for denial in answer["denied"] if denial["kind"] == "exec"]


def refused(native, *attack, **shape):
    return native.refused_inside("breach_execs", *attack, errnos="EACCES", **shape)


def test_refusal_is_named(native):
    if not native.sealed:  # else it is refused without a jail, too
        native.succeeds_outside("breach_execs", "plain", "/usr/bin/true")
    answer = refused(native, "plain", PROGRAM)
    assert answer["denied"] == [{"kind": "exec", "path": PROGRAM, "by": "breach_execs", "errno": 13, "add": "uses: [shell]"}]
    assert answer["denied_more"] == 0
    outcome, = [record for record in audit.records(native.box.log) if record["kind"] == "outcome"][-1:]
    assert (outcome["denied"], outcome["denied_more"]) == (answer["denied"], 0)


def test_question_is_named(native):
    """gcc and make ask with access and do not try it."""
    assert denied(refused(native, "checked", PROGRAM)) == [PROGRAM]


@pytest.mark.parametrize("program", ["/nonexistent", "/usr", "/etc/passwd"])
def test_what_is_no_program_is_not_a_refusal(native, program):
    assert denied(native.refused_inside("breach_execs", "plain", program)) == []


def test_path_that_changes_while_it_is_read(native):
    """Whichever of the two is read, the kernel reads the path again, and refuses by what it read."""
    itself = str(native.box.bin / "breach_execs")
    named = denied(refused(native, "swap", itself, PROGRAM))
    # The thread writes byte by byte, so that a mixture of both can be read, too. It is no file.
    assert set(named) <= ({PROGRAM, itself} if native.sealed else {PROGRAM})


def test_flood_is_named_once_and_counted(native):
    answer = refused(native, "flood", 500, timeout=60, deadline=90)
    named = denied(answer)
    assert len(named) == len(set(named)) == MOST and all(name.startswith("/tmp/file-") for name in named)
    # What is not listed is not remembered, so that each of the two attempts counts.
    assert 500 - MOST <= answer["denied_more"] <= 2 * (500 - MOST) + MOST


def test_endless_flood_ends_at_the_timeout(native):
    answer = tried(lambda: native.inside("breach_execs", "endless", timeout=1), lambda answer: is_in_time(answer, 1))
    assert answer.outcome == "timeout"


@pytest.mark.parametrize("way", ["killed", "signals"])
def test_processes_that_do_not_wait_for_the_answer(native, way):
    assert denied(refused(native, way, PROGRAM, timeout=60, deadline=90)) == [PROGRAM]


def test_next_run_of_the_same_warden_is_named_alike(native):
    """Nothing of a run is left in the memory that the next one reports."""
    refused(native, "flood", 80, timeout=60, deadline=90)
    assert denied(refused(native, "plain", PROGRAM)) == [PROGRAM]


def test_memory_that_cannot_be_read(native):
    answer = refused(native, "hidden", PROGRAM)
    assert denied(answer) == ([""] if native.sealed else [])


def test_path_at_the_end_of_the_memory(native):
    assert denied(refused(native, "edge", PROGRAM)) == [PROGRAM]


def test_path_that_is_not_in_memory(native):
    answer = native.refused_inside("breach_execs", "nowhere", errnos="EACCES" if native.sealed else "EFAULT")
    assert denied(answer) == ([""] if native.sealed else [])


def test_pipe_with_a_name_holds_nobody_up(native):
    assert denied(refused(native, "fifo", timeout=20)) == ["/tmp/script"]


def test_control_characters_are_escaped(native):
    answer = refused(native, "control")
    name, = denied(answer)
    assert name == "/tmp/\\x1b[31m\\n\\x27denied: x\\x5c" and answer["denied"][0]["add"] is None
    text = native.run("breach_execs", "control", form=None)
    assert b"\x1b" not in text.err and len(text.err.splitlines()) == (1 if native.why else 2)


def test_written_script_is_named_and_not_suggested(native):
    answer = refused(native, "script", "/bin/sh")
    assert denied(answer) == ["/tmp/script"] and answer["denied"][0]["add"] is None


def test_key_is_not_guessed(native):
    assert denied(refused(native, "keys", PROGRAM, 2000, timeout=60, deadline=90)) == [PROGRAM]


def test_memory_of_others_is_not_read_with_a_guess(native):
    native.refused_inside("breach_execs", "reading", errnos="EPERM")


def test_own_listener_is_refused(native):
    native.succeeds_outside("breach_execs", "listener")
    native.refused_inside("breach_execs", "listener", errnos="EBUSY")


def test_listener_is_out_of_reach(native):
    """Whoever has it could let an execution of a sealed tool continue."""
    native.refused_inside("breach_execs", "grab", errnos="EPERM")


def test_crowd_is_answered(native):
    """Every one of them is answered, and the file is named once."""
    answer = refused(native, "crowd", PROGRAM, 200, timeout=60, deadline=90)
    assert denied(answer) == [PROGRAM] and answer["denied_more"] == 0
