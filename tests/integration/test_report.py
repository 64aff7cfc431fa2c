"""chokepoint report and chokepoint audit report as commands: what is read, what is written, and what is never overwritten. The
pages themselves are opened in a browser by test_report_page.py.
"""
import json
import os
import pathlib
import re

import pytest
import reports
from audit import Log, rebuild
from reports import MARKER, Reporter, document, finding, merged, old_document, probe, some_log, words

TOP = pathlib.Path(__file__).parents[2]


@pytest.fixture
def reporter(user_box):
    return Reporter(user_box)


# ---- documents ----

def test_a_page_says_what_was_found_and_what_was_not_looked_at(reporter):
    missing = probe("semgrep", "semgrep", state="tool_missing", reason="semgrep is not installed", install="pip install semgrep", calls=[])
    nothing = probe("runtime_trace", "docker", state="skipped", reason="no file matches Dockerfile or its other patterns", calls=[])
    partial = probe("patterns", "rg", evidence={"files": 1000, "files_searched": 900})
    found = [merged("secret", "high", "a credential", "src/key.py"), merged("eval", "medium", "eval of text"), merged("eval", "medium", line=20)]
    page = reporter.page(reporter.write("all.json", document(findings=found, probes=[partial, missing, nothing])))
    text = words(page)
    assert text.startswith("app · chokepoint report Skip to the findings chokepoint report app Repository /srv/app Commit abababababab "
                           "Looked at 2026-11-18 10:00 UTC Files 120"), text[:300]
    assert "Found 3 findings 0 critical 1 high 2 medium 0 low 0 info Look at these first a credential src/key.py:12" in text
    assert "Not looked at 1 of 2 probes did not run semgrep its tool is not installed patterns 100 of 1,000 files were not searched" in text
    assert "semgrep its tool is not installed pip install semgrep" in text
    assert "runtime_trace no file matches Dockerfile" in text, "it is listed, but is no gap"
    assert page.startswith(MARKER.decode())


def test_one_rule_for_many_languages_is_one_thing_to_look_at(reporter):
    found = [merged(rule, "high", "not verified", f"{rule}.x") for rule in ("js-tls", "py-tls", "ts-tls")] + [merged("py-tls", "info", "not verified", "t.py")]
    text = words(reporter.page(reporter.write("all.json", document(findings=found))))
    first = text[text.index("Look at these first"):text.index("Not looked at")]
    assert first.count("not verified") == 1 and "and 3 more" in first


def test_info_is_not_what_to_look_at_first(reporter):
    noise = [merged("noise", "info", "some process", line=line) for line in range(1, 200)]
    text = words(reporter.page(reporter.write("all.json", document(findings=[*noise, merged("eval", "low", "eval of text", "z.py")]))))
    assert "Found 1 finding and 199 info" in text
    assert "Look at these first eval of text z.py:12 Not looked at" in text
    text = words(reporter.page(reporter.write("all.json", document(findings=noise))))
    assert "Found 0 findings and 199 info" in text and "No finding is above info. Not looked at" in text and "Look at these first" not in text


def test_documents_of_earlier_versions_are_read(reporter):
    evidence = {"findings": [finding("eval_call", "high", "eval", "a.py", 3), {"id": "bare"}], "findings_total": 40}
    path = reporter.write("all.json", old_document(probes=[probe("patterns", "rg", evidence=evidence)]))
    os.utime(path, (1700000000, 1700000000))
    rows = reporter.rows(path)
    assert [(row["severity"], row["rule"], row["path"], row["line"], row["seen_by"], row["date"]) for row in rows] == [
        ("high", "eval_call", "a.py", "3", "patterns", "2023-11-14T22:13:20Z"), ("info", "bare", "", "", "patterns", "2023-11-14T22:13:20Z")]
    text = words(reporter.out.read_text(encoding="utf-8"))
    assert "(time of the file)" in text and "2 of its 40 findings are listed" in text


