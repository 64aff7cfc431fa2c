"""Promise: Only listed arguments.
Attacker: a prompt that makes a model call git. Means: arguments with which git runs a program,
writes a file, reads one outside, uses the network or changes the repository: by full name,
abbreviated, bundled, attached, before and after the subcommand. Among them every escape that the
public collections list for git.

Expected: refused by a rule of git's arguments that names the argument and a line of the policy.
Nothing is created.
"""
import os
import shlex

import pytest

from command import check_shape
from grammar import Judge
from hostile import Repository, default_entry

# {x}: a program that leaves a trace. {o}: a directory outside the root. {f}: a file there. {{ and }}: git's own braces.
REFUSED = """
-c core.pager={x} log
-ccore.pager={x} log
-c core.fsmonitor={x} status
-c alias.x=!{x} x
-c core.sshCommand={x} ls-remote ssh://host/x
-c protocol.ext.allow=always ls-remote ext::{x}
--config-env=core.pager=HOME log
--config-env core.pager=HOME log
--exec-path={o} log
--exec-path {o} log
--exec-path
--exec-pat={o} log
--git-dir={o} log
--git-dir {o} log
--git-di={o} log
--git-dir={o} --exec-path={o} x
--work-tree={o} status
--work-tree {o} status
--namespace=x log
--super-prefix=x/ log
--attr-source=HEAD log
--bare log
--list-cmds=main
--html-path
-p log
-p help
--paginate log
--paginate help
-P log
-C {o} log
-C .. log
-C {o} -C .. status
-C. log
--no-pager -c core.pager={x} log
--no-pager --paginate log
--help
-h
help
help config
help log
log --help
branch --help config
branch --help
status --help
diff --help
evil
!sh
log status --output=x
{x}
/bin/sh
ls-remote ext::{x}
ls-remote ext::sh
ls-remote --upload-pack={x} .
ls-remote --exec={x} .
ls-remote -u{x} .
clone ext::{x} y
clone -u {x} . y
clone --template={o} . y
fetch ext::{x}
fetch --upload-pack={x} .
fetch
pull
push ext::{x}
push --receive-pack={x} .
push --exec={x} .
archive --remote=. --exec={x} HEAD
archive --output=x HEAD
archive HEAD
fetch-pack --exec={x} .
send-pack --exec={x} .
remote add x ext::{x}
remote update
remote show origin
remote set-url origin ext::{x}
remote -v update
remote -v add x y
remote prune origin
apply x.patch
apply --unsafe-paths x.patch
am x.patch
add .
commit -m x
commit --allow-empty -m x
init y
init --template={o} y
config -l
config core.pager {x}
config --global core.pager {x}
config --get core.pager
checkout .
switch main
restore .
reset --hard
clean -fdx
rm a.txt
mv a.txt b.txt
merge side
rebase -x {x} HEAD~1
rebase --exec {x} HEAD~1
rebase -i HEAD~1
bisect run {x}
filter-branch --tree-filter {x}
submodule foreach {x}
submodule update
difftool -x {x}
difftool --extcmd={x} -y
mergetool
instaweb
web--browse x
daemon
shell
gui
gc
repack
update-index --refresh
update-ref refs/heads/x HEAD
hash-object -w a.txt
hash-object --path=a.txt a.txt
fast-import
fast-export --export-marks=x HEAD
upload-pack .
receive-pack .
upload-archive .
http-backend
credential fill
credential-store get
credential-cache exit
send-email x
imap-send
svn clone x
p4 clone x
cvsserver
bundle create x HEAD
format-patch HEAD~1
format-patch -o {o} HEAD~1
verify-commit HEAD
verify-tag v1
tag -v v1
tag --verify v1
var GIT_EDITOR
sh-i18n--envsubst x
column --command=x
merge-file a.txt a.txt a.txt
merge-tree side main
merge-index {x} -a
merge-one-file
notes edit
notes add -m x
stash
stash push
stash show -p
reflog expire --all
reflog delete HEAD@{{0}}
worktree add y
worktree prune
worktree list --porcelain add
replace HEAD HEAD~1
hook run post-index-change
maintenance run
fsmonitor--daemon start
scalar x
diff --output=x
diff --output x
diff --outp=x
diff --outpu=x
diff --out=x
diff --output={f}
diff -p --output=x HEAD
diff --cached --output=x
diff -- --output=x -- --output=y/../../z
diff --ext-diff
diff --ext
diff --textconv
diff --textc
diff --no-index /etc/passwd /etc/hostname
diff --no-ind a.txt b.txt
diff /etc/passwd /etc/hostname
diff a.txt /etc/passwd
diff ../outside/canary.sh a.txt
diff -O/etc/passwd
diff -O /etc/passwd
diff -pO/etc/passwd
diff -wpO/etc/passwd
diff --submodule=diff
diff --subm=diff
diff --ignore-submodules=none
diff --ignore-submodules=untracked
diff --recurse-submodules
diff --end-of-options --output=x
diff-tree -p --output=x HEAD
diff-tree -p --ext-diff HEAD
diff-index -p --output=x HEAD
diff-files -p --output=x
diff-files -p --textconv
log --output=x
log --outp=x
log -p --output=x
log -p --ext-diff
log --ext-di -p
log -p --textconv
log --show-signature
log --show-sig
log --show-signatur -1
log -1 --show-signature
log --remerge-diff
log --diff-merges=remerge
log --diff-merges=r
log -O/etc/passwd
log --alternate-refs
log --submodule=diff -p
log -p --output-directory=x
log -C/../../x --output=y
log --exclude-hidden=receive
log -c
show --output=x
show --show-signature
show --ext-diff
show --textconv HEAD:a.txt
show --remerge-diff HEAD~3
show /etc/passwd
show ../outside/canary.sh
show -- ../../../../../etc/passwd
shortlog --output=x HEAD
shortlog -c HEAD
rev-list --show-signature HEAD
rev-list --alternate-refs
rev-parse --parseopt
rev-parse --sq-quote x
rev-parse --resolve-git-dir {o}
rev-parse --prefix=x HEAD
status -v
status --verbose
status --ignore-submodules=none
status --ignore-submodules=untracked
status /etc
ls-files --exclude-from=/etc/passwd
ls-files -X/etc/passwd
ls-files -X /etc/passwd
ls-files --exclude-per-directory=.x
ls-files --recurse-submodules
ls-files -oX/etc/passwd
ls-files /etc
cat-file --textconv HEAD:a.txt
cat-file --filters HEAD:a.txt
cat-file --filt HEAD:a.txt
cat-file --batch --textconv
cat-file --batch --filters
cat-file --path=a.txt --filters HEAD:a.txt
blame --contents /etc/passwd a.txt
blame --contents=/etc/passwd a.txt
blame --content=/etc/passwd a.txt
blame -S /etc/passwd a.txt
blame -S/etc/passwd a.txt
blame --ignore-revs-file=/etc/passwd a.txt
blame --ignore-revs-file /etc/passwd a.txt
blame --textconv a.txt
blame --show-signature a.txt
blame /etc/passwd
grep -O first
grep -O{x} first
grep -Oless first
grep -O{x} -e first
grep --open-files-in-pager={x} first
grep --open-files-in-pager first
grep --open={x} first
grep --open-files={x} first
grep -nO{x} first
grep -lO first
grep -f/etc/passwd
grep -f /etc/passwd
grep --no-index root /etc
grep --no-ind root /etc
grep --textconv first
grep --recurse-submodules first
grep --ext-grep first
grep root /etc/passwd
grep -e root /etc/passwd
grep -e root -- ../outside
describe --broken
describe --dirty
describe --always --dirty=-changed
describe --dirt --broken
branch --edit-description
branch --edit
branch -d side
branch -D side
branch --delete side
branch -m side other
branch -M other
branch --move side other
branch -c side other
branch -C side other
branch -f side HEAD
branch -u origin/main
branch --set-upstream-to=origin/main
branch --unset-upstream
branch -t x
branch --track x HEAD
branch --create-reflog x
branch --no-list x
branch --recurse-submodules x
branch -vd side
branch -aD side
branch --show-current x
branch --merged --merged
tag -d v1
tag --delete v1
tag -a x
tag -am x y
tag -s x
tag -u key x
tag -m x y
tag -F /etc/passwd x
tag --file=/etc/passwd x
tag -e x
tag -f v1 HEAD
tag --no-list x
tag -ld v1
symbolic-ref HEAD refs/heads/side
symbolic-ref -d HEAD
symbolic-ref --delete HEAD
symbolic-ref -m x HEAD refs/heads/side
symbolic-ref HEAD HEAD
show-ref --exclude-existing
for-each-ref --stdin
name-rev --peel-tag HEAD
check-ignore /etc/passwd
check-attr -a /etc/passwd
remote get-url --add origin x
remote get-url ../x
version x
--version --build-options
--version x
"""


