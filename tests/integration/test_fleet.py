"""chokepoint fleet: LIST, the directory, resuming, and several at once."""
import collections
import json
import os
import pathlib
import signal
import stat
import time

import pytest

from audit import records
from fleets import Fleet, without_times
from gathered import gather_argv, probe
from processes import descendants, marked, proc_file, wait_until
from promises import TRIES, none_left
from terminal import on_terminal


@pytest.fixture
def fleet(user_box):
    return Fleet(user_box)


def refused(answer, *named):
    assert (answer.status, answer.out) == (125, b""), answer
    for word in named:
        assert word.encode() in answer.err, answer.err


# ---- LIST ----

def test_each_document_is_that_of_gather(fleet):
    answer = fleet.run()
    assert (answer.status, answer.err) == (0, b""), answer
    assert b"4 repositories, 4 done, 0 failed, 0 left" in answer.out
    for path, document in fleet.documents().items():
        alone = fleet.box.call(gather_argv(fleet.box, "--json", "--probes", fleet.probes, root=path))
        assert document == without_times(json.loads(alone.out))
    assert fleet.claims() == [] and fleet.failures() == {}


def test_lines_of_a_list(fleet):
    """Comments, empty lines, and the same directory under several names."""
    box, first = fleet.box, fleet.repositories[0]
    (box.outside / "link").symlink_to(first)
    fleet.write_list("# a comment", "", first, f"{first}/", f"{first}/../{first.name}", box.outside / "link",
                     os.path.relpath(fleet.repositories[1], box.root))
    answer = fleet.run()
    assert answer.status == 0 and b"3 lines of the list name a repository again" in answer.err, answer
    assert sorted(fleet.documents()) == sorted(map(str, fleet.repositories[:2]))


def test_names_are_bytes_that_hurt_nobody(fleet):
    names = [b"-rf", b"..hidden", b"sp ace 'quote' \"", b"$(touch x);\x1b[31m", b"\xff\xfe", "ümlaut".encode(), b"n" * 250,
             b"tab\tand\rreturn", b"a\\b", b"%s%n", b"~1"]
    paths = []
    for name in names:
        path = os.path.join(os.fsencode(fleet.box.outside), b"deep", name)
        os.makedirs(path)
        with open(os.path.join(path, b"file"), "w", encoding="utf-8") as file:
            file.write("text\n")
        paths.append(path)
    fleet.write_list(*paths)
    answer = fleet.run()
    assert answer.status == 0, answer
    found = {os.fsencode(path) for path in fleet.documents()}
    assert found == set(paths)
    for name in os.listdir(fleet.out / "documents"):
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") and name[0] not in ".-"
        assert len(name) < 100
    assert fleet.status()["done"] == len(names)


@pytest.mark.parametrize("line, named", [
    ("http://example.org/x", "only https"), ("ssh://example.org/x", "only https"), ("file:///etc", "only https"),
    ("ext::x://y", "failed"), ("https://user@example.org/x", "user or a password"),
    ("https://a:hunter2@example.org/x", "user or a password"), ("https://example.org", "path"),
    ("https://example.org/../x", "path"), ("https://example.org/a?b", "path"), ("https://example.org/a b", "path"),
    ("https://exa mple.org/x", "host"), ("https:///x", "host"), ("https://example.org:0/x", "port"),
    ("https://example.org:99999/x", "port"), ("https://example.org/--upload-pack=x/$(x)", "path"),
])
def test_lines_that_cannot_be_repositories(fleet, line, named):
    fleet.write_list(fleet.repositories[0], line)
    answer = fleet.run()
    assert b"hunter2" not in answer.err
    if named == "failed":  # it is a path
        assert answer.status == 1 and b"No such file" in answer.err
        return
    refused(answer, "line 2 of the list", named)
    assert not fleet.out.exists()


