"""The checks themselves: each must find what it is there to find, and nothing else."""
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "check"
sys.path.insert(0, str(TOOLS))


def load(name):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


csource = load("csource")
size = load("check-size")
layers = load("check-layers")
creator = load("check-creator")
environment = load("check-environment")
text = load("check-text")
requirements = load("check-requirements")
documents = load("check-documents")
vocabulary = load("check-words")
names = load("check-names")
dialect = load("check-dialect")
abi = load("check-abi")
symbols = load("check-symbols")
version = load("check-version")


# ---- csource ----

@pytest.mark.parametrize("source, name, lines, parameters", [
    ("int f(void)\n{\n    return 0;\n}\n", "f", 4, 0),
    ("static inline const char *g(int a, char *b[3])\n{\n}\n", "g", 3, 2),
    ("void h(int (*call)(int, int), void *data)\n{\n}\n", "h", 3, 2),
    ("__attribute__((noinline, format(printf, 1, 2))) int k(const char *f, ...)\n{\n}\n", "k", 3, 2),
    ("int l(int a,\n      int b)\n{\n    if (a) {\n    }\n}\n", "l", 6, 2),
    ("/* { */\nint m(void)\n{\n    char c = '{'; // }\n    puts(\"}\");\n}\n", "m", 5, 0),
    ("#define OPEN {\nint n(void)\n{\n}\n", "n", 3, 0),
    ("struct s { int a; };\nint o(struct s *s)\n{\n    struct s t = {.a = (1)};\n}\n", "o", 4, 1),
    ("static const int p[] = {1, 2};\n", None, None, None),
    ("enum e { A, B };\n", None, None, None),
    ("static struct s q = (struct s){\n    1};\n", None, None, None),
])
def test_functions_are_found_with_length_and_parameters(source, name, lines, parameters):
    found = [(f.name, f.lines, f.parameters) for f in csource.functions(source)]
    assert found == ([] if name is None else [(name, lines, parameters)])


def test_declarations_in_extern_c_are_no_function():
    source = 'extern "C" {\nint a(void);\nstatic inline int b(int x)\n{\n    return x;\n}\n}\n'
    assert [(f.name, f.line, f.lines) for f in csource.functions(source)] == [("b", 3, 4)]


def test_blanking_keeps_every_line_where_it_was():
    source = 'a /* x\ny */ b "c\\"d" // e \\\nf\ng'
    blanked = csource.blank(source)
    assert blanked.count("\n") == source.count("\n")
    assert [(line, token) for line, token in csource.tokens(source) if token.isalpha()] == [
        (1, "a"), (2, "b"), (4, "g")]


# ---- check-size ----

def function_of(lines, parameters="void"):
    return f"int f({parameters})\n{{\n" + "    g();\n" * (lines - 3) + "}\n"


def test_a_function_of_70_lines_passes_and_of_71_does_not():
    assert not list(size.problems("a.c", function_of(70)))
    assert "has 71 lines" in "".join(size.problems("a.c", function_of(71)))


def test_six_parameters_pass_and_seven_do_not():
    assert not list(size.problems("a.c", function_of(5, ", ".join(f"int a{i}" for i in range(6)))))
    assert "7 parameters" in "".join(size.problems("a.c", function_of(5, ", ".join(f"int a{i}" for i in range(7)))))


def test_a_file_of_801_lines_is_found():
    assert not list(size.problems("a.h", "int a;\n" * 800))
    assert list(size.problems("a.h", "int a;\n" * 801))


def test_a_long_python_function_is_found():
    assert list(size.problems("a.py", "def f():\n" + "    g()\n" * 70))
    assert not list(size.problems("a.py", "def f():\n" + "    g()\n" * 69))


# ---- check-layers ----

