"""R91: the state directories of a profile: kept between runs, private to the user, apart from the caller's own home; what
changed there and in the root, and may run later, is listed at the end. And names in the root that the cage cannot write."""
import json
import os
import stat

import pytest

from guards import needs


@pytest.fixture
def kept(guarded):
    guarded.set_policy(section={"state": [".agent", ".config/agent"], "state_data": [".agent/log/**", ".agent/history*", ".agent/of/*/*.jsonl"]},
                       tools=["cat", "cp", "ls", "ln", "mkdir", "mv", "rm", "touch", "chmod"])
    return guarded


def store(guarded, profile="_"):
    return guarded.box.home / ".local/state/chokepoint/guard" / profile


def changes(answer):
    """{path in the store: why it may run later}"""
    assert answer.document["changes_incomplete"] is False
    return {change["path"].split("/guard/", 1)[-1]: change["runs_later"] for change in answer.document["changes"]}


def shell(guarded, script, **keywords):
    answer = guarded.shell(script, **keywords)
    assert answer.status == 0, answer
    return answer


def test_state_is_kept_and_the_rest_of_home_is_not(kept):
    shell(kept, "echo one > ~/.agent/a; echo two > ~/.config/agent/b; echo three > ~/other; test $HOME = /.state")
    answer = shell(kept, "cat ~/.agent/a ~/.config/agent/b; ls ~")
    assert answer.out == b"one\ntwo\n"
    assert changes(answer) == {}, "nothing has changed since"


def test_state_is_private_and_not_the_callers_home(kept):
    own = kept.box.directory("home/.agent")
    kept.box.file("home/.agent/login", "a token")
    answer = shell(kept, "ls -a ~/.agent; echo x > ~/.agent/new")
    assert b"login" not in answer.out and sorted(os.listdir(own)) == ["login"]
    place = store(kept)
    for directory in (place.parent.parent, place.parent, place, place / ".agent", place / ".config/agent"):
        status = directory.stat()
        assert (stat.S_IMODE(status.st_mode) & 0o077, status.st_uid) == (0, kept.box.actor.uid), directory


def test_what_may_run_later_is_listed(kept):
    answer = shell(kept, """mkdir ~/.agent/log ~/.agent/hooks
        echo x > ~/.agent/log/one; echo x > ~/.agent/history.jsonl; echo x > ~/.agent/settings.toml; echo x > ~/.agent/hooks/start
        echo 'all:' > Makefile; echo text > notes.txt; printf '#!/bin/sh\\n' > ~/.agent/log/script; chmod +x ~/.agent/log/script""",
                   options=())
    found = changes(answer)
    assert found["_/.agent/settings.toml"] == "settings" and found["_/.agent/hooks/start"], found
    assert found["_/.agent/log/script"], "data that is a program counts"
    assert found["_/.agent/log/one"] is None and found["_/.agent/history.jsonl"] is None, found
    root = {path: why for path, why in found.items() if path.startswith("/")}
    assert root == {f"{kept.root}/Makefile": "build file"}, "of the root, what runs later"
    said = answer.err.decode()
    assert f"left, and may run later: added {kept.root}/Makefile (build file)" in said and "settings.toml (settings)" in said
    assert "log/one" not in said


def test_a_star_is_a_part_of_one_name(kept):
    answer = shell(kept, "mkdir -p ~/.agent/of/x/memory; cd ~/.agent/of; for f in x/one.jsonl x/memory/MEMORY.md x/memory/two.jsonl x/.jsonl x/jsonl; "
                         "do echo x > $f; done; echo x > one.jsonl")
    found = changes(answer)
    data = sorted(path.removeprefix("_/.agent/of/") for path, why in found.items() if path.endswith(("l", "md")) and not why)
    assert data == ["x/.jsonl", "x/one.jsonl"], found


