"""chokepoint lint for a user: which files are scanned, what is reported, in which form, and with
which status.
"""
import json
import os
import re
import resource
import subprocess

import pytest
from linter import PROCESS, PROCESS_RULE, SHELL, SHELL_RULE, Tree


@pytest.fixture
def tree(user_box):
    return Tree(user_box)


# ---- what is looked at ----

def test_a_clean_tree_is_status_0(tree):
    tree.write("a.py", "print('hello')\n")
    document = tree.lint(status=0)
    assert document["files"] == 1 and document["bytes"] == 15 and document["findings"] == []
    assert document["top"] == str(tree.top) and document["config"] is None


def test_an_empty_tree_is_clean(tree):
    assert tree.lint(status=0)["files"] == 0
    assert tree.call().out == b"0 files: 0 errors, 0 warnings, 0 notes\n"


@pytest.mark.parametrize("name, text, rule", [
    ("a.py", SHELL, SHELL_RULE),
    ("a.pyi", SHELL, SHELL_RULE),
    ("a.js", "require('child_process').exec('ls')\n", "js-child-process"),
    ("a.mjs", "import {exec} from 'child_process'\nexec('ls')\n", "js-child-process"),
    ("a.ts", "import {exec} from 'child_process'\nexec('ls' as string)\n", "js-child-process"),
    ("a.tsx", "import {exec} from 'child_process'\nconst a = <b onClick={() => exec('ls')}/>\n", "js-child-process"),
    ("script", "#!/usr/bin/env python3\n" + SHELL, SHELL_RULE),
    ("script.weird", "#!/usr/bin/python3 -I\n" + SHELL, SHELL_RULE),
])
def test_languages_are_detected_by_name_and_first_line(tree, name, text, rule):
    tree.write(name, text)
    assert rule in [found for _, found in tree.found(status=1)]


def test_other_files_are_none_of_its_business(tree):
    for name in ("notes.txt", "a.go", "data.bin", "Makefile"):
        tree.write(name, SHELL)
    document = tree.lint(status=0)
    assert document["files"] == 0 and document["skipped"] == []


def test_named_files_are_the_only_ones(tree):
    for name in ("a.py", "b.py", "sub/c.py"):
        tree.write(name)
    assert tree.paths("b.py") == ["b.py"]
    assert tree.paths("sub/c.py", "a.py") == ["a.py", "sub/c.py"]
    assert tree.paths("sub") == ["sub/c.py"]
    assert tree.paths(".", "a.py", "./sub//") == ["a.py", "b.py", "sub/c.py"]
    assert len(tree.found("a.py", "a.py", "./a.py")) == 1


def test_a_named_file_in_no_language_is_reported(tree):
    tree.write("a.txt", "text\n")
    assert tree.lint("a.txt", status=0)["skipped"] == [{"path": "a.txt", "reason": "not a supported language"}]


def test_paths_are_shown_as_they_were_given_and_from_the_top(tree):
    tree.repository()
    tree.write("sub/a.py")
    for args, cwd, path in (([], tree.top, "sub/a.py"), (["."], tree.top / "sub", "a.py"),
                             ([tree.top], "/", f"{tree.top}/sub/a.py"), (["../sub/a.py"], tree.top / "sub", "../sub/a.py")):
        one, = tree.lint(*args, cwd=cwd)["findings"]
        assert (one["path"], one["name"]) == (path, "sub/a.py")


def test_a_path_that_is_not_there_is_a_failure(tree):
    assert tree.refused("nowhere.py") == "cannot access 'nowhere.py': No such file or directory"


def test_one_tree_at_a_time(tree):
    tree.write("a.py")
    other = tree.box.file("outside/b.py", SHELL)
    assert "is outside" in tree.refused("a.py", other)
    assert "is outside" in tree.refused("--root", tree.box.outside, "a.py")


def test_the_order_is_the_same_for_any_number_of_threads(tree):
    for i in range(60):
        tree.write(f"{i % 7}/{i}.py", SHELL * (i % 3 + 1))
    one = tree.call("--format", "json", "--jobs", "1").out
    assert json.loads(one)["findings"] == sorted(json.loads(one)["findings"], key=lambda f: (f["name"], f["line"]))
    for jobs in ("2", "7", "64", "1000"):
        assert tree.call("--format", "json", "--jobs", jobs).out == one


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "1.5", ""])
def test_a_number_of_threads_is_a_number(tree, jobs):
    assert "--jobs" in tree.refused("--jobs", jobs)


