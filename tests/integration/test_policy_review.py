"""policy check, show, diff and explain: for people, for programs, and as a gate of pull requests (R3, R6)."""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from terminal import on_terminal

PROJECT = pathlib.Path(__file__).parents[2]

GIT = {"name": "git", "why": "History is read.", "adr": "0001", "route": "external",
       "egress": ["git.example.org"], "execs": [],
       "args": {"options": ["-C=<inside>"],
                "subcommands": [{"name": "log", "options": ["-p", "-n=<number>"], "operands": "inside"}]}}
RG = {"name": "rg", "why": "Text is searched.", "adr": "0002", "route": "external", "execs": [],
      "args": {"options": ["-n", "--json"], "operands": "inside"}}
LIMITS = ("timeout_s", "memory_mib", "processes", "cpu_s", "file_size_mib", "open_files", "egress_mib",
          "egress_connections")
ADRS = {"0001-git.md": "git is read only\n", "0002-rg.md": "rg searches\n"}


def policy(*tools, **more):
    return {"version": 1, "adr_dir": "adr", "search_path": ["/usr/bin", "/bin"],
            "tools": copy.deepcopy(list(tools or (GIT, RG))), **more}


def write(box, path, text, mode=0o644):
    """A file of the caller; missing directories are made."""
    for parent in reversed(pathlib.PurePath(path).parents[:-1]):
        if not (box.base / parent).exists():
            box.directory(str(parent))
    return box.file(path, text, mode)


class Desk:
    """A reviewer: policies with their records, and the command."""

    def __init__(self, box):
        self.box = box

    def put(self, name, document, adrs=None, mode=0o600):
        """NAME/policy.yaml with its records beside it."""
        for record, text in (ADRS if adrs is None else adrs).items():
            write(self.box, f"{name}/adr/{record}", text)
        text = document if isinstance(document, (str, bytes)) else json.dumps(document, indent=1)
        return str(write(self.box, f"{name}/policy.yaml", text, mode))

    def call(self, *argv, **more):
        return self.box.call([self.box.command, "policy", *argv], **more)

    def json(self, *argv, status=0):
        answer = self.call(*argv, "--json")
        assert answer.status == status, answer
        assert answer.err == b"" and answer.out.count(b"\n") == 1
        return json.loads(answer.out)


@pytest.fixture
def desk(user_box):
    return Desk(user_box)


# ---- check ------------------------------------------------------------------------------------

def test_good_policy_is_good(desk):
    path = desk.put("a", policy())
    answer = desk.call("check", path)
    assert (answer.status, answer.err) == (0, b"")
    assert answer.out.decode() == f"{path}: good, 0 errors, 0 warnings\n"
    report = desk.json("check", path)
    assert report == {"file": path, "good": True, "errors": 0, "warnings": 0, "findings": []}


def test_embedded_policy_is_good_and_says_what_it_could_not_see(desk):
    assert desk.call("check").status == 0
    report = desk.json("check")
    assert report["file"] is None and report["good"]
    assert [(f["severity"], f["rule"]) for f in report["findings"]] == [("note", "adr_dir")]


@pytest.mark.parametrize("text, line, column, argv", [
    ("version: 1\nfoo: 2\n", 2, 1, "unknown key 'foo'"),
    ("version: 2\nsearch_path: [/bin]\ntools: []\n", 1, 10, "version 2 is not known"),
    ("version: 1\nsearch_path: [/bin]\ntools:\n  - {name: x, adr: \"0001\", route: direct}\n", 4, 5, "key 'why' is missing"),
    ("version: [\n", 2, 1, "not valid YAML"),
    ("", 1, 1, "the policy is empty")])
