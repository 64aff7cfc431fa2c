"""The catalogue's text tools and shells do their ordinary work in every jail (docs/adr/0063)."""
import pytest

from catalog import taking

TEXT = ("cat", "head", "tail", "wc", "ls", "grep", "sed", "sort", "diff", "find", "xargs")
SHELLS = ("bash", "sh")

# tool and arguments, input, what it prints
WORK = [
    ("cat -n a.txt", None, "     1\tb\n     2\ta\n     3\tb\n"),
    ("cat a.txt sub/c.txt", None, "b\na\nb\nc\n"),
    ("cat -", "in\n", "in\n"),
    ("head -1 a.txt", None, "b\n"),
    ("head -n-2 a.txt", None, "b\n"),
    ("head -c 2 a.txt", None, "b\n"),
    ("tail -n +2 a.txt", None, "a\nb\n"),
    ("tail -n1", "x\ny\n", "y\n"),
    ("wc -l a.txt", None, "3 a.txt\n"),
    ("wc -c", "four", "4\n"),
    ("ls -1 sub", None, "c.txt\n"),
    ("ls -A1F .", None, "a.txt\nlink@\nscript\nsub/\n"),
    ("grep -rn c sub", None, "sub/c.txt:1:c\n"),
    ("grep -c -e a -e b a.txt", None, "3\n"),
    ("grep -f sub/c.txt", "c\nd\n", "c\n"),
    ("grep -E --include=*.txt -rl ^c .", None, "./sub/c.txt\n"),
    ("sed -n 2p a.txt", None, "a\n"),
    ("sed -e s/b/x/ -e 2d a.txt", None, "x\nx\n"),
    ("sed -E s/(a)/<\\1>/g", "a\n", "<a>\n"),
    ("sed -n -f script a.txt", None, "a\n"),
    ("sort -u a.txt", None, "a\nb\n"),
    ("sort -t: -k2n", "x:10\ny:9\n", "y:9\nx:10\n"),
    ("sort -rn", "1\n2\n", "2\n1\n"),
    ("diff -q a.txt sub/c.txt", None, "Files a.txt and sub/c.txt differ\n"),
    ("diff -U0 --label a --label c a.txt sub/c.txt", None, "--- a\n+++ c\n@@ -1,3 +1 @@\n-b\n-a\n-b\n+c\n"),
    ("find . -name *.txt -type f -printf %P\\n", None, "a.txt\nsub/c.txt\n"),
    ("find sub -mindepth 1 ( -name c* -o -size +1M ) -print0", None, "sub/c.txt\0"),
    ("find . ! -type d -mtime -7 -newermt 2001-01-01 -path ./sub/*", None, "./sub/c.txt\n"),
    ("find . -maxdepth 1 -type l", None, "./link\n"),
    ("xargs -0 -n1 cat", "a.txt\0sub/c.txt\0", "b\na\nb\nc\n"),
    ("xargs wc -l", "a.txt\n", "3 a.txt\n"),
    ("xargs -I{} grep -c b {}", "a.txt\n", "2\n"),
    ("xargs -d \\n head -n 1", "a.txt\n", "b\n"),
    ("xargs -r tail -n1", "a.txt\n", "b\n"),
    ("xargs ls -1", "sub\n", "c.txt\n"),
]


@pytest.fixture
def tool(once_cell):
    """The library does the same for root and for a user."""
    box = once_cell.box
    box.file("root/a.txt", "b\na\nb\n")
    box.own(box.directory("root/sub"))
    box.file("root/sub/c.txt", "c\n")
    box.file("root/script", "/a/p\n")
    (box.root / "link").symlink_to(box.outside)
    once_cell.policy = taking(box, *TEXT, *SHELLS)

    def run(argv, data=None, **shape):
        options = ["--stdin", "-"] if data is not None else []
        return once_cell.inside(*argv, options=options, input=data.encode() if data is not None else None, **shape)
    return run


def ordered(text):
    """find prints in the order of the directory."""
    return sorted(text.splitlines())


def test_text_tools_work(tool):
    for line, data, printed in WORK:
        answer = tool(line.split(), data)
        said = answer.stream("stdout").decode()
        assert answer.outcome == "exited" and answer.status == (1 if line.startswith("diff") else 0), (line, answer.document)
        assert ordered(said) == ordered(printed) if line.startswith("find") else said == printed, line


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_work(tool, once_cell, shell):
    box = once_cell.box
    box.file("root/run.sh", "set -e\nmkdir made\nfor f in *.txt; do sort -u $f | tee made/$f; done\necho $1\nexit 3\n")
    answer = tool([shell, "run.sh", "-x argument"])
    assert (answer.status, answer.stream("stdout")) == (3, b"a\nb\n-x argument\n"), answer.document
    assert (box.root / "made/a.txt").read_text() == "a\nb\n"
    answer = tool([shell, "-euc", 'find . -name "c*" | xargs cat; echo "$0 $1"', "zero", "one"])
    assert (answer.status, answer.stream("stdout")) == (0, b"c\nzero one\n"), answer.document
    assert tool([shell], "echo from input\n").stream("stdout") == b"from input\n"
    assert tool([shell, "-c", "echo x > /tmp/x && cat /tmp/x; uname > /dev/null"]).stream("stdout") == b"x\n"


def test_bash_has_its_options(tool):
    answer = tool(["bash", "-euo", "pipefail", "-c", "false | true"])
    assert (answer.outcome, answer.status) == ("exited", 1)
    assert tool(["bash", "-O", "extglob", "-c", "echo @(a|b).txt"]).stream("stdout") == b"a.txt\n"