# ---- what could not be looked at ----

@pytest.mark.parametrize("name, text, message_part", [
    ("large.py", b"a = 1\n" * 800000, "larger"),
    ("binary.py", b"a = 1\0\n", "binary"),
    ("latin.py", b"# caf\xe9\n", "UTF-8"),
])
def test_a_source_that_is_not_looked_at_is_a_finding(tree, name, text, message_part):
    tree.write(name, text)
    document = tree.lint(status=1)
    one, = document["findings"]
    assert (one["rule"], one["severity"], one["path"], one["line"]) == ("not-scanned", "warning", name, None)
    assert message_part in one["message"], one["message"]
    assert [skip["path"] for skip in document["skipped"]] == [name] and document["files"] == 0


def test_an_unreadable_file_is_a_finding(tree):
    tree.write("secret.py", SHELL, mode=0)
    tree.write("closed/a.py")
    (tree.top / "closed").chmod(0)
    try:
        found = {one["path"]: one for one in tree.lint(status=1)["findings"]}
    finally:
        (tree.top / "closed").chmod(0o755)
    assert set(found) == {"secret.py", "closed"}
    for one in found.values():
        assert one["rule"] == "not-scanned" and "Permission denied" in one["message"]


def test_broken_syntax_is_reported_and_the_rest_is_found(tree):
    tree.write("a.py", "import os\nx = = 1\nos.system('ls')\n")
    found = [(one["rule"], one["severity"]) for one in tree.lint(status=1)["findings"]]
    assert ("broken-syntax", "note") in found and (SHELL_RULE, "error") in found


# ---- the configuration ----

def test_a_module_may_create_processes_and_nothing_worse(tree):
    tree.configure("chokepoints:\n  - {path: door.py, why: It is the door.}\n")
    tree.write("door.py", PROCESS + SHELL)
    tree.write("other.py", PROCESS)
    document = tree.lint(status=1)
    assert [(one["path"], one["rule"]) for one in document["findings"]] == [("door.py", SHELL_RULE),
                                                                          ("other.py", PROCESS_RULE)]
    assert document["allowed"] == 1 and document["config"] == f"{tree.top}/.chokepoint-lint.yaml"


def test_a_module_is_named_from_the_top(tree):
    tree.repository()
    tree.configure("chokepoints:\n  - {path: sub/door.py, why: It is the door.}\n")
    tree.write("sub/door.py", PROCESS)
    tree.write("sub/sub/door.py", PROCESS)
    assert tree.paths() == ["sub/sub/door.py"]
    assert tree.paths("door.py", cwd=tree.top / "sub") == []
    assert tree.paths("door.py", cwd=tree.top / "sub/sub") == ["door.py"]


def test_excluded_paths_are_left_out_also_where_they_are_named(tree):
    tree.configure("exclude:\n  - {path: /gen/, why: It is made.}\n  - {path: '*_pb2.py', why: It is made.}\n")
    for name in ("gen/a.py", "sub/gen/a.py", "a_pb2.py", "a.py"):
        tree.write(name)
    document = tree.lint()
    assert [one["path"] for one in document["findings"]] == ["a.py", "sub/gen/a.py"] and document["excluded"] == 2
    assert tree.paths("gen/a.py", "a_pb2.py", "a.py") == ["a.py"]
    assert tree.lint("gen", status=0)["excluded"] == 1


@pytest.mark.parametrize("severity, status", [("error", 1), ("warning", 1), ("note", 0)])
def test_severities_are_the_configurations(tree, severity, status):
    tree.configure(f"severities: {{{SHELL_RULE}: {severity}}}\n")
    tree.write("a.py")
    one, = tree.lint(status=status)["findings"]
    assert one["severity"] == severity


def test_a_rule_that_is_off_finds_nothing(tree):
    tree.configure(f"severities: {{{SHELL_RULE}: off, not-scanned: off}}\n")
    tree.write("a.py")
    tree.write("b.py", b"\0")
    document = tree.lint(status=0)
    assert document["findings"] == [] and len(document["skipped"]) == 1