@pytest.mark.parametrize("path, include", [
    ("cli/main.c", '"sys/beneath.h"'),
    ("cli/main.c", '"api/context.h"'),
    ("gather/files.c", '"cli/cli.h"'),
    ("gather/files.c", '"sys/beneath.h"'),
    ("front/text.c", '"cli/cli.h"'),
    ("front/text.c", '"gather/gather.h"'),
    ("api/lint.c", '"front/text.h"'),
    ("base/fd.c", '"front/text.h"'),
    ("base/fd.c", '"policy/model.h"'),
    ("policy/judge.c", '"sys/beneath.h"'),
    ("policy/judge.c", '"run/plan.h"'),
    ("sys/binary.c", '"policy/model.h"'),
    ("jail/none.c", '"run/plan.h"'),
    ("run/plan.c", '"api/context.h"'),
    ("run/plan.c", '"../policy/model.h"'),
    ("run/plan.c", '"plan.h"'),
    ("strange/a.c", '"base/fd.h"'),
    ("a.c", '"base/fd.h"'),
    ("cli/main.c", "<base/fd.h>"),
])
def test_a_wrong_arrow_is_found(path, include):
    assert list(layers.problems(path, f"#include <stdio.h>\n#  include {include}\n"))


@pytest.mark.parametrize("path, include", [
    ("cli/main.c", '"chokepoint.h"'),
    ("cli/main.c", '"cli/table.h"'),
    ("cli/main.c", '"front/text.h"'),
    ("cli/cmd_gather.c", '"gather/coordinate.h"'),
    ("gather/files.c", '"base/fd.h"'),
    ("gather/files.c", '"front/text.h"'),
    ("front/text.c", '"base/quote.h"'),
    ("api/context.c", '"run/plan.h"'),
    ("api/context.c", '"base/fd.h"'),
    ("gather/probes.c", '"base/yaml.h"'),
    ("run/plan.c", '"policy/model.h"'),
    ("policy/load.c", "<cyaml/cyaml.h>"),
    ("base/fd.c", "<sys/stat.h>"),
])
def test_an_arrow_of_the_table_passes(path, include):
    assert not list(layers.problems(path, f"#include {include}\n"))


def test_an_include_in_a_comment_is_no_arrow():
    assert not list(layers.problems("cli/main.c", '/*\n#include "api/context.h"\n*/\n'))


def test_no_layer_can_reach_itself_through_others():
    def reach(layer, seen):
        for other in layers.ARROWS[layer] - seen:
            seen |= {other} | reach(other, seen | {other})
        return seen
    assert not [layer for layer in layers.ARROWS if layer in reach(layer, set())]


def test_an_example_may_not_use_internals():
    assert list(layers.customer_problems("examples/a.c", '#include "base/fd.h"\n'))
    assert not list(layers.customer_problems("examples/a.c", "#include <chokepoint.h>\n"))


# ---- check-creator ----

@pytest.mark.parametrize("source", [
    "int f(void) { return fork(); }",
    "x = vfork ();",
    "int (*make)(void) = fork;",
    "posix_spawnp(&pid, a, 0, 0, b, c);",
    "syscall(SYS_clone3, &args, sizeof args);",
    "CK_RAW5(clone, flags, 0, 0, 0, 0);",
    "ck_raw(__NR_execveat, 0, 0, 0, 0, 0);",
    "ck_raw(57, 0, 0, 0, 0, 0);",
    "syscall(57);",
    "#define START(x) execve(x, 0, 0)",
    "execl(path, \"a\", (char *)0);",
    "system(\"id\");",
])
def test_a_call_that_creates_a_process_is_found(source):
    assert list(creator.problems("src/cli/main.c", source))


@pytest.mark.parametrize("source", [
    "/* fork() is not called here */",
    "puts(\"fork(\");",
    "// execve(\nint a;",
    "ck_create_borrowed(child, 0, -1, 0);",
    "result->system = 1; usage.clone = 2;",
    "#pragma GCC poison system popen execvp",
    "syscall(SYS_openat2, 0);",
])
def test_what_creates_no_process_passes(source):
    assert not list(creator.problems("src/cli/main.c", source))


# ---- check-environment ----

