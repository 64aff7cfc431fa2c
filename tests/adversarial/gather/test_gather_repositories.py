"""Promise: A look at a repository.
Attacker: the author of a repository. Means: everything that a directory may be: empty, without a
commit, bare, shallow, a linked work tree, with submodules, with a hundred thousand files, with
names in no encoding, with a configuration that starts programs, with symlinks that lead out, with
files that cannot be read or have no end, or not a repository at all.

Expected: the document is complete, each probe says what it saw or why it did not, nothing of the
repository runs or chooses what runs, and nothing outside is read.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from feature import scaled, skip
from gathered import Gathered, gather, probe, gather_argv
from hostile import Repository, everything, hooks

SEEN = ("snapshot", "curated_patterns")  # those with tools that every test machine has


def look(box, root=None, *options, only=SEEN) -> Gathered:
    return gather(box, "--only", ",".join(only), *options, root=root, policy="default")


def snapshot(found):
    assert found.states["snapshot"] == "ok", found.probes["snapshot"]["reason"]
    return found.probes["snapshot"]["evidence"]


@pytest.fixture
def repo(box):
    return Repository(box)


def test_a_usual_repository(repo, box):
    found = look(box)
    assert found.status == 0
    assert found.document["commit"] == repo.git("rev-parse", "HEAD").out.decode().strip()
    assert [each["name"] for each in found.document["tools"]] == ["git", "rg"]
    assert found.without_times() == look(box).without_times()


def test_an_empty_directory_is_no_repository(box):
    found = look(box)
    assert found.states["snapshot"] == "skipped"
    assert found.probes["snapshot"]["reason"] == "not a git repository"
    assert found.document["commit"] is None and found.document["repository"]["files"] == 0


def test_a_directory_inside_another_repository_is_not_that_one(repo, box):
    """git would go up, and report a repository that must not be read."""
    assert look(box, repo.path / "dir").states["snapshot"] == "skipped"


def test_a_repository_without_commits(box):
    assert box.call(["git", "init", "-q"]).status == 0
    found = look(box)
    assert snapshot(found)
    assert found.document["commit"] is None


def test_a_bare_repository(repo, box):
    bare = box.directory("bare")
    repo.git("clone", "-q", "--bare", repo.path, bare)
    found = look(box, bare)
    assert snapshot(found) and found.document["commit"] == repo.git("rev-parse", "HEAD").out.decode().strip()


def test_a_shallow_clone(repo, box):
    shallow = box.directory("shallow")
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", shallow)
    found = look(box, shallow)
    assert snapshot(found) and found.document["commit"] == repo.git("rev-parse", "HEAD").out.decode().strip()


def test_a_linked_work_tree_is_reported_as_such(repo, box):
    """Its git directory is in the other repository, which must not be read."""
    linked = box.directory("linked")
    repo.git("worktree", "add", "-q", "--detach", linked)
    found = look(box, linked)
    assert found.states["snapshot"] == "skipped" and "linked work tree" in found.probes["snapshot"]["reason"]
    assert found.states["curated_patterns"] == "ok"


@pytest.mark.parametrize("git", ["gitdir: /etc", "gitdir: ../..", "gitdir: ", "", "gitdir: sub/../../outside"])
def test_a_git_file_does_not_lead_out(user_box, git):
    user_box.file("root/.git", git + "\n")
    assert look(user_box).states["snapshot"] == "skipped"


def test_a_git_link_does_not_lead_out(repo, box):
    (box.outside / "link").mkdir()
    (box.outside / "link/.git").symlink_to(repo.path / ".git")
    found = look(box, box.outside / "link")
    assert found.probes["snapshot"]["reason"] == "its .git is a symlink, which is not followed"


def test_a_git_that_is_a_fifo_is_not_waited_for(user_box):
    os.mkfifo(user_box.root / ".git")
    assert look(user_box).probes["snapshot"]["reason"] == "its .git is neither a directory nor a file"


@pytest.mark.parametrize("option, path", [("--keep", "planted"), ("--keep", "dir/../planted/new"), ("--out", "planted/all.json"),
                                          ("--out", "./dir/inner/all.json")])
def test_a_planted_link_does_not_choose_where_is_written(user_box, option, path):
    """The caller is in the repository and names a path there."""
    user_box.directory("root/dir")
    (user_box.root / "planted").symlink_to(user_box.outside)
    (user_box.root / "dir/inner").symlink_to("../../outside")
    answer = user_box.call(gather_argv(user_box, "--only", "node_version", option, path, policy="default"))
    assert answer.status == 125 and b"the path goes through a symlink of the repository" in answer.err, answer
    assert not os.listdir(user_box.outside)


def test_a_link_of_the_caller_s_own_is_followed(user_box):
    (user_box.base / "mine").symlink_to(user_box.outside)
    directory = user_box.base / "mine/kept"
    answer = user_box.call(gather_argv(user_box, "--only", "node_version", "--keep", directory, "--out", directory / "all.json", policy="default"))
    assert answer.status == 0, answer
    assert set(os.listdir(user_box.outside / "kept")) >= {"all.json"}


def test_submodules(repo, box):
    repo.submodule()
    assert snapshot(look(box))


def test_nothing_of_a_hostile_configuration_runs(repo, box):
    """Every key that names a program names the canary's; so do the hooks, the attributes and what a tool may look for."""
    everything(repo)
    hooks(repo, repo.path / ".git/hooks")
    repo.write(".gitattributes", "* diff=evil filter=evil merge=evil\n")
    for name in ("sgconfig.yml", ".semgrep.yml", ".gitleaks.toml", ".ripgreprc", ".rgignore", "probes.yaml",
                 "policy/probes.yaml", "chokepoint.yaml", ".syft.yaml", ".grype.yaml", "tree-sitter.json", ".npmrc"):
        repo.write(name, f"run: {repo.script}\n")
    repo.make_index_stale()
    repo.fired()
    repo.git("status", check=False)
    assert repo.fired(), "the canary does not sing"
    repo.make_index_stale()
    found = gather(box, policy="default", deadline=120)
    assert not repo.fired()
    assert snapshot(found)


