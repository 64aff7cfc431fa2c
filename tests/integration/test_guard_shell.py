"""R90: a shell in the cage of guard behaves as it does without, whatever it does with its tools.

Each script runs outside and inside, and status, standard output and standard error must be the same.
"""
import os
import signal

import pytest

import audit
from guards import counts, running
from processes import wait_until

# What a script may use of the root.
FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "two\nthree\nfour\n", "sub/c.txt": "deep\n", "with space.txt": "space\n"}

SCRIPTS = {
    "pipeline": "seq 100 | sort -rn | head -3 | tr 0-9 a-j",
    "reader that ends first": "yes | head -1; echo ${PIPESTATUS[@]}",
    "reader that ends first, for a tool that counts": "seq 1000000 | head -2; echo ${PIPESTATUS[@]}",
    "status of each part": "false | true | false; echo ${PIPESTATUS[@]}; set -o pipefail; false | true; echo $?",
    "here-document": "x=5; cat <<E | nl\na $x\n$(seq 2)\nE\ncat <<'E'\n$x\nE",
    "here-string": "tr a-z A-Z <<< 'a word'",
    "redirections": "cat < a.txt > out 2>&1; cat b.txt >> out; wc -l out; cat missing 2> err; cat err; cat missing > all 2>&1; cat all",
    "order of redirections": "cat missing 2>&1 > /dev/null | sed 's/^/seen: /'; { cat missing a.txt; } 2>/dev/null",
    "process substitution": "diff <(sort a.txt) <(sort b.txt); cat <(echo 1) <(echo 2)",
    "process substitution for output": "seq 3 | tee >(sed s/^/x/ > sub/out) > /dev/null; while [ ! -s sub/out ]; do :; done; sleep 0.1; cat sub/out",
    "command substitution": "n=$(wc -l < a.txt); echo $((n + $(cat b.txt | wc -l))); echo \"$(cat 'with space.txt')\"",
    "other descriptors": "exec 3< a.txt 7> out; cat <&3; seq 2 >&7; cat out; cat /dev/fd/9 9< b.txt",
    "closed streams": "cat a.txt 2>/dev/null >&-; echo $?; cat 2>/dev/null <&-; echo $?; cat missing 2>&-; echo $?",
    "loops": "for f in *.txt; do wc -c \"$f\"; done; while read -r line; do tr a-z A-Z <<< \"$line\"; done < a.txt",
    "subshells and groups": "(cd sub && cat c.txt && pwd | sed 's/.*\\///'); { seq 2; seq 3; } | sort -u; pwd -P | sed 's/.*\\///'",
    "directories": "cd sub; cat c.txt ../a.txt; cd ..; cat ./sub/../a.txt; mkdir -p n/m; cd n/m; ls ../..",
    "functions with the names of tools": "cat() { echo function; }; cat a.txt; command cat a.txt; unset -f cat; cat a.txt",
    "a tool by other names": "/usr/bin/cat a.txt; /usr/bin/./cat a.txt; /usr/../bin/cat a.txt; cd sub; ../../../../../../../usr/bin/cat c.txt",
    "exec": "seq 3; exec cat a.txt",
    "arguments": "seq 1 | cat - a.txt 'with space.txt' \"\"; echo $?; cat -- 'a.txt'",
    "background": "sleep 0.1 & wait $!; echo $?; (sleep 0.05; exit 3) & wait $!; echo $?; seq 3 & seq 4 6 > f; wait; cat f",
    "signal to a job": "sleep 100 & kill -TERM $!; wait $!; echo $?; sleep 100 & kill -KILL $!; wait $! 2>/dev/null; echo $?",
    "unknown tool": "nosuchtool; echo $?; ./nosuchfile; echo $?; /usr/bin/nosuchtool; echo $?",
    "a directory and a file that is not executable": "./sub; echo $?; ./a.txt; echo $?",
    "coprocess": "coproc C { cat; }; echo word >&${C[1]}; exec {C[1]}>&-; read -r l <&${C[0]}; echo $l",
    "modes of new files": "umask 077; touch x; stat -c %a x; umask 022; mkdir d; stat -c %a d",
    "limit of a file": "ulimit -f 1; yes > big; echo $?; stat -c %s big",
    "standard input of the program": "head -c 2; cat",
    "many small calls": "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat a.txt; done | sort | tr -d '\\n' | wc -c",
    "many calls with other descriptors": "exec 3< a.txt 7>> out 61< b.txt; for i in 1 2 3 4 5 6 7 8 9; do cat <&3 >&7; ls /proc/self/fd; seq $i >&7; done; cat <&61; cat out",
    "binary output": "head -c 300000 /dev/zero | tr '\\0' '\\377' | od -An -tx1 | sort -u | head -2",
    "errors of a tool": "ls --no-such-option; echo $?; cat missing; echo $?; head -c x; echo $?",
    "file that is read by two": "{ read -r first; echo \"$first\"; cat; } < a.txt",
    "appending by two": "(seq 100 & seq 100; wait) >> log; sort -n log | head -4; wc -l < log",
    "sh": "sh -c 'seq 3 | while read n; do cat sub/c.txt; done'; sh -c 'exit 9'; echo $?; sh -c 'kill -9 $$'; echo $?",
    "eval and aliases": "shopt -s expand_aliases; alias c='cat a.txt'\neval 'c | head -1'; x='cat b.txt'; $x | tail -1",
    "temporary files": "t=/tmp/f.$$; seq 3 > $t; cat $t; mv $t $t.2; cat $t.2; rm $t.2; ls /tmp/f.$$ 2>/dev/null; echo $?",
    "variables of one call": "LC_ALL=C sort a.txt; X=1 cat a.txt; PATH=/usr/bin cat a.txt",
}


