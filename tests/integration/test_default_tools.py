"""The default policy allows the ordinary work of the small tools: rg, jq, node, strace."""
import json
import re

import pytest


@pytest.fixture
def tree(user_box):
    user_box.file("root/a.txt", "one needle\ntwo\nthree Needle\n")
    (user_box.root / "src").mkdir()
    user_box.file("root/src/b.py", "needle = 1\nprint(needle)\n")
    user_box.file("root/src/c.js", "let hay = 2\n")
    user_box.file("root/.hidden", "hidden needle\n")
    user_box.file("root/patterns", "needle\nhay\n")
    user_box.file("root/ignore", "src/\n")
    user_box.file("root/a.json", '{"a": [1, 2, {"b": "x"}], "c": null}\n')
    user_box.file("root/lines.json", '{"n": 1}\n{"n": 2}\n')
    user_box.file("root/program.jq", ".a | length\n")
    return user_box


def ran(box, *argv, expected=0, **shape):
    answer = box.run(*argv, policy="default", **shape)
    assert (answer.outcome, answer["exit_code"]) == ("exited", expected), answer.document
    return answer.stream("stdout").decode()


RG = [
    (["needle"], {"a.txt", "src/b.py", "patterns"}),
    (["needle", "src"], {"src/b.py"}),
    (["needle", "./src/b.py", "a.txt"], {"./src/b.py", "a.txt"}),
    (["-n", "needle", "src/"], {"src/b.py"}),
    (["-i", "NEEDLE", "a.txt", "-H"], {"a.txt"}),
    (["-in", "NEEDLE", "-g", "*.txt"], {"a.txt"}),
    (["-S", "needle", "--glob=!*.py", "--glob", "!patterns"], {"a.txt"}),
    (["-w", "hay"], {"src/c.js", "patterns"}),
    (["-F", "print(needle)"], {"src/b.py"}),
    (["-e", "hay", "-e", "two"], {"a.txt", "src/c.js", "patterns"}),
    (["-ehay", "src"], {"src/c.js"}),
    (["--regexp=hay", "src"], {"src/c.js"}),
    (["-f", "patterns", "src", "a.txt"], {"src/b.py", "src/c.js", "a.txt"}),
    (["-fpatterns", "src"], {"src/b.py", "src/c.js"}),
    (["--hidden", "hidden"], {".hidden"}),
    (["-uu", "hidden needle"], {".hidden"}),
    (["-tpy", "needle"], {"src/b.py"}),
    (["-t", "js", "hay"], {"src/c.js"}),
    (["--type-not=py", "needle", "-Tjs", "-g!patterns"], {"a.txt"}),
    (["-l", "needle", "src"], {"src/b.py"}),
    (["--files-without-match", "needle", "src"], {"src/c.js"}),
    (["-c", "needle", "src"], {"src/b.py"}),
    (["--files"], {"a.txt", "src/b.py", "src/c.js", "patterns", "ignore", "a.json", "lines.json", "program.jq"}),
    (["--files", "src"], {"src/b.py", "src/c.js"}),
    (["--ignore-file", "ignore", "needle", "-g!patterns"], {"a.txt"}),
    (["-m1", "needle", "src"], {"src/b.py"}),
    (["--max-count", "1", "--max-depth=1", "needle", "-g!patterns"], {"a.txt"}),
    (["-A1", "-B", "1", "-C", "0", "hay", "src"], {"src/c.js"}),
    (["--no-heading", "--with-filename", "--line-number", "--column", "--color=never", "hay", "src"], {"src/c.js"}),
    (["-o", "-r", "$0!", "hay", "src"], {"src/c.js"}),
    (["-U", "--multiline-dotall", "one.*three"], {"a.txt"}),
    (["-v", "let", "src/b.py", "-H"], {"src/b.py"}),
    (["--vimgrep", "hay", "src"], {"src/c.js"}),
    (["--sort=path", "--no-config", "-j1", "needle", "src"], {"src/b.py"}),
    (["-x", "two", "--no-ignore"], {"a.txt"}),
    (["--", "needle", "src"], {"src/b.py"}),
    (["-n", "--no-messages", "--max-filesize=1M", "-M200", "hay", "src"], {"src/c.js"}),
    (["-P", "need(?=le)", "src"], {"src/b.py"}),
]


@pytest.mark.parametrize("args, files", RG, ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "")
def test_rg(tree, args, files):
    said = ran(tree, "rg", *args)
    several = {line for line in re.findall(r"^[^:\n-]+", said, re.MULTILINE)}
    named = {name for name in several if (tree.root / name).is_file()}
    if args[-1] == "src" or len(files) > 1 or named:
        assert named == files, said
    else:
        assert said


def test_rg_speaks_json(tree):
    kinds = [json.loads(line)["type"] for line in ran(tree, "rg", "--json", "--stats", "hay", "src").splitlines()]
    assert kinds == ["begin", "match", "end", "summary"]


def test_rg_finds_nothing(tree):
    assert ran(tree, "rg", "no such thing", expected=1) == ""
    assert ran(tree, "rg", "-q", "needle") == ""
    assert "py: " in ran(tree, "rg", "--type-list")
    assert ran(tree, "rg", "--version").startswith("ripgrep ")