def test_a_loader_error_has_its_line_and_column(desk, text, line, column, argv):
    path = desk.put("a", text)
    report = desk.json("check", path, status=1)
    assert not report["good"]
    (finding,) = report["findings"]
    assert (finding["severity"], finding["rule"], finding["line"], finding["column"]) == ("error", "policy", line, column)
    assert argv in finding["message"] and path not in finding["message"]
    answer = desk.call("check", path)
    assert answer.status == 1
    assert answer.out.decode().startswith(f"{path}:{line}:{column}: error: ")


MANY_FAULTS = """version: 1
search_path: [bin, /usr/bin]
tools:
  - name: Rg
    adr: "1"
    why: w
    route: external
    egress: ["*", A.org]
    args: {options: [x, --y]}
  - {name: git, why: w, adr: "0001", route: external, env: [LD_PRELOAD], limits: {timeout_s: 0, cpu_s: 0}}
  - {name: git, why: w, adr: "0001", route: external}
"""


def places(report):
    return [(f["line"], f["column"]) for f in report["findings"] if f["rule"] == "policy"]


def test_all_faults_are_reported_in_the_order_of_the_file(desk):
    report = desk.json("check", desk.put("a", MANY_FAULTS), status=1)
    assert places(report) == [(2, 15), (4, 11), (5, 10), (8, 14), (8, 19), (9, 22),
                              (10, 61), (10, 94), (10, 104), (11, 12)]
    # A run stops at one of them.
    answer = desk.box.run("git", "--version", policy=desk.put("b", MANY_FAULTS))
    assert answer.outcome == "policy" and "line 2, column 15" in answer.message


def test_values_are_checked_when_keys_are_right(desk):
    text = MANY_FAULTS.replace("adr: \"1\"", "adr: [1]").replace("route: external\n", "rout: external\n", 1)
    assert places(desk.json("check", desk.put("a", text), status=1)) == [(5, 10), (7, 5)]


def test_fault_in_a_set_is_reported_once(desk):
    args = {"sets": [{"name": "s", "options": ["x"]}],
            "subcommands": [{"name": name, "options": ["@s"]} for name in ("a", "b")]}
    assert len(places(desk.json("check", desk.put("a", policy({**GIT, "args": args})), status=1))) == 1


def test_faults_are_bounded(desk):
    tools = [{**GIT, "name": f"BAD{i}"} for i in range(200)]
    report = desk.json("check", desk.put("a", policy(*tools)), status=1)
    assert report["errors"] == 64 and report["findings"][-1]["severity"] == "note"


# ---- pipes ------------------------------------------------------------------------------------

def piped(desk, text, *argv):
    """The command reads the text from a pipe, by its name in /dev/fd, as after <(...) in a shell."""
    script = 'exec 7< <(sleep 0.2; cat "$1"); shift; exec "$@"'
    return desk.box.call(["/bin/bash", "-c", script, "bash", desk.put("piped", text), desk.box.command, "policy", *argv])


def test_policy_from_a_pipe_is_compared(desk):
    path = desk.put("a", policy())
    assert piped(desk, policy(), "diff", "/dev/fd/7", path).out == b"no change\n"
    answer = piped(desk, policy(GIT), "diff", "/dev/fd/7", path)
    assert answer.status == 1 and b"the old policy's records cannot be read" in answer.out
    assert piped(desk, policy(), "diff", path, "/dev/fd/7").out == b"no change\n"


def test_long_policy_from_a_pipe_is_refused(desk):
    answer = piped(desk, "#" * (1 << 20) + "\n", "check", "/dev/fd/7")
    assert answer.status == 125 and b"larger than" in answer.err


def test_fifo_in_a_directory_is_refused_and_does_not_block(desk):
    path = pathlib.Path(desk.put("a", policy()))
    path.unlink()
    os.mkfifo(path)
    desk.box.own(path)
    answer = desk.call("check", str(path))
    assert answer.status == 125 and b"not a regular file" in answer.err


def test_run_refuses_a_policy_from_a_pipe(desk):
    script = 'exec 7< <(cat "$1"); shift; exec "$@"'
    answer = desk.box.call(["/bin/bash", "-c", script, "bash", desk.put("a", policy()), desk.box.command, "run", "--policy",
                            "/dev/fd/7", "--no-audit", "--", "git", "--version"])
    assert answer.status == 125, answer