def test_names_in_no_encoding(repo, box):
    for name in (b"new\nline.py", b"\xff\xfe.py", b"-rf.py", b"--pre=sh.py", b"a b'c\"d.py", b"\x1b[31m.py",
                 "‮.py".encode()):
        path = os.path.join(os.fsencode(repo.path), name)
        with open(path, "wb") as stream:
            stream.write(b"import os\nos.system(x)\n")
        box.own(path)
    repo.git("add", "-A")
    answer = box.call(gather_argv(box, "--json", "--only", ",".join(SEEN), policy="default"))
    found = Gathered(answer)
    assert set(found.states[name] for name in SEEN) == {"ok"}
    assert not any(byte in answer.out for byte in (b"\x1b", b"\xff", "‮".encode()))
    shown = box.call(gather_argv(box, "--only", ",".join(SEEN), policy="default"))
    assert shown.status == 0 and b"\x1b" not in shown.out and "‮".encode() not in shown.out


def test_links_lead_nowhere(box):
    secret = box.file("outside/secret.mk", "curl secret | sh\n", 0o644)
    box.file("root/here.mk", "curl localhost | sh\n")
    (box.root / "link.mk").symlink_to(secret)
    (box.root / "up").symlink_to("..")
    (box.root / "loop").symlink_to("loop")
    found = look(box, None, only=["curated_patterns"])
    text = json.dumps(found.probes["curated_patterns"]["evidence"])
    assert found.states["curated_patterns"] == "ok" and "here.mk" in text
    assert "secret" not in text and "link.mk" not in text
    assert found.document["repository"]["files"] == 4


def test_files_that_cannot_be_read(user_box):
    user_box.file("root/closed.py", "import os\nos.system(x)\n", 0)
    user_box.file("root/open.py", "import os\nos.system(x)\n")
    closed = user_box.directory("root/closed", 0)
    try:
        found = look(user_box)
    finally:
        closed.chmod(0o700)
    assert found.document["repository"]["files_incomplete"] is True
    assert found.states["curated_patterns"] in ("ok", "failed")
    assert found.status == 0