def test_lists_that_cannot_be_read(fleet):
    fleet.box.file("outside/LIST", "\n# nothing\n")
    refused(fleet.run(), "names no repository")
    fleet.box.file("outside/LIST", b"a\0b\n")
    refused(fleet.run(), "NUL")
    fleet.list = fleet.box.outside
    refused(fleet.run(), "cannot read the list")
    fleet.list = "/nowhere"
    refused(fleet.run(), "No such file")


def test_a_list_on_standard_input(fleet):
    paths = "\n".join(map(str, fleet.repositories)).encode()  # without a newline at its end
    fleet.list = "-"
    assert fleet.box.call(fleet.argv(), input=paths).status == 0
    assert len(fleet.documents()) == 4


def test_urls_need_a_policy_and_the_message_has_its_lines(fleet):
    fleet.write_list(fleet.repositories[0], "https://Git.Example.org:443/a/b.git/", "https://other.example.org/x")
    answer = fleet.run(policy="default")
    refused(answer, "catalog: [git-clone]",
            "grant: [{name: git, subcommand: clone, egress: [git.example.org, other.example.org]}]")
    assert not fleet.out.exists()  # so that the same command with a policy may begin there


# ---- failures ----

def test_what_failed_is_named_and_tried_again_only_when_asked(fleet):
    gone = fleet.box.outside / "gone"
    fleet.write_list(*fleet.repositories, gone)
    for _ in range(2):
        answer = fleet.run()
        assert answer.status == 1 and f"failed '{gone}': cannot open the repository".encode() in answer.err
        assert b"4 done, 1 failed, 0 left" in answer.out
    fleet.repository("gone")
    assert fleet.run().status == 1
    assert fleet.run("--retry").status == 0
    assert len(fleet.documents()) == 5 and fleet.failures() == {}


def test_many_failures_are_cut(fleet):
    fleet.write_list(*(f"/nowhere/{number}" for number in range(25)))
    answer = fleet.run()
    assert answer.status == 1 and answer.err.count(b"failed '/nowhere/") == 20
    assert b"5 more have failed" in answer.err and len(fleet.failures()) == 25


def test_a_limit_leaves_the_rest(fleet):
    answer = fleet.run("--limit", "3")
    assert answer.status == 0 and b"3 done, 0 failed, 1 left" in answer.out
    assert len(fleet.documents()) == 3
    assert fleet.run("--limit", "3").status == 0 and len(fleet.documents()) == 4


# ---- the directory ----

def test_other_settings_are_another_fleet(fleet):
    assert fleet.run("--only", "one").status == 0
    refused(fleet.run("--only", "two"), "--only")
    refused(fleet.run(), "--only")
    assert fleet.run("--only", "one,one").status == 0
    policy = fleet.box.write_policy([fleet.box.entry("cat")], name="policy/other.yaml")
    refused(fleet.run("--only", "one", policy=policy), "--policy")
    fleet.box.file(fleet.probes, fleet.probes.read_text() + " ", 0o600)
    refused(fleet.run("--only", "one"), "--probes")


def test_a_longer_list_adds_to_a_fleet(fleet):
    assert fleet.run().status == 0
    more = fleet.repository("more")
    fleet.write_list(more)
    assert fleet.run().status == 0
    assert len(fleet.documents()) == 5 and len(fleet.index()) == 5


def test_bad_options(fleet):
    refused(fleet.box.call([fleet.box.command, "fleet", "run", fleet.list]), "--out DIR is missing")
    refused(fleet.run("--jobs", "257"), "--jobs")
    refused(fleet.run("--timeout", "0"), "--timeout")
    refused(fleet.run("--only", "one,nobody"), "unknown probe 'nobody'")
    refused(fleet.run("--audit", "x"), "--audit and --no-audit")
    assert not fleet.out.exists()