# ---- check, again -----------------------------------------------------------------------------

@pytest.mark.parametrize("adrs", [
    {"0001-git.md": "x\n"}, {**ADRS, "0002-rg.md": ""}, {"0001-git.md": "x\n", "002-rg.md": "x\n", "0002.md": "x\n",
                                                         "0002-rg.txt": "x\n"}])
def test_record_that_does_not_exist_is_an_error(desk, adrs):
    path = desk.put("a", policy(), adrs)
    report = desk.json("check", path, status=1)
    (finding,) = [f for f in report["findings"] if f["severity"] == "error"]
    assert (finding["tool"], finding["rule"]) == ("rg", "tools.rg.adr")
    text = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    assert text[finding["line"] - 1][finding["column"] - 1:].startswith('"0002"')


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.symlink_to("0001-git.md"), os.mkfifo])
def test_record_that_is_no_regular_file_is_an_error(desk, make):
    path = desk.put("a", policy(), {"0001-git.md": "x\n"})
    make(pathlib.Path(path).parent / "adr" / "0002-rg.md")
    report = desk.json("check", path, status=1)
    assert [f["rule"] for f in report["findings"]] == ["tools.rg.adr"]


def test_missing_record_directory_is_an_error(desk):
    report = desk.json("check", desk.put("a", policy(adr_dir="nowhere")), status=1)
    assert [(f["severity"], f["rule"]) for f in report["findings"]] == [("error", "adr_dir")]
    document = policy()
    del document["adr_dir"]
    report = desk.json("check", desk.put("b", document), status=1)
    assert [(f["severity"], f["rule"]) for f in report["findings"]] == [("error", "adr_dir")]


def test_two_records_of_one_number_are_a_warning(desk):
    report = desk.json("check", desk.put("a", policy(), {**ADRS, "0001-other.md": "y\n"}))
    assert [(f["severity"], f["rule"]) for f in report["findings"]] == [("warning", "adr_dir")]


def test_direct_tool_without_argument_rules_is_a_warning(desk):
    tool = {key: value for key, value in RG.items() if key != "args"}
    path = desk.put("a", policy(GIT, {**tool, "route": "direct"}))
    report = desk.json("check", path)
    (finding,) = report["findings"]
    assert (finding["severity"], finding["tool"], finding["rule"]) == ("warning", "rg", "tools.rg.args")
    assert "any argument" in finding["message"]
    assert desk.json("check", desk.put("b", policy(GIT, RG)))["findings"] == []


def test_opaque_egress_is_a_warning(desk):
    path = desk.put("a", policy({**GIT, "egress": ["git.example.org", "b.example.org:22 opaque", "c.example.org opaque"]}))
    (finding,) = desk.json("check", path)["findings"]
    assert (finding["severity"], finding["tool"], finding["rule"]) == ("warning", "git", "tools.git.egress")
    assert "'b.example.org:22 opaque'" in finding["message"] and finding["line"] > 0
    assert desk.json("check", desk.put("b", policy()))["findings"] == []


def test_file_that_a_run_would_refuse_can_be_reviewed(desk):
    path = desk.put("a", policy(), mode=0o666)
    report = desk.json("check", path)
    (finding,) = report["findings"]
    assert (finding["severity"], finding["rule"]) == ("warning", "file")
    assert "chmod go-w" in finding["message"]
    assert desk.call("show", path).status == 0
    assert desk.call("diff", path, path).status == 0


@pytest.mark.parametrize("argv", [
    ["check", "nowhere.yaml"], ["check", "."], ["check", "/dev/null"], ["check", "a", "b"], ["check", "--frob"],
    ["check", "--frob", "--nicate"],
    ["show", "nowhere.yaml"], ["show", "a", "b"], ["diff"], ["diff", "a"], ["diff", "a", "b", "c"],
    ["diff", "nowhere.yaml", "nowhere.yaml"], ["explain"], ["explain", "--"], ["explain", "--frob", "--", "git"],
    ["frobnicate"], []])