@pytest.mark.parametrize("script, path, kind", [
    ("echo 2 > ~/.agent/a", "a", "modified"),
    ("rm ~/.agent/a", "a", "deleted"),
    ("chmod +x ~/.agent/a", "a", "modified"),
    ("mv ~/.agent/a ~/.agent/b", "b", "added"),
    ("touch -r /usr ~/.agent/a", "a", "modified"),
    ("cp ~/.agent/a /tmp/a; echo 3 > ~/.agent/a; cat /tmp/a > ~/.agent/a; touch -d @1 ~/.agent/a", "a", "modified"),
    ("mv ~/.agent/old ~/.agent/hooks", "hooks/start", "added"),
    ("ln -sf /etc/passwd ~/.agent/a", "a", "modified"),
])
def test_no_change_is_hidden(kept, script, path, kind):
    """Times that the program sets back, names that it moves: the kernel's time of change tells."""
    shell(kept, "echo 1 > ~/.agent/a; mkdir ~/.agent/old; echo x > ~/.agent/old/start")
    answer = shell(kept, script)
    assert [change["kind"] for change in answer.document["changes"] if change["path"].endswith(f"/.agent/{path}")] == [kind], answer.document
    if kind != "deleted":
        assert changes(answer)[f"_/.agent/{path}"], "it may run later"


def test_what_cannot_be_read_is_named(kept):
    if kept.box.actor.uid == 0:
        answer = shell(kept, "mkdir ~/.agent/shut; echo x > ~/.agent/shut/hook; chmod 0 ~/.agent/shut")
        assert "_/.agent/shut/hook" in changes(answer), "root reads it"
        return
    answer = shell(kept, "mkdir ~/.agent/shut; echo x > ~/.agent/shut/hook; chmod 0 ~/.agent/shut")
    assert answer.document["changes_incomplete"] is True
    [why] = [change["runs_later"] for change in answer.document["changes"] if change["path"].endswith("shut")]
    assert why == "cannot be read"


@pytest.mark.parametrize("mode", ["000", "0300", "0777"])
def test_a_program_that_closes_its_state_hides_nothing_and_is_not_the_last(kept, mode):
    """Its owner, who is the caller, could not open the directory either."""
    answer = shell(kept, f"echo x > ~/.agent/hook; chmod {mode} ~/.agent")
    assert changes(answer) == {"_/.agent/hook": "settings"}
    assert shell(kept, "ls ~/.agent").out == b"hook\n"
    assert stat.S_IMODE((store(kept) / ".agent").stat().st_mode) == 0o700


def test_a_state_that_was_closed_by_a_guard_that_died_opens(kept):
    shell(kept, "echo x > ~/.agent/hook")
    (store(kept) / ".agent").chmod(0)
    assert shell(kept, "ls ~/.agent").out == b"hook\n"


def test_a_symlink_that_the_cage_left_is_not_followed(kept):
    shell(kept, "rm -r ~/.config/agent/x; true")
    kept.set_policy(section={"state": [".agent", ".agent/inner"]}, tools=["ln", "rm", "ls"])
    victim = kept.box.directory("outside/victim")
    (store(kept) / ".agent").mkdir(exist_ok=True)
    os.symlink(victim, store(kept) / ".agent/inner")
    answer = kept.shell("ls ~/.agent/inner")
    assert answer.status == 125 and b"it is not a directory" in answer.err, answer.err


def test_each_profile_has_a_state_of_its_own(guarded):
    profiles = [{"name": name, "why": "w", "adr": "0001", "carriers": ["bash"], "state": [".agent"]} for name in ("one", "two")]
    guarded.set_policy(carriers=["bash"], tools=["cat"], section={"profiles": profiles})
    shell(guarded, "echo x > ~/.agent/a", options=("--profile", "one", "--quiet"))
    assert guarded.shell("cat ~/.agent/a", options=("--profile", "two", "--quiet")).status == 1
    assert (store(guarded, "one") / ".agent/a").read_text(encoding="ascii") == "x\n"


def test_a_root_that_holds_the_state_is_refused(kept):
    argv = [kept.box.command, "guard", "--policy", str(kept.policy), "--root", str(kept.box.home), "--audit", str(kept.box.log),
            "--cwd", str(kept.box.home), "--", "bash", "-c", "true"]
    answer = kept.box.call(argv)
    assert answer.status == 125 and b"the state of all profiles" in answer.err, answer.err