@pytest.mark.parametrize("text, position, message_part", [
    ("version: 1\nexcludes: []\n", "line 2, column 1", "unknown key 'excludes'"),
    ("version: 1\nseverities:\n  no-rule: off\n", "line 3, column 3", "there is no rule 'no-rule'"),
    ("version: 1\nchokepoints:\n  - {path: a.py, adr: '0009'}\n", "line 3, column 5", "no decision record 0009"),
    ("version: 1\nversion: 1\n", "line 2, column 1", "given twice"),
    ("chokepoints: []\n", "line 1, column 1", "'version' is missing"),
])
def test_a_configuration_that_is_not_understood_ends_the_run(tree, text, position, message_part):
    tree.write(".chokepoint-lint.yaml", text)
    message = tree.refused()
    assert position in message and message_part in message and ".chokepoint-lint.yaml" in message


def test_a_named_configuration_is_used_alone(tree):
    tree.configure(f"severities: {{{SHELL_RULE}: off}}\n")
    tree.write("a.py")
    assert tree.paths() == []
    given = tree.box.file("outside/lint.yaml", "version: 1\n")
    assert tree.paths("--config", given) == ["a.py"]
    assert tree.lint("--config", given)["config"] == str(given)
    assert tree.paths("--config", "/dev/null") == ["a.py"]
    assert "cannot read" in tree.refused("--config", tree.box.outside / "nowhere.yaml")
    assert "cannot read" in tree.refused("--config", tree.box.outside)


def test_a_configuration_that_is_no_file_is_reported_and_ends_the_run(tree):
    tree.write("a.py")
    os.mkfifo(tree.top / ".chokepoint-lint.yaml")
    assert "it is not a regular file" in tree.refused()


def test_only_the_top_has_a_configuration(tree):
    tree.configure(f"severities: {{{SHELL_RULE}: off}}\n", name="sub/.chokepoint-lint.yaml")
    tree.write("sub/a.py")
    assert tree.paths() == ["sub/a.py"]
    assert tree.paths("sub") == ["sub/a.py"]  # the working directory is above it
    assert tree.paths(".", cwd=tree.top / "sub") == []


def test_the_top_is_that_of_the_repository(tree):
    tree.repository()
    tree.configure(f"severities: {{{SHELL_RULE}: note}}\n")
    tree.write("sub/a.py")
    document = tree.lint(".", cwd=tree.top / "sub", status=0)
    assert document["top"] == str(tree.top) and document["findings"][0]["severity"] == "note"
    assert tree.lint("--root", ".", cwd=tree.top / "sub", status=1)["top"] == str(tree.top / "sub")


# ---- waivers ----

WAIVER = "# chokepoint-lint: allow"


@pytest.fixture
def decided(tree):
    """With one decision record, 0007."""
    tree.configure("adr_dir: docs/adr\n")
    tree.write("docs/adr/0007-a-shell.md", "# A shell\n")
    return tree


def waive(tree, comment):
    tree.write("a.py", f"import os\nos.system('ls')  {comment}\n")
    return tree.lint()


def test_a_waiver_takes_a_finding_back(decided):
    document = waive(decided, f"{WAIVER} {SHELL_RULE} ADR-0007: it is decided")
    assert document["findings"] == [] and document["waived"] == 1 and document["clean"]


@pytest.mark.parametrize("comment, reason", [
    (f"{SHELL_RULE} ADR-0008", "there is no decision record 0008-"),
    (f"{SHELL_RULE}", "cites no decision record"),
    ("ADR-0007", "names no rule"),
    ("everything! ADR-0007", "a rule's name"),
])
def test_an_unfounded_waiver_takes_nothing_back(decided, comment, reason):
    found = {one["rule"]: one for one in waive(decided, f"{WAIVER} {comment}")["findings"]}
    assert set(found) == {SHELL_RULE, "waiver-unfounded"}
    assert reason in found["waiver-unfounded"]["message"] and found["waiver-unfounded"]["severity"] == "error"


def test_a_waiver_from_another_rule_takes_nothing_back(decided):
    found = [one["rule"] for one in waive(decided, f"{WAIVER} {PROCESS_RULE} ADR-0007")["findings"]]
    assert sorted(found) == sorted([SHELL_RULE, "waiver-unused"])