def test_usage_and_unreadable_files_are_125(desk, argv):
    answer = desk.call(*argv)
    assert answer.status == 125 and answer.out == b""
    assert answer.err.startswith((b"chokepoint: ", b"Usage: "))


@pytest.mark.parametrize("argv", [["check", "nowhere.yaml"], ["diff", "a"], ["show", "nowhere.yaml"]])
def test_failure_is_json_too(desk, argv):
    answer = desk.call(*argv, "--json")
    assert answer.status == 125
    assert set(json.loads(answer.out)["error"]) == {"code", "message"}


def test_oversize_policy_is_reported(desk):
    answer = desk.call("check", desk.put("a", b"#" * (1 << 20) + b"\n"))
    assert answer.status == 125 and b"larger than 1048576 bytes" in answer.err


def test_control_bytes_of_a_file_name_are_not_printed(desk):
    path = desk.box.file("a\x1b[2J.yaml", "version: 1\n")
    answer = desk.call("check", str(path))
    assert answer.status == 1 and b"\x1b" not in answer.out


# ---- show -------------------------------------------------------------------------------------

def test_show_has_every_tool_and_fits_the_page(desk):
    for argv in (["show"], ["show", desk.put("a", policy())]):
        answer = desk.call(*argv)
        assert (answer.status, answer.err) == (0, b"")
        lines = answer.out.decode().splitlines()
        assert max(map(len, lines)) <= 100
        for tool in desk.json(*argv)["tools"]:
            (line,) = [line for line in lines if line.split()[:1] == [tool["name"]]]
            assert line.split()[1:4] == [tool["route"], "yes" if tool["required"] else "no", tool["adr"]]


def test_show_json_is_complete(desk):
    document = desk.json("show", desk.put("a", policy()))
    assert (document["format"], document["version"], document["adr_dir"]) == (1, 1, "adr")
    git, rg = document["tools"]
    for key, value in GIT.items():
        if key != "args":
            assert git[key] == value
    assert git["args"]["subcommands"][0]["options"] == ["-n=<number>", "-p"]
    assert rg["args"]["operands"] == "inside"
    assert (git["path"], git["sha256"], git["execs"], git["limits"]) == (None, None, [], dict.fromkeys(LIMITS))


def test_show_refuses_an_invalid_policy(desk):
    answer = desk.call("show", desk.put("a", "version: 1\n"))
    assert answer.status == 125 and b"line 1, column 1" in answer.err


# ---- diff -------------------------------------------------------------------------------------

def without(document, path):
    """A copy with one thing removed: a path of keys, indices, or names in a list."""
    document = copy.deepcopy(document)
    *way, last = path
    at = document
    for step in way:
        at = at[step]
    if isinstance(at, list) and not isinstance(last, int):
        at.remove(last)
    else:
        del at[last]
    return document


TAKEN = {
    "entry": ["tools", 1],
    "option": ["tools", 1, "args", "options", "-n"],
    "option of a subcommand": ["tools", 0, "args", "subcommands", 0, "options", "-p"],
    "egress host": ["tools", 0, "egress", "git.example.org"],
    "search path": ["search_path", "/bin"],
}


@pytest.mark.parametrize("what", TAKEN)
def test_taking_away_is_0_and_adding_without_a_record_is_1(desk, what):
    whole = desk.put("whole", policy())
    less = desk.put("less", without(policy(), TAKEN[what]))
    assert desk.call("diff", whole, less).status == 0
    report = desk.json("diff", whole, less)
    assert (report["good"], report["widens"], report["uncovered"]) == (True, 0, 0) and report["narrows"] == 1
    answer = desk.call("diff", less, whole)
    assert answer.status == 1
    assert re.search(r"^widens .*: \+ .* \(no new or amended ADR.*\)$", answer.out.decode(), re.MULTILINE)
    report = desk.json("diff", less, whole, status=1)
    assert (report["good"], report["widens"], report["uncovered"]) == (False, 1, 1)