@pytest.fixture
def repo(user_box):
    return Repository(user_box)


def fill(repo, line):
    return [word.format(x=repo.script, o=repo.box.outside, f=repo.box.outside / "made") for word in shlex.split(line)]


def everything_but_the_record(box):
    found = (os.path.join(parent, name) for parent, names, files in os.walk(box.base) for name in names + files)
    return sorted(path for path in found if path != str(box.log))


def is_refused(answer):
    check_shape(answer.document)
    return answer.status == 125 and answer.outcome == "disallowed" and answer["rule"].startswith("tools.git.args")


def is_denied(verdict):
    """The same of a judgement without a run, of which there may be many."""
    return verdict.outcome == "disallowed" and verdict.rule.startswith("tools.git.args")


def test_what_git_must_not_be_given_is_refused(repo):
    before = everything_but_the_record(repo.box)
    passed = [line for line in REFUSED.strip().splitlines()
              if not is_refused(repo.box.run("git", *fill(repo, line), policy="default"))]
    assert not passed
    assert everything_but_the_record(repo.box) == before
    assert not repo.fired()


def test_refusal_names_the_argument_and_the_line(repo):
    for line, named in (("diff --outp=x", "--outp"), ("-c a=b log", "-c"), ("grep -nO first", "O"),
                        ("ls-remote ext::sh", "ls-remote"), ("log --show-signature", "--show-signature")):
        message = repo.box.run("git", *shlex.split(line), policy="default").message
        assert named in message and "line" in message, message