def test_two_looks_are_compared(reporter):
    kept, gone, moved = merged("a", path="a.py"), merged("b", path="b.py"), merged("c", path="c.py", line=1, fingerprint="c" * 32)
    before = document(findings=[kept, gone, moved], date="2026-11-10T08:00:00Z")
    now = document(findings=[kept, {**moved, "line": 99}, merged("d", "high", path="d.py"), merged("d", "high", path="d.py")], date="2026-11-18T08:00:00Z")
    reporter.write("now.json", now)
    rows = reporter.rows(reporter.write("before.json", before), reporter.box.outside / "now.json")
    assert {(row["rule"], row["state"]) for row in rows} == {("a", "known"), ("c", "known"), ("d", "new"), ("b", "gone")}
    assert [row["state"] for row in rows].count("new") == 2, "one fingerprint may be there twice"
    text = words(reporter.out.read_text(encoding="utf-8"))
    assert "Found 4 findings" in text and "2 new , 1 gone since the look before" in text
    assert "2026-11-10 3 3 medium 1 of 1 2026-11-18 4 2 high, 2 medium 1 of 1" in text
    # In the other order, and in a directory: the dates decide.
    assert reporter.rows(reporter.box.outside / "now.json", reporter.box.outside / "before.json", reporter.box.outside) == rows


def test_what_was_not_looked_for_again_is_not_gone(reporter):
    """A tool that is not there any more, or a list that is cut, does not make a repository better."""
    two = [merged("a", path="a.py"), merged("b", "high", path="b.py", probes=("semgrep",)), merged("c", "info", path="c.py")]
    before = document(findings=two, date="2026-11-10T08:00:00Z", probes=[probe("rg", "rg"), probe("semgrep", "semgrep")])
    flooded = probe("rg", "rg", evidence={"findings": [], "findings_total": 5000, "findings_cut": "info"})
    now = document(date="2026-11-18T08:00:00Z", probes=[flooded, probe("semgrep", "semgrep", state="tool_missing", reason="-", calls=[])])
    reporter.write("now.json", now)
    rows = reporter.rows(reporter.write("before.json", before), reporter.box.outside / "now.json")
    assert [(row["rule"], row["state"]) for row in rows] == [("b", "unchecked"), ("a", "gone"), ("c", "unchecked")]
    text = words(reporter.out.read_text(encoding="utf-8"))
    assert "0 new , 1 gone , 2 not looked for again since the look before" in text
    assert "2026-11-10 3 1 high, 1 medium, 1 info 2 of 2 2026-11-18 0 none 1 of 2" in text


def test_what_a_baseline_knows_is_known(reporter):
    rows = reporter.rows(reporter.write("all.json", document(findings=[{**merged("a"), "known": True}, merged("b")])))
    assert [(row["rule"], row["state"]) for row in rows] == [("b", "listed"), ("a", "known")]


def test_what_a_baseline_knows_is_said_first(reporter):
    path = reporter.write("all.json", document(findings=[{**merged("a"), "known": True}, {**merged("b", "high"), "known": True}, merged("c")]))
    assert "2 of them are known from a baseline Look at these first" in words(reporter.page(path))
    assert "baseline" not in words(reporter.page(reporter.write("b.json", document(findings=[merged("a")]))))


def test_what_is_new_comes_before_what_is_known_of_its_severity(reporter):
    known = [{**merged("a", "high", path=f"{name}.py"), "known": True} for name in "abc"]
    found = [*known, merged("a", "high", path="z.py"), {**merged("b", "critical", "the worst", "y.py"), "known": True}]
    path = reporter.write("all.json", document(findings=found))
    assert [row["path"] for row in reporter.rows(path)] == ["y.py", "z.py", "a.py", "b.py", "c.py"]
    assert "Look at these first the worst y.py:12 a shell may run this z.py:12 and 3 more" in words(reporter.page(path))