@pytest.mark.parametrize("what", TAKEN)
def test_adding_with_a_record_is_0(desk, what):
    adr = "0002" if what in ("entry", "option") else "0001"
    less = desk.put("less", without(policy(), TAKEN[what]))
    amended = {name: text + ("\nand more\n" if name.startswith(adr) else "") for name, text in ADRS.items()}
    assert desk.call("diff", less, desk.put("amended", policy(), amended)).status == 0
    old = {name: text for name, text in ADRS.items() if not name.startswith(adr)}
    less = desk.put("young", without(policy(), TAKEN[what]), old)
    assert desk.call("diff", less, desk.put("new", policy())).status == 0


def test_record_of_another_tool_does_not_cover(desk):
    less = desk.put("less", without(policy(), TAKEN["option"]))
    more = desk.put("more", policy(), {**ADRS, "0001-git.md": "amended\n", "0003-new.md": "new\n"})
    report = desk.json("diff", less, more, status=1)
    (change,) = [c for c in report["changes"] if c["kind"] == "widens"]
    assert (change["tool"], change["field"], change["after"], change["adr"]) == ("rg", "args.options", "-n", "0002")
    assert (change["covered"], change["reason"]) == (False, "no new or amended ADR: 0002")


def test_citing_an_old_record_does_not_cover(desk):
    less = desk.put("less", without(policy(), TAKEN["option"]))
    more = policy()
    more["tools"][1]["adr"] = "0001"
    assert desk.call("diff", less, desk.put("more", more)).status == 1


@pytest.mark.parametrize("adrs", [
    {"0001-git.md": ADRS["0001-git.md"], "0002-renamed.md": ADRS["0002-rg.md"]}, {**ADRS, "0002-empty.md": ""}])
def test_record_that_says_nothing_new_does_not_cover(desk, adrs):
    less = desk.put("less", without(policy(), TAKEN["option"]))
    assert desk.call("diff", less, desk.put("more", policy(), adrs)).status == 1


def test_unreadable_old_records_cover_nothing(desk):
    """The base was checked out without its records: otherwise each of them would look new."""
    old = str(write(desk.box, "bare/policy.yaml", json.dumps(without(policy(), TAKEN["option"]))))
    report = desk.json("diff", old, desk.put("more", policy()), status=1)
    assert "cannot be read" in report["changes"][0]["reason"]


def test_old_policy_without_adr_dir_does_not_make_its_records_new(desk):
    """adr_dir is removed in one change, which widens nothing, and put back in the next, with a
    widening."""
    less = without(policy(), TAKEN["option"])
    del less["adr_dir"]
    old = desk.put("less", less)
    report = desk.json("diff", old, desk.put("more", policy()), status=1)
    assert [c["reason"] for c in report["changes"] if c["kind"] == "widens"] == ["no new or amended ADR: 0002"]
    assert desk.call("diff", old, desk.put("new", policy(), {**ADRS, "0002-rg.md": "amended\n"})).status == 0


def test_another_adr_dir_does_not_make_its_records_new(desk):
    """A file with that number in another directory has other bytes, and was not written for this
    change."""
    old, more = desk.put("less", without(policy(), TAKEN["option"])), policy(adr_dir="notes")
    for name in ("less", "more"):
        write(desk.box, f"{name}/notes/0002-of-something.md", "else\n")
    assert desk.call("diff", old, desk.put("more", more)).status == 1
    write(desk.box, "more/notes/0002-rg.md", "why -n is needed\n")
    assert desk.call("diff", old, desk.put("more", more)).status == 0