def test_a_waiver_from_no_rule_is_unfounded(decided):
    document = waive(decided, f"{WAIVER} {SHELL_RULE}, no-such-rule ADR-0007")
    assert [one["rule"] for one in document["findings"]] == ["waiver-unfounded"] and document["waived"] == 1
    assert "no-such-rule" in document["findings"][0]["message"]


def test_a_waiver_without_records_is_unfounded(tree):
    found = {one["rule"] for one in waive(tree, f"{WAIVER} {SHELL_RULE} ADR-0007")["findings"]}
    assert found == {SHELL_RULE, "waiver-unfounded"}


def test_an_unused_waiver_is_a_finding(decided):
    decided.write("a.py", f"print(1)  {WAIVER} {SHELL_RULE} ADR-0007\n")
    one, = decided.lint(status=1)["findings"]
    assert (one["rule"], one["line"], one["column"]) == ("waiver-unused", 1, 11)


def test_a_waiver_serves_its_own_line_only(decided):
    decided.write("a.py", f"import os\n{WAIVER} {SHELL_RULE} ADR-0007\nos.system('ls')\n")
    assert sorted(rule for _, rule in decided.found()) == sorted([SHELL_RULE, "waiver-unused"])


def test_a_waiver_in_a_string_is_text(decided):
    decided.write("a.py", f"import os\nos.system('{WAIVER} {SHELL_RULE} ADR-0007')\n")
    assert decided.found() == [("a.py", SHELL_RULE)]


@pytest.mark.parametrize("name, text", [
    ("a.js", "eval(x) // chokepoint-lint: allow js-eval ADR-0007\n"),
    ("a.ts", "/* chokepoint-lint: allow js-eval ADR-0007 */ eval(x)\n"),
    ("a.c", "int f(void) { return system(\"ls\"); } /* chokepoint-lint: allow c-shell ADR-0007 */\n"),
    ("a.sh", "eval \"$x\" # chokepoint-lint: allow sh-eval ADR-0007\n"),
])
def test_waivers_are_comments_of_each_language(decided, name, text):
    decided.write(name, text)
    document = decided.lint(status=0)
    assert document["findings"] == [] and document["waived"] == 1


def test_records_of_a_named_configuration_are_beside_it(decided):
    decided.write("a.py", f"import os\nos.system('ls')  {WAIVER} {SHELL_RULE} ADR-0007\n")
    given = decided.box.file("outside/lint.yaml", "version: 1\nadr_dir: docs/adr\n")
    assert {rule for _, rule in decided.found("--config", given)} == {SHELL_RULE, "waiver-unfounded"}
    (decided.box.outside / "docs/adr").mkdir(parents=True)
    (decided.box.outside / "docs/adr/0007-yes.md").write_text("yes\n", encoding="ascii")
    assert decided.found("--config", given) == []
    assert decided.found("--config", "lint.yaml", decided.top, cwd=decided.box.outside) == []


# ---- text ----

def test_text_shows_the_line_and_the_column(tree):
    tree.write("sub/a.py", "import os\n\nif True:\n\tos.system('ä')\n")
    answer = tree.call()
    lines = answer.out.decode().splitlines()
    assert answer.status == 1 and answer.err == b""
    assert re.fullmatch(rf"sub/a\.py:4:2: error: os\.system: .+ \[{SHELL_RULE}\]", lines[0])
    assert lines[1] == "     4 |  os.system('ä')"
    assert lines[2] == "       |  ^~~~~~~~~"
    assert lines[3].startswith("       = ") and lines[4] == "1 file: 1 error, 0 warnings, 0 notes"


def test_the_mark_is_right_after_wide_bytes(tree):
    tree.write("a.py", "import os\nx = 'äöü\x07'; os.system('ls')\n")
    lines = tree.call().out.decode().splitlines()
    assert lines[1].index("os.system") == lines[2].index("^") and "\\x07" in lines[1]


