"""R90: builds, test runners and version control run in the cage of guard as they do without.

Nothing of the scripts here knows of guard. What they start is a carrier or goes through the door.
"""
import shutil

import pytest

from guards import counts, needs

SHELLS = ("bash", "sh")
TEXT = ("awk basename cat chmod cmp comm cp cut date diff dirname echo expr false getconf grep head hostname id install join ln ls "
        "mkdir mktemp mv nl od paste pwd readlink rm rmdir sed seq sleep sort stat tail tee test touch tr true uname uniq wc yes").split()

CONFIGURE = r"""#!/bin/sh
# As autoconf writes them: finds a compiler, tries features with programs that it compiles and runs, and writes a Makefile.
: ${CC=gcc}
as_me=`basename "$0"`
test -n "$DJDIR" || PATH_SEPARATOR=:
exec 5>config.log
exec 6>&1
echo "$as_me: started at `date +%Y`" >&5
try () {
  cat > conftest.c
  if { $CC -o conftest conftest.c 2>conftest.err; } && ./conftest > conftest.out; then
    sed 's/^/| /' conftest.c >&5; result=yes
  else
    cat conftest.err >&5; result=no
  fi
  rm -f conftest conftest.c conftest.err
}
for feature in stdint.h sys/mman.h no_such_header.h; do
  printf 'checking for %s... ' $feature >&6
  try <<EOF
#include <$feature>
int main(void) { return 0; }
EOF
  echo $result >&6
  test $result = yes && echo "#define HAVE_`echo $feature | tr 'a-z./' 'A-Z__'` 1" >> config.h.new
done
printf 'checking the size of long... ' >&6
try <<EOF
#include <stdio.h>
int main(void) { printf("%zu", sizeof(long)); return 0; }
EOF
size=`cat conftest.out`; rm -f conftest.out
echo $size >&6
echo "#define SIZE_OF_LONG $size" >> config.h.new
cmp -s config.h.new config.h && rm config.h.new || mv config.h.new config.h
objects=`for f in src/*.c; do echo $f; done | sed 's/\.c$/.o/' | sort | tr '\n' ' '`
sed -e "s|@CC@|$CC|" -e "s|@OBJECTS@|$objects|" Makefile.in > Makefile
echo "$as_me: Makefile is made" >&6
"""
MAKEFILE = r"""CC = @CC@
all: prog
prog: @OBJECTS@
    $(CC) -o $@ @OBJECTS@
%.o: %.c config.h
    $(CC) -I. -c -o $@ $<
check: prog
    @./prog > out.txt; status=$$?; sort -n out.txt | tail -1; test $$status -eq 0
    @seq 10 | xargs -P 4 -n 1 ./prog one | sort -n | cmp - expected && echo "all the same"
clean:
    rm -f prog src/*.o out.txt
.PHONY: all check clean
""".replace("\n    ", "\n\t")
BUILD = r"""set -eu
cd "$(dirname "$0")"
log() { printf '== %s\n' "$*"; }
log configure
./configure
log build
make -j2 2>&1 | grep -v '^make' | wc -l
log check
make -s check
log 'again: nothing to do'
make -q && echo 'up to date'
touch src/f3.c
make -n | grep -c 'src/f3'
log 'a broken file'
cp src/f1.c src/f1.keep
echo 'int broken(' >> src/f1.c
if make > broken.log 2>&1; then echo 'built?'; else echo "make: $?"; fi
grep -c 'error' broken.log > /dev/null && echo 'the compiler said so'
mv src/f1.keep src/f1.c
log clean
make -s clean
find src -name '*.o' | wc -l
find src -name '*.c' -exec cat {} + | grep -c return
find src -name 'f*.c' -exec sh -c 'head -1 "$1" | cut -c 1-9' _ {} \; | sort | uniq -c | sed 's/^ *//'
for f in src/f[12].c; do
  case $(basename "$f" .c) in
    f1) log one "$(wc -l < "$f")" ;;
    *) log other ;;
  esac
done
tar_list=$(ls src | paste -s -d, -)
echo "$tar_list"
"""