@pytest.mark.parametrize("path, source", [
    ("src/run/launcher.c", "char **all = environ;"),
    ("src/run/launcher.c", "extern char **__environ;"),
    ("src/run/launcher.c", 'const char *home = getenv("HOME");'),
    ("src/run/launcher.c", "const char *(*look)(const char *) = getenv;"),
    ("src/run/plan.c", 'const char *other = getenv("PATH");'),
    ("src/run/plan.c", "const char *other = getenv(name);"),
    ("src/run/plan.c", 'host = secure_getenv("HOME");'),
    ("src/run/plan.c", "one(environ); two(environ);"),
    ("src/sys/host.c", 'open("/proc/self/environ", 0);'),
    ("src/api/job.c", 'snprintf(path, sizeof path, "/proc/%d/environ", pid);'),
    ("src/run/jail_setup.c", "ck_sandbox_make(arena, host, extras, &sandbox, error);"),
    ("src/run/jail_setup.c", "ck_sandbox_environment(arena, sandbox, policy, tools, home, &env, error);"),
    ("src/policy/judge.c", "ck_sandbox_make(judge->arena, host, env, &sandbox, error);"),
    ("src/run/jail_setup.c", "struct ck_sandbox { char **variables; };"),
    ("src/policy/sandbox.h", "struct ck_sandbox {\n    char **variables;\n};"),
])
def test_a_look_at_the_environment_is_found(path, source):
    assert list(environment.problems(path, source))


@pytest.mark.parametrize("path, source", [
    ("src/run/launcher.c", "/* environ */ int environment;"),
    ("src/run/plan.c", 'a = getenv("HOME"); b = getenv("LANG"); c = getenv("LC_ALL"); make(environ);'),
    ("src/run/plan.c", "ck_sandbox_make(a, host, b, &c, d); ck_sandbox_environment(a, c, d, e, f, &g, h);"),
    ("src/policy/judge.c", "ck_sandbox_make(judge->arena, NULL, env, &sandbox, error);"),
    ("src/policy/sandbox.c", "struct ck_sandbox {\n    const char **variables;\n};"),
    ("src/policy/sandbox.h", "struct ck_sandbox;\nint ck_sandbox_make(struct ck_arena *arena);"),
    ("src/front/text.c", 'getenv("NO_COLOR")'),
])
def test_what_may_be_looked_at_passes(path, source):
    assert not list(environment.problems(path, source))


# ---- check-text ----

@pytest.mark.parametrize("line", ["TO" + "DO later", "/* FIX" + "ME */", "XX" + "X", "a ", "<" * 7 + " HEAD", "\tint a;"])
def test_an_unfinished_line_is_found(line):
    assert list(text.problems("src/a.c", f"{line}\n".encode()))


def test_a_missing_newline_is_found():
    assert list(text.problems("a.md", b"a"))


def test_a_finished_file_passes():
    assert not list(text.problems("src/a.c", b"mkstemp(\"aXXXXXX\");\n"))


def test_bytes_that_are_no_text_are_left_alone():
    assert not list(text.problems("tests/fuzz/corpus/a/b", b"a \n\xff"))


# ---- check-requirements ----

def test_requirement_that_is_not_explained_is_found(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "docs/requirements.md").write_text("- **R1** One.\n- **R2** Two.\n- **R2** Again.\n")
    (tmp_path / "src/a.c").write_text("/* R1, as R2 says. */\n/* R3 */ int R4X, xR5;\n")
    for words in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    assert list(requirements.problems(tmp_path)) == ["docs/requirements.md: R2 is listed twice",
                                                     "src/a.c:2: R3 is not in docs/requirements.md"]


# ---- check-documents ----

