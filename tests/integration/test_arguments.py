"""An argument of any bytes reaches the tool unchanged (R11)."""
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feature import scaled

USUAL = settings(deadline=None, database=None, derandomize=True,
                 suppress_health_check=[HealthCheck.function_scoped_fixture])
WORD = st.binary(max_size=200).map(lambda data: data.replace(b"\0", b""))


@settings(USUAL, max_examples=scaled(100, 25, 40))
@given(args=st.lists(WORD, max_size=20))
def test_arguments_come_back_unchanged(user_box, args):
    answer = user_box.run("say_args", *args)
    assert answer.status == 0
    assert answer.stream("stdout") == b"".join(word + b"\0" for word in args)


@settings(USUAL, max_examples=scaled(60, 15, 25))
@given(data=st.binary(max_size=5000), cap=st.integers(min_value=18, max_value=6000))
def test_output_is_kept_as_r20_says(user_box, data, cap):
    answer = user_box.run("cat", input=data, options=["--stdin", "-", "--max-output", str(cap)])
    mark = b"...[TRUNCATED]..."
    expected = data if len(data) <= cap else mark + data[len(data) - cap + len(mark):]
    assert answer.stream("stdout") == expected
    assert answer["stdout"]["bytes"] == len(data)


@settings(USUAL, max_examples=scaled(60, 15, 25))
@given(name=WORD.filter(lambda word: word.decode("latin-1") not in ("sh", "true")))
def test_no_other_name_runs(user_box, name):
    policy = user_box.write_policy([user_box.entry("sh"), user_box.entry("true")])
    answer = user_box.run(name, policy=policy)
    assert answer.status == 125
    assert answer.outcome in ("disallowed", "invalid")
