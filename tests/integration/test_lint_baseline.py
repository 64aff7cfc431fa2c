"""lint --baseline: what an earlier report has is known, only what is new fails, and a wrong baseline is an error."""
import json
import os

import pytest
from linter import PROCESS, SHELL, SHELL_RULE, Tree


@pytest.fixture
def tree(user_box):
    made = Tree(user_box)
    made.write("a.py", SHELL)
    made.write("b.sh", "#!/bin/sh\neval \"$1\"\n")
    return made


def baseline_of(tree):
    return tree.box.file("outside/baseline.json", tree.call("--format", "json").out)


def test_only_what_a_baseline_lacks_fails(tree):
    baseline = baseline_of(tree)
    assert tree.call("--baseline", baseline).status == 0
    answer = tree.call("--baseline", baseline, "--format", "json")
    document = json.loads(answer.out)
    assert answer.status == 0 and document["clean"] and (document["known"], document["errors"]) == (2, 2)
    assert [one["known"] for one in document["findings"]] == [True, True]
    tree.write("c.py", PROCESS)
    answer = tree.call("--baseline", baseline)
    assert answer.status == 1 and b"c.py:2" in answer.out and b"a.py" not in answer.out and b"2 known from the baseline" in answer.out
    document = json.loads(tree.call("--baseline", baseline, "--format", "json").out)
    assert {one["path"]: one["known"] for one in document["findings"]} == {"a.py": True, "b.sh": True, "c.py": False}


def test_a_line_that_moves_is_known_and_its_copy_is_not(tree):
    baseline = baseline_of(tree)
    tree.write("a.py", "# moved\r\n\r\n" + SHELL.replace("\n", "\r\n"))
    assert tree.call("--baseline", baseline).status == 0
    tree.write("a.py", SHELL + "os.system('ls')\n")
    answer = tree.call("--baseline", baseline)
    assert answer.status == 1 and b"a.py:3" in answer.out and b"a.py:2" not in answer.out


def test_another_file_is_new(tree):
    baseline = baseline_of(tree)
    (tree.top / "a.py").rename(tree.top / "renamed.py")
    answer = tree.call("--baseline", baseline)
    assert answer.status == 1 and b"renamed.py:2" in answer.out


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_each_form_knows_the_baseline(tree, form):
    baseline = baseline_of(tree)
    tree.write("c.py", PROCESS)
    answer = tree.call("--baseline", baseline, "--format", form)
    assert answer.status == 1
    if form == "github":
        assert b"c.py" in answer.out and b"a.py" not in answer.out
    else:
        results = json.loads(answer.out)["runs"][0]["results"]
        assert [result["baselineState"] for result in results] == ["unchanged", "unchanged", "new"]
        assert len({result["partialFingerprints"]["chokepoint/v1"] for result in results}) == 3


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"findings": []}', '{"findings": {}, "clean": true}', pytest.param("[" * 1000000, id="depth"),
                                  pytest.param('{"clean": true, "findings": [[]' + ",[]" * 1100000 + "]}", id="values")])
def test_an_unusable_baseline_is_an_error(tree, text):
    baseline = tree.box.file("outside/baseline.json", text)
    answer = tree.call("--baseline", baseline)
    assert answer.status == 125 and b"cannot use baseline" in answer.err and b"--format json" in answer.err and answer.out == b""


def test_a_baseline_that_is_no_file_is_not_waited_for(tree):
    os.mkfifo(tree.box.outside / "fifo")
    for path in (tree.box.outside / "fifo", tree.box.outside, "/dev/zero"):
        answer = tree.call("--baseline", path)
        assert answer.status == 125 and b"it is not a regular file" in answer.err, answer
    os.truncate(tree.box.file("outside/huge", "["), 65 << 20)
    assert b"it has more than 64 MiB" in tree.call("--baseline", tree.box.outside / "huge").err
    answer = tree.call("--baseline", tree.box.outside / "none")
    assert answer.status == 125 and b"No such file" in answer.err


def test_a_baseline_is_not_believed_beyond_its_fingerprints(tree):
    known = json.loads(tree.call("--format", "json").out)["findings"]
    others = [1, None, [], {"fingerprint": 7}, {"fingerprint": "x" * 100000}, *({**one, "fingerprint": "0" * 32} for one in known)]
    baseline = tree.box.file("outside/baseline.json", json.dumps({"clean": True, "findings": others}))
    answer = tree.call("--baseline", baseline)
    assert answer.status == 1 and SHELL_RULE.encode() in answer.out