@pytest.fixture
def shell(once_guarded):
    return with_files(once_guarded)


def with_files(guarded):
    for name, text in FILES.items():
        path = guarded.root / name
        if path.parent != guarded.root and not path.parent.exists():
            guarded.box.directory(f"root/{path.parent.name}")
        guarded.box.file(f"root/{name}", text)
    return guarded


def clean(guarded):
    """As it was before the script."""
    def remove():
        guarded.outside("bash", "-c", "find . -mindepth 1 -delete")
        with_files(guarded)
    return remove


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_script_does_the_same(shell, script):
    status, out, err = shell.same_shell(script, before=clean(shell), input=b"of stdin\n")
    assert status >= 0 and out + err


def test_as_each_caller(guarded):
    """What of the above meets the most of guard, for root and a user."""
    with_files(guarded)
    guarded.same_shell("diff <(sort a.txt) <(sort b.txt) | tee out | head -1; cat out; cd sub; wc -l < c.txt > n; cat n; yes | head -1")


def test_much_through_a_pipe(shell):
    status, out, _ = shell.same_shell("head -c 98000000 /dev/zero | cat | wc -c")
    assert (status, out) == (0, b"98000000\n")


def test_executions_are_counted(shell):
    answer = shell.shell("seq 3 | cat | cat > /dev/null; sh -c 'seq 1'; /usr/bin/nosuchtool; cat missing")
    found = counts(answer)
    assert (found["door"], answer.document["calls"]["ran"], found["refused"]) == (5, 5, 0), answer.document
    assert found["carrier"] >= 2 and found["not_found"] >= 1, found


def test_a_thousand_calls_leave_nothing_behind(shell):
    answer = shell.shell("for ((i = 0; i < 1000; i++)); do true; (exec true); /usr/bin/true; done; echo $i")
    assert (answer.status, answer.out) == (0, b"1000\n"), answer
    found = counts(answer)
    assert found["door"] == answer.document["calls"]["ran"] == 2000, found
    records = list(audit.records(shell.box.log))
    executions = next(record["executions"] for record in records if record["kind"] == "guard_end")
    assert {name: executions[name] for name in found} == found
    assert executions["connections"] == executions["calls"] == 2000
    assert sum(record["kind"] == "outcome" for record in records) == 2000
    assert shell.box.call([shell.box.command, "audit", "verify", "--complete", "--quiet", str(shell.box.log)]).status == 0


