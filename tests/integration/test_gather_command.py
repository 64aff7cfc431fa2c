"""chokepoint gather: its options, the files that it writes, and the dependencies between probes."""
import glob
import json
import os
import signal
import subprocess

import pytest

from audit import records
from bwrapped import shell_entry, write_policy
from gathered import gather, probe, gather_argv, write_probes
from processes import marked, wait_until
from promises import none_left


def refused(box, *options, named=(), **shape):
    answer = box.call(gather_argv(box, *options, **shape))
    assert (answer.status, answer.out) == (125, b""), answer
    for word in named:
        assert word.encode() in answer.err, answer.err
    return answer


@pytest.mark.parametrize("options, named", [
    (["--only", "one,nobody"], ["nobody", "one"]),
    (["--only", "one,"], ["unknown probe ''"]),
    (["--jobs", "65"], ["--jobs", "64"]),
    (["--jobs", "0"], ["--jobs"]),
    (["--timeout", "0"], ["--timeout"]),
    (["/usr"], ["'/usr'", "unexpected argument"]),
    (["--out", "/nowhere/at/all.json"], ["--out", "No such file"]),
    (["--out", "/usr/"], ["--out", "directory"]),
    (["--keep", "/nowhere/at/all"], ["--keep", "No such file"]),
    (["--keep", "/usr"], ["--keep", "Permission denied"]),
    (["--audit", "x"], ["--audit and --no-audit"]),
    (["--shell"], ["unknown option '--shell'"]),
    (["--jobs", "2", "operand", "--jobs", "3"], ["--jobs is given twice"]),
])
def test_bad_options_are_reported(user_box, options, named):
    refused(user_box, "--probes", write_probes(user_box, probe("one", "true")), *options, named=named)


def test_only_a_directory_is_a_repository(user_box):
    file = user_box.file("root/file")
    refused(user_box, root=file, named=["file", "Not a directory"])
    refused(user_box, root=user_box.root / "nothing", named=["nothing", "No such file"])


def test_probes_are_distrusted_as_a_policy_is(box):
    """R1: not inside the root, not writable for others, not through the root."""
    inside = write_probes(box, probe("one", "true"), name="root/probes.yaml")
    refused(box, "--probes", inside, named=["inside the root"])
    open_to_all = write_probes(box, probe("one", "true"), mode=0o622)
    refused(box, "--probes", open_to_all, named=["may be written by group or others"])
    link = box.root / "link.yaml"
    link.symlink_to(write_probes(box, probe("one", "true")))
    refused(box, "--probes", link, named=["inside the root"])
    outside = box.base / "policy/link.yaml"
    outside.symlink_to(inside)
    refused(box, "--probes", outside, named=["inside the root"])
    refused(box, "--probes", box.base / "policy", named=["not a regular file"])
    refused(box, "--probes", box.file("policy/large.yaml", b"#" * (1 << 20) + b"\n"), named=["larger than"])


def test_a_fault_in_probes_is_reported_with_line_and_column(user_box):
    path = user_box.file("policy/probes.yaml", "version: 1\nprobes:\n- name: One\n", 0o600)
    refused(user_box, "--probes", path, named=[f"probes '{path}': line 3, column 9:", "'One'"])


def test_a_policy_inside_the_root_is_refused(user_box):
    """The library reports it, for each call."""
    policy = user_box.write_policy(name="root/policy.yaml")
    found = gather(user_box, probes=[probe("one", "true")], policy=policy)
    assert found.states == {"one": "refused"}
    assert found.probes["one"]["calls"][0]["rule"] == "policy.place"
    assert "inside the root" in found.probes["one"]["reason"]


def test_states_say_what_became_of_a_probe(box):
    policy = box.write_policy([box.entry(name) for name in ("true", "sh", "cat")] +
                              [box.entry("absent", install={"apt": "absent-package"})])
    probes = [probe("fine", "true"), probe("bad", "sh", "-c", "echo >&2; echo 'it \33 broke' >&2; exit 3"),
              probe("answer", "sh", "-c", "exit 3", call={"may_fail": [3]}), probe("missing", "absent"),
              probe("unlisted", "sleep", "1"), probe("slow", "sh", "-c", "echo waits >&2; sleep 60", timeout_s=1),
              probe("killed", "sh", "-c", "echo hurt >&2; kill -9 $$"),
              probe("elsewhere", "true", applies_when=["*.none"]),
              probe("behind", "true", needs=["bad"]), probe("far_behind", "true", needs=["behind"])]
    found = gather(box, probes=probes, policy=policy)
    assert found.status == 0
    assert found.states == {"fine": "ok", "bad": "failed", "answer": "ok", "missing": "tool_missing",
                            "unlisted": "refused", "slow": "timeout", "killed": "failed", "elsewhere": "skipped", "behind": "skipped",
                            "far_behind": "skipped"}
    reasons = {name: each["reason"] for name, each in found.probes.items()}
    assert reasons["fine"] is None
    assert reasons["bad"] == "sh: status 3: it \\x1b broke"
    assert "not installed" in reasons["missing"] and "absent-package" in found.probes["missing"]["install"]
    assert "sleep" in reasons["unlisted"]
    assert reasons["slow"].endswith(": waits") and reasons["killed"] == "sh: ended by signal 9: hurt"
    assert reasons["elsewhere"] == "no file matches *.none"
    assert reasons["behind"] == "needs bad, which is failed"
    assert reasons["far_behind"] == "needs behind, which is skipped"
    assert gather(box, "--require", probes=probes, policy=policy).status == 1