def test_a_fleet_is_one_page(reporter):
    good, bad = document(root="/tmp/clone1", findings=[merged("eval", "high", path="a.py")]), document(root="/tmp/clone2")
    lacking = probe("semgrep", "semgrep", state="tool_missing", reason="-", calls=[])
    bad["probes"] = [lacking]
    good["probes"].append(lacking)
    documents = {"https://git.example/team/shop": good, "/srv/b/shop": bad, "/srv/other.git": document(root="/tmp/clone3")}
    directory = reports.fleet(reporter.box.outside / "fleet", documents, failed=["/srv/broken"])
    (directory / "documents/torn.json").write_text('{"format": 1, "probes": [')
    (directory / "documents/other.json").write_text('["no document"]')
    answer = reporter.call(directory, "--out", reporter.out)
    assert b"1 finding in 3 repositories" in answer.out and b"warning: 2 documents or repositories" in answer.err
    text = words(reporter.out.read_text(encoding="utf-8"))
    assert "3 repositories Looked at" in text
    assert "Look at these first a shell may run this https://git.example/team/shop: a.py:12 Not looked at" in text
    assert "/srv/broken cannot read '/srv/broken'" in text and "torn.json it is not JSON, or not complete" in text
    assert "semgrep its tool is not installed (2 repositories)" in text
    assert "By repository the worst first https://git.example/team/shop 1" in text, "two have the short name 'shop'"
    assert " other 2026-11-18" in text


def test_many_lost_repositories_leave_room_for_the_probes(reporter):
    lacking = document(probes=[probe("rg", "rg"), probe("semgrep", "semgrep", state="tool_missing", reason="-", calls=[])])
    directory = reports.fleet(reporter.box.outside / "fleet", {"/srv/a": lacking}, failed=[f"/srv/lost{number}" for number in range(20)])
    text = words(reporter.page(directory))
    first = text[text.index("Not looked at"):text.index("By rule") if "By rule" in text else text.index("Findings")]
    assert "20 repositories without a document that can be read semgrep its tool is not installed" in first and "/srv/lost" not in first
    assert text.count("/srv/lost") == 2 * 20, "each is in the whole list, with its reason"


def test_a_date_is_written_in_one_way(reporter):
    two = {"/srv/a": document(root="/srv/a"), "/srv/b": document(root="/srv/b", findings=[merged()])}
    text = words(reporter.page(reports.fleet(reporter.box.outside / "fleet", two)))
    assert "b 2026-11-18 10:00 UTC 120 1 1 medium a 2026-11-18 10:00 UTC 120 0 none" in text and "T10:00" not in text
    assert "Before" not in text, "no repository was looked at before"


def test_what_ran_without_a_jail_comes_before_other_calls(reporter):
    calls = [reports.call("git", "log"), reports.call("rg", outcome="tool_missing", jail=None, layers=[]), reports.call("node", "-v", jail="none", layers=[])]
    text = words(reporter.page(reporter.write("all.json", document(probes=[probe("p", "git", calls=calls)]))))
    assert text.index("node -v") < text.index("git log") < text.index("rg tool_missing did not run")


def test_a_probe_that_needs_another_says_so_in_words(reporter):
    behind = probe("vulnerabilities", "grype", state="skipped", reason="needs sbom, which is tool_missing", calls=[])
    text = words(reporter.page(reporter.write("all.json", document(probes=[probe("rg", "rg"), behind]))))
    assert text.count("vulnerabilities needs sbom, whose tool is not installed") == 2


def test_a_line_of_a_chart_says_its_colours(reporter):
    page = reporter.page(reporter.write("all.json", document(findings=[merged("eval", "high", path="a/b/c.py"), merged("eval", "low", path="a/b/d.py")])))
    assert 'title="eval: 1 high, 1 low"' in page and 'title="a/b/: 1 high, 1 low"' in page
    assert 'title="npm: 1 run, 1 denial, 1 egress"' in reporter.audit(some_log())


