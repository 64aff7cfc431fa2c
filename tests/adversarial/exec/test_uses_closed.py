"""Promise: What it may execute.
Attacker: a repository that is built or tested by a tool with sets of helpers (`uses`). Means: a Makefile that starts a
program of the system or one that was just compiled; options of the compiler that name a program or a plug-in of the
repository; the loader; a copy of a helper.

Expected: in a jail the helpers of the set are executed and nothing else. What the compiler made, in the repository or
in the scratch directory, is neither executed nor mapped as code.
"""
import re
import subprocess

import pytest

LOADER = "/lib64/ld-linux-x86-64.so.2"

# Each target is one attempt, which prints its name if it succeeds.
BUILD = f"""
system:
\t@perl -e 'print "out: system\\n"'
compiled:
\t@gcc -o again made.c && ./again compiled
scratch:
\t@gcc -o $$HOME/again made.c && $$HOME/again scratch
shell: SHELL = ./made
shell:
\t@true
wrapper:
\t@gcc -wrapper ./made,wrapper -c made.c
prefix:
\t@mkdir -p own && cp made own/as && gcc -Bown/ -c made.c
plugin:
\t@gcc -fplugin=./plugin.so -c made.c
copy:
\t@cp /usr/bin/printf ./copied && ./copied 'out: copy\\n'
loader:
\t@{LOADER} /usr/bin/perl -e 'print "out: loader\\n"'
loaded:
\t@{LOADER} ./made loaded
helper:
\t@gcc -c made.c && ls made.o | sed 's/.*/out: helper/'
"""
ATTEMPTS = set(re.findall(r"^(\w+):$", BUILD, re.MULTILINE)) - {"helper"}

MADE = """#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/');
    printf("out: %s\\n", strcmp(name, "/as") == 0 ? "prefix" : argc > 1 && strcmp(argv[1], "-c") == 0 ? "shell" : argv[1]);
    return 0;
}
"""
PLUGIN = """#include <stdio.h>
int plugin_is_GPL_compatible;
int plugin_init(void *info, void *version) { puts("out: plugin"); return 0; }
"""


@pytest.fixture
def build(cell):
    box = cell.box
    for name, text in (("made.c", MADE), ("plugin.c", PLUGIN), ("Makefile", BUILD)):
        box.file(f"root/{name}", text)
    for argv in (["gcc", "-o", "made", "made.c"], ["gcc", "-shared", "-fPIC", "-o", "plugin.so", "plugin.c"]):
        subprocess.run(argv, cwd=box.root, check=True)
        box.own(box.root / argv[argv.index("-o") + 1])

    def run(jail, **keys):
        policy = cell.write_policy([box.entry("make", route="external", workspace="rw", **keys)],
                                   search_path=["/usr/bin", str(box.bin)])
        answer = jail("make", "-k", "helper", *sorted(ATTEMPTS), policy=policy, timeout=60)
        return set(re.findall(rb"^out: (\w+)$", answer.stream("stdout"), re.MULTILINE))
    return run


def test_build_executes_helpers_only(cell, build):
    outside = build(lambda *argv, **shape: cell.run(*argv, jail="none", **shape))
    assert outside == {name.encode() for name in {*ATTEMPTS, "helper"}}
    assert build(cell.inside, uses=["c-compiler", "shell"]) == {b"helper"}