@pytest.fixture
def build(once_guarded):
    """A C project with ten sources, a configure script and a Makefile; its compiler is a carrier with its helpers."""
    needs("gcc", "make")
    guarded = once_guarded
    guarded.set_policy(
        carriers=[*SHELLS, "make", "find", "xargs"], tools=TEXT, section={"workspace_code": True},
        more=[guarded.tool("gcc", uses=["c-compiler"])])
    guarded.box.directory("root/src")
    guarded.box.file("root/configure", CONFIGURE, 0o755)
    guarded.box.file("root/Makefile.in", MAKEFILE)
    guarded.box.file("root/build.sh", BUILD, 0o755)
    guarded.box.file("root/expected", "".join(f"{n}\n" for n in range(1, 11)))
    for n in range(10):
        guarded.box.file(f"root/src/f{n}.c", f"int f{n}(int x);\nint f{n}(int x)\n{{\n    return x + {n};\n}}\n")
    uses = " + ".join(f"f{n}({n})" for n in range(10))
    declared = "".join(f"int f{n}(int x);\n" for n in range(10))
    guarded.box.file("root/src/main.c", "#include \"config.h\"\n#include <stdio.h>\n#include <stdlib.h>\n" + declared +
                     "int main(int c, char **v)\n{\n    if (c > 2) { printf(\"%s\\n\", v[2]); return 0; }\n"
                     f"    for (int i = 0; i < SIZE_OF_LONG; i++) printf(\"%d\\n\", i + {uses});\n    return 0;\n}}\n")
    return guarded


def fresh(guarded):
    keep = ("configure", "Makefile.in", "build.sh", "expected", "src")

    def remove():
        for path in guarded.root.iterdir():
            if path.name not in keep:
                path.unlink()
    return remove


def test_project_is_configured_built_and_tested(build):
    status, out, err = build.same("bash", "build.sh", before=fresh(build))
    assert (status, err) == (0, b"") and b"checking the size of long... 8" in out and b"all the same" in out, (out, err)


def test_every_execution_of_a_build_is_accounted_for(build):
    found = counts(build.inside("bash", "-c", "./configure > /dev/null && make -s"))
    assert found["refused"] == 0 and found["door"] >= 40 and found["workspace"] >= 4, found


def test_find_and_xargs_in_parallel(once_guarded):
    guarded = once_guarded
    guarded.set_policy(carriers=[*SHELLS, "find", "xargs"], tools=TEXT)
    for n in range(30):
        guarded.box.file(f"root/f{n}", f"{n}\n")
    guarded.same_shell("""
        find . -name 'f*' -exec cat {} \\; | sort -n | tr '\\n' ' '
        find . -name 'f1*' -exec grep -c . {} + | sort
        find . -name 'f*' -print0 | xargs -0 -P 4 -n 3 cat | sort -n | tail -1
        seq 40 | xargs -P 8 -I{} sh -c 'echo {}; test {} -ne 7' | sort -n | tail -2; echo ${PIPESTATUS[1]}
        find . -name f1 -exec nosuchtool {} \\;; echo $?
        echo x | xargs nosuchtool; echo $?""")