def test_require_is_about_what_applies(box):
    policy = box.write_policy([box.entry("true"), box.entry("absent")])
    fine, missing = probe("fine", "true"), probe("missing", "absent")
    elsewhere = probe("elsewhere", "absent", applies_when=["none"])
    assert gather(box, "--require", probes=[fine, elsewhere], policy=policy).status == 0
    assert gather(box, "--require", probes=[fine, missing], policy=policy).status == 1
    assert gather(box, probes=[fine, missing], policy=policy).status == 0
    assert gather(box, "--require", "--only", "fine", probes=[fine, missing], policy=policy).status == 0


def test_only_takes_along_what_is_needed(user_box):
    probes = [probe("a", "true"), probe("b", "true", needs=["a"]), probe("c", "true", needs=["b"]), probe("d", "true")]
    found = gather(user_box, "--only", "c", probes=probes)
    assert found.states == {"a": "ok", "b": "ok", "c": "ok", "d": "skipped"}
    assert found.probes["d"]["reason"] == "not asked for"
    assert gather(user_box, "--only", "a", "--only=d,b", probes=probes).states["c"] == "skipped"


def test_input_comes_from_a_probe_or_a_text(user_box):
    probes = [probe("reader", "cat", needs=["writer"], call={"stdin": {"probe": "writer", "call": "one"}}),
              probe("writer", "say_args", "a", "b"), probe("text", "cat", call={"stdin": {"text": "one\ntwo\n"}}),
              probe("nothing", "cat")]
    found = gather(user_box, probes=probes)
    assert found.lines("reader") == found.lines("writer") != []
    assert found.lines("text") == ["one", "two"]
    assert found.lines("nothing") == []


def test_arguments_are_files_of_the_repository(user_box):
    for name in ("b.x", "a.x", "-rf.x", "sub/c.x", "sub/.git/d.x", "link.x"):
        path = user_box.root / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if name == "link.x":
            path.symlink_to("a.x")
        else:
            path.write_text(name)
    probes = [probe("all", "sh", "-c", "printf '%s\\n' \"$@\"", "sh", "{files}", "end", applies_when=["**/*.x"]),
              probe("first", "sh", "-c", "printf '%s\\n' \"$@\"", "sh", "{file}", applies_when=["[ab].x"])]
    found = gather(user_box, probes=probes)
    assert found.lines("all") == ["./-rf.x", "a.x", "b.x", "sub/c.x", "end"]
    assert found.lines("first") == ["a.x"]
    assert found.probes["first"]["calls"][0]["argv"][-1] == "a.x"
    assert found.document["repository"]["files"] == 5


def intervals(found):
    times = {name: each["timing"] for name, each in found.probes.items()}
    return {name: (time["started_ms"], time["started_ms"] + time["duration_ms"]) for name, time in times.items() if time}


def meeting(box, rounds):
    """Two probes that wait for each other this number of times, and one that needs the first."""
    script = "i=0; : > $0; while [ ! -e $1 ]; do i=$((i+1)); [ $i = $2 ] && exit 1; sleep 0.01; done; echo met"
    directories = [box.canary().parent / f"{name}-{rounds}" for name in ("here", "there")]
    return [probe("one", "sh", "-c", script, *directories, rounds), probe("two", "sh", "-c", script, *reversed(directories), rounds),
            probe("last", "true", needs=["one"])]


def test_jobs_bound_how_many_run_at_once(user_box):
    found = gather(user_box, "--jobs", "2", probes=meeting(user_box, 2000))
    assert found.states == {"one": "ok", "two": "ok", "last": "ok"}
    assert intervals(found)["last"][0] >= intervals(found)["one"][1]
    found = gather(user_box, "--jobs", "1", probes=meeting(user_box, 5))
    assert found.states["one"] == "failed" and found.states["last"] == "skipped"
    assert intervals(found)["two"][0] >= intervals(found)["one"][1]