def test_directories_that_are_not_for_a_fleet(fleet):
    box = fleet.box
    refused(fleet.run(out=box.outside), "has other files in it")
    refused(fleet.run(out=fleet.list), "Not a directory")
    refused(fleet.run(out="/nowhere/at/all"), "No such file")
    refused(fleet.run(out=fleet.repositories[1] / "fleet"), "is in the repository")
    (box.outside / "linked").symlink_to(fleet.repositories[1])
    refused(fleet.run(out=box.outside / "linked/fleet//"), "is in the repository")
    assert os.listdir(fleet.repositories[1]) == ["file"]
    refused(fleet.run(out="/usr"), "another user")
    box.own(box.directory("outside/open"), 0o777)
    refused(fleet.run(out=box.outside / "open"), "others may write")
    box.own(box.directory("outside/sealed"), 0o500)
    refused(fleet.run(out=box.outside / "sealed"), "Permission denied")
    assert not (box.outside / "sealed/fleet.json").exists()


def test_damaged_files_are_reported(fleet):
    assert fleet.run().status == 0
    name = fleet.name_of(fleet.repositories[0])
    for text in ["", "[]", "{}", '{"format": 2, "id": "0123456789abcdef"}', '{"format": 1, "id": "../../../../etc/x"}']:
        fleet.box.file(fleet.out / "fleet.json", text)
        refused(fleet.run(), "fleet.json' is damaged")
        refused(fleet.box.call([fleet.box.command, "fleet", "status", fleet.out]), "fleet.json' is damaged")
    fleet.box.file(fleet.out / "fleet.json", json.dumps({"format": 1, "id": "0" * 16, "only": None}))
    for index in ["{", {"repositories": {"../x": {"path": "/"}}}, {"repositories": {name: {"path": "/etc"}}}]:
        fleet.box.file(fleet.out / "index.json", index if isinstance(index, str) else json.dumps({"format": 1, **index}))
        refused(fleet.box.call([fleet.box.command, "fleet", "status", fleet.out]), "index.json")


def test_files_are_private_and_hidden_until_they_are_whole(fleet):
    assert fleet.run().status == 0
    for parent, directories, files in os.walk(fleet.out):
        for name in directories + files:
            assert stat.S_IMODE(os.lstat(os.path.join(parent, name)).st_mode) & 0o077 == 0, name
            assert not name.startswith("."), name


def test_a_full_directory_ends_the_run_and_the_next_goes_on(root_box):
    """Nothing is lost, and nothing is half."""
    fleet = Fleet(root_box, count=30)
    root_box.directory("outside/small")
    fleet.out = root_box.outside / "small/fleet"
    assert root_box.call(["/bin/mount", "-t", "tmpfs", "-o", "size=96k,mode=700", "fleet", fleet.out.parent]).status == 0
    try:
        answer = fleet.run()
        assert answer.status == 1 and b"No space left on device" in answer.err and b"goes on from here" in answer.err, answer
        done = len(fleet.documents())
        assert 0 < done < 30
        assert root_box.call(["/bin/mount", "-o", "remount,size=16m", fleet.out.parent]).status == 0
        answer = fleet.run()
        assert answer.status == 0 and len(fleet.documents()) == 30, answer
        assert root_box.call(["/bin/mount", "-o", "remount,ro", fleet.out.parent]).status == 0
        refused(fleet.run("--retry"), "Read-only file system")
    finally:
        root_box.call(["/bin/umount", fleet.out.parent])


# ---- ends, and several at once ----

def slow(box, marker, count=4, **more):
    return Fleet(box, count=count, probes=[probe("one", "ignore_signals", marker, "x", timeout_s=60, **more)])


def test_a_signal_ends_everything_within_100_ms(user_box, marker):
    fleet, times = slow(user_box, marker), []
    for _ in range(TRIES):
        process = fleet.start("--jobs", "2")
        wait_until(lambda: len(marked(marker, "ignore_signals")) == 2, "two tools run")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        times.append(time.monotonic() - began)
        none_left(marker)
        assert process.returncode == 130, err
        assert fleet.documents() == {} and fleet.failures() == {}
        if times[-1] <= 0.1:
            return
    raise AssertionError(f"not once: {times}")


