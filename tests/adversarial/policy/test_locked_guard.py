"""Promise: The machine's policy.
Attacker: whoever writes the command line of the command, and is not root. Means: a profile of the
build that makes a shell a carrier, another policy with carriers of its own, another log, a carrier
or a profile whose decision record does not exist; a secret for a host that the policy does not list.

Expected (R9): a locked policy alone decides which profiles there are, and each refusal says so.
Without the lock each of these succeeds.
"""
import pytest

from machine import is_locked_message

OWN = {"name": "own", "why": "w", "adr": "0001", "carriers": ["sh"]}
SAY = ("sh", "-c", "echo ran")


def guard(box, *options, program=SAY):
    return box.call([box.command, "guard", "--root", str(box.root), "--cwd", str(box.root), "--quiet", *options, "--",
                     *program])


def install(box, locked, tools=(), **section):
    shell = box.entry("sh", route="external", execs=[])
    box.install(tools=[shell, *tools], locked=locked, **({"guard": section} if section else {}))


def refused(answer):
    assert answer.status == 125 and b"ran" not in answer.out.split(), answer
    assert is_locked_message(answer.err.decode()), answer.err


def test_profile_that_the_file_does_not_name_is_refused(machine_box):
    box = machine_box
    install(box, False, carriers=["sh"])
    assert guard(box, "--profile", "ci").out == b"ran\n"
    install(box, True, carriers=["sh"])
    refused(guard(box, "--profile", "ci"))
    assert guard(box).out == b"ran\n"  # what the file itself allows


@pytest.mark.parametrize("section, name", [({"shipped": ["ci"]}, "ci"), ({"profiles": [OWN]}, "own")])
def test_profile_that_the_file_names_is_used(machine_box, section, name):
    install(machine_box, True, **section)
    assert guard(machine_box, "--profile", name).out == b"ran\n"
    kinds = [record["kind"] for record in machine_box.recorded()]
    assert kinds == ["begin", "guard_begin", "guard_end"]


def test_another_policy_is_refused(machine_box):
    box = machine_box
    other = box.file("policy/other.yaml", '{"version": 1, "extends": "default", "catalog": ["sh"], "guard": {"carriers": ["sh"]}}',
                     0o600)
    install(box, False)
    assert guard(box, "--policy", str(other)).out == b"ran\n"
    install(box, True)
    refused(guard(box, "--policy", str(other)))


@pytest.mark.parametrize("options", [["--no-audit"], ["--audit", "audit.jsonl"]])
def test_log_is_not_chosen(machine_box, options):
    install(machine_box, True, carriers=["sh"])
    refused(guard(machine_box, *options))


def test_carrier_without_its_record_is_refused(machine_box):
    box = machine_box
    agent = {**box.entry("cat", route="external", execs=[]), "adr": "0099"}
    install(box, False, tools=[agent], carriers=["sh", "cat"])
    assert guard(box).out == b"ran\n"
    install(box, True, tools=[agent], carriers=["sh", "cat"])
    refused(guard(box))


def test_profile_without_its_record_is_refused(machine_box):
    install(machine_box, True, profiles=[{**OWN, "adr": "0099"}])
    refused(guard(machine_box, "--profile", "own"))


def test_secret_opens_no_host(machine_box):
    """It is the caller's, so a locked policy does not refuse it; the hosts are the policy's."""
    box = machine_box
    install(box, True, carriers=["sh"], egress=["model.example.org:443"])
    path = box.file("policy/key", "Bearer word\n", 0o600)
    answer = guard(box, "--secret", f"model.example.org,X-Api-Key={path}")
    assert answer.out == b"ran\n", answer.err
    assert [record.get("secrets") for record in box.recorded() if record["kind"] == "guard_begin"] == [["model.example.org:443,X-Api-Key"]]
    answer = guard(box, "--secret", f"other.example.org,X-Api-Key={path}")
    assert answer.status == 125 and b"is not one of the hosts that the program may reach" in answer.err
