"""Promise: The policy that is meant.
Attacker: the repository. Means: its own policy, where a program might search for one: in the
working directory, in the root, in HOME, in XDG directories, by environment variables, in a
directory above.

Expected: none is found. The embedded policy decides, or the file that the caller names; and that
file must not be inside the root.
"""
import pytest

PLACES = ["chokepoint.yaml", "chokepoint.yml", ".chokepoint.yaml", "policy.yaml", "default.yaml", "tools.yaml",
          ".chokepoint/policy.yaml", "policy/default.yaml", ".config/chokepoint/policy.yaml", "chokepoint/policy.yaml",
          "etc/chokepoint/policy.yaml"]
VARIABLES = ["CHOKEPOINT_POLICY", "CHOKE_POLICY", "CHOKEPOINT_CONFIG", "CHOKEPOINT_POLICY_FILE", "CHOKE_CONFIG",
             "CHOKEPOINT_OPTIONS", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"]


def plant(box, top):
    for name in PLACES:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(box.policy.read_bytes())
        path.chmod(0o644)


def test_policies_in_likely_directories_are_not_found(box):
    for top in (box.root, box.home, box.base):
        plant(box, top)
    for variable in VARIABLES:
        value = str(box.root) if variable.startswith("XDG") else str(box.policy)
        answer = box.run("sh", "-c", "echo no", policy="default", env=box.environment(**{variable: value}))
        assert (answer.status, answer.outcome) == (125, "disallowed"), variable
        assert "sh" in answer.message and "git" in answer.message


@pytest.mark.parametrize("name", ["policy.yaml", "deep/policy.yaml"])
def test_named_policy_inside_the_root_is_refused(box, name):
    (box.root / "deep").mkdir()
    policy = box.write_policy(name=f"root/{name}")
    answer = box.run("sh", "-c", "echo no", policy=policy)
    assert (answer.status, answer.outcome) == (125, "policy")
    assert answer.stream("stdout") == b""


def test_link_to_a_policy_inside_the_root_is_refused(box):
    policy = box.write_policy(name="root/policy.yaml")
    link = box.base / "policy" / "link.yaml"
    link.symlink_to(policy)
    assert box.run("true", policy=link).outcome == "policy"


def test_link_inside_the_root_to_a_policy_outside_is_refused(box):
    """The repository could turn the link to any other file."""
    link = box.root / "link.yaml"
    link.symlink_to(box.policy)
    assert box.run("true", policy=link).outcome == "policy"


def test_relative_name_inside_the_root_is_refused(box):
    box.write_policy(name="root/policy.yaml")
    assert box.run("true", policy="policy.yaml").outcome == "policy"


def test_policy_in_the_working_directory_above_the_root_is_fine(box):
    sub = box.directory("root/sub")
    policy = box.write_policy(name="root/policy.yaml")
    assert box.run("true", policy=policy, root=sub, cwd=sub).outcome == "exited"
