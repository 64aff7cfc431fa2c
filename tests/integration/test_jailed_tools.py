"""R32: real tools do real work in every jail, for root and for an ordinary user."""
import json
import shutil

import pytest

from feature import skip
from jails import LAYERS


def needs(*programs):
    for program in programs:
        if not shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"):
            skip(program, f"{program} is not installed")


@pytest.fixture
def cell(once_cell):
    """Tools that take long to start. The library does the same for root and for a user."""
    return once_cell


@pytest.fixture
def tool(cell, registry_tools):
    """Runs a tool of the default policy in the jail; it must succeed."""
    cell.policy = cell.box.default_policy(search_path=[registry_tools])
    cell.box.file("root/a.txt", "one needle\ntwo\n")
    cell.box.file("root/a.json", '{"a": [1, 2]}\n')
    cell.box.file("root/a.js", "foo(1);\n")
    cell.box.file("root/b.ts", "export function one(n: number): number { return n + 1 }\none(1);\n")
    cell.box.file("root/package.json", '{"name": "top", "version": "1.0.0", "scripts": {"test": "node -p 40+2"}}\n')
    cell.box.file("root/tsconfig.json", '{"files": ["b.ts"]}\n')

    def run(*argv, **shape):
        return cell.succeeds_inside(*argv, timeout=60, deadline=90, **shape).stream("stdout").decode()
    return run


def test_rg_searches(tool):
    needs("rg")
    assert tool("rg", "-n", "needle") == "a.txt:1:one needle\n"


def test_git_reads_history_and_work_tree(tool, cell):
    needs("git")
    commit = cell.box.repository().decode()
    assert tool("git", "rev-parse", "HEAD") == commit
    assert "first" in tool("git", "log", "--oneline")
    assert "?? a.txt\n" in tool("git", "status", "--porcelain")
    assert tool("git", "ls-files") == ""


def test_jq_cuts(tool):
    needs("jq")
    assert tool("jq", "-c", ".a", "a.json") == "[1,2]\n"


def test_npm_reports_and_lists(tool):
    needs("npm")
    assert tool("npm", "--version").count(".") == 2
    assert json.loads(tool("npm", "ls", "--json"))["name"] == "top"


def test_npm_tests_with_code_of_the_repository(tool, cell):
    needs("npm")
    cell.layers_of = lambda _tool: LAYERS - {"execs"} | {"execs_outside_root"}
    assert "42\n" in tool("npm", "test")


def test_npm_installs_what_needs_no_network(tool, cell):
    needs("npm")
    cell.box.own(cell.box.directory("root/dep"))
    cell.box.file("root/dep/package.json", '{"name": "dep", "version": "1.2.3"}')
    cell.box.file("root/package.json", '{"name": "top", "version": "1.0.0", "dependencies": {"dep": "file:./dep"}}\n')
    tool("npm", "install", "--offline")
    assert (cell.box.root / "node_modules/dep/package.json").exists()
    tool("npm", "ci", "--offline")
    assert "dep@1.2.3" in tool("npm", "ls")


def test_ast_grep_searches(tool):
    assert "a.js" in tool("ast-grep", "run", "-p", "foo($A)", "-l", "js")


def test_scip_typescript_indexes_beside_the_repository(tool, cell):
    args = ["scip-typescript", "index", "--output=index.scip"]
    if cell.jail != "native":  # only the native jail has an overlay
        answer = cell.run(*args)
        assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.scip-typescript.workspace")
        return
    kept = cell.box.directory("kept")
    tool(*args, options=["--keep", str(kept)])
    assert b"b.ts" in (kept / "index.scip").read_bytes()
    assert not (cell.box.root / "index.scip").exists()


def test_node_evaluates(cell):
    needs("node")
    cell.policy = cell.write_policy(more=[cell.box.entry("node", route="external")])
    script = "const fs = require('fs'); fs.writeFileSync('/tmp/x', 'word'); console.log(fs.readFileSync('/tmp/x', 'utf8'))"
    assert cell.succeeds_inside("node", "-e", script).stream("stdout") == b"word\n"
    threads = "new (require('worker_threads').Worker)('console.log(6 * 7)', {eval: true})"
    assert cell.succeeds_inside("node", "-e", threads).stream("stdout") == b"42\n"


def test_python_loads_its_modules(cell):
    """The files that it loads as code are listed: directories in `execs`."""
    needs("python3")
    text = "import json, hashlib, sqlite3, ctypes; print(json.dumps(hashlib.sha256(b'').hexdigest()[:8]))"
    directories = cell.box.call(["python3", "-c", "import sysconfig; print(sysconfig.get_path('platstdlib'), "
                            "'/usr/lib/' + sysconfig.get_config_var('MULTIARCH'))"])
    entry = cell.box.entry("python3", route="external", execs=directories.out.decode().split())
    policy = cell.write_policy(more=[entry])
    assert cell.succeeds_inside("python3", "-I", "-c", text, policy=policy).stream("stdout") == b'"e3b0c442"\n'


def test_shell_runs_its_helpers(cell):
    policy = cell.write_policy(more=[cell.box.entry("sh", route="external", execs=["cat", "sort", "head"])])
    script = "printf '%s\\n' c b a > /tmp/list; sort /tmp/list | head -n 1; cat < /dev/null > \"$HOME/x\" && pwd"
    assert cell.succeeds_inside("sh", "-c", script, policy=policy).stream("stdout") == b"a\n/work\n"