def test_tools_behind_doors_reach_state_by_its_path(kept):
    assert shell(kept, "echo text > ~/.agent/a; cat ~/.agent/a; cd ~/.agent && cat a").out == b"text\ntext\n"


# ---- names that the cage cannot write ----

@pytest.mark.parametrize("script", ["echo x > .git/hooks/pre-commit", "mv .git other", "rm -rf .git; test -e .git/config", "ln -s x .git/hooks/post-commit",
                                    "mkdir .git/new", "cp /proc/version .git/config", "chmod 0777 .git/config", "touch -d @1 .git/config"])
def test_a_read_only_name_stays_as_it_is(guarded, script):
    needs("git")
    guarded.box.call(["git", "init", "-q", str(guarded.root)])
    before = {path: (path.lstat().st_ctime_ns, path.lstat().st_ino) for path in guarded.root.rglob("*")}
    guarded.set_policy(carriers=["bash", "cp", "mv", "rm", "ln", "mkdir", "chmod", "touch"], tools=[], section={"read_only": [".git", "not-there"]})
    answer = guarded.shell(script)
    assert b"Read-only file system" in answer.err or b"busy" in answer.err, answer
    assert {path: (path.lstat().st_ctime_ns, path.lstat().st_ino) for path in guarded.root.rglob("*") if ".git" in str(path)} == \
        {path: value for path, value in before.items() if ".git" in str(path)}


def test_without_the_key_the_cage_writes_hooks(guarded):
    needs("git")
    guarded.box.call(["git", "init", "-q", str(guarded.root)])
    shell(guarded, "echo x > .git/hooks/pre-commit")
    assert (guarded.root / ".git/hooks/pre-commit").exists()


def test_a_symlink_in_place_of_a_read_only_name_is_refused(guarded):
    guarded.box.directory("root/elsewhere")
    os.symlink("elsewhere", guarded.root / ".git")
    guarded.set_policy(section={"read_only": [".git"]})
    answer = guarded.shell("rm .git; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit")
    assert answer.status == 125 and b"'.git' in the root is a symlink" in answer.err, answer


# ---- --dry-run ----

def test_dry_run_shows_all_of_a_profile(guarded):
    policy = guarded.box.file("policy/agent.yaml", json.dumps({"version": 1, "extends": "default"}), 0o600)
    answer = guarded.box.call([guarded.box.command, "guard", "--policy", str(policy), "--profile", "python-agent", "--root", str(guarded.root),
                               "--dry-run", "--", "python3", "agent.py"])
    assert answer.status == 0, answer.err
    said = answer.out.decode().splitlines()
    for line in ("carrier python3", "carrier bash", "argv python3 agent.py", f"state .agent {store(guarded, 'python-agent')}/.agent",
                 "egress api.openai.com", "env TERM", "read-only .git", "may-refuse getconf", "workspace rw", "workspace_code false", "jit false",
                 "set OPENAI_BASE_URL=http://api.openai.com/v1"):
        assert line in said, (line, said)
    assert "door git /usr/bin/git" in said or not os.path.exists("/usr/bin/git")


def test_every_profile_of_the_build_is_shown(box):
    """What it would have: also where its agent is not installed, as data."""
    answer = box.call([box.command, "policy", "show", "catalog", "--json"])
    names = {profile["name"]: profile for profile in json.loads(answer.out)["guard"]["profiles"]}
    assert set(names) == {"ci", "codex", "opencode", "claude-code", "gemini-cli", "python-agent"}
    data = [pattern for profile in names.values() for pattern in profile["state_data"]]
    # logins, notes that are instructions, and scripts that a resumed session reads
    assert not [pattern for pattern in data if pattern.endswith(("auth.json", "projects/**", "session-env/**"))]
    for name in set(names) - {"ci"}:
        assert names[name]["read_only"][0] == ".git" and not names[name]["workspace_code"] and names[name]["egress"], name