def test_a_file_of_five_gibibytes(box):
    with open(box.root / "large.bin", "wb") as stream:
        stream.truncate(5 << 30)
    box.file("root/small.mk", "curl localhost | sh\n")
    found = look(box, None, "--timeout", "60")
    assert found.states["curated_patterns"] == "ok"
    assert "small.mk" in json.dumps(found.document["probes"])


def test_things_that_are_no_files(box):
    os.mkfifo(box.root / "fifo.py")
    box.own(box.root / "fifo.py")
    found = look(box, None, "--timeout", "20")
    assert found.states["curated_patterns"] == "ok"
    assert found.document["repository"]["files"] == 1


@pytest.fixture(scope="module")
def crowd(stage):
    """A hundred thousand files, and a directory deeper than a path can be long; on a tmpfs if there is one."""
    memory = "/dev/shm"
    top = pathlib.Path(tempfile.mkdtemp(prefix="crowd-", dir=memory if os.access(memory, os.W_OK) else stage))
    top.chmod(0o755)
    count = scaled(100_000, 5_000)
    for i in range(count // 1000):
        (top / f"d{i}").mkdir()
        for name in range(1000):
            os.close(os.open(top / f"d{i}/{name}.txt", os.O_CREAT | os.O_WRONLY, 0o644))
    here = os.open(top, os.O_RDONLY)
    for _ in range(40):
        os.mkdir("x" * 200, 0o755, dir_fd=here)
        below = os.open("x" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    yield top, count
    subprocess.run(["rm", "-rf", top], check=True)


def test_a_hundred_thousand_files(once_box, crowd):
    top, count = crowd
    found = gather(once_box, root=top, probes=[probe("first", "sh", "-c", "echo $0", "{file}", applies_when=["**/*.txt"]),
                                          probe("many", "sh", "-c", "echo $#", "sh", "{files}", applies_when=["**/*.txt"])])
    assert found.document["repository"]["files"] == count or found.document["repository"]["files_incomplete"]
    assert found.document["repository"]["files_incomplete"] is True  # the path that is too long
    assert found.lines("first") == ["d0/0.txt"]
    assert found.lines("many") == ["1000"] and found.probes["many"]["files_cut"] is True


@pytest.fixture
def screen(stage):
    """More names than are inspected, and a file after them."""
    memory = "/dev/shm"
    top = pathlib.Path(tempfile.mkdtemp(prefix="screen-", dir=memory if os.access(memory, os.W_OK) else stage))
    top.chmod(0o755)
    (top / "a").mkdir()
    (top / "b").mkdir()
    (top / "b/hidden.py").write_text("")
    for i in range(200_000):
        if i % 50_000 == 0:
            source = top / f"a/{i}"
            source.write_text("")
        else:
            os.link(source, f"{top}/a/{i}")
    yield top
    subprocess.run(["rm", "-rf", top], check=True)


def test_many_files_do_not_hide_the_last_one(user_box, screen):
    python = {"applies_when": ["**/*.py"]}
    found = gather(user_box, root=screen, probes=[probe("all", "sh", "-c", "echo $0", **python),
                                                  probe("named", "sh", "-c", "echo $0", "{file}", **python)])
    assert found.document["repository"]["files_incomplete"] is True
    assert found.lines("all") == ["sh"]
    assert found.probes["named"]["reason"] == "no file matches **/*.py, among the files that were listed"


def test_another_mount_is_not_part_of_it(root_box):
    if not shutil.which("unshare"):
        skip("unshare", "util-linux is missing")
    root_box.file("root/here.x")
    root_box.directory("root/mounted")
    command = [*map(str, gather_argv(root_box, "--json", policy="default")), "--only", "node_version"]
    script = 'mount -t tmpfs none "$0" && : > "$0/there.x" && exec "$@"'
    answer = root_box.call(["unshare", "-m", "sh", "-c", script, root_box.root / "mounted", *command])
    assert Gathered(answer).document["repository"]["files"] == 1, answer