def test_cancel_ends_a_run_and_the_next_goes_on(user_box, marker):
    fleet = slow(user_box, marker)
    process = fleet.start("--jobs", "2")
    wait_until(lambda: len(marked(marker, "ignore_signals")) == 2, "two tools run")
    assert fleet.status() == {**fleet.status(), "done": 0, "failed": 0, "running": 2, "pending": 2, "cancelled": False}
    assert user_box.call([user_box.command, "fleet", "cancel", fleet.out]).status == 0
    process.communicate(timeout=20)
    assert process.returncode == 1
    none_left(marker)
    assert fleet.status() == {**fleet.status(), "running": 0, "pending": 4, "cancelled": True}
    text = user_box.call([user_box.command, "fleet", "status", fleet.out]).out
    assert b"2 were begun by a process that is gone" in text and b"cancelled" in text


def watching(process):
    """The wardens that watch a tool now."""
    return [pid for pid in descendants(process.pid) if proc_file(pid, "comm") == b"choke-warden\n" and descendants(pid)]


def kill_watchers(process):
    wait_until(lambda: process.poll() is not None or watching(process), "a tool runs")
    for pid in watching(process):
        os.kill(pid, signal.SIGKILL)


def test_a_call_whose_watcher_was_killed_is_made_again(user_box):
    """As for want of memory. That is nothing that the repository did, and its document must not say that the probe failed."""
    fleet = Fleet(user_box, count=1, probes=[probe("one", "sleep", "2"), probe("two", "cat", "file")])
    process = fleet.start()
    kill_watchers(process)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    (document,) = fleet.documents().values()
    assert [found["state"] for found in document["probes"]] == ["ok", "ok"]
    compare_with_undisturbed(fleet)


def test_a_repository_whose_watchers_are_always_killed_is_a_failure(user_box, marker):
    fleet = slow(user_box, marker, count=1)
    process = fleet.start()
    for _ in range(2):
        tools = wait_until(lambda: marked(marker, "ignore_signals"), "the tool runs")
        kill_watchers(process)
        # Those: the call is made again at once.
        wait_until(lambda: not set(tools) & set(marked(marker, "ignore_signals")), "it is gone")  # pylint: disable=cell-var-from-loop
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and b"were killed" in err, err
    assert fleet.documents() == {} and len(fleet.failures()) == 1


def compare_with_undisturbed(fleet):
    other = fleet.box.outside / "undisturbed"
    assert fleet.run(out=other).status == 0
    assert fleet.documents() == fleet.documents(other) and fleet.index() == fleet.index(other)
    names = [sorted(os.listdir(out / "documents")) for out in (fleet.out, other)]
    assert names[0] == names[1]  # also no file without its name


def test_killed_at_any_moment_the_next_goes_on(user_box):
    """The moments are spread over the whole run; each run goes on from what the one before left."""
    fleet = Fleet(user_box, count=40)
    kills = 0
    for tenth in range(200):
        process = fleet.start("--jobs", "4")
        try:
            process.communicate(timeout=0.004 * (tenth % 40))
        except Exception:  # pylint: disable=broad-except
            process.kill()
            process.communicate()
            kills += 1
        for document in (fleet.out / "documents").glob("[!.]*") if fleet.out.exists() else ():
            json.loads(document.read_text())  # each is whole, at any moment
        if process.returncode == 0:
            break
    assert kills >= 3
    assert fleet.run().status == 0
    assert fleet.claims() == []
    compare_with_undisturbed(fleet)


