"""Promise: Failure.
Attacker: whoever can put a file where the command reads one: a pull request, /tmp, a repository.
Means: a sparse file, as large as the file system allows, or hundreds of smaller ones; they take no
space on the disk.

Expected: a refusal, or the file is skipped, within seconds and 512 MiB. (Logs:
test_audit_endless_line.py.)
"""
import os
import resource

import pytest

from feature import sanitized

SECONDS = 20
MEMORY = 512 << 20


def holes(box, path, size=8 << 40):
    path.touch()
    while size:
        try:
            os.truncate(path, size)
            return box.own(path, 0o600)
        except OSError:
            size //= 2
    pytest.fail("no sparse file can be made")


def bounded():
    if not sanitized():  # its shadow needs all of the address space
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def call(box, *args):
    return box.call([box.command, *map(str, args)], deadline=SECONDS, preexec_fn=bounded)


FILES = {
    "policy check": ["policy", "check", "{}"],
    "policy diff": ["policy", "diff", "{}", "{}"],
    "run --policy": ["run", "--no-audit", "--policy", "{}", "--", "true"],
    "lint --config": ["lint", "--config", "{}", "."],
    "gather --probes": ["gather", ".", "--no-audit", "--probes", "{}"],
    "lock --check": ["lock", "--policy", "POLICY", "--check", "{}"],
    "audit verify --head": ["audit", "verify", "--head", "{}", "LOG"],
    "audit verify --key": ["audit", "verify", "--key", "{}", "LOG"],
    "audit head --key": ["audit", "head", "--key", "{}", "LOG"],
}


@pytest.mark.parametrize("name", FILES)
def test_file_without_an_end_is_refused(user_box, name):
    box = user_box
    assert box.run("true").outcome == "exited"
    path = holes(box, box.directory("private", 0o700) / "holes")
    given = {"{}": path, "POLICY": box.policy, "LOG": box.log}
    answer = call(box, *(given.get(word, word) for word in FILES[name]))
    assert answer.status not in (0, -9, -11, -6), answer


def test_files_without_an_end_are_passed_over_in_a_tree(user_box):
    box = user_box
    box.file("root/a.py", "import os\nos.system(x)\n")
    for name in ("b.py", ".gitignore"):
        holes(box, box.root / name)
    answer = call(box, "lint", "--verbose", ".")
    assert answer.status == 1 and b"a.py" in answer.out, answer
    holes(box, box.root / ".chokepoint-lint.yaml")
    assert call(box, "lint", ".").status == 125


def test_cache_without_an_end_is_not_used(user_box):
    box = user_box
    for path in (box.home / ".cache", box.home / ".cache/chokepoint"):
        path.mkdir()
        box.own(path, 0o700)
    holes(box, box.home / ".cache/chokepoint/tools.json")
    answer = box.call([box.command, "doctor", "--policy", str(box.policy)], deadline=60)
    assert b"the cache is not used" in answer.err, answer


def test_hundreds_of_records_are_bounded_together(user_box):
    box = user_box
    directory = box.directory("policy/adr", 0o755)
    for number in range(1, 700):
        path = directory / f"{number:04}-a.md"
        path.touch()
        os.truncate(path, 1 << 20)
    answer = call(box, "policy", "check", box.policy)
    assert answer.status == 1 and b"cannot read the decision records" in answer.out + answer.err, answer