def test_link_is_no_record(desk):
    """A link to another record would make any widening look decided."""
    less = desk.put("less", without(policy(), TAKEN["option"]))
    more = pathlib.Path(desk.put("more", policy()))
    (more.parent / "adr/0002-more.md").symlink_to("0001-git.md")
    assert desk.call("diff", less, str(more)).status == 1


def test_colour_is_for_terminals_only(desk):
    less, more = desk.put("less", without(policy(), TAKEN["option"])), desk.put("more", policy())
    assert b"\x1b" not in desk.call("diff", less, more).out

    def coloured(**env):
        argv = [desk.box.command, "policy", "diff", less, more]
        return on_terminal(desk.box, argv, env=desk.box.environment(**env))[1]
    assert b"\x1b[31mwidens" in coloured()
    assert b"\x1b" not in coloured(NO_COLOR="1")


def test_diff_of_an_invalid_policy_is_125(desk):
    good, bad = desk.put("good", policy()), desk.put("bad", "version: 1\n")
    for argv in ([good, bad], [bad, good]):
        answer = desk.call("diff", *argv)
        assert answer.status == 125 and bad.encode() in answer.err


def test_this_projects_policies_pass_their_own_review(desk):
    for directory in ("policy", "examples", "docs/adr"):  # the tree may be in a directory that the user cannot enter
        shutil.copytree(PROJECT / directory, desk.box.base / "project" / directory)
    for name in ("policy/default.yaml", "examples/policy.yaml"):
        path = str(desk.box.base / "project" / name)
        report = desk.json("check", path)
        assert not [f["rule"] for f in report["findings"] if f["severity"] == "warning" and f["rule"] != "file"]
        assert desk.call("diff", path, path).out == b"no change\n"


# ---- explain ----------------------------------------------------------------------------------

def test_explain_is_the_dry_run(desk):
    box = desk.box
    path = box.write_policy([box.entry("say_args", route="direct", env=["TZ"], set_env=[{"name": "A", "value": "b"}],
                                       args={"options": ["-x="], "inject": ["--first"], "operands": "any"})])
    shared = ["--policy", str(path), "--root", str(box.root), "--cwd", str(box.root), "--env", "TZ=UTC", "--timeout", "5"]
    for tail in (["say_args", "-x", "1", "two"], ["say_args", "-y"], ["nobody"]):
        explained = box.call([box.command, "policy", "explain", "--json", *shared, "--", *tail])
        dry = box.call([box.command, "run", "--dry-run", "--json", *shared, "--", *tail])
        assert (explained.status, explained.out) == (dry.status, dry.out)
    document = json.loads(box.call([box.command, "policy", "explain", "--json", *shared, "--", "say_args", "-x1"]).out)
    assert document["argv"] == ["say_args", "--first", "-x1"] and document["rule"] == "tools.say_args"
    assert document["tool"]["path"].endswith("/bin/say_args")
    assert {"A=b", "TZ=UTC"} <= set(document["env"]) and len(document["env"]) == 6
    assert document["jail"] == "none" and "no_new_privs" in document["layers"]


def test_explain_runs_nothing(desk):
    box = desk.box
    canary = box.canary()
    box.directory("bin")
    box.script("bin/trap", canary)
    path = box.write_policy([box.entry("trap")], search_path=[str(box.base / "bin")])
    argv = ["--policy", str(path), "--root", str(box.root), "--", "trap"]
    assert box.call([box.command, "policy", "explain", *argv]).status == 0
    assert not canary.exists()
    assert box.call([box.command, "run", *argv]).status == 0
    assert canary.exists()


def test_explain_of_git_log_says_all(desk):
    answer = desk.call("explain", "--", "git", "log", "-1")
    assert answer.status == 0
    said = answer.out.decode()
    for line in (r"^decision allowed$", r"^rule     tools\.git", r"^path     /\S*/git$", r"^argv     git .*\blog\b.* -1$",
                 r"^jail     ", r"^layers   .*no_new_privs", r"^env      PATH=/usr/local/bin:/usr/bin:/bin$"):
        assert re.search(line, said, re.MULTILINE), line