def test_rg_searches_stdin(tree):
    assert ran(tree, "rg", "-n", "b", "-", input=b"a\nb\n", options=["--stdin", "-"]) == "2:b\n"


JQ = [
    (["-c", ".", "a.json"], '{"a":[1,2,{"b":"x"}],"c":null}\n'),
    (["--compact-output", ".a", "a.json"], '[1,2,{"b":"x"}]\n'),
    (["-r", ".a[2].b", "a.json"], "x\n"),
    (["--raw-output", ".a[2].b", "a.json"], "x\n"),
    (["-j", ".a[2].b", "a.json"], "x"),
    ([".a | length", "a.json"], "3\n"),
    (["-n", "1 + 1"], "2\n"),
    (["-cn", "[1, 2]"], "[1,2]\n"),
    (["-s", "length", "lines.json"], "2\n"),
    (["-cs", "map(.n)", "lines.json"], "[1,2]\n"),
    (["-c", ".n", "lines.json", "lines.json"], "1\n2\n1\n2\n"),
    (["-f", "program.jq", "a.json"], "3\n"),
    (["--from-file", "program.jq", "a.json"], "3\n"),
    (["-n", "--arg", "x", "y z", "$x"], '"y z"\n'),
    (["-n", "--argjson", "x", "[1]", "$x[0]"], "1\n"),
    (["-n", "--arg", "a", "1", "--arg", "b", "-2", "$a + $b"], '"1-2"\n'),
    (["-nc", "--slurpfile", "x", "lines.json", "[$x[].n]"], "[1,2]\n"),
    (["-n", "--rawfile", "x", "program.jq", "$x"], '".a | length\\n"\n'),
    (["-R", "length", "program.jq"], "11\n"),
    (["-Rs", "length", "program.jq"], "12\n"),
    (["--tab", ".", "lines.json"], '{\n\t"n": 1\n}\n{\n\t"n": 2\n}\n'),
    (["--indent", "1", "select(.n == 1)", "lines.json"], '{\n "n": 1\n}\n'),
    (["-Sc", "{c, a: 1}", "a.json"], '{"a":1,"c":null}\n'),
    (["-c", "--stream", "select(length == 2) | .[1]", "lines.json"], "1\n2\n"),
    (["-nc", "$ARGS.positional", "--args", "p", "q"], '["p","q"]\n'),
    (["-nc", "$ARGS.positional", "--jsonargs", "1", "2"], "[1,2]\n"),
    (["-M", "-a", ".n", "--", "lines.json"], "1\n2\n"),
    (["-n", "[inputs.n] | add", "lines.json"], "3\n"),
]


@pytest.mark.parametrize("args, expected", JQ, ids=lambda value: " ".join(value)[:50] if isinstance(value,
                                                                                                     list) else "")
def test_jq(tree, args, expected):
    assert ran(tree, "jq", *args) == expected


def test_jq_reads_stdin_and_reports_by_its_status(tree):
    assert ran(tree, "jq", ".x", input=b'{"x": 5}', options=["--stdin", "-"]) == "5\n"
    assert ran(tree, "jq", "-e", ".c", "a.json", expected=1) == "null\n"
    assert ran(tree, "jq", "--version").startswith("jq-")


def test_node_reports_its_version(user_box):
    assert re.fullmatch(r"v\d+\.\d+\.\d+\n", ran(user_box, "node", "--version"))
    assert ran(user_box, "node", "-v") == ran(user_box, "node", "--version")


STRACE = [["-f"], ["-ff"], ["-f", "-tt", "-T", "-y"], ["-fttTyy"], ["-f", "-e", "trace=openat,execve"],
          ["-fe", "trace=%file"], ["-e", "openat"], ["-e", "trace=!read"], ["-e", "trace=/open.*"],
          ["--trace=execve,openat"], ["-s", "4096", "-v", "-xx"], ["-s4096"], ["-e", "signal=none", "-qq"],
          ["-e", "status=failed"], ["-Z"], ["-z", "-n"], ["-c"], ["-C", "-w"], ["-c", "-S", "calls"],
          ["-f", "--decode-fds=path", "--string-limit=10"], ["--absolute-timestamps=us"], ["-r", "-i"],
          ["-P", "a.txt"], ["--seccomp-bpf", "-f"], ["-f", "--"], ["-e", "trace=execve", "--follow-forks"],
          ["-X", "raw", "-a", "10"]]


@pytest.mark.parametrize("args", STRACE, ids=" ".join)
def test_strace_of_an_allowed_command(tree, args):
    commit = tree.repository().decode()
    answer = tree.run("strace", *args, "git", "rev-parse", "HEAD", policy="default")
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert answer.stream("stdout").decode() == commit
    if not {"-c", "-C", "-P", "-Z", "-qq", "status=failed"} & set(args):
        assert re.search(r"openat|execve|0x", answer.stream("stderr").decode())


def test_strace_of_other_tools(tree):
    assert ran(tree, "strace", "-f", "-e", "trace=execve", "rg", "-c", "hay", "src/c.js") == "1\n"
    assert ran(tree, "strace", "-qq", "jq", "-n", "1") == "1\n"
    assert ran(tree, "strace", "-f", "node", "--version").startswith("v")
