"""The cap (R20): at or under it the bytes are untouched; over it the head that was asked for, the marker and the last
bytes, exactly the cap."""
import pytest

from command import MARK, pattern


@pytest.mark.parametrize("size", [0, 1, 17, 18, 4095, 4096, 65535, 65536, 65537, 200000])
def test_under_the_cap_nothing_is_touched(user_box, size):
    answer = user_box.run("flood", str(size), "both", options=["--max-output", "200000"])
    for name in ("stdout", "stderr"):
        assert answer.stream(name) == pattern(0, size)
        assert (answer[name]["bytes"], answer[name]["truncated"]) == (size, False)


@pytest.mark.parametrize("cap", [18, 19, 100, 4096, 65536, 100001])
@pytest.mark.parametrize("over", [1, 16, 17, 18, 65537, 1000003])
def test_over_the_cap_the_tail_is_kept(user_box, cap, over):
    size = cap + over
    answer = user_box.run("flood", str(size), "both", options=["--max-output", str(cap)])
    for name in ("stdout", "stderr"):
        assert answer.stream(name) == MARK + pattern(size - cap + len(MARK), size)
        assert (answer[name]["bytes"], answer[name]["truncated"]) == (size, True)


@pytest.mark.parametrize("cap,head", [(19, 1), (100, 1), (100, 40), (100, 82), (65536, 1000), (100001, 50000),
                                      (100001, 99983), (1 << 20, 5000)])
@pytest.mark.parametrize("over", [0, 1, 17, 18, 65537, 1000003])
def test_over_the_cap_the_head_is_kept_too(user_box, cap, head, over):
    size = cap + over
    answer = user_box.run("flood", str(size), "both", options=["--max-output", str(cap), "--keep-head", str(head)])
    rest = MARK + pattern(size - cap + len(MARK) + head, size)
    for name in ("stdout", "stderr"):
        assert answer.stream(name) == (pattern(0, head) + rest if over else pattern(0, size))
        assert (answer[name]["bytes"], answer[name]["truncated"]) == (size, over > 0)


@pytest.mark.parametrize("options", [["--max-output", "100", "--keep-head", "83"], ["--max-output", "18", "--keep-head", "1"],
                                     ["--keep-head", str((64 << 20) - 17)], ["--keep-head", str(1 << 62)]])
def test_head_that_leaves_no_room_for_the_end_is_invalid(box, options):
    answer = box.run("true", options=options)
    assert (answer.status, answer.outcome) == (125, "invalid")
    assert "--keep-head is too large" in answer.message


def test_largest_head_leaves_one_byte_of_the_end(box):
    answer = box.run("flood", "1000", "out", options=["--max-output", "100", "--keep-head", "82"])
    assert answer.stream("stdout") == pattern(0, 82) + MARK + pattern(999, 1000)


def test_streams_are_capped_apart(user_box):
    script = f"'{user_box.bin}/flood' 1000 out; '{user_box.bin}/flood' 50 err"
    answer = user_box.run("sh", "-c", script, options=["--max-output", "100"])
    assert (answer["stdout"]["truncated"], answer["stderr"]["truncated"]) == (True, False)
    assert len(answer.stream("stderr")) == 50
    events = [event for event in user_box.events(answer) if event["event"] == "subproc.stdout.truncated"]
    assert [(event["stream"], event["level"]) for event in events] == [("stdout", "warning")]


def test_one_event_for_each_truncated_stream(user_box):
    answer = user_box.run("flood", "1000", "both", options=["--max-output", "100", "--probe", "some_probe"])
    events = [event for event in user_box.events(answer) if event["event"] == "subproc.stdout.truncated"]
    assert sorted(event["stream"] for event in events) == ["stderr", "stdout"]
    assert {event["probe_name"] for event in events} == {"some_probe"}


@pytest.mark.parametrize("cap", ["0", "1", "17"])
def test_cap_without_room_for_the_marker_is_invalid(user_box, cap):
    answer = user_box.run("true", options=["--max-output", cap])
    assert (answer.status, answer.outcome) == (125, "invalid")
    assert "18" in answer.message


@pytest.mark.parametrize("cap", ["-1", "abc", "1.5", "", "18x", "99999999999999999999999", "0x100", "1M"])
def test_cap_that_is_no_number_is_invalid(user_box, cap):
    answer = user_box.call(user_box.run_argv(["true"], options=["--max-output", cap]))
    assert answer.status == 125


def test_absurd_cap_costs_nothing_until_it_is_used(user_box):
    answer = user_box.run("say_args", "x", options=["--max-output", str(1 << 62)])
    assert (answer.status, answer.stream("stdout")) == (0, b"x\0")


def test_default_cap_is_64_mib(user_box):
    cap = 64 << 20
    answer = user_box.run("flood", str(cap + 1), "out")
    assert answer["stdout"]["truncated"] is True
    assert len(answer.stream("stdout")) == cap
    assert answer["stdout"]["bytes"] == cap + 1
    answer = user_box.run("flood", str(cap), "out")
    assert answer["stdout"]["truncated"] is False


def test_stream_form_is_not_truncated(user_box):
    answer = user_box.run("flood", "300000", "both", form="--stream", options=["--max-output", "100"])
    assert answer.status == 0
    assert answer.out == pattern(0, 300000)
    assert pattern(0, 300000) in answer.err


def test_text_form_without_a_cap_is_not_truncated(user_box):
    """Also beyond the copy that is kept in memory, and without an event about that."""
    size = (64 << 20) + 1
    answer = user_box.run("flood", str(size), "out", form=None)
    assert (answer.status, len(answer.out), answer.err) == (0, size, b"")
    assert answer.out == pattern(0, size)


def test_text_form_shows_the_head(user_box):
    answer = user_box.run("flood", "1000", "out", form=None, options=["--max-output", "100", "--keep-head", "10"])
    assert answer.out == pattern(0, 10) + MARK + pattern(1000 - 73, 1000)


def test_text_form_shows_the_capped_bytes(user_box):
    answer = user_box.run("flood", "1000", "out", form=None, options=["--max-output", "100"])
    assert answer.out == MARK + pattern(1000 - 83, 1000)
