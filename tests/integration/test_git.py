"""git as scripts and agents use it to read a repository: with the default policy it answers as plain git does."""
import shlex

import pytest

from hostile import Repository

# From the top of the working tree and from a directory in it. Commands that name a file of the top
# are in TOP. Uncommitted lines are blamed on the current second, so only files without them are
# used.
ANYWHERE = """
rev-parse HEAD
rev-parse --short HEAD
rev-parse --short=10 HEAD~1
rev-parse --abbrev-ref HEAD
rev-parse --verify -q HEAD^{tree}
rev-parse --show-toplevel
rev-parse --git-dir
rev-parse --is-inside-work-tree --is-bare-repository
rev-parse --show-prefix --show-cdup
rev-parse --symbolic-full-name main
log
log -5
log -n 2
log -n2 --oneline
log -1 --format=%H%n%an%n%ae%n%at%n%s%n%b
log --oneline --graph --decorate --all
log --pretty=format:%h%x09%an%x09%s --date=iso
log --pretty=fuller --date=short --abbrev-commit
log --stat -M -C --find-copies-harder
log -p -U1 -w
log -p --no-merges --reverse
log --name-only --pretty=format:
log --name-status --diff-filter=AM
log --numstat --shortstat --summary
log --since=2001-01-01 --until=2100-01-01 --author=a --grep=one
log --since '2 years ago' --max-count 3
log -Sfirst --oneline
log -Gfirst --oneline
log -S first --oneline
log --first-parent --merges
log main..side
log main...side --left-right --oneline
log HEAD~2..HEAD -- .
log -z --format=%H
log --follow -p -- :/a.txt
log --all --not side --oneline
log -p -m --first-parent -1 HEAD~3
log -L1,2:a.txt --oneline --no-patch
show
show HEAD
show --stat HEAD~1
show -s --format=%ci HEAD
show --name-only --pretty= HEAD~3
show HEAD:a.txt
show HEAD~1:dir/b.txt
show main^{tree}
show v1
show --no-patch --format=%B v1^{commit}
diff
diff --stat
diff --cached
diff --staged --name-status
diff HEAD
diff HEAD~4 HEAD
diff HEAD~4..HEAD --numstat
diff main...side
diff --name-only HEAD~4 --
diff -U0 -w --no-color
diff --word-diff=porcelain
diff --exit-code --quiet
diff --check
diff --no-ext-diff --diff-algorithm=histogram -M90%
diff --merge-base side
diff --shortstat --dirstat
diff-tree -r --no-commit-id --name-only HEAD~4
diff-index --quiet HEAD --
diff-files --name-only
status
status -s
status -sb
status --short --branch --untracked-files=no
status --porcelain
status --porcelain=v2 --branch -z
status -uall --ignored
status -uno
ls-files
ls-files -z
ls-files -s --full-name
ls-files -o --exclude-standard
ls-files -m -d -t
ls-files --others --directory
ls-tree HEAD
ls-tree -r --name-only HEAD
ls-tree -r -l -t HEAD~1
ls-tree --format='%(objectname) %(path)' HEAD
cat-file -t HEAD
cat-file -s HEAD
cat-file -p HEAD^{tree}
cat-file -e HEAD
cat-file blob HEAD:a.txt
cat-file --batch-check --batch-all-objects
rev-list HEAD
rev-list --count HEAD
rev-list --all --max-count=2
rev-list --objects HEAD~4
rev-list --left-right --count main...side
rev-list -1 --format=%ct HEAD
rev-list --parents --topo-order HEAD
grep first
grep -n -i FIRST
grep -c first
grep -l first HEAD
grep -e first --and -e of
grep -E 'fir(st|ts)' -- '*.txt'
grep -w -A1 -B1 first
grep -C2 second
grep --cached -h first
grep --untracked first
grep -rnI first
describe
describe --tags --always
describe --all --long
branch
branch -a
branch -vv
branch --list
branch --list 's*'
branch --show-current
branch --contains HEAD~4
branch --merged
branch --merged HEAD
branch --no-merged main
branch --format='%(refname:short) %(objectname)' --sort=-committerdate
tag
tag -l
tag -l 'v*'
tag -n
tag -n1 --sort=-v:refname
tag --contains HEAD~3
tag --points-at=HEAD~3
remote
remote -v
remote get-url origin
for-each-ref
for-each-ref --format='%(refname) %(objectname)' --count=2 refs/heads
show-ref
show-ref --heads --tags -d
show-ref --verify -q refs/heads/main
merge-base main side
merge-base --is-ancestor side main
name-rev --name-only HEAD~2
shortlog -sn HEAD
shortlog -sne --all
symbolic-ref HEAD
symbolic-ref --short HEAD
check-ignore -v new.txt
check-attr -a -- a.txt
count-objects -v
worktree list
worktree list --porcelain
version
--version
--no-pager log -1
--no-pager diff --stat
--no-optional-locks status
--literal-pathspecs ls-files
""".strip().splitlines()

