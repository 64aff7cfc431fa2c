"""Promise: Tools in a hostile repository.
Attacker: the repository. Means: a shared library that sgconfig.yml names as a language, an
index.scip that is a symlink to another file, a yarn of the repository.

Expected: the library is not loaded, the other file is untouched, nothing is started. Plainly
called the library is loaded (by an ast-grep with that option, and by every one before 0.50) and
the other file is overwritten.
"""
import os
import subprocess

import pytest

from escapes import fires, refused

LIBRARY = """
#include <fcntl.h>
__attribute__((constructor)) static void leave_a_trace(void) { (void)open(CANARY, O_CREAT | O_WRONLY, 0666); }
void *tree_sitter_evil(void) { return 0; }
"""
SEARCH = ["-p", "foo($A)", "-l", "js"]


@pytest.fixture
def tool(user_box, registry_tools):
    policy = user_box.default_policy(search_path=[registry_tools])

    def run(*argv):
        return user_box.run(*argv, policy=policy, timeout=60, deadline=90)
    run.directory = registry_tools
    return run


@pytest.fixture
def library(user_box):
    source = user_box.file("evil.c", LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", f'-DCANARY="{user_box.canary()}"', "-o", user_box.root / "evil.so",
                    source], check=True)
    user_box.file("root/sgconfig.yml",
                  "ruleDirs: [rules]\ncustomLanguages:\n  evil:\n    libraryPath: evil.so\n    extensions: [evil]\n")
    user_box.file("root/a.js", "foo(1)\n")
    (user_box.root / "rules").mkdir()
    user_box.file("root/rules/a.yml", "id: a\nlanguage: js\nrule: {pattern: foo($A)}\n")


@pytest.mark.parametrize("args", [["run", *SEARCH], ["scan"], ["run", "-c", "sgconfig.yml", *SEARCH],
                                   ["scan", "--config=sgconfig.yml"], ["--version"]], ids=" ".join)
def test_library_is_not_loaded(user_box, tool, library, args):
    answer = tool("ast-grep", *args)
    assert answer["exit_code"] == 0, answer.document
    assert not user_box.canary().exists()


def test_plain_ast_grep_loads_the_library(user_box, tool, library):
    fires(user_box, user_box.canary(), [str(tool.directory / "ast-grep"), "run", "--custom-languages=allow", *SEARCH])


@pytest.mark.parametrize("args", [["--custom-languages=allow"], ["--custom-languages", "trust"],
                                   ["--custom-lang=allow"], ["-U"], ["--update-all"], ["-i"], ["--interactive"],
                                   ["--follow"], ["-c", "../outside/sgconfig.yml"],
                                   ["--config=/etc/passwd"], ["../outside"], ["--", "/etc"]], ids=" ".join)
def test_option_is_refused(user_box, args):
    user_box.file("outside/sgconfig.yml")
    refused(user_box, "ast-grep", "run", *SEARCH, *args)
    refused(user_box, "ast-grep", "scan", *args)


@pytest.mark.parametrize("args", [["lsp"], ["new"], ["test"], ["completions"], ["-p", "x"], ["--config=x", "run"],
                                   ["outline"], []],
                         ids=lambda args: " ".join(args) or "nothing")
def test_subcommand_is_refused(user_box, args):
    refused(user_box, "ast-grep", *args)


@pytest.fixture
def project(user_box):
    user_box.file("root/a.ts", "export const one = 1\n")
    user_box.file("root/tsconfig.json", '{"files": ["a.ts"]}\n')
    return user_box.file("outside/precious", "precious\n")


def test_planted_link_is_not_written_through(user_box, tool, project):
    os.symlink(project, user_box.root / "index.scip")
    assert tool("scip-typescript", "index")["exit_code"] != 0
    for args in (["--output=index.scip"], ["--output", "index.scip"], ["--output=../outside/precious"],
                  [f"--output={project}"]):
        answer = tool("scip-typescript", "index", *args)
        assert (answer.status, answer.outcome) == (125, "disallowed"), answer.document
    assert project.read_text() == "precious\n"
    user_box.call([str(tool.directory / "scip-typescript"), "index"], deadline=120)
    assert project.read_bytes() != b"precious\n"


@pytest.mark.parametrize("args", [["--yarn-workspaces"], ["--yarn-berry-workspaces"], ["--pnpm-workspaces"],
                                   ["--cwd=."], ["--cwd", "/"],
                                   ["--yarn"], ["-h"], ["/"], ["../outside"], ["missing"]], ids=" ".join)
def test_index_option_is_refused(user_box, project, args):
    refused(user_box, "scip-typescript", "index", "--output=x", *args)
    refused(user_box, "scip-typescript", *args, "index", "--output=x")


@pytest.mark.parametrize("args", [["generate"], ["build"], ["test"], ["playground"], ["init-config"], ["fuzz"],
                                   ["highlight", "a.ts"], ["query", "a.ts"], ["tags", "a.ts"],
                                   ["parse", "--lib-path=./evil.so", "a.ts"], ["parse", "-l", "./evil.so", "a.ts"],
                                   ["parse", "-p", ".", "a.ts"], ["parse", "--grammar-path=.", "a.ts"],
                                   ["parse", "--config-path=x", "a.ts"], ["parse", "--rebuild", "a.ts"],
                                   ["parse", "-r", "a.ts"], ["parse", "--wasm", "a.ts"], ["parse", "-D", "a.ts"],
                                   ["parse", "--debug-graph", "--open-log", "a.ts"], ["parse", "-0", "a.ts"],
                                   ["parse", "--paths", "a.ts"], ["parse", "--edits", "1", "a.ts"], ["parse", "*.ts"],
                                   ["parse", "/etc/passwd"], ["parse", "../outside/precious"],
                                   ["p", "a.ts"], []],
                         ids=lambda args: " ".join(args) or "nothing")
def test_tree_sitter_call_is_refused(user_box, project, args):
    refused(user_box, "tree-sitter", *args)