def test_pytest_with_subprocess(once_guarded):
    needs("python3")
    guarded = once_guarded
    guarded.box.file("root/test_it.py", r"""
import asyncio, os, signal, subprocess, sys
def run(*argv, **keywords):
    return subprocess.run(argv, capture_output=True, text=True, **keywords)
def test_output_and_status():
    assert run("seq", "3").stdout == "1\n2\n3\n"
    assert run("false").returncode == 1
    assert run("cat", "missing").stderr == "cat: missing: No such file or directory\n"
def test_input(): assert run("tr", "a-z", "A-Z", input="word").stdout == "WORD"
def test_shell(): assert run("seq 5 | tail -1; exit 3", shell=True).returncode == 3
def test_directory(tmp_path):
    (tmp_path / "here").write_text("x")
    assert run("ls", cwd=tmp_path).stdout == "here\n"
def test_timeout_kills():
    try:
        run("sleep", "1000", timeout=0.3)
    except subprocess.TimeoutExpired:
        return
    raise AssertionError
def test_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(["sleep", "1000"])
        process.send_signal(number)
        assert process.wait() == -number
def test_descriptors():
    ours, theirs = os.pipe()
    process = subprocess.Popen(["bash", "-c", f"seq 2 >&{theirs}"], pass_fds=[theirs])
    os.close(theirs)
    assert process.wait() == 0 and os.read(ours, 100) == b"1\n2\n"
def test_pipes_of_two():
    first = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
    second = run("head", "-2", stdin=first.stdout)
    first.stdout.close()
    assert second.stdout == "y\ny\n" and first.wait() == -signal.SIGPIPE
def test_asyncio():
    async def both():
        made = [await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(5)]
        return await asyncio.gather(*(one.communicate(b"x") for one in made))
    assert asyncio.run(both()) == [(b"x", None)] * 5
def test_missing():
    try:
        run("nosuchtool")
    except FileNotFoundError:
        return
    raise AssertionError
def test_refused():
    try:
        run("/usr/bin/perl", "-v")
    except PermissionError:
        return
    assert "outside" in os.environ["WHERE"]
""")
    guarded.set_policy(carriers=[*SHELLS, "python3"], tools=TEXT, section={"set_env": [{"name": "WHERE", "value": "inside"}]})
    argv = ["python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    answer = guarded.inside(*argv)
    assert answer.status == 0 and b"11 passed" in answer.out, (answer.out + answer.err).decode()


def test_npm_test(once_guarded):
    needs("npm", "node")
    guarded = once_guarded
    guarded.set_policy(carriers=[*SHELLS, "node", "npm", "env"], tools=TEXT, section={"jit": True, "workspace_code": True})
    guarded.box.file("root/package.json", '{"name": "a", "version": "1.0.0", "scripts": {"pretest": "seq 2 | tail -1", '
                     '"test": "node test.js && greet"}}')
    guarded.box.directory("root/node_modules")
    guarded.box.directory("root/node_modules/.bin")
    guarded.box.file("root/node_modules/.bin/greet", "#!/usr/bin/env node\nconsole.log('greeted');\n", 0o755)
    guarded.box.file("root/test.js", """
const { execFileSync, execSync, spawn, spawnSync } = require("child_process");
const assert = require("assert");
assert.equal(execFileSync("seq", ["2"]).toString(), "1\\n2\\n");
assert.equal(execSync("seq 3 | wc -l").toString().trim(), "3");
assert.equal(spawnSync("cat", { input: "word" }).stdout.toString(), "word");
assert.equal(spawnSync("false").status, 1);
const one = spawn("cat");
let said = "";
one.stdout.on("data", (piece) => { said += piece; });
one.stdin.end("through sockets");
one.on("close", (status) => {
  assert.deepEqual([status, said], [0, "through sockets"]);
  const two = spawn("sleep", ["1000"]);
  two.on("exit", (code, signal) => { assert.equal(signal, "SIGTERM"); console.log("tests ran"); });
  two.kill();
});
""")
    answer = guarded.inside("npm", "test")
    assert answer.status == 0 and b"tests ran" in answer.out and b"greeted" in answer.out, answer


def test_git_rebase_with_a_shell(once_guarded):
    """git is a carrier here: the commands of --exec are judged as any others, and hooks do not run in git's jail."""
    needs("git")
    guarded = once_guarded
    guarded.set_policy(carriers=[*SHELLS, "git"], tools=TEXT, git={"execs": ["git", "/usr/lib/git-core/git"]})
    env = ("export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org "
           "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org GIT_EDITOR=true\n")
    script = env + """
        git init -q -b main . && git config gc.auto 0 && git config maintenance.auto false && seq 3 > f && git add f && git commit -q -m one
        seq 4 > f && git commit -q -a -m two && seq 5 > f && git commit -q -a -m three
        git rebase -q -x 'wc -l < f; cat f | tail -1' HEAD~2
        git log --format=%s | head -2; git rev-list --count HEAD"""
    _, out, _ = guarded.same_shell(script, before=lambda: shutil.rmtree(guarded.root / ".git", ignore_errors=True))
    assert out.decode().split() == ["4", "4", "5", "5", "three", "two", "3"]