TOP = """
log --oneline -- a.txt
log --follow --oneline a.txt
log -L1,2:a.txt
log -L '/second/,+1:a.txt'
diff -- a.txt dir
diff HEAD -- a.txt
diff a.txt still.txt
status -- dir
ls-files dir
ls-files --error-unmatch a.txt
blame still.txt
blame -L1,1 still.txt
blame -L 1,2 HEAD -- a.txt
blame --porcelain still.txt
blame --line-porcelain -w -C -M HEAD~1 -- a.txt
blame -s -e --date=short still.txt
grep -n first -- dir
grep first HEAD~1 -- a.txt
show HEAD -- a.txt
check-ignore a.txt new.txt
""".strip().splitlines()

BELOW = """
log --oneline -- b.txt
log --oneline -- ../a.txt
diff -- ../a.txt
status -- ..
ls-files ..
blame ../still.txt
blame HEAD -- b.txt
show HEAD:./b.txt
show HEAD:../a.txt
grep -n first -- ..
""".strip().splitlines()


def same(repo, line, directory):
    args = shlex.split(line)
    repo.make_index_stale()
    # Both leave the index as it is; without that, diff --name-only may list a file whose times alone
    # have changed.
    plain = repo.git("-c", "diff.autoRefreshIndex=false", *args, check=False, env={"GIT_OPTIONAL_LOCKS": "0"},
                     cwd=directory)
    repo.make_index_stale()
    answer = repo.box.run("git", *args, policy="default", cwd=directory, root=repo.path)
    assert answer.outcome == "exited", answer.document
    # In a jail the repository is at /work.
    out = answer.stream("stdout").replace(b"/work", str(repo.path).encode())
    return (answer.status, out) == (plain.status, plain.out)


@pytest.mark.parametrize("lines, below", [(ANYWHERE + TOP, False), (ANYWHERE + BELOW, True)], ids=["top", "below"])
def test_git_answers_as_it_does_without_us(user_box, lines, below):
    repo = Repository(user_box)
    directory = repo.path / "dir" if below else repo.path
    assert [line for line in lines if not same(repo, line, directory)] == []


def test_git_reads_names_of_objects_from_stdin(user_box):
    repo = Repository(user_box)
    names = b"HEAD:a.txt\nHEAD\nmissing\n"
    for line in ("cat-file --batch", "cat-file --batch-check=%(objecttype)", "name-rev --annotate-stdin"):
        args = line.split()
        plain = repo.git(*args, input=names)
        answer = repo.box.run("git", *args, policy="default", options=["--stdin", "-"], input=names)
        assert (answer.status, answer.stream("stdout")) == (0, plain.out)


def test_reading_does_not_write_the_index(user_box):
    repo = Repository(user_box)
    index = repo.path / ".git/index"
    before = index.read_bytes()
    for args in (["status"], ["ls-files", "-m"], ["diff-files"], ["grep", "first"], ["blame", "a.txt"]):
        repo.make_index_stale()
        assert repo.box.run("git", *args, policy="default").outcome == "exited"
    assert index.read_bytes() == before
    repo.make_index_stale()
    repo.git("status")
    assert index.read_bytes() != before


def test_an_object_is_what_its_name_says(user_box):
    """A replacement object would show other bytes under the name of a commit."""
    repo = Repository(user_box)
    honest = repo.git("show", "HEAD~4:a.txt").out
    blob = repo.git("rev-parse", "HEAD~4:a.txt").out.decode().strip()
    other = repo.git("hash-object", "-w", "--stdin", input=b"forged\n").out.decode().strip()
    repo.git("replace", blob, other)
    assert repo.git("show", "HEAD~4:a.txt").out == b"forged\n"
    assert repo.box.run("git", "show", "HEAD~4:a.txt", policy="default").stream("stdout") == honest


def test_submodule_is_compared_by_its_commit(user_box):
    repo = Repository(user_box)
    repo.submodule()
    for args in (["status", "--short"], ["diff"], ["diff-index", "HEAD"], ["diff", "--submodule=log"]):
        plain = repo.git(args[0], "--ignore-submodules=dirty", *args[1:]).out
        answer = repo.box.run("git", *args, policy="default")
        assert (answer.status, answer.stream("stdout")) == (0, plain)
    assert b"sub" in repo.box.run("git", "status", "--short", policy="default").stream("stdout")