def test_a_table_holds_no_formula(reporter):
    hostile = [merged(rule, message=message, path=path) for rule, message, path in
               [("=1+1", '+cmd|" /C calc"!A0', "-2+3.py"), ("@sum", "a\tb\r\n=c", '"=x.py'), ("\t=1", "\u202e=x", "ok.py"), ("r", 'x;=cmd|\'/C calc\'!A0;"@y', "a=b;-c")]]
    rows = reporter.rows(reporter.write("all.json", document(findings=hostile)))
    fields = sorted((row["rule"], row["message"], row["path"]) for row in rows)
    assert fields == [("'=1+1", "'+cmd|\" /C calc\"!A0", "'-2+3.py"), ("'@sum", "a\\x09b\\x0d\\x0a=c", '"=x.py'), ("\\x09=1", "\\xe2\\x80\\xae=x", "ok.py"),
                      ("r", 'x;\'=cmd|\'/C calc\'!A0;"\'@y', "a=b;'-c")]
    raw = reporter.table.read_bytes()
    # A comma separates the cells, or a semicolon, by the language of the spreadsheet.
    assert raw.count(b"\r\n") == 5 and not re.search(rb';"*[=+@\t-]', raw) and not re.search(rb'(^|,)"?[=+@\t-]', raw.replace(b"\r\n", b"\n"), re.MULTILINE)


@pytest.mark.parametrize("text, why", [
    ("[]", "not a document of 'chokepoint gather'"), ("{", "it is not JSON"), ("", "it is not JSON"), ("[" * 100000, "it is not JSON"),
    (json.dumps(document(format=2)), "its format is 2, and this version reads format 1")])
def test_what_is_no_document_is_refused(reporter, text, why):
    answer = reporter.call(reporter.write("x.json", text), "--out", reporter.out, status=125)
    assert why in answer.err.decode() and not reporter.out.exists()


def test_members_of_other_types_are_left_out(reporter):
    broken = document(probes=[3, {}, {"name": 1, "calls": [7, {"argv": "x"}], "evidence": [], "timing": 1}], tools=[1, {"name": []}], timing=[],
                      repository={"root": 5, "files": "x"}, commit=9)
    broken.update(findings=[1, None, [], {"severity": 7, "id": [], "path": {"base64": "???"}, "line": -4, "seen_by": {"x": 1}, "message": None}])
    rows = reporter.rows(reporter.write("x.json", broken))
    assert [(row["severity"], row["path"], row["line"]) for row in rows] == [("info", "???", "")]
    assert reporter.page(reporter.write("y.json", {"format": 1, "probes": [], "repository": {}})), "almost nothing"


def test_same_documents_make_the_same_page(reporter):
    path = reporter.write("all.json", document(findings=reports.many(300)))
    assert reporter.page(path) == reporter.page(path)


# ---- the target ----

def test_only_a_report_is_replaced(reporter):
    path = reporter.write("all.json", document())
    page = reporter.page(path)
    assert reporter.page(path) == page, "an earlier report"
    for kept in (b"my thesis", b"", MARKER[:-1]):
        reporter.box.file("outside/page.html", kept)
        answer = reporter.call(path, "--out", reporter.out, status=125)
        assert b"exists and is not a report; use --force to replace it" in answer.err and reporter.out.read_bytes() == kept
        answer = reporter.call(path, "--out", reporter.box.outside / "new.html", "--csv", reporter.out, status=125)
        assert b"--csv" in answer.err and reporter.out.read_bytes() == kept
    assert not (reporter.box.outside / "new.html").exists()
    assert reporter.page(path, "--force") == page


@pytest.mark.parametrize("kind", ["link", "directory", "fifo", "device", "no_parent", "slash"])
def test_other_targets_are_refused(reporter, kind):
    path, target = reporter.write("all.json", document()), reporter.out
    if kind == "link":
        reporter.box.file("outside/real.html", MARKER)
        target.symlink_to("real.html")
    elif kind == "directory":
        target.mkdir()
    elif kind == "fifo":
        os.mkfifo(target)
    elif kind == "device":
        target = "/dev/null"
    elif kind == "no_parent":
        target = target / "x" / "y"
    else:
        target = f"{target}/"
    reporter.call(path, "--out", target, "--force", status=125)
    assert not [name for name in os.listdir(reporter.box.outside) if name.startswith(".chokepoint")]