def test_tools_that_execute_nothing_and_others_alternate_in_one_context(box):
    """The processes that serve the first kind are sealed for life, and must serve no other."""
    policy = box.write_policy([box.entry("true", execs=[]), box.entry("sh", execs=["cat"]), box.entry("cat")])
    probes = [probe("first", "true"), probe("second", "sh", "-c", "exec cat /dev/null", needs=["first"]),
              probe("third", "true", needs=["second"]), probe("fourth", "sh", "-c", "exec cat /dev/null", needs=["third"])]
    found = gather(box, "--jobs", "1", probes=probes, policy=policy)
    assert set(found.states.values()) == {"ok"}, found.probes


def test_a_call_can_have_less_time_than_its_probe(user_box, marker):
    short = {"id": "one", "argv": ["ignore_signals", marker], "timeout_s": 1}
    found = gather(user_box, probes=[probe("one", "ignore_signals", calls=[short], timeout_s=600)])
    assert found.states == {"one": "timeout"} and "1.000 s" in found.probes["one"]["reason"]
    none_left(marker)


def test_calls_come_one_after_the_other(user_box):
    calls = [{"id": name, "argv": ["sh", "-c", f"echo {name}; exit {status}"], "may_fail": [7]}
             for name, status in (("a", 0), ("b", 7), ("c", 1), ("d", 0))]
    found = gather(user_box, probes=[{**probe("good", "sh"), "calls": calls[:2]}, {**probe("bad", "sh"), "calls": calls}])
    assert found.lines("good", "a") == ["a"] and found.lines("good", "b") == ["b"]
    assert [call["id"] for call in found.probes["bad"]["calls"]] == ["a", "b", "c"]
    assert found.states["bad"] == "failed" and found.probes["bad"]["evidence"] is None


def test_document_is_the_same_for_any_number_of_jobs(user_box):
    user_box.repository()
    probes = [probe(f"p{i}", "sh", "-c", f"sleep 0.0{9 - i}; echo {i}") for i in range(9)]
    first = gather(user_box, "--jobs", "1", probes=probes)
    assert first.without_times() == gather(user_box, "--jobs", "9", probes=probes).without_times()
    assert first.document["tools"] and all(each["sha256"] for each in first.document["tools"])


def test_out_is_replaced_as_a_whole(box):
    """A link is replaced itself: its target is not written."""
    probes = write_probes(box, probe("one", "true"))
    other = box.file("other", "untouched")
    out = box.home / "document.json"
    out.symlink_to(other)
    answer = box.call(gather_argv(box, "--out", out, "--probes", probes))
    assert answer.status == 0 and str(out).encode() in answer.out
    assert not out.is_symlink() and other.read_text() == "untouched"
    assert json.loads(out.read_text())["summary"]["ok"] == 1
    assert sorted(path.name for path in box.home.iterdir() if path.name != ".cache") == ["document.json"]
    both = box.call(gather_argv(box, "--json", "--out", out, "--probes", probes))
    assert json.loads(both.out)["format"] == json.loads(out.read_text())["format"] == 1


def test_out_that_cannot_be_written_is_reported_before_anything_runs(user_box):
    canary = user_box.canary()
    probes = write_probes(user_box, probe("one", "sh", "-c", f": > {canary}"))
    refused(user_box, "--out", "/etc/document.json", "--probes", probes, named=["--out", "Permission denied"])
    assert not canary.exists()


def test_out_replaces_nothing_but_files(box):
    """A device, a pipe or a descriptor must not be replaced by a file."""
    canary = box.canary()
    probes = write_probes(box, probe("one", "sh", "-c", f": > {canary}"))
    os.mkfifo(box.home / "pipe")
    (box.home / "link").symlink_to("pipe")
    (box.home / "descriptor").symlink_to("/proc/self/fd/1")
    box.directory("home/directory")
    for name, word in {"pipe": "not a regular file", "link": "not a regular file", "descriptor": "not a regular file",
                       "directory": "directory", "n" * 300: "too long"}.items():
        before = os.lstat(box.home / name) if len(name) < 256 else None
        refused(box, "--out", box.home / name, "--probes", probes, named=["--out", word])
        assert before is None or os.lstat(box.home / name).st_ino == before.st_ino
    assert not canary.exists()


def test_what_cannot_be_kept_is_reported(user_box):
    """The findings are still shown."""
    directory = user_box.directory("home/kept")
    user_box.directory("home/kept/one.one.out")
    probes = write_probes(user_box, probe("one", "true"), probe("two", "say_args", "x"))
    answer = user_box.call(gather_argv(user_box, "--json", "--keep", directory, "--probes", probes))
    assert answer.status == 125 and b"--keep" in answer.err and b"directory" in answer.err
    assert json.loads(answer.out)["summary"]["ok"] == 2
    assert sorted(os.listdir(directory)) == ["one.one.out", "two.one.out"]


