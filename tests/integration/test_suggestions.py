"""A refusal names the nearest tool, subcommand or option that the policy allows, and nothing that is not near."""
import pytest

GRAMMAR = {"options": ["--verbose", "-v"], "deny": ["--exec"],
           "subcommands": [{"name": "status", "options": ["--porcelain=v1|v2", "--branch"], "operands": "inside"},
                           {"name": "image inspect", "options": ["-f="], "operands": "name"}]}


@pytest.fixture
def entries(box):
    return [box.entry("say_args", args=GRAMMAR), box.entry("sleep"), box.entry("jailer", route="jail")]


@pytest.mark.parametrize("argv,suggested", [
    (["say_arg"], "say_args"), (["slepe", "1"], "sleep"), (["Sleep"], "sleep"),
    (["say_args", "stauts"], "status"), (["say_args", "image", "inspcet"], "image inspect"),
    (["say_args", "--verbsoe", "status"], "--verbose"), (["say_args", "-verbose", "status"], "--verbose"),
    (["say_args", "--v", "status"], "-v"), (["say_args", "status", "--porcelian=v1"], "--porcelain"),
    (["say_args", "status", "--porc"], "--porcelain")])
def test_nearest_allowed_name_is_suggested(box, entries, argv, suggested):
    answer = box.run(*argv, policy=box.write_policy(entries))
    assert answer.outcome == "disallowed"
    assert f"(did you mean '{suggested}'?)" in answer.message


@pytest.mark.parametrize("argv", [
    ["bash"], ["jailre"], ["x"], ["say_args", "push"], ["say_args", "-x", "status"], ["say_args", "--exce", "status"],
    ["say_args", "--exec", "status"], ["say_args", "status", "--verbsoe"], ["say_args", "status", "-" + "b" * 1000],
    [b"slee\x1b[31m"], ["say_args", b"\xff\xfe\xfd"]])
def test_what_is_not_near_or_not_allowed_is_not_suggested(box, entries, argv):
    answer = box.run(*argv, policy=box.write_policy(entries))
    assert answer.outcome == "disallowed"
    assert "did you mean" not in answer.message


def test_suggestion_does_not_show_a_credential(box, entries):
    token = "ghp_" + "aB3dE6" * 6
    answer = box.run("say_args", "status", f"--porcelian={token}", policy=box.write_policy(entries))
    assert answer.outcome == "disallowed" and "aB3" not in answer.message


def test_text_is_one_line(user_box):
    answer = user_box.run("slepe", form=None)
    assert answer.status == 125
    assert answer.err.startswith(b"chokepoint: 'slepe' is not in the policy (did you mean 'sleep'?); allowed tools are: ")
    assert answer.err.count(b"\n") == 1
