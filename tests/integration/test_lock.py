"""chokepoint lock (R7): the files of the tools are recorded, and every change of them is drift."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from readiness import Toolbox, ldd


@pytest.fixture
def toolbox(box):
    return Toolbox(box)


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def write_lock(toolbox, *options):
    path = toolbox.box.root / "tools.lock"
    toolbox.text("lock", "--output", path, *options)
    return path


def tools_of(path):
    return {tool["name"]: tool for tool in json.loads(path.read_bytes())["tools"]}


def drifts(toolbox, path, status=1):
    answer = toolbox.text("lock", "--check", "--json", path, status=status)
    document = json.loads(answer.out)
    assert set(document) == {"file", "tools", "same", "drifts"} and document["same"] == (status == 0)
    return [(drift["tool"], drift["what"], drift["before"], drift["after"]) for drift in document["drifts"]]


def copy_tool(toolbox, source, name, **entry):
    path = toolbox.tools / name
    shutil.copy(source, path)
    toolbox.box.own(path, 0o755)
    toolbox.list(name, **entry)
    return path


# ---- what is written ----

@pytest.mark.parametrize("name", ["git", "rg", "jq", "strace"])
def test_the_libraries_are_those_that_the_loader_maps(toolbox, name):
    path = copy_tool(toolbox, shutil.which(name), name)
    tool = tools_of(write_lock(toolbox))[name]
    assert (tool["path"], tool["sha256"]) == (str(path), digest(path))
    expected = {name: directory for name, directory in ldd(path).items() if name != "linux-vdso.so.1"}
    assert {file["name"]: file["path"] for file in tool["libraries"]} == expected and expected
    (loader,) = tool["interpreters"]
    assert "ld-" in loader["path"]
    for file in tool["libraries"] + tool["interpreters"]:
        assert file["sha256"] == digest(file["path"])


def test_the_default_policy_locks_the_real_git(box):
    path = box.root / "tools.lock"
    assert box.call([box.command, "lock"]).status == 0  # into the current directory
    git = tools_of(path)["git"]
    assert git["path"] == "/usr/bin/git" and git["sha256"] == digest("/usr/bin/git")
    assert {file["name"] for file in git["libraries"]} == set(ldd("/usr/bin/git")) - {"linux-vdso.so.1"}
    assert box.call([box.command, "lock", "--check"]).status == 0


def test_a_script_has_its_interpreters_and_theirs(toolbox):
    toolbox.tool("script", interpreter="/usr/bin/env inner")
    toolbox.tool("inner", listed=False)
    tool = tools_of(write_lock(toolbox))["script"]
    names = {file["name"]: file["path"] for file in tool["interpreters"]}
    assert names["/usr/bin/env"] == "/usr/bin/env" and names["inner"] == str(toolbox.tools / "inner")
    assert names["/bin/sh"] == "/bin/sh" and any("/ld-" in name for name in names)
    assert any(file["name"].startswith("libc.so") for file in tool["libraries"])


def test_two_locks_of_one_machine_are_the_same_bytes(toolbox):
    toolbox.tool("zebra")
    toolbox.tool("ant")
    first = write_lock(toolbox).read_bytes()
    assert write_lock(toolbox).read_bytes() == first and first.endswith(b"}\n")
    assert [tool["name"] for tool in json.loads(first)["tools"]] == ["ant", "zebra"]
    assert json.loads(first)["version"] == 1


def test_a_missing_or_refused_tool_is_not_in_it(toolbox):
    toolbox.tool("teller")
    toolbox.tool("open", mode=0o777)
    toolbox.list("absentee")
    assert set(tools_of(write_lock(toolbox))) == {"teller"}


def test_the_cache_is_not_believed(toolbox):
    toolbox.tool("teller")
    toolbox.remember("teller")
    asked = toolbox.asked("teller")
    write_lock(toolbox)
    assert toolbox.asked("teller") == asked + 1


# ---- drift ----

def test_nothing_changed_is_status_0(toolbox):
    toolbox.tool("teller")
    path = write_lock(toolbox)
    assert drifts(toolbox, path, status=0) == []
    assert b"no drift" in toolbox.text("lock", "--check", path).out


def test_a_changed_tool_is_drift_with_a_message(toolbox):
    tool = toolbox.tool("teller")
    path = write_lock(toolbox)
    before = digest(tool)
    toolbox.box.file(tool, tool.read_text(encoding="utf-8").replace("1.2.3", "1.2.4"), 0o755)
    assert drifts(toolbox, path) == [("teller", "version", "1.2.3", "1.2.4"), ("teller", "sha256", before, digest(tool))]
    said = toolbox.text("lock", "--check", path, status=1).out.decode()
    assert f"teller: sha256\n  before  {before}\n  after   {digest(tool)}\n" in said


def test_tools_that_come_and_go_are_drift(toolbox):
    toolbox.tool("teller")
    toolbox.tool("leaver")
    path = write_lock(toolbox)
    (toolbox.tools / "leaver").unlink()
    toolbox.tool("newcomer")
    assert drifts(toolbox, path) == [("leaver", "tool", str(toolbox.tools / "leaver"), None),
                                   ("newcomer", "tool", None, str(toolbox.tools / "newcomer"))]


def test_a_changed_interpreter_is_drift(toolbox):
    interpreter = toolbox.tools / "interpreter"
    shutil.copy("/bin/sh", interpreter)
    toolbox.box.own(interpreter, 0o755)
    toolbox.tool("teller", interpreter=interpreter)
    path = write_lock(toolbox)
    before = digest(interpreter)
    with open(interpreter, "ab") as stream:
        stream.write(b"\0")
    assert drifts(toolbox, path) == [("teller", f"interpreter {interpreter} sha256", before, digest(interpreter))]


LIBRARY = "int answer(void); int answer(void) { return %d; }"
PROGRAM = '#include <stdio.h>\nint answer(void); int main(void) { printf("%d.0\\n", answer()); return 0; }'


def build(toolbox, tags):
    """A tool with a private library, beside it as $ORIGIN/../lib, which needs another one there."""
    directory = toolbox.box.directory("lib")
    source = toolbox.box.outside

    def cc(text, *args):
        (source / "x.c").write_text(text, encoding="ascii")
        subprocess.run(["cc", str(source / "x.c"), *map(str, args)], check=True)
    cc("int deep(void); int deep(void) { return 7; }", "-shared", "-fPIC", "-o", directory / "libdeep.so")
    cc(LIBRARY % 1, "-shared", "-fPIC", "-Wl,--no-as-needed", f"-L{directory}", "-ldeep", "-o", directory / "libanswer.so")
    cc(PROGRAM, f"-L{directory}", "-lanswer", "-Wl,-rpath,$ORIGIN/../lib", tags, f"-Wl,-rpath-link,{directory}",
       "-o", toolbox.tools / "asker")
    for path in (directory / "libanswer.so", directory / "libdeep.so", toolbox.tools / "asker"):
        toolbox.box.own(path, 0o755)
    toolbox.list("asker")
    return directory


@pytest.mark.parametrize("tags, deep", [("-Wl,--disable-new-dtags", True), ("-Wl,--enable-new-dtags", False)])
def test_libraries_beside_the_tool_are_found_as_the_loader_finds_them(toolbox, tags, deep):
    # DT_RPATH also applies to the dependencies of a library, DT_RUNPATH does not: then libdeep is
    # not found.
    directory = build(toolbox, tags)
    tool = tools_of(write_lock(toolbox))["asker"]
    found = {file["name"]: file for file in tool["libraries"]}
    assert os.path.realpath(found["libanswer.so"]["path"]) == str(directory / "libanswer.so")
    assert found["libanswer.so"]["sha256"] == digest(directory / "libanswer.so")
    said = subprocess.run(["ldd", toolbox.tools / "asker"], check=False, capture_output=True, text=True).stdout
    assert ("libdeep.so => not found" in said) != deep
    if deep:
        assert found["libdeep.so"]["sha256"] == digest(directory / "libdeep.so")
        assert tool["version"] == "1.0"
    else:
        assert found["libdeep.so"] == {"name": "libdeep.so", "path": None, "sha256": None}
        assert tool["version"] is None


def test_a_library_that_is_changed_replaced_or_removed_is_drift(toolbox):
    directory = build(toolbox, "-Wl,--disable-new-dtags")
    library = directory / "libanswer.so"
    path = write_lock(toolbox)
    before = digest(library)
    with open(library, "ab") as stream:
        stream.write(b"\0")
    assert drifts(toolbox, path) == [("asker", "library libanswer.so sha256", before, digest(library))]
    library.unlink()
    shutil.copy(directory / "libdeep.so", library)
    what = dict((what, (old, new)) for _, what, old, new in drifts(toolbox, path))
    assert what["library libanswer.so sha256"] == (before, digest(library))
    library.unlink()
    what = dict((what, (old, new)) for _, what, old, new in drifts(toolbox, path))
    assert what["library libanswer.so path"][1] is None and what["library libanswer.so sha256"] == (before, None)
    assert what["version"] == ("1.0", None)


def test_a_library_planted_where_it_would_be_taken_first_is_drift(toolbox):
    directory = build(toolbox, "-Wl,--disable-new-dtags")
    path = write_lock(toolbox)
    (directory / "glibc-hwcaps/x86-64-v2").mkdir(parents=True)
    shutil.copy(directory / "libdeep.so", directory / "glibc-hwcaps/x86-64-v2/libanswer.so")
    assert any("libanswer.so" in what for _, what, _, _ in drifts(toolbox, path))


# ---- files ----

def test_the_file_is_replaced_whole_and_a_link_is_not_followed(toolbox):
    toolbox.tool("teller")
    target = toolbox.box.file("outside/target", "untouched")
    path = toolbox.box.root / "tools.lock"
    path.symlink_to(target)
    write_lock(toolbox)
    assert not path.is_symlink() and "teller" in tools_of(path)
    assert target.read_text(encoding="ascii") == "untouched"
    assert sorted(os.listdir(toolbox.box.root)) == ["tools.lock"]


def test_what_cannot_be_written_is_status_125_and_the_old_file_stays(user_box):
    toolbox = Toolbox(user_box)
    toolbox.tool("teller")
    path = write_lock(toolbox)
    text = path.read_bytes()
    os.chmod(toolbox.box.root, 0o555)
    answer = toolbox.text("lock", "--output", path, status=125)
    assert b"cannot write lock file" in answer.err and path.read_bytes() == text


def test_invalid_arguments_are_status_125(toolbox):
    toolbox.tool("teller")
    toolbox.text("lock", "surplus", status=125)
    toolbox.text("lock", "--check", "one", "two", status=125)
    toolbox.text("lock", "--check", "--output", "x", status=125)
    assert b"does not exist" in toolbox.text("lock", "--check", status=125).err
    assert json.loads(toolbox.text("lock", "--json", "--check", "absent", status=125).out)["error"]["message"]
    assert os.listdir(toolbox.box.root) == []
