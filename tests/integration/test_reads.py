"""R88: further directories in a jail (`reads`), the root at its own path (`root_at`), linked worktrees and
submodules, and the spelling of absolute paths.
"""
import json
import os
import pathlib
import shutil
import tempfile

import pytest

from conftest import CELLS
from git_links import Links, hidden
from no_userns import NoUserns

ARGS = {"options": ["-o=<inside>"], "operands": "inside"}


@pytest.fixture(params=["/var/tmp", "/tmp"])
def place(request, box):
    """A directory outside every box. Each run has a new /tmp, so that is the harder one."""
    yield from directory_of(box, request.param)


@pytest.fixture
def var(box):
    yield from directory_of(box, "/var/tmp")


def directory_of(box, parent):
    path = pathlib.Path(tempfile.mkdtemp(prefix="choke-reads-", dir=parent))
    try:
        yield box.own(path, 0o755)
    finally:
        shutil.rmtree(path)


def write(box, path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    box.own(path.parent)
    path.write_text(text, encoding="utf-8")
    return box.own(path, mode)


def policy(cell, **keys):
    entries = [cell.box.entry(name, route="external", **keys) for name in ("cat", "pwd")]
    return cell.write_policy(more=entries, say_args={"args": ARGS, **keys}, attempt=keys)


# ---- reads ----

def test_directory_is_shown_read_only_and_its_files_are_no_code(cell, place):
    box = cell.box
    text = write(box, place / "a/text", "shown")
    assert cell.run("cat", text, policy=policy(cell)).status == 1
    used = policy(cell, reads=[str(place / "a")])
    assert cell.succeeds_inside("cat", text, policy=used).stream("stdout") == b"shown"
    shutil.copy("/usr/bin/true", place / "a/true")
    box.own(place / "a/true", 0o755)
    cell.refused_inside("attempt", "plain", place / "a/true", policy=used, errnos="EACCES EPERM")
    cell.refused_inside("attempt", "mapped", place / "a/true", policy=used, errnos="EACCES EPERM")
    cell.refused_inside("attempt", "rename", place / "a/true", policy=used, errnos="EROFS EACCES EPERM")
    both = policy(cell, reads=[str(place / "a")], execs=[str(place / "a/true")])
    cell.succeeds_inside("attempt", "plain", place / "a/true", policy=both)


def test_missing_directory_is_missing_and_a_link_is_followed(cell, var):
    box = cell.box
    write(box, var / "real/text", "shown")
    (var / "link").symlink_to("real")
    box.own(var / "link")
    used = policy(cell, reads=[str(var / "none"), str(var / "link")])
    for name in ("link", "real"):
        assert cell.succeeds_inside("cat", var / name / "text", policy=used).stream("stdout") == b"shown"


def environment_in(box, place):
    """Like a virtual environment: an interpreter of its own, a script that names it, and modules."""
    real = pathlib.Path(os.path.realpath("/usr/bin/python3"))
    (place / "venv/bin").mkdir(parents=True)
    box.own(place / "venv")
    box.own(place / "venv/bin")
    shutil.copy(real, place / "venv/bin/python")
    box.own(place / "venv/bin/python", 0o755)
    write(box, place / "venv/lib/greeting.py", "TEXT = 'from the environment'\n")
    write(box, place / "venv/bin/greet", f"#!{place}/venv/bin/python\nimport sys\nsys.path.insert(0, '{place}/venv/lib')\n"
          "import greeting\nprint(greeting.TEXT, sys.executable)\n", 0o755)
    return place / "venv"


def test_environment_outside_the_system_works(cell, place):
    venv = environment_in(cell.box, place)
    entry = cell.box.entry("greet", route="external", path=str(venv / "bin/greet"), reads=[str(venv)],
                           execs=[str(venv / "bin/python")])
    answer = cell.succeeds_inside("greet", policy=cell.write_policy(more=[entry]))
    assert answer.stream("stdout").decode() == f"from the environment {venv}/bin/python\n"


def refusals(box, place):
    """The directory, and what the message says."""
    (place / "open").mkdir()
    box.own(place / "open", 0o777)
    (place / "proc").symlink_to("/proc")
    (place / "top").symlink_to("/")
    for name in ("proc", "top"):
        box.own(place / name)
    write(box, place / "file", "")
    yield place / "open", "written by group or others"
    yield place / "proc", "/proc"
    yield place / "top", "root of the file system"
    yield place / "file", "not a directory"
    yield box.root, "inside the root"
    yield box.base, "holds the root"
    yield box.log.parent, "holds the audit log"
    yield box.home, "chokepoint's own state"


def test_directory_that_may_not_be_shown_is_refused(cell, var):
    for directory, why in refusals(cell.box, var):
        answer = cell.run("cat", "/dev/null", policy=policy(cell, reads=[str(directory)]))
        assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.cat.reads"), answer.document
        assert why in answer.message, answer.message


@pytest.mark.parametrize("path", ["/", "/proc", "/proc/self", "/sys/kernel", "/dev", "/run/user", "opt", "/opt/../etc", "/opt/"])
def test_loader_refuses_the_directory(user_box, path):
    bad = user_box.write_policy([user_box.entry("cat", reads=[path])])
    answer = user_box.run("cat", policy=bad)
    assert answer.outcome == "policy" and "'reads' in tool 'cat'" in answer.message, answer.document


# ---- the place of the root ----

ODD = ["a b", "a,b:c\\", "line\nbreak", "ü%s"]


def test_root_is_at_its_own_path(cell, place):
    box = cell.box
    used = policy(cell, root_at="own")
    for name in ODD:
        root = place / name / "repo"
        write(box, root / "sub/file", name)
        answer = cell.succeeds_inside("pwd", policy=used, root=root, cwd=root / "sub")
        assert answer.stream("stdout").decode() == f"{root}/sub\n"
        answer = cell.succeeds_inside("cat", root / "sub/file", policy=used, root=root, cwd=root)
        assert answer.stream("stdout").decode() == name
    link = place / "link"
    link.symlink_to(root)
    box.own(link)
    answer = cell.succeeds_inside("pwd", policy=used, root=link, cwd=link)
    assert answer.stream("stdout").decode() == f"{root}\n"


# Only the native jail has an overlay.
@pytest.mark.parametrize("cell, workspace", [*((jail, "rw") for jail in CELLS), ("native", "overlay")], indirect=["cell"])
def test_root_at_its_own_path_can_be_written(cell, place, workspace):
    root = place / "a,b:c\\" / "repo"
    write(cell.box, root / "file", "x")
    used = cell.write_policy(breach_files={"workspace": workspace, "root_at": "own"})
    answer = cell.succeeds_inside("breach_files", "write", root / "new", policy=used, root=root, cwd=root)
    assert (root / "new").exists() == (workspace == "rw")
    if workspace == "overlay":
        assert [change["path"] for change in answer["changes"]] == ["new"]
    cell.inside("breach_files", "write", root.parent / "new", policy=used, root=root, cwd=root)
    assert not (root.parent / "new").exists()  # the /tmp of the run may be written, but is not that of the host


@pytest.mark.parametrize("root", ["/", "/usr", "/usr/lib", "/etc", "/tmp", "/dev/shm", "/proc/self", "/dev"])
def test_root_that_the_jail_needs_itself_is_refused(cell, root):
    answer = cell.run("pwd", policy=policy(cell, root_at="own"), root=root, cwd=root, options=["--no-audit"])
    assert answer.outcome in ("jail_unavailable", "disallowed", "policy"), answer.document


def test_root_in_a_tree_of_the_system(root_cell):
    """Only root can write there."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="choke-root-", dir="/usr/local"))
    try:
        root.chmod(0o755)
        (root / "file").write_text("here", encoding="ascii")
        answer = root_cell.succeeds_inside("cat", root / "file", policy=policy(root_cell, root_at="own"), root=root, cwd=root)
        assert answer.stream("stdout") == b"here"
    finally:
        shutil.rmtree(root)


# ---- the spelling of paths ----

def said(answer):
    assert (answer.outcome, answer.status) == ("exited", 0), answer.document
    return answer.stream("stdout").decode().split("\0")[:-1]


def spellings(box):
    """As it is asked for, and what follows the root."""
    link = box.base / "to-root"
    link.symlink_to(box.root)
    box.own(link)
    yield f"{box.root}/a", "/a"
    yield f"{box.root}/missing", "/missing"
    yield str(box.root), ""
    yield "/work/a", "/a"
    yield "/work//missing/x", "/missing/x"
    yield "/work", ""
    yield f"{link}/a", "/a"
    yield f"{link}/b", "/b"


@pytest.mark.parametrize("root_at", ["work", "own"])
def test_tool_gets_the_spelling_of_its_view(cell, root_at):
    box = cell.box
    box.file("root/a", "x")
    (box.root / "b").symlink_to("a")
    used = policy(cell, root_at=root_at)
    view = "/work" if root_at == "work" else str(box.root)
    for asked, rest in spellings(box):
        assert said(cell.inside("say_args", asked, f"-o{asked}", policy=used)) == [view + rest, f"-o{view}{rest}"]
        without = said(cell.run("say_args", asked, f"-o{asked}", policy=used, jail="none"))
        wanted = str(box.root) + rest if asked.startswith("/work") else asked
        assert without == [wanted, f"-o{wanted}"]


def test_record_has_both_spellings(cell):
    box = cell.box
    said(cell.inside("say_args", f"{box.root}/x", "y", policy=policy(cell)))
    intent = json.loads(box.log.read_text(encoding="utf-8").splitlines()[-2])
    assert intent["argv"][1:] == ["/work/x", "y"] and intent["asked"] == [{"at": 1, "text": f"{box.root}/x"}]
    assert "root_at" not in intent and "reads" not in intent
    said(cell.inside("say_args", "/work/x", policy=policy(cell, root_at="own")))
    intent = json.loads(box.log.read_text(encoding="utf-8").splitlines()[-2])
    assert intent["root_at"] == str(box.root) and intent["asked"] == [{"at": 1, "text": "/work/x"}]


def test_path_that_leads_out_is_refused_in_both_readings(cell):
    box = cell.box
    (box.root / "out").symlink_to("/etc")
    for asked in ("/work/../etc/passwd", "/work/out/passwd", "/work/a/../../etc", "/workx", "/etc/passwd", f"{box.root}/out/passwd"):
        for jail in (cell.jail, "none"):
            answer = cell.run("say_args", asked, policy=policy(cell), jail=jail)
            assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.say_args.args.operands"), (asked, answer.document)


# ---- git ----

def test_git_works_in_a_worktree_and_a_submodule(cell, place):
    links = Links(cell.box, place)
    for root in (links.tree, links.sub):
        (root / "file").write_text("changed\n", encoding="ascii")
        for command, expected in ((["status", "--short"], b" M file"), (["log", "--oneline"], b"first"), (["diff"], b"+changed")):
            answer = cell.box.run("git", *command, policy="default", options=["--jail", cell.jail], root=root, cwd=root)
            assert (answer.outcome, answer.status) == ("exited", 0) and expected in answer.stream("stdout"), answer.document
            assert hidden(cell.box, answer) is None


# ---- without user namespaces ----

@pytest.fixture
def switched(box):
    return NoUserns(box, "switch")


def test_what_holds_without_user_namespaces(switched, var):
    """The root and the directories have their own paths there anyway."""
    box, links = switched.box, Links(switched.box, var)
    text = write(box, var / "a/text", "shown")
    used = policy(switched, reads=[str(var / "a")])
    assert switched.inside("cat", text, policy=used).stream("stdout") == b"shown"
    assert switched.inside("cat", text, policy=policy(switched)).status == 1
    assert said(switched.inside("say_args", "/work/x", policy=used)) == [f"{box.root}/x"]
    assert switched.inside("pwd", policy=used).stream("stdout").decode() == f"{box.root}\n"
    for root in (links.tree, links.sub):
        answer = switched.run("git", "log", "--oneline", policy="default", root=root, cwd=root)
        assert (answer.outcome, answer.status) == ("exited", 0) and b"first" in answer.stream("stdout"), answer.document
    secret = write(box, links.main / ".git/secret", "secret")
    box.file("root/.git", f"gitdir: {links.main}/.git/worktrees/tree\n")
    answer = switched.inside("cat", secret, policy=used)
    assert answer.status == 1 and hidden(box, answer)
