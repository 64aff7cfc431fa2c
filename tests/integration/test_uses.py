"""`uses` takes a reviewed set of helpers, and `execs` a directory of them (R81): with the real gcc,
clang, make, sh, python3 and npm.
"""
import json
import pathlib

import pytest
import yaml

PROJECT = pathlib.Path(__file__).parents[2]
SETS = {entry["name"]: entry for entry in yaml.safe_load((PROJECT / "policy/helpers.yaml").read_text())["sets"]}
SCHEMA = json.loads((PROJECT / "policy/policy.schema.json").read_text())

MAKEFILE = """x: x.c
\tgcc -o x x.c
\techo made | sed s/made/done/ > said; test -s said && mkdir -p d && cp x d/
"""


def policy_of(cell, name, **keys):
    return cell.write_policy([cell.box.entry(name, route="external", **keys)], search_path=["/usr/bin", "/bin", str(cell.box.bin)])


@pytest.fixture
def source(cell):
    cell.box.file("root/x.c", "int main(void) { return 0; }\n")
    cell.box.file("root/Makefile", MAKEFILE)
    cell.box.file("root/package.json", json.dumps({"scripts": {"test": "node -e 'console.log(6 * 7)'"}}))
    return cell


WORK = {
    "gcc": (["c-compiler"], ["gcc", "-o", "x", "x.c"], b""),
    "lto": (["c-compiler"], ["gcc", "-O2", "-flto", "-o", "x", "x.c"], b""),
    "g++": (["c-compiler"], ["g++", "-x", "c++", "-o", "x", "x.c"], b""),
    "clang": (["c-compiler"], ["clang", "-o", "x", "x.c"], b""),
    "make": (["c-compiler", "shell"], ["make", "-B"], b"gcc -o x x.c"),
    "sh": (["shell"], ["sh", "-c", "ls | grep x.c | sed s/x/y/"], b"y.c"),
    "python3": (["python-tools"], ["python3", "-c", "import subprocess as s; s.run(['uname'], check=1)"], b"Linux"),
    "npm": (["node-scripts"], ["npm", "test"], b"42"),
}


@pytest.mark.parametrize("name", WORK)
def test_tool_does_its_work_with_its_set_and_not_without(source, name):
    sets, argv, said = WORK[name]
    answer = source.succeeds_inside(*argv, policy=policy_of(source, argv[0], uses=sets, workspace="rw"), timeout=60)
    assert said in answer.stream("stdout"), answer.document
    without = source.inside(*argv, policy=policy_of(source, argv[0], workspace="rw"), timeout=60)
    assert without.outcome == "exited" and without.status != 0, without.document


def test_sets_and_execs_are_joined(source):
    def status(**keys):
        return source.inside("sh", "-c", "perl -e 1 && cat x.c", policy=policy_of(source, "sh", **keys)).status
    assert status(uses=["shell"], execs=["perl"]) == 0
    assert status(uses=["shell"]) == 126 and status(execs=["perl"]) == 126


def test_programs_of_a_directory_are_executed(cell):
    """Those directly in it; not a library, and nothing beneath."""
    box = cell.box
    # Outside of the jail: in one, a directory is mapped, too, and must be in a system tree.
    for path in ("tools", "tools/beneath"):
        box.directory(path)
    for name in ("tools/one", "tools/lib.so", "tools/lib.so.6", "tools/beneath/two"):
        box.file(name, (box.bin / "say_args").read_bytes(), 0o755)
    box.file("tools/note", "not a program\n")
    policy = box.write_policy([box.entry("attempt", execs=[str(box.base / "tools")])])

    def status(name):
        return box.run("attempt", "plain", str(box.base / "tools" / name), policy=policy).status
    assert status("one") == 0
    assert [status(name) for name in ("lib.so", "lib.so.6", "beneath/two", "note")] == [113] * 4


def test_programs_of_a_system_directory_are_executed_in_a_jail(cell):
    cell.box.repository()
    policy = policy_of(cell, "git", execs=["/usr/lib/git-core"])
    assert cell.succeeds_inside("git", "status", "--short", policy=policy)
    answer = cell.inside("git", "diff", "--no-index", "/dev/null", "/dev/null", policy=policy)
    assert answer.status == 0
    sh = cell.write_policy([cell.box.entry("attempt-git", path=str(cell.box.bin / "attempt"), route="external",
                                           execs=["/usr/lib/git-core"])])
    assert cell.succeeds_inside("attempt-git", "plain", "/usr/lib/git-core/git-ls-files", policy=sh)
    assert cell.refused_inside("attempt-git", "plain", "/usr/bin/sed", policy=sh)


