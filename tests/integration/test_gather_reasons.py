"""A probe that failed says what its tool said last, whatever reads its output."""
import pytest

from gathered import gather
from test_gather_probes import PROBES, TOP

CAUSE = ": cause: the moon is full"
FILES = {"a.py": "print(1)\n", "a.ts": "let a = 1\n", "Dockerfile": "FROM scratch\nCMD [\"/x\"]\n"}
# These readers take each line by itself, and count the lines that they do not understand.
LINES = {"snapshot", "documents", "tests", "curated_patterns", "structural_patterns"}


def broken(box, stage, status):
    """A directory in which every tool of a probe prints something that no reader understands, and the cause on stderr."""
    directory = box.directory("scanners")
    image = (stage / "tests/helpers/say_cause").read_bytes() + b"%08d" % status
    for tool in {probe["tool"] for probe in PROBES.values()} | {"strace"}:
        (directory / tool).write_bytes(image)
        box.own(directory / tool, 0o755)
    box.repository()
    for path, text in FILES.items():
        box.file(f"root/{path}", text)
    return directory


@pytest.mark.parametrize("status", [0, 1, 42])
def test_the_last_line_of_the_tool_is_in_the_reason(user_box, stage, status):
    policy = user_box.default_policy(search_path=[broken(user_box, stage, status)])
    found = gather(user_box, policy=policy)
    failed = {name: report["reason"] for name, report in found.probes.items() if report["state"] == "failed"}
    expected = set(PROBES) - {"vulnerabilities", "lint"}  # one needs another, which failed; one has no tool
    assert set(failed) >= (expected if status == 42 else expected - LINES), found.states
    assert not {name: reason for name, reason in failed.items() if not reason.endswith(CAUSE)}


@pytest.mark.parametrize("status", [0, 42])
def test_the_same_for_a_probe_that_needs_another(user_box, stage, status):
    directory = broken(user_box, stage, status)
    text = b"\n" + (TOP / "tests/recordings/syft.json").read_bytes()
    (directory / "syft").write_bytes((stage / "tests/helpers/replay").read_bytes() + text + b"%08d" % len(text))
    policy = user_box.default_policy(search_path=[directory])
    report = gather(user_box, "--only", "vulnerabilities", policy=policy).probes["vulnerabilities"]
    assert report["state"] == "failed" and report["reason"].endswith(CAUSE), report
