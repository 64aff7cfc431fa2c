"""run --json --stream: output as JSON lines while it arrives, and the result as the last line (R26). Every line is checked
against docs/run.schema.json by check_lines."""
import json
import select
import signal
import subprocess
import sys

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from command import SCHEMA, VALIDATOR, check_lines, check_shape, pattern
from feature import scaled

FORM = "--json --stream"
USUAL = settings(deadline=None, database=None, derandomize=True,
                 suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_both_streams_and_the_result(box):
    answer = box.run("sh", "-c", "echo out; echo err >&2; exit 6", form=FORM)
    assert (answer.status, answer["exit_code"], answer.outcome) == (6, 6, "exited")
    assert answer.passed_on == {"stdout": b"out\n", "stderr": b"err\n"}
    assert answer["stdout"] == {"bytes": 4, "truncated": False}
    assert answer.err == b""


def test_a_line_comes_when_the_output_does(user_box):
    script = "echo first; read go; printf '\\303'; read go; printf '\\244\\n'; exit 0"
    process = user_box.popen(["sh", "-c", script], stdin=subprocess.PIPE, shape={"form": FORM, "options": ["--stdin", "-"]})
    first = process.stdout.readline()
    assert json.loads(first) == {"stream": "stdout", "text": "first\n"}
    process.stdin.write(b"go\n")
    process.stdin.flush()
    assert not select.select([process.stdout], [], [], 0.2)[0]  # half of a character waits for the other half
    out, _ = process.communicate(b"go\n", timeout=20)
    _, passed_on = check_lines(first + out)
    assert passed_on["stdout"] == "first\nä\n".encode() and b'"text"' in out.splitlines()[0]


@pytest.mark.parametrize("size", [0, 1, 3023, 3024, 3025, 65536, 300001])
def test_length_does_not_matter(user_box, size):
    answer = user_box.run("flood", str(size), "both", form=FORM)
    assert answer.passed_on == {"stdout": pattern(0, size), "stderr": pattern(0, size)}
    assert (answer["stdout"]["bytes"], answer["stdout"]["truncated"]) == (size, False)


@settings(USUAL, max_examples=scaled(100, 15, 30))
@given(data=st.one_of(st.binary(max_size=9000), st.text(max_size=5000).map(lambda text: text.encode("utf-8", "replace")),
                      st.sampled_from(["\0", "ä", "\u2028", "🙂", '"\\', "\x7f\x85"]).map(lambda text: text.encode() * 2500)))
def test_bytes_come_back_unchanged(user_box, data):
    """Text stays text; the split into lines and the escapes of any byte are undone by a JSON reader."""
    answer = user_box.run("cat", input=data, form=FORM, options=["--stdin", "-"])
    assert answer.stream("stdout") == data
    assert all(byte >= 0x20 or byte == 0x0a for byte in answer.out) and b"\x7f" not in answer.out


def test_text_is_not_base64_because_a_character_is_split(user_box):
    """The reader's pieces, the tool's writes and the lines all end inside of characters."""
    script = "i=0; while [ $i -lt 40 ]; do printf 'a\\360\\237'; printf '\\231\\202\\342'; printf '\\202\\254'; i=$((i+1)); done"
    answer = user_box.run("sh", "-c", script, form=FORM)
    assert answer.stream("stdout") == "a🙂€".encode() * 40
    assert b"base64" not in answer.out


def test_cut_character_at_the_end_is_base64(user_box):
    answer = user_box.run("sh", "-c", "printf 'a\\303'", form=FORM)
    assert [json.loads(line) for line in answer.out.splitlines()[:-1]] == [
        {"stream": "stdout", "text": "a"}, {"stream": "stdout", "base64": "ww=="}]


@pytest.mark.parametrize("argv,outcome,status", [
    (["bash"], "disallowed", 125), (["gone"], "tool_missing", 127), (["sh", "-c", "kill -9 $$"], "signaled", 137),
    (["true"], "exited", 0)])
def test_every_outcome_ends_with_a_result(box, argv, outcome, status):
    policy = box.write_policy([box.entry("gone"), box.entry("true"), box.entry("sh")])
    answer = box.run(*argv, form=FORM, policy=policy)
    assert (answer.outcome, answer.status) == (outcome, status)


def test_wrong_use_is_one_line(user_box):
    answer = user_box.call([user_box.command, "run", "--json", "--stream", "--timeout", "x", "--", "true"])
    assert answer.status == 125
    document, _ = check_lines(answer.out)
    assert document["outcome"] == "invalid"


def test_timeout_is_a_result_after_what_was_printed(user_box):
    answer = user_box.run("sh", "-c", "echo early; exec sleep 60", form=FORM, timeout=1)
    assert (answer.status, answer.outcome, answer.stream("stdout")) == (124, "timeout", b"early\n")
    assert [event["event"] for event in user_box.events(answer)] == ["subproc.timeout"]


def test_interrupt_ends_with_a_result(user_box):
    process = user_box.popen(["sh", "-c", "echo early; exec sleep 60"], shape={"form": FORM})
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    document, passed_on = check_lines(first + out)
    assert (process.returncode, document["outcome"], passed_on["stdout"]) == (130, "cancelled", b"early\n")


def test_events_stay_on_stderr_and_none_is_about_a_copy(user_box):
    answer = user_box.run("flood", "3000000", "both", form=FORM, options=["--verbose"])
    events = [event["event"] for event in user_box.events(answer)]
    assert "subproc.started" in events and "subproc.exited" in events and "subproc.stdout.truncated" not in events
    assert answer["stdout"]["truncated"] is False


def test_max_output_has_no_effect(user_box):
    answer = user_box.run("flood", "1000", "out", form=FORM, options=["--max-output", "100"])
    assert answer.stream("stdout") == pattern(0, 1000)


def test_dry_run_is_one_object(user_box):
    answer = user_box.call(user_box.run_argv(["true"], form=FORM, options=["--dry-run"]))
    assert answer.out.count(b"\n") == 1 and json.loads(answer.out)["decision"] == "allowed"


def test_in_a_jail(cell):
    answer = cell.inside("flood", 100000, "both", form=FORM)
    assert answer.stream("stdout") == answer.stream("stderr") == pattern(0, 100000)


@pytest.mark.parametrize("form", ["--stream", FORM])
def test_keep_head_needs_a_capture(user_box, form):
    answer = user_box.call(user_box.run_argv(["true"], form=form, options=["--keep-head", "5"]))
    assert answer.status == 125 and b"exclude each other" in answer.out + answer.err


def test_schema_refuses_what_the_command_never_prints(user_box):
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    good = user_box.run("true").document
    check_shape(good)
    line = {"stream": "stdout", "text": "x"}
    VALIDATOR.validate(line)
    for bad in ({**line, "base64": "eA=="}, {"stream": "stdout"}, {**line, "stream": "stdin"}, {**line, "more": 1}, {},
                {**good, "outcome": "ok"}, {**good, "stdout": {"bytes": 1}}, {**good, "stream": "stdout"},
                {**good, "stdout": {"bytes": -1, "truncated": False}}, {k: v for k, v in good.items() if k != "rule"}):
        assert not VALIDATOR.is_valid(bad), bad


def test_reader_that_is_slow_gets_everything(user_box):
    process = user_box.popen(["flood", "400000", "both"], shape={"form": FORM, "timeout": 60}, stdout=subprocess.PIPE)
    reader = subprocess.run([sys.executable, "-c", "import sys, time\nwhile b := sys.stdin.buffer.read(65536):\n"
                             " sys.stdout.buffer.write(b); time.sleep(0.01)"],
                            stdin=process.stdout, capture_output=True, timeout=60, check=True)
    assert process.wait(20) == 0
    _, passed_on = check_lines(reader.stdout)
    assert passed_on == {"stdout": pattern(0, 400000), "stderr": pattern(0, 400000)}