def test_a_long_line_is_shown_around_the_column(tree):
    tree.write("a.py", "import os\n" + "x = 1; " * 2000 + "os.system('ls'); " + "y = 2; " * 2000 + "\n")
    answer = tree.call().out.decode()
    lines = answer.splitlines()
    assert len(lines[1]) < 300 and lines[1].index("os.system") == lines[2].index("^")
    assert ":2:14001: " in lines[0]


def test_the_summary_says_what_was_not_looked_at(tree):
    tree.configure("exclude:\n  - {path: gen/, why: It is made.}\n")
    tree.write(".gitignore", "*.log\nout/\n")
    for name in ("gen/a.py", "out/a.py", "x.log"):
        tree.write(name)
    (tree.top / "link.py").symlink_to("a.py")
    (tree.top / "other.py").symlink_to("a.py")
    assert tree.call().out.decode().splitlines()[-1] == (
        "0 files: 0 errors, 0 warnings, 0 notes; excluded by .gitignore: 2; excluded by the configuration: 1; "
        "skipped: 2 (a symbolic link)")
    assert b"link.py: skipped: a symbolic link\n" in tree.call("--verbose").out


def test_colour_is_for_terminals_that_want_it(tree):
    tree.write("a.py")
    assert b"\033[31merror:" in tree.on_a_terminal()
    assert b"\033" not in tree.on_a_terminal(NO_COLOR="1")
    assert b"\033" not in tree.call().out


# ---- other forms ----

def test_annotations_are_what_github_reads(tree):
    tree.write("sub/a,b:c%.py", "import os\nos.system('ls')\n")
    tree.write("b.py", b"\0")
    answer = tree.call("--format", "github")
    second, first = answer.out.decode().splitlines()
    assert answer.status == 1
    position = r"line=2,endLine=2,col=1,endColumn=10"
    assert re.fullmatch(rf"::error file=sub/a%2Cb%3Ac%25\.py,{position},title={SHELL_RULE}::os\.system: .+", first)
    assert second.startswith("::warning file=b.py,title=not-scanned::not scanned: binary")


def test_annotations_of_a_clean_tree_are_nothing(tree):
    tree.write("a.py", "pass\n")
    answer = tree.call("--format", "github")
    assert (answer.status, answer.out, answer.err) == (0, b"", b"")


@pytest.mark.parametrize("form", ["xml", "", "JSON"])
def test_an_unknown_form_is_refused(tree, form):
    assert tree.call("--format", form).status == 125


def test_help_reports_the_options_and_the_status(tree):
    said = tree.call("--help").out.decode()
    for word in ("--format text|json|sarif|github", "--config FILE", "--jobs COUNT", "Exit status: 0", "[PATH]..."):
        assert word in said


def test_a_full_device_is_a_failure(tree):
    tree.write("a.py")
    for form in ("text", "json", "sarif", "github"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([tree.box.command, "lint", "--format", form], cwd=tree.top, stdout=full,
                                  stderr=subprocess.PIPE, check=False, env=tree.box.environment(),
                                  **tree.box.actor.as_keywords())
        assert done.returncode == 125 and b"cannot write" in done.stderr, form


def test_no_descriptor_is_needed_but_a_few(tree):
    """Depth costs no descriptors: each directory is closed before the next is opened."""
    tree.write("/".join(["d"] * 300) + "/a.py")
    few = (16, 16)
    document = tree.lint("--jobs", "2", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few))
    assert [one["rule"] for one in document["findings"]] == [SHELL_RULE]


def test_the_library_lints_in_many_threads_and_leaves_nothing(tree):
    tree.write("a.py", "import os\n" + "os.system('ls')\n" * 3)
    assert tree.box.host("host_lint").out == b"ok\n"


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_no_form_has_what_a_terminal_obeys(tree, form):
    """DEL, the C1 set, and characters that reverse a line, in a name and in a line of source."""
    unsafe = "\x7f\x9b\u061c\u200f\u202e\u2066"
    tree.write(f"a{unsafe}é漢.py", f"import os\nos.system('{unsafe}é漢')\n")
    answer = tree.call("--format", form)
    assert answer.status == 1
    text = answer.out.decode()
    assert not set(text) & set(unsafe)
    if form == "json":
        one = json.loads(text)["findings"][0]
        assert one["path"] == f"a{unsafe}é漢.py" and f"{unsafe}é漢" in one["source"]
        assert "é漢" in text