def test_what_is_read_is_never_replaced(reporter):
    """Not even with --force: a log whose page takes its place is lost."""
    path = reporter.write("all.json", document())
    before = path.read_bytes()
    link = reporter.box.outside / "link.json"
    link.symlink_to("all.json")
    for arguments in ((path, "--out", path), (link, "--out", path), (path, "--out", reporter.out, "--csv", path)):
        assert b"is what the report is made of; name another file" in reporter.call(*arguments, "--force", status=125).err
    log = reporter.box.file("outside/audit.jsonl", some_log().text(), 0o600)
    answer = reporter.call(log, "--out", log, "--force", command=("audit", "report"), status=2)
    assert b"is what the report is made of" in answer.err
    rotated = reporter.box.file("outside/audit-000000000001.jsonl", b"".join(line + b"\n" for line in some_log().lines[1:]), 0o600)
    assert b"is an audit log; name another file" in reporter.call(path, "--out", rotated, "--force", status=125).err
    assert path.read_bytes() == before and log.read_bytes() == some_log().text() and not reporter.out.exists()


def test_page_and_table_are_two_files(reporter):
    path = reporter.write("all.json", document())
    for other in (reporter.out, f"{reporter.out.parent}/./{reporter.out.name}"):
        assert b"--out and --csv name the same file" in reporter.call(path, "--out", reporter.out, "--csv", other, "--force", status=125).err
    assert not reporter.out.exists()


def test_page_of_a_log_is_as_private_as_the_log(reporter):
    reporter.audit(some_log())
    assert reporter.out.stat().st_mode & 0o777 == 0o600
    reporter.page(reporter.write("all.json", document()))
    assert reporter.out.stat().st_mode & 0o777 == 0o644, "of documents: as the umask says"


def test_a_page_that_cannot_be_written_whole_leaves_the_old_one(reporter):
    path = reporter.write("all.json", document(findings=reports.many(500)))
    old = reporter.page(reporter.write("old.json", document()))
    answer = reporter.box.call(["/bin/sh", "-c", 'ulimit -f 100; exec "$@"', "sh", reporter.box.command, "report", path, "--out", reporter.out])
    assert answer.status == 125 and b"cannot write --out" in answer.err and b"File too large" in answer.err
    assert reporter.out.read_text(encoding="utf-8") == old
    assert not [name for name in os.listdir(reporter.box.outside) if name.startswith(".chokepoint")]


def test_what_is_no_file_is_not_waited_for(reporter):
    directory = reporter.write("documents/all.json", document()).parent
    os.mkfifo(directory / "fifo.json")
    (directory / "link.json").symlink_to("fifo.json")
    (directory / "zero.json").symlink_to("/dev/zero")
    assert b"cannot read" in (error := reporter.call(directory / "fifo.json", "--out", reporter.out, status=125).err) and b"it is not a regular file" in error
    text = words(reporter.page(directory))
    assert "link.json it is not a regular file" in text and "zero.json it is not a regular file" in text


def test_out_is_required(reporter):
    assert b"--out FILE is missing" in reporter.call(reporter.write("all.json", document()), status=125).err
    reporter.call("--out", reporter.out, status=125)
    assert b"cannot read" in reporter.call(reporter.box.outside / "none.json", "--out", reporter.out, status=125).err


# ---- audit report ----

def test_a_log_is_a_page(reporter):
    log = some_log()
    text = words(reporter.audit(log))
    assert f"The chain is unbroken {log.seq} records are proven . Proven to this head: {log.head}".replace(" .", ".") in text.replace(" .", ".")
    assert "4 runs 2 did not exit with 0, 1 unfinished, 1 without a jail 1 refusal calls" in text and "1 denial what" in text and "1 egress decision 1 refused" in text
    for row in ("run git exited 0 git status native", "run rg timeout rg x none", "egress npm refused evil.example:443", "denial npm denied exec /bin/sh",
                "refusal bash disallowed bash -c id", "other later agent --fast", "run git unfinished git gc native"):
        assert row in text, row
    data = reporter.out.read_text(encoding="utf-8")
    assert "also readable" not in data and "egress\\u0009registry.npmjs.org" in data and "limits\\u0009{\\u0022layers\\u0022" in data


def test_a_damaged_log_is_a_page_with_the_first_bad_line(reporter):
    log = some_log()
    lines = rebuild(log.lines, 5, "0" * 64)
    text = words(reporter.audit(b"".join(line + b"\n" for line in lines), status=1))
    assert "The log is damaged" in text and "audit.jsonl:6: rebuilt" in text and "5 records before it are proven" in text
    assert "(not proven)" in text and "unbroken" not in text