def test_a_document_without_disk_space_costs_only_itself(root_box):
    directory = root_box.directory("small")
    probes = write_probes(root_box, probe("one", "say_args", "x"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", directory], check=True)
    try:
        (directory / "ballast").write_bytes(b"x" * 4096)
        answer = root_box.call(gather_argv(root_box, "--out", directory / "document.json", "--probes", probes))
        assert os.listdir(directory) == ["ballast"]
    finally:
        subprocess.run(["umount", directory], check=True)
    assert answer.status == 125 and b"--out" in answer.err and b"space" in answer.err
    assert b"1 ok" in answer.out and b"not kept" in answer.out


def test_keep_keeps_what_was_printed(box):
    directory = box.home / "kept"
    directory.mkdir()
    box.own(directory)
    victim = box.file("victim", "untouched")
    (directory / "one.one.out").symlink_to(victim)
    gather(box, "--keep", directory, probes=[probe("one", "sh", "-c", "printf 'a\\377b'"), probe("two", "sh", "-c", "exit 1")])
    assert (directory / "one.one.out").read_bytes() == b"a\xffb" and not (directory / "one.one.out").is_symlink()
    assert sorted(os.listdir(directory)) == ["one.one.out", "two.one.out"]
    assert victim.read_text() == "untouched"


def test_calls_are_recorded_under_the_probe(box):
    probes = write_probes(box, probe("one", "true"), probe("two", "unlisted"))
    answer = box.call(gather_argv(box, "--json", "--probes", probes, "--audit", box.log, audit=True))
    assert answer.status == 0
    kinds = [(record["kind"], record.get("probe")) for record in records(box.log)]
    assert ("intent", "one") in kinds and ("refused", "two") in kinds


def test_a_summary_is_printed_without_json(user_box):
    answer = user_box.call(gather_argv(user_box, "--probes", write_probes(user_box, probe("one", "say_args", "x"))))
    assert answer.status == 0 and answer.err == b""
    assert b"one" in answer.out and b"1 ok" in answer.out and b"\33" not in answer.out


def test_options_may_follow_the_repository(user_box):
    probes = write_probes(user_box, probe("one", "true"))
    words_ = [user_box.command, "gather", "--no-audit", ".", "--json", "--policy", user_box.policy, "--probes", probes]
    answer = user_box.call(words_)
    assert answer.status == 0 and json.loads(answer.out)["repository"]["root"] == str(user_box.root)


def test_what_a_tool_wrote_is_gone_afterwards(box):
    """Closed directories and links that lead out included; the targets of the links stay
    unchanged."""
    outside = box.file("outside/kept", "untouched", 0o640)
    script = (f"mkdir -p a/b && : > a/b/c && ln -s {outside} a/b/link && ln -s {outside.parent} a/link && "
              "chmod 0 a/b && chmod 500 a")
    policy = write_policy(box, shell_entry(box, workspace="overlay"))
    before = set(glob.glob("/tmp/chokepoint-gather-*"))
    found = gather(box, probes=[probe("writer", "sh", "-c", script, call={"keeps": True}),
                                probe("failing", "sh", "-c", f"{script}; exit 1", call={"keeps": True})], policy=policy)
    assert found.states == {"writer": "ok", "failing": "failed"}
    assert not {path for path in set(glob.glob("/tmp/chokepoint-gather-*")) - before
                if os.stat(path).st_uid == box.actor.uid}
    assert list(box.root.iterdir()) == []
    assert (outside.read_text(), outside.stat().st_mode & 0o777) == ("untouched", 0o640)


def test_looking_up_some_tools_keeps_what_is_known_of_the_others(user_box):
    policy = user_box.write_policy([user_box.entry(name, version_args=["--version"]) for name in ("true", "cat")])
    probes = [probe("one", "true"), probe("two", "cat")]
    for name in ("one", "two"):
        assert gather(user_box, "--only", name, probes=probes, policy=policy).states[name] == "ok"
    cache = json.loads((user_box.home / ".cache/chokepoint/tools.json").read_text())
    assert sorted(tool["name"] for tool in cache["policies"][0]["tools"]) == ["cat", "true"]


def test_a_signal_ends_the_wait_for_versions(user_box, marker):
    """The command waits for a tool that does not print its version, but a signal ends the wait."""
    policy = user_box.write_policy([user_box.entry("ignore_signals", version_args=[marker])])
    probes = write_probes(user_box, probe("one", "ignore_signals", marker, "x", timeout_s=60))
    process = user_box.popen(gather_argv(user_box, "--json", "--probes", probes, policy=policy), raw=True)
    wait_until(lambda: marked(marker, "ignore_signals"), "it is asked for its version")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=5)
    none_left(marker)
    assert process.returncode == 130 and json.loads(out)["cancelled"] is True