def test_denied_options_are_refused_in_every_subcommand(repo):
    """Whatever a subcommand lists: these are refused by a separate rule. Options share how they may be spelled, so
    each is given once, alternately as a flag and with a value."""
    args = default_entry()["args"]
    wrong = []
    with Judge(repo.box, policy="default") as judge:
        for sub in args["subcommands"]:
            for number, option in enumerate(args["deny"]):
                attached = option + ("=" if option.startswith("--") else "") + "x"
                form = ([option], [attached], [option, "x"])[number % 3]
                verdict = judge.ask(["git", *sub["name"].split(), *form])
                if not is_denied(verdict) or not verdict.rule.endswith(".deny"):
                    wrong.append([sub["name"], *form])
        assert judge.asked > 500
    assert not wrong


def test_no_abbreviation_of_a_denied_option_passes(repo):
    """git takes any beginning of a long name that is not another's."""
    args = default_entry()["args"]
    lists = [one.get("options", []) for one in args["subcommands"] + args["sets"]]
    listed = {option.partition("=")[0].removesuffix("[") for options in lists for option in options}
    with Judge(repo.box, policy="default") as judge:
        shorts = {option[:length] for option in args["deny"] if option.startswith("--") for length in range(3, len(option))}
        wrong = [short for short in shorts - listed if not is_denied(judge.ask(["git", "log", short + "=x"]))]
        assert judge.asked > 100
    assert not wrong
