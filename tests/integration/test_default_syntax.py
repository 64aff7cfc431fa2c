"""The default policy allows the ordinary work of the syntax tools: ast-grep, scip-typescript."""
import json

import pytest

RULE = json.dumps({"id": "no-foo", "language": "js", "severity": "warning", "message": "no foo",
                   "rule": {"pattern": "foo($A)"}})


@pytest.fixture
def tool(user_box, registry_tools):
    """Runs a tool of the registry in a project with one file of each kind."""
    policy = user_box.default_policy(search_path=[registry_tools])
    user_box.file("root/a.js", "foo(1);\nbar(2);\n")
    user_box.file("root/b.ts", "export function one(n: number): number { return n + 1 }\none(1);\n")
    user_box.file("root/package.json", '{"name": "top", "version": "1.0.0"}\n')
    user_box.file("root/tsconfig.json", '{"files": ["b.ts"]}\n')
    user_box.file("root/rule.yml", RULE)
    (user_box.root / "rules").mkdir()
    user_box.file("root/rules/no-foo.yml", RULE)
    user_box.file("root/sgconfig.yml", "ruleDirs: [rules]\n")

    def run(*argv, **shape):
        answer = user_box.run(*argv, policy=policy, timeout=60, deadline=90, **shape)
        assert answer.outcome == "exited", answer.document
        return answer
    return run


RUN = [["-p", "foo($A)", "-l", "js"], ["--pattern", "foo($A)", "--lang=js", "a.js"], ["-pfoo($A)", "-ljs", "--json"],
       ["-p", "foo($A)", "-l", "js", "--json=stream", "."], ["-p", "foo($A)", "-l", "js", "-r", "baz($A)"],
       ["-p", "foo($A)", "--files-with-matches", "-l", "js"], ["-k", "call_expression", "-l", "js", "-C1"],
       ["-p", "foo($A)", "-l", "js", "--globs", "*.js", "--no-ignore=hidden", "-j", "1", "--color=never"],
       ["-p", "foo($A)", "-l", "js", "--strictness=ast", "--heading", "never", "--inspect=summary", "--", "a.js"]]


@pytest.mark.parametrize("args", RUN, ids=" ".join)
def test_ast_grep_run(tool, args):
    answer = tool("ast-grep", "run", *args)
    assert answer["exit_code"] == 0, answer.document
    assert b"a.js" in answer.stream("stdout")


def test_ast_grep_rewrites_nothing(tool, user_box):
    before = (user_box.root / "a.js").read_bytes()
    assert b"baz" in tool("ast-grep", "run", "-p", "foo($A)", "-l", "js", "-r", "baz($A)").stream("stdout")
    assert (user_box.root / "a.js").read_bytes() == before


SCAN = [[], ["-c", "sgconfig.yml"], ["--rule=rule.yml"], ["-r", "rule.yml", "a.js"], ["--inline-rules", RULE],
        ["--filter", "no-foo", "--report-style=short"], ["--format=github"], ["--json=compact", "--include-metadata"],
        ["--error=no-foo", "--max-results", "1"], ["--hint", "--color", "never"]]


@pytest.mark.parametrize("args", SCAN, ids=lambda args: " ".join(args)[:40] or "plain")
def test_ast_grep_scan(tool, args):
    answer = tool("ast-grep", "scan", *args)
    assert answer["exit_code"] == (1 if "--error=no-foo" in args else 0), answer.document
    assert b"no-foo" in answer.stream("stdout") + answer.stream("stderr")


def test_ast_grep_reads_stdin(tool):
    answer = tool("ast-grep", "run", "-p", "foo($A)", "-l", "js", "--stdin", input=b"foo(3)\n",
                  options=["--stdin", "-"])
    assert b"foo(3)" in answer.stream("stdout")


@pytest.fixture
def kept(user_box):
    """The directory that gets the changes of the overlay."""
    return user_box.directory("kept")


@pytest.mark.parametrize("args", [["--output=index.scip"], ["--output", "index.scip", "."],
                                   ["--no-global-caches", "--output=index.scip"],
                                   ["--max-file-byte-size=1mb", "--no-progress-bar", "--output=index.scip", "--",
                                    "."]], ids=" ".join)
def test_scip_typescript_indexes(tool, user_box, kept, args):
    answer = tool("scip-typescript", "index", *args, options=["--keep", str(kept)])
    assert answer["exit_code"] == 0, answer.document
    assert b"b.ts" in (kept / "index.scip").read_bytes()
    assert not (user_box.root / "index.scip").exists()


def test_scip_typescript_says_that_it_needs_an_output(tool):
    answer = tool("scip-typescript", "index")
    assert answer["exit_code"] != 0 and b"the-caller-must-give---output" in answer.stream("stderr")


def test_scip_typescript_infers_a_configuration(tool, user_box, kept):
    (user_box.root / "tsconfig.json").unlink()
    answer = tool("scip-typescript", "index", "--infer-tsconfig", "--output=index.scip", options=["--keep", str(kept)])
    assert answer["exit_code"] == 0, answer.document
    assert b"b.ts" in (kept / "index.scip").read_bytes()
    assert not (user_box.root / "tsconfig.json").exists()


@pytest.mark.parametrize("name", ["ast-grep", "scip-typescript"])
def test_version_is_reported(tool, name):
    answer = tool(name, "--version")
    assert answer["exit_code"] == 0 and b"." in answer.stream("stdout")