@pytest.mark.parametrize("command, status", [("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM),
                                             ("kill -KILL $$", 128 + signal.SIGKILL), ("cat missing 2>/dev/null", 1), ("exec sleep 0", 0)])
def test_guard_ends_as_the_program(shell, command, status):
    assert shell.shell(command).status == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_guard_ends_the_whole_tree(shell, number, marker):
    process = shell.box.popen(shell.argv("bash", "-c", f"echo up; sleep 1000 & : {marker}; sleep 1000; cat"), raw=True)
    assert process.stdout.readline() == b"up\n"
    process.send_signal(number)
    assert process.wait(60) == 128 + number


def test_killed_guard_leaves_nothing(shell):
    process = shell.box.popen(shell.argv("bash", "-c", "sleep 1000 & sleep 1001 & echo up; cat"), raw=True)
    assert process.stdout.readline() == b"up\n"
    process.kill()
    process.wait(60)  # the fixture nothing_is_left does the rest


def test_background_program_dies_with_the_program(shell):
    answer = shell.shell("sleep 1000 & (sleep 1001 > /dev/null 2>&1 &) ; echo done")
    assert (answer.status, answer.out) == (0, b"done\n") and answer.seconds < 60


def test_stream_that_the_tool_closes_ends_for_its_reader(guarded):
    """The door has a copy of it, and the tool goes on."""
    guarded.set_policy(carriers=["bash"], tools=["dash"])
    script = "dash -c 'echo word; exec >&- 2>&-; while [ ! -e end ]; do :; done' | { read -r a; read -r b || echo ended $a; }"
    process = guarded.box.popen(guarded.argv("bash", "-c", script, options=["--quiet"]), raw=True)
    assert process.stdout.readline() == b"ended word\n"
    assert running(process, "dash")
    (guarded.root / "end").touch()
    assert process.wait(60) == 0


def test_killed_door_ends_the_tool(shell):
    """The door of the job is a process of the shell; the tool is not, and must go with it."""
    script = "sleep 1000 & d=$!; while [ ! -e go ]; do :; done; kill -9 $d; wait $d 2>/dev/null; echo $?; while [ ! -e end ]; do :; done"
    process = shell.box.popen(shell.argv("bash", "-c", script), raw=True)
    sleeping = wait_until(lambda: running(process, "sleep"), "the tool runs")
    (shell.root / "go").touch()
    assert process.stdout.readline() == b"137\n"
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in sleeping), "the tool is gone")
    (shell.root / "end").touch()
    assert process.wait(60) == 0


def test_variables_that_are_not_granted_are_left_out(shell):
    shell.set_policy(tools=["printenv", "cat"], section={"env": ["OTHER", "GIVEN"]}, printenv={"env": ["GIVEN"]})
    env = {**shell.box.environment(), "OTHER": "1", "GIVEN": "2", "NOT_PASSED": "3"}
    answer = shell.inside("bash", "-c", "echo ${OTHER-none} ${GIVEN-none} ${NOT_PASSED-none}; printenv OTHER; printenv GIVEN; "
                          "LD_PRELOAD=/nowhere.so printenv LD_PRELOAD; PATH=/x:$PATH /usr/bin/printenv PATH", env=env)
    assert answer.out.decode().splitlines() == ["1 2 none", "2", shell.path()], answer


def test_refused_arguments_are_named_and_the_rest_runs(shell):
    shell.set_policy(tools=["cat"], more=[shell.tool("head", args={"options": ["-n="], "operands": "inside"})])
    answer = shell.shell("head -n 1 a.txt; head -c 1 a.txt; echo $?; head -n 1 /etc/hostname; echo $?; cat a.txt | head -n 1")
    assert answer.out == b"one\n126\n126\none\n", answer
    assert b"-c" in answer.err and b"/etc/hostname" in answer.err


def test_tool_that_is_not_installed(shell):
    shell.set_policy(tools=["cat", "nosuchtool"])
    answer = shell.shell("nosuchtool; echo $?; cat a.txt")
    assert answer.out == b"127\none\ntwo\nthree\n", answer


def test_time_of_the_program(shell):
    answer = shell.shell("echo begun; sleep 1000", options=["--quiet", "--timeout", "2"])
    assert (answer.status, answer.out) == (124, b"begun\n"), answer


def test_time_of_a_tool(shell):
    shell.set_policy(sleep={"limits": {"timeout_s": 1}})
    answer = shell.shell("sleep 1000; echo $?")
    assert answer.out == b"124\n" and b"time" in answer.err, answer