def test_a_log_that_cannot_be_read_is_no_page(reporter):
    reporter.call(reporter.box.outside / "none.jsonl", "--out", reporter.out, command=("audit", "report"), status=2)
    assert not reporter.out.exists()


def test_of_a_long_log_the_figures_are_of_all(reporter):
    log = Log()
    for number in range(1500):
        log.call("git", f"log{number}")
    text = words(reporter.audit(log))
    assert "1,500 runs" in text and "and 501 older" in text and "git log1499" in text


def guarded_log():
    """The program of a guard, which called a tool, was denied something, and reached for a host; and one that has no end."""
    log = Log()
    granted = {"jail": "native", "layers": ["seccomp", "notify"], "rule": "agent", "egress": ["api.example:443"], "egress_cut": 3, "profile": "agent",
               "carriers": ["bash"], "state": [".agent"], "env": ["HOME"], "env_cut": 2}
    guard = log.add("guard_begin", context="c" * 16, pid=1, probe=None, tool={"name": "agent", "path": "/usr/bin/agent", "sha256": None},
                    argv=["agent", "--go"], argv_cut=7, **granted)
    log.outcome(log.intent("git", "status", jail="native", layers=[], guard=guard, asked=[{"at": 1, "text": "st"}]), "git", output_incomplete=True)
    log.add("guard_end", guard=guard, context="c" * 16, probe=None, tool={"name": "agent"}, outcome="exited", exit_code=3, signal=None, duration_us=9000000,
            executions={"attempts": 12, "door": 1}, denied=[{"kind": "open", "path": "/home/me/.ssh/id", "by": "agent", "errno": 13, "add": None}], denied_more=5)
    log.add("guard_begin", context="d" * 16, pid=2, probe=None, tool={"name": "agent"}, argv=["agent"], jail="native", layers=[])
    return log


def test_the_program_of_a_guard_is_a_run(reporter):
    text = words(reporter.audit(guarded_log()))
    assert "3 runs 1 did not exit with 0, 1 unfinished, 0 without a jail" in text
    assert "1 denial what a jail did not let a tool do; 5 more were only counted" in text
    for row in ("run agent exited 3 agent --go … (7 more are not in the log) native", "denial agent denied open /home/me/.ssh/id",
                "run git exited 0 git status native", "run agent unfinished agent native"):
        assert row in text, row
    assert "guard_end" not in text


def test_what_the_log_left_out_is_not_taken_for_the_whole(reporter):
    data = reporter.page(reporter.box.file("outside/audit.jsonl", guarded_log().text(), 0o600), command=("audit", "report"))
    for line in ("egress\\u0009api.example:443 … (3 more are not in the log)", "variables\\u0009HOME … (2 more are not in the log)",
                 "profile of the guard\\u0009agent", "directories of its state\\u0009.agent", "denied by the jail\\u00091, and 5 that the log does not list",
                 "output that was lost\\u0009yes", "called in the guard of record\\u00091", "executions in its tree\\u0009{"):
        assert line in data, line


def test_every_member_of_a_run_is_shown(reporter):
    """What docs/audit.schema.json lets a record have, and the page does not know, would be missing without a word."""
    kinds = json.loads((TOP / "docs/audit.schema.json").read_text())["definitions"]
    common = {"v", "log", "seq", "time", "kind", "prev", "hash"}
    shown = {"context", "tool", "argv", "argv_hash", "probe", "pid", "outcome", "duration_us", "denied", "denied_more", "intent", "guard", "asked", "state"}
    source = "".join((TOP / "src/report" / name).read_text() for name in ("audit_record.c", "audit_log.c"))
    members = {name for kind in ("call", "guard_begin", "guard_end", "outcome", "refused") for name in kinds[kind]["properties"]} - common
    hidden = {name for name in members if not name.endswith("_cut") and f'"{name}"' not in source}
    assert hidden == {"context", "argv_hash"}, "said in docs/audit.md alone"
