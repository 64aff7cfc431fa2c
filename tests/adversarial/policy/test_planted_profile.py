"""Promise: The policy that is meant.
Attacker: the repository, or a program that runs in the cage of guard. Means: a profile of its own,
as a file where a program might search for one, by variables, by a path as its name; a policy with a
profile inside the root, or one that others may write; a carrier called by 'run'.

Expected: a profile is of the policy that the caller names, or of the build; everything else is
refused before anything runs. 'run' refuses a carrier in whatever way it is called.
"""
import json

import pytest

EVIL = {"name": "evil", "why": "w", "adr": "0001", "carriers": ["bash"], "catalog": ["bash"], "workspace_code": True}
PLACES = ["policy.yaml", "evil.yaml", "profiles/evil.yaml", "policy/profiles/evil.yaml", ".chokepoint/profiles/evil.yaml",
          ".config/chokepoint/profiles/evil.yaml", "chokepoint/profiles/evil.yaml", ".chokepoint/policy.yaml"]
VARIABLES = ["CHOKEPOINT_PROFILE", "CHOKEPOINT_PROFILES", "CHOKE_PROFILE", "CHOKEPOINT_POLICY", "XDG_CONFIG_HOME",
             "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"]
RAN = "echo it-$((40 + 2))-ran"


def document(**section):
    return json.dumps({"version": 1, "extends": "default", **({"guard": section} if section else {})})


def guard(box, *options, policy=None, env=None, program=("bash", "-c", RAN)):
    chosen = ["--policy", str(policy)] if policy else []
    return box.call([box.command, "guard", *chosen, "--root", str(box.root), "--cwd", str(box.root), "--audit",
                     str(box.log), "--quiet", *options, "--", *program], env=env)


def refused(answer, said):
    assert answer.status == 125 and b"it-42-ran" not in answer.out and said in answer.err, answer


def test_profile_of_the_build_and_of_the_policy_are_used(box):
    """What is refused below fails for no other reason."""
    assert guard(box, "--profile", "ci").out == b"it-42-ran\n"
    policy = box.file("policy/own.yaml", document(profiles=[EVIL]), 0o600)
    assert guard(box, "--profile", "evil", policy=policy).out == b"it-42-ran\n"


def test_profiles_in_likely_places_are_not_found(box):
    for top in (box.root, box.home, box.base):
        for name in PLACES:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(document(profiles=[EVIL]), encoding="ascii")
    refused(guard(box, "--profile", "evil"), b"has a profile 'evil'")
    for variable in VARIABLES:
        for value in (str(box.root), str(box.root / "evil.yaml"), "evil"):
            refused(guard(box, "--profile", "evil", env=box.environment(**{variable: value})), b"has a profile 'evil'")
            refused(guard(box, env=box.environment(**{variable: value})), b"bash")


@pytest.mark.parametrize("name", ["evil.yaml", "./evil.yaml", "../root/evil.yaml", "", "ci ", "CI", "ci/../ci", "-", "/dev/stdin"])
def test_name_of_a_profile_is_no_path(box, name):
    (box.root / "evil.yaml").write_text(document(profiles=[EVIL]), encoding="ascii")
    refused(guard(box, "--profile", name), b"profile")


def test_policy_with_a_profile_inside_the_root_is_refused(box):
    policy = box.file("root/policy.yaml", document(profiles=[EVIL]), 0o600)
    refused(guard(box, "--profile", "evil", policy=policy), b"inside the root")


def test_policy_that_others_may_write_is_refused(box):
    policy = box.file("policy/shared.yaml", document(profiles=[EVIL]), 0o666)
    refused(guard(box, "--profile", "evil", policy=policy), b"shared.yaml")


def test_program_in_the_cage_changes_no_policy(box):
    """What it writes is not read again, and the policy's file is not there to be written."""
    policy = box.file("policy/own.yaml", document(profiles=[EVIL]), 0o600)
    script = f"echo x >> {policy}; mkdir -p .config/chokepoint /etc/chokepoint; cat {policy}"
    answer = guard(box, "--profile", "evil", policy=policy, program=("bash", "-c", script))
    assert b"evil" not in answer.out and policy.read_text(encoding="ascii") == document(profiles=[EVIL])


@pytest.mark.parametrize("argv", [["bash", "-c", RAN], ["/usr/bin/bash", "-c", RAN], ["strace", "-f", "bash", "-c", RAN]])
@pytest.mark.parametrize("options", [[], ["--jail", "none"], ["--sandbox"], ["--probe", "some_probe"], ["--why"]])
def test_carrier_is_called_by_nobody(box, argv, options):
    entry = {"name": "bash", "why": "w", "adr": "0001", "route": "carrier"}
    policy = box.file("policy/carrier.yaml", json.dumps({"version": 1, "extends": "default", "tools": [entry]}), 0o600)
    answer = box.run(*argv, policy=policy, options=options)
    assert (answer.status, answer.outcome) == (125, "disallowed") and answer.stream("stdout") == b""
    assert guard(box, policy=policy).out == b"it-42-ran\n"