@pytest.fixture
def documented(tmp_path):
    """A function that gives what the check says of one document in a small tree."""
    for name in ("src/run/plan.c", "src/cli/cmd_run.c", "lint/c.yaml", "docs/adr/0001-build.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("int ck_plan_make(void);\n")

    def check(content, name="ARCHITECTURE.md"):
        (tmp_path / name).write_text(content)
        for words in (["init", "--quiet"], ["add", "."]):
            subprocess.run(["git", "-C", tmp_path, *words], check=True)
        return list(documents.problems(tmp_path))
    return check


@pytest.mark.parametrize("words", ["src/run/gone.c", "run/gone.c", "`gone.c`", "src/gone", "docs/adr/0002", "run/g*.c",
                                   "(docs/gone.md)", "ck_gone", "src/gone/cmd_NAME.c"])
def test_a_name_that_does_not_exist_is_found(documented, words):
    assert documented(f"first\n{words}\n")[0].startswith("ARCHITECTURE.md:2: ")


@pytest.mark.parametrize("words", [
    "src/run/plan.c", "run/plan.c", "`plan.c`", "src/run", "src/run/", "docs/adr/0001", "run/p*.c", "ck_plan_make",
    "src/cli/cmd_NAME.c", "docs/adr/NNNN-new.md", "lint/LANGUAGE.yaml", "and/or", "/usr/src/a.c", "~/src/a.c",
    "```\nsrc/gone.c\n```", "    src/gone.c", "see src/run/plan.c."])
def test_a_name_that_exists_or_is_an_example_passes(documented, words):
    assert documented(f"{words}\n") == []


def test_bare_file_names_count_in_architecture_only(documented):
    assert documented("a.c\n", "README.md") == []


# ---- check-words ----

@pytest.mark.parametrize("path, source", [
    ("src/run/a.c", "struct ck_bury {\n    int fd;\n};\n"),
    ("src/run/a.c", "static int hear(int fd);\n"),
    ("src/run/a.c", "int r = plan->told;\n"),
    ("src/run/a.c", "#define CK_ROADS 4\n"),
    ("src/run/a.c", "/* Fills plan->wrap, see ck_land_pack. */\n"),
    ("src/run/course.c", "int a;\n"),
    ("src/cli/town.h", "int a;\n"),
    ("tests/support/a.py", "class TownBox:\n    pass\n"),
    ("tests/meson.build", "comet = executable('a')\n"),
    ("tools/a.sh", "echo \"${told}\"\n"),
    ("docs/a.md", "`ck_gitplace_find` looks for it.\n"),
])
def test_an_old_name_is_found(path, source):
    assert "old name" in "".join(vocabulary.problems(path, source))


@pytest.mark.parametrize("path, source", [
    ("src/run/a.c", "ck_landlock_apply(fd); landed(); /* told, and a land of roadmaps */\n"),
    ("src/run/a.c", "puts(\"town\");\n"),
    ("src/run/keeper/door.c", "struct ck_cage { int door_fd; };\n"),
    ("tests/helpers/hosts/a.c", "void *__wrap_malloc(size_t size);\n"),
    ("tests/a.py", "context.wrap_socket(peer)  # wrap\n"),
    ("tests/meson.build", "a = executable('b', link_args: '-Wl,--wrap=malloc')\n"),
    ("tools/a.sh", "# course\necho \"the land\"\n"),
])
def test_another_name_passes(path, source):
    assert not list(vocabulary.problems(path, source))


@pytest.mark.parametrize("line", [
    "The jail is not to be had.", "a method that is none", "/* So many at most. */", "the caller is told of each",
    "is told.", "a slash stands behind it", "with a NUL behind it", "The tool lets go of it.", "of the repository's own",
    "error(\"'%s' is no name\")", "takes on Landlock", "there is no chance to be found",
    "/* What is not to\n * be trusted. */", "    \"it is \"\n    \"told by\"", "# so\n# many of them",
])
def test_an_archaic_phrase_is_found(line):
    found = list(vocabulary.problems("docs/a.md", f"\n{line}\n"))
    assert [problem.split(":")[1] for problem in found] == ["2"]


@pytest.mark.parametrize("line", [
    "NULL where there is none.", "assert found is None", "it is none of these", "git is told to redact", "is told not to",
    "so many that the table is full", "every so many rounds", "the rule behind it", "there is no name",
    "it takes on average", "It is not\n\nto be changed.", "hundreds of one's own", "files of its own",
])
def test_plain_text_passes(line):
    assert not list(vocabulary.problems("docs/a.md", f"{line}\n"))


def test_every_phrase_has_a_better_wording():
    assert all(better and vocabulary.re.compile(phrase) for phrase, better in vocabulary.PHRASES)


# ---- check-names and check-dialect ----

@pytest.mark.parametrize("path, name", [("src/audit/log.c", "ck_open_log"), ("src/run/keeper/init.c", "ck_logs_add")])
def test_a_function_without_its_module_is_found(path, name):
    found = list(names.misnamed(names.TOP / path, f"int {name}(int a)\n{{\n}}\n"))
    assert len(found) == 1 and name in found[0]


@pytest.mark.parametrize("path, name", [("src/audit/log.c", "ck_log_open"), ("src/audit/log.c", "ck_audit_open"),
                                        ("src/lint/lang/python_scope.c", "ck_python_find"),
                                        ("src/run/keeper/init.c", "ck_keeper_init")])
def test_a_function_with_its_module_passes(path, name):
    assert not list(names.misnamed(names.TOP / path, f"int {name}(int a)\n{{\n}}\n"))


def test_a_declaration_is_no_definition():
    assert not list(names.misnamed(names.TOP / "src/audit/log.c", "int ck_other(int a);\n"))


@pytest.mark.parametrize("line", ["if (p == NULL)", "return NULL != p;", "n = sizeof x;", "    int result = f();"])
def test_a_deviation_of_dialect_is_found(line):
    assert len(list(dialect.problems("a.c", f"{line}\n"))) == 1


@pytest.mark.parametrize("line", ["if (!p)", "p = NULL;", "n = sizeof(x);", "/* p == NULL, sizeof x */", "int r = f();"])
def test_the_dialect_passes(line):
    assert not list(dialect.problems("a.c", f"{line}\n"))


def test_binding_uses_the_public_header_alone():
    own = {"choke.h"}
    for line in ("#include <chokepoint.h>", "#include <Python.h>", '#include "choke.h"', "#include <poll.h>",
                 "#include <sys/eventfd.h>"):
        assert not list(layers.binding_problems("bindings/python/src/a.c", line, own))
    for line in ('#include "api/context.h"', "#include <base/fd.h>", '#include "../../../src/base/fd.h"'):
        assert len(list(layers.binding_problems("bindings/python/src/a.c", line, own))) == 1


# ---- check-abi, check-symbols ----

def test_members_of_a_struct_are_found():
    body = " unsigned line, column; char message[16]; bool (*stop)(void *data); const char *const *paths; struct a b; "
    assert list(abi.members(body)) == ["line", "column", "message", "stop", "paths", "b"]


def test_changed_line_is_told_from_a_new_one():
    listed = ["member a.b 0 8", "value CHOKE_X 1"]
    assert not list(abi.differences(listed, listed))
    added = list(abi.differences(listed, [*listed, "member a.c 8 8"]))
    assert added == ["not in the list: 'member a.c 8 8'"]
    moved = list(abi.differences(listed, ["member a.b 8 8", "value CHOKE_X 1"]))
    assert any("soname" in line and "member a.b 0 8" in line for line in moved)


def test_every_function_and_struct_of_the_headers_is_in_the_list():
    found = abi.interface()
    assert any(line.startswith("function choke_run: ") for line in found)
    assert "member choke_request.argv 0 8" in found and "value CHOKE_EXITED 1" in found


def test_map_names_the_version_of_each_symbol():
    text = "/* choke_no; */ CHOKEPOINT_0.1 {\nglobal:\n    choke_a;\nlocal:\n    *;\n};\nCHOKEPOINT_0.2 {\nglobal:\n    choke_b;\n};\n"
    assert symbols.versions_of_map(text) == {"choke_a": "CHOKEPOINT_0.1", "choke_b": "CHOKEPOINT_0.2"}


# ---- check-version ----

def test_a_file_with_another_version_is_found(tmp_path):
    ours = re.search(r"version: '([0-9.]+)'", (TOOLS.parent.parent / "meson.build").read_text(encoding="utf-8")).group(1)
    for name, _ in version.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((TOOLS.parent.parent / name).read_bytes())
    assert not list(version.problems(tmp_path, ours))
    assert len(list(version.problems(tmp_path, "9.9.9"))) >= len(version.PLACES)
    for name, _ in version.PLACES:
        (tmp_path / name).write_text("nothing\n", encoding="ascii")
    assert len(list(version.problems(tmp_path, ours))) == len(version.PLACES)