# ---- the recipe -------------------------------------------------------------------------------

def recipe():
    text = (PROJECT / "docs/policy-review.md").read_text(encoding="utf-8")
    return re.search(r"<!-- recipe:.*?-->\n```sh\n(.*?)```", text, re.DOTALL).group(1)


class Repository:
    """A repository with a policy, as a contributor has it."""

    def __init__(self, box):
        self.box = box
        self.base = box.root
        self.env = box.environment(GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
                                   GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org",
                                   PATH=f"{os.path.dirname(box.command)}:/usr/bin:/bin", POLICY="policy/p.yaml", BASE="main")
        self.git("init", "-q", "-b", "main")

    def git(self, *argv):
        answer = self.box.call(["git", *argv], env=self.env)
        assert answer.status == 0, answer

    def commit(self, document, adrs):
        root = self.base.relative_to(self.box.base)
        self.git("rm", "-rqf", "--ignore-unmatch", ".")
        for name, text in adrs.items():
            write(self.box, f"{root}/policy/adr/{name}", text)
        write(self.box, f"{root}/policy/p.yaml", json.dumps(document, indent=1))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "policy")

    def gate(self):
        return self.box.call(["sh", "-c", recipe()], env=self.env)


AMENDED = {**ADRS, "0002-rg.md": "rg searches, with line numbers\n"}
LESS = {what: without(policy(), path) for what, path in TAKEN.items()}


@pytest.mark.parametrize("before, after, adrs, status", [
    (LESS["entry"], policy(), ADRS, 1), (policy(), LESS["entry"], ADRS, 0),
    (LESS["option"], policy(), ADRS, 1), (policy(), LESS["option"], ADRS, 0),
    (LESS["egress host"], policy(), ADRS, 1), (policy(), LESS["egress host"], ADRS, 0),
    (LESS["option"], policy(), AMENDED, 0), (LESS["entry"], policy(), AMENDED, 0),
    (policy(), policy(), {"0001-git.md": "git is read only\n"}, 1),
    (policy(), policy(), ADRS, 0)])
def test_recipe_gates_a_pull_request(user_box, before, after, adrs, status):
    repository = Repository(user_box)
    repository.commit(before, ADRS)
    repository.git("checkout", "-q", "-b", "change")
    repository.commit({**after, "adr_dir": "./adr"}, adrs)
    answer = repository.gate()
    assert answer.status == status, answer
    listed = user_box.call(["git", "worktree", "list"], env=repository.env)
    assert listed.out.count(b"\n") == 1, "the recipe did not remove its worktree"


def test_recipe_compares_with_the_merge_base(user_box):
    """The base has lost an option meanwhile; a pull request that does not touch the policy must
    still pass."""
    repository = Repository(user_box)
    repository.commit(policy(), ADRS)
    repository.git("checkout", "-q", "-b", "change")
    repository.commit({**policy(), "adr_dir": "./adr"}, ADRS)
    repository.git("checkout", "-q", "main")
    repository.commit(LESS["option"], ADRS)
    repository.git("checkout", "-q", "change")
    assert repository.gate().status == 0


def test_recipe_is_a_sound_script():
    finished = subprocess.run(["shellcheck", "--severity=style", "--shell=sh", "-"], input=recipe().encode(), check=False,
                              capture_output=True)
    assert finished.returncode == 0, finished.stdout.decode()


@pytest.mark.parametrize("command", ["check", "show"])
def test_policy_is_named_as_an_operand_or_as_an_option(desk, command):
    path = desk.put("a", policy())
    by_operand, by_option = desk.call(command, path), desk.call(command, "--policy", path)
    assert by_operand.status == by_option.status == 0 and by_operand.out == by_option.out
    twice = desk.call(command, path, "--policy", path)
    assert twice.status == 125 and b"but got 2 arguments" in twice.err