GO = """mount -t tmpfs none /usr/local && mkdir -p /usr/local/go/bin /usr/local/go/pkg/tool/linux_amd64 &&
cp "$1" /usr/local/go/bin/go && cp "$2" /usr/local/go/pkg/tool/linux_amd64/compile && chmod "$3" /usr/local/go/pkg/tool/linux_amd64 &&
ln -s /usr/local/go/bin/go /usr/local/go/bin/gofmt && shift 3 && exec "$@"
"""


def go_like(box, jail, mode, *argv):
    """A toolchain where the installer of go puts it, with the same layout, in a mount namespace."""
    policy = box.write_policy([box.entry("go", route="external", uses=["go-toolchain"]), box.entry("bwrap", route="jail")],
                              search_path=["/usr/local/go/bin", "/usr/bin"])
    command = box.run_argv(["go", *argv], options=["--jail", jail], policy=policy)
    return box.call(["unshare", "--mount", "--propagation", "private", "sh", "-c", GO, "sh", str(box.bin / "attempt"),
                     str(box.bin / "say_args"), mode, *command])


@pytest.mark.parametrize("jail", ["native", "bwrap"])
def test_toolchain_is_found_by_its_layout(root_box, jail):
    answer = go_like(root_box, jail, "755", "plain", "/usr/local/go/pkg/tool/linux_amd64/compile", "word")
    assert answer.status == 0, answer
    answer = go_like(root_box, jail, "755", "plain", "/usr/bin/sed", "word")
    assert answer.status == 113 and b"refused: EACCES" in answer.out, answer


def test_member_that_is_not_trusted_refuses_the_run(root_box):
    answer = go_like(root_box, "native", "777", "plain", "/usr/local/go/pkg/tool/linux_amd64/compile", "word")
    assert answer.status == 125 and b"/usr/local/go/pkg/tool/linux_amd64" in answer.out, answer


def test_explain_lists_the_helpers_of_a_set(user_box):
    policy = user_box.write_policy([user_box.entry("gcc", route="external", uses=["c-compiler"])], search_path=["/usr/bin"])
    answer = user_box.call([user_box.command, "policy", "explain", "--json", "--policy", str(policy), "--root",
                            str(user_box.root), "--timeout", "5", "--jail", "native", "--", "gcc", "x.c"])
    mounts = json.loads(answer.out)["mounts"]
    assert any("/cc1" in mount for mount in mounts) and not any("/usr/bin/perl" in mount for mount in mounts)


def changes(box, before, after):
    def write(name, keys):
        return str(box.write_policy([box.entry("gcc", **keys)], name=f"policy/{name}.yaml"))
    answer = box.call([box.command, "policy", "diff", "--json", write("before", before), write("after", after)])
    return {(change["kind"], change["field"]) for change in json.loads(answer.out)["changes"]}


def test_set_is_what_it_contains_for_the_diff(user_box):
    names = SETS["node-scripts"]["names"]
    both = {"uses": ["node-scripts"], "execs": names}
    assert changes(user_box, both, {"uses": ["node-scripts"]}) == {("neutral", "execs")}
    assert changes(user_box, {"uses": ["node-scripts"]}, both) == {("neutral", "execs")}
    assert changes(user_box, {"execs": names}, {"uses": ["node-scripts"]}) == {("widens", "uses"), ("neutral", "execs")}
    assert changes(user_box, {"uses": ["shell", "node-scripts"]}, {"uses": ["shell"]}) == {("narrows", "uses")}
    assert changes(user_box, {"uses": ["shell"]}, {"uses": ["shell"], "execs": ["sed"]}) == {("neutral", "execs")}


def test_show_names_the_sets(user_box):
    policy = user_box.write_policy([user_box.entry("gcc", uses=["c-compiler", "shell"])])
    shown = user_box.call([user_box.command, "policy", "show", str(policy)]).out.decode()
    assert "uses c-compiler, shell" in " ".join(shown.split())


def test_every_place_knows_the_same_sets(user_box):
    assert SCHEMA["definitions"]["uses"]["items"]["enum"] == list(SETS)
    page = (PROJECT / "docs/man/chokepoint-policy.5").read_text()
    for name in SETS:
        assert f".It Cm {name}\n" in page
        policy = user_box.write_policy([user_box.entry("gcc", uses=[name])])
        assert user_box.call([user_box.command, "policy", "show", str(policy)]).status == 0


def test_no_set_has_a_program_that_gives_more():
    """Neither rights nor a network, and no interpreter but the one that the set is for."""
    more = {"sudo", "su", "doas", "pkexec", "ssh", "scp", "curl", "wget", "nc", "ncat", "socat", "git", "docker", "mount",
            "perl", "ruby", "php", "gdb", "strace", "nsenter", "unshare", "chroot", "newgrp", "at", "crontab"}
    for entry in SETS.values():
        paths = [pathlib.PurePath(path).name for path in entry.get("files", [])]
        assert not more & {*entry["names"], *paths}, entry["name"]