def test_two_at_once_share_the_work(user_box):
    fleet = Fleet(user_box, count=30)
    both = [fleet.start("--audit", user_box.log, audit=True) for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
    assert len(fleet.documents()) == 30 and fleet.claims() == []
    calls = collections.Counter(record["root"] for record in records(user_box.log)
                                if record["kind"] == "intent" and record["tool"]["name"] == "cat")
    assert set(calls.values()) == {1} and len(calls) == 30, calls
    compare_with_undisturbed(fleet)


def start_time(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[19]


def holder(pid, start, boot=None, machine=None, space=None):
    try:
        own = pathlib.Path("/etc/machine-id").read_text(encoding="utf-8").strip()[:32] or "unknown"
    except OSError:
        own = "unknown"
    boot = boot or pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    space = space or os.stat("/proc/self/ns/pid").st_ino
    return f"local {machine or own + '/' + os.uname().nodename[:40]} {boot} {space} {pid} {start}"


def forge(fleet, path, text, number=1):
    link = fleet.out / "claims" / f"{fleet.name_of(path)}~{number}"
    os.symlink(text, link)
    fleet.box.own(link)


def test_a_claim_is_stale_when_its_process_is_gone_never_by_age(fleet):
    assert fleet.run("--limit", "1").status == 0
    left = [path for path in fleet.repositories if str(path) not in fleet.documents()]
    forge(fleet, left[0], holder(os.getpid(), int(start_time(os.getpid())) + 1))     # a pid that is used again
    forge(fleet, left[1], holder(os.getpid(), start_time(os.getpid()), boot="0" * 8))  # before the last boot
    forge(fleet, left[1], holder(2 ** 22 + 1, 1), number=2)                            # and another after it
    forge(fleet, left[2], holder(os.getpid(), start_time(os.getpid())))                # the test itself is alive
    os.utime(fleet.out / "claims" / f"{fleet.name_of(left[2])}~1", (0, 0), follow_symlinks=False)
    process = fleet.start()
    wait_until(lambda: len(fleet.documents()) == 3, "what is stale is taken over")
    assert fleet.status()["running"] == 1 and process.poll() is None
    # As if it had ended: nobody removes the claim of a process that lives.
    os.unlink(fleet.out / "claims" / f"{fleet.name_of(left[2])}~1")
    process.communicate(timeout=30)
    assert process.returncode == 0 and len(fleet.documents()) == 4


@pytest.mark.parametrize("text", [
    holder(1, 1, machine="another/machine"), holder(1, 1, space=1), "slurm 12 3 0", "unknown", "local x", "\n" * 9, "a b c d e f g h"])
def test_a_claim_that_cannot_be_judged_is_held(fleet, text):
    assert fleet.run("--limit", "3").status == 0
    left = next(path for path in fleet.repositories if str(path) not in fleet.documents())
    forge(fleet, left, text)
    process = fleet.start()
    with pytest.raises(Exception, match="timed out"):
        process.communicate(timeout=0.6)
    assert fleet.status()["running"] == 1
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130 and len(fleet.documents()) == 3


def test_a_wait_for_a_holder_that_is_not_known_is_announced(fleet):
    """It may be gone for ever, and only the user can know."""
    assert fleet.run("--limit", "3").status == 0
    left = next(path for path in fleet.repositories if str(path) not in fleet.documents())
    forge(fleet, left, "slurm 12 3 0")
    process = fleet.start()
    with pytest.raises(Exception, match="timed out"):
        process.communicate(timeout=5)
    for claim in (fleet.out / "claims").iterdir():
        claim.unlink()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0 and len(fleet.documents()) == 4, err
    said = err.decode()
    assert f"'{left}' is held by 'slurm 12 3 0'" in said and f"remove '{fleet.out}/claims/{fleet.name_of(left)}~*'" in said, said
    assert said.count("held by") == 1


def test_a_document_has_the_processor_time_of_its_own_gather(fleet):
    """Not that of the whole run so far, which grows from one to the next."""
    paths = [fleet.repository(f"more{number}") for number in range(30)]
    fleet.write_list(*paths)
    assert fleet.run("--jobs", "1").status == 0
    documents = [json.loads((fleet.out / "documents" / f"{fleet.name_of(path)}.json").read_text()) for path in paths]
    times = [document["timing"]["own_cpu_ms"] for document in documents]
    assert min(times) > 0 and times != sorted(times), times


def test_progress_is_shown_on_a_terminal(fleet):
    status, text = on_terminal(fleet.box, fleet.argv(), streams=("stderr",), env=fleet.box.environment(TERM="xterm"))
    assert status == 0 and b"/4, 0 failed, " in text and b" left" in text and text.endswith(b"\r\x1b[K")
