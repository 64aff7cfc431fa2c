"""A repository with a history worth reading, and every known means to make git run a program of
the repository.

Each means names plain git commands that trigger it. So a test shows that its canary works
before it claims that the canary stayed silent.
"""
import base64
import contextlib
import dataclasses
import functools
import http.server
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import threading
import time
import typing

import yaml
from terminal import on_terminal

DEFAULT_POLICY = pathlib.Path(__file__).parents[2] / "policy/default.yaml"

IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}

HOOKS = ("post-index-change fsmonitor-watchman reference-transaction pre-commit post-checkout post-merge post-rewrite "
         "pre-auto-gc query-watchman").split()

# Every allowed subcommand, in forms that read what an attacker may have prepared: the working tree,
# the index, patches, merges, signatures, submodules, missing objects. A test compares this with the
# policy.
COMMANDS = [shlex.split(line) for line in """
log
log -p -m
log -p --cc --all
log -p --diff-merges=on
log -p --diff-merges=first-parent --submodule=log
log --stat --follow -- a.txt
log -L1,2:a.txt
log -Sfirst --pickaxe-all -p
log -Gfirst
log --oneline --graph --decorate --all --notes
log --format=%G?%GS%GK%GF%GP%GG
log --pretty=evil
log -g
show
show --pretty=raw -p -m HEAD~3
show HEAD:a.txt
show HEAD:gone.txt
show v1
diff
diff --cached
diff HEAD
diff HEAD~4 HEAD
diff HEAD~4 HEAD --submodule
diff --stat --ignore-submodules=dirty
diff --word-diff -w --exit-code
diff --binary --full-index --patch-with-raw
diff --check
diff-tree -p -r HEAD~4 HEAD
diff-tree -m -p HEAD~3
diff-index HEAD
diff-index -p HEAD
diff-index --cached -p HEAD
diff-files
diff-files -p
status
status --porcelain=v2 --branch --untracked-files=all --ignored
status --short --branch
ls-files
ls-files -m -o -d --exclude-standard -t
ls-files --eol -s
ls-files -f -v --debug
ls-tree -r -l HEAD
cat-file -p HEAD
cat-file -p HEAD:gone.txt
cat-file blob HEAD:a.txt
cat-file --batch-all-objects --batch-check
cat-file --batch-all-objects --batch
rev-parse HEAD --show-toplevel --git-dir
rev-parse --verify HEAD:gone.txt
rev-list --all
rev-list --objects --all
rev-list --all --disk-usage
rev-list --format=%G?%GG --all
blame a.txt
blame -C -C -M -w HEAD -- a.txt
blame gone.txt
grep -n first
grep --untracked -I first
grep --cached first
grep first HEAD
describe --always
describe --all --contains HEAD~1
branch -a -vv
branch --show-current
branch --contains HEAD
tag -n3
tag --format=%(contents) --sort=-creatordate
for-each-ref --format=%(refname)%(contents)%(upstream:track)
show-ref --head -d
merge-base HEAD HEAD~2
shortlog -s -n -e HEAD
name-rev HEAD
symbolic-ref HEAD
check-ignore -v new.txt
check-attr -a a.txt
count-objects -v
remote -v
remote
remote get-url origin
worktree list --porcelain
version --build-options
""".strip().splitlines()]


@functools.cache
def default_entry():
    """Cached and read only: it is the same for all."""
    with open(DEFAULT_POLICY, encoding="utf-8") as stream:
        return next(tool for tool in yaml.load(stream, yaml.CSafeLoader)["tools"] if tool["name"] == "git")


def loader() -> str:
    """The ELF interpreter of this machine, as its programs name it."""
    with open("/usr/bin/git", "rb") as stream:
        return re.search(rb"/lib[^\0]*/ld-[^\0]+", stream.read(65536)).group().decode()


class Repository:
    """A repository that its caller owns; plain git is git without chokepoint."""

    def __init__(self, box, path=None):
        self.box = box
        self.path = path or box.root
        self.canary = box.canary()
        self.stale_seconds = 0  # of the last make_index_stale
        self.script = box.outside / "canary.sh"
        if not self.script.exists():
            box.script(self.script, self.canary)
        self.copy_or_make()

    # ---- plain git

    def git(self, *args, check=True, env=None, cwd=None, **keywords):
        answer = self.box.call(["git", *map(str, args)], cwd=cwd or self.path, start_new_session=True,
                               env=self.box.environment(**IDENTITY, **(env or {})), **keywords)
        assert answer.status == 0 or not check, (args, answer.err)
        return answer

    def on_terminal(self, *args):
        """The same with a terminal for its output."""
        on_terminal(self.box, ["git", *args], cwd=self.path, stderr=subprocess.STDOUT, start_new_session=True,
                    env=self.box.environment(**IDENTITY, TERM="dumb"))

    def config(self, key, value):
        self.git("config", key, value)

    def write(self, name, text, mode=0o644):
        path = self.path / name
        missing = [parent for parent in path.parents if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir()
            self.box.own(parent)
        return self.box.file(path, text, mode)

    def commit(self, message, *names):
        self.git("add", *names)
        self.git("commit", "-q", "--no-gpg-sign", "-m", message)

    # ---- the content

    def copy_or_make(self):
        """Making it takes forty commands; later tests get a copy of the first that the same caller
        made."""
        made = self.box.stage / f"repository-{self.box.actor.uid}"
        if made.exists():
            subprocess.run(["cp", "-a", f"{made}/.", self.path], check=True)
        else:
            self.make()
            subprocess.run(["cp", "-a", self.path, made], check=True)

    def make(self):
        """A resolved merge conflict, a tag, commits that look signed, and a working tree that
        differs from the index, which differs from HEAD."""
        self.git("init", "-q", "-b", "main")
        self.write("a.txt", "first\nsecond\nthird\n")
        self.write("dir/b.txt", "first\n")
        self.write("still.txt", "unchanged\n")
        self.write("gone.txt", "first, and nowhere else\n")
        self.commit("one", ".")
        self.git("branch", "side")
        self.write("a.txt", "first of main\nsecond\nthird\n")
        self.commit("two", "a.txt")
        self.git("checkout", "-q", "side")
        self.write("a.txt", "first of side\nsecond\nthird\n")
        self.commit("three", "a.txt")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "side", check=False)
        self.write("a.txt", "first of both\nsecond\nthird\n")
        self.commit("merged", "a.txt")
        self.git("tag", "-a", "-m", "a tag", "v1")
        for armour in ("PGP SIGNATURE", "SIGNED MESSAGE", "SSH SIGNATURE"):
            self.sign(armour)
        self.git("remote", "add", "origin", "https://example.invalid/x.git")
        self.write("a.txt", "first of all\nsecond\nfourth\n")
        self.write("dir/b.txt", "first\nstaged\n")
        self.git("add", "dir/b.txt")
        self.write("new.txt", "first\n")

    def sign(self, armour):
        """A commit on top of HEAD with a signature header of that kind."""
        text = self.git("cat-file", "commit", "HEAD").out.decode()
        parent = self.git("rev-parse", "HEAD").out.decode().strip()
        header, _, message = text.partition("\n\n")
        lines = [line for line in header.split("\n") if line.startswith(("tree", "author", "committer"))]
        lines.insert(1, "parent " + parent)
        body = base64.b64encode(b"signature" * 8).decode()
        signature = f"-----BEGIN {armour}-----\n \n {body}\n -----END {armour}-----"
        text = "\n".join(lines) + f"\ngpgsig {signature}\n\nsigned\n"
        made = self.git("hash-object", "-t", "commit", "-w", "--stdin", input=text.encode()).out.decode().strip()
        self.git("update-ref", "refs/heads/main", made)

    def make_index_stale(self):
        """The index no longer knows whether the files match it: git looks at them and may write
        the index. The time is later than that of any index: git compares seconds, and the present
        one may be in the index."""
        self.stale_seconds += 1
        stamp = time.time_ns() + self.stale_seconds * 2 * 10**9
        for top in (self.path, self.path / "sub"):
            for name in ("still.txt", "gone.txt"):
                with contextlib.suppress(FileNotFoundError):
                    os.utime(top / name, ns=(stamp, stamp))

    def remove_object(self, name):
        """The object of a file is missing, as in a partial clone; git would fetch it."""
        blob = self.git("rev-parse", "HEAD:" + name).out.decode().strip()
        (self.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
        self.config("core.repositoryFormatVersion", "1")
        self.config("extensions.partialClone", "origin")
        self.config("remote.origin.promisor", "true")
        self.config("remote.origin.partialCloneFilter", "blob:none")

    def submodule(self):
        """A repository in the repository, recorded, one commit ahead, its working tree changed."""
        inner = Repository.__new__(Repository)
        inner.box, inner.path, inner.canary, inner.script = self.box, self.path / "sub", self.canary, self.script
        inner.path.mkdir()
        self.box.own(inner.path)
        inner.git("init", "-q", "-b", "main")
        inner.write("a.txt", "first\n")
        inner.write("still.txt", "unchanged\n")
        inner.commit("inner", ".")
        recorded = inner.git("rev-parse", "HEAD").out.decode().strip()
        inner.write("a.txt", "second\n")
        inner.commit("ahead", ".")
        inner.write("a.txt", "third\n")
        self.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
        self.git("update-index", "--add", "--cacheinfo", f"160000,{recorded},sub")
        self.git("add", ".gitmodules")
        self.config("submodule.sub.url", "./sub")
        return inner

    # ---- the canary

    def fired(self) -> bool:
        """Whether the canary was triggered; it is reset."""
        has_fired = self.canary.exists()
        self.canary.unlink(missing_ok=True)
        return has_fired


@contextlib.contextmanager
def web_server():
    """A web server on loopback that asks for a password."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/x.git"
        finally:
            server.shutdown()
            thread.join()


# ---- the means

@dataclasses.dataclass
class Means:
    name: str
    plant: typing.Callable  # what the attacker prepares; may be a generator, to hold something open
    fires: list             # plain git commands, each of which triggers it
    reachable: bool = True  # an allowed subcommand would trigger it without the hardening in the entry
    only_execs: bool = False    # no configuration can switch it off by name: only execs prevents it
    only_overrides: bool = False  # execs does not prevent it: the loader or git itself runs
    terminal: bool = False

    def __str__(self):
        return self.name


MEANS = []


def means(*fires, **more):
    def add(plant):
        MEANS.append(Means(plant.__name__, plant, [shlex.split(line) for line in fires], **more))
        return plant
    return add


@contextlib.contextmanager
def planted(repo, kind: Means):
    """Plants it, and shows that it works: each of the plain commands triggers it."""
    made = kind.plant(repo)
    try:
        if made is not None:
            next(made)
        repo.fired()
        for args in kind.fires:
            repo.make_index_stale()
            if kind.terminal:
                repo.on_terminal(*args)
            else:
                repo.git(*args, check=False)
            assert repo.fired(), f"plain 'git {shlex.join(args)}' did not set off {kind}"
        yield
    finally:
        if made is not None:
            made.close()


def everything(repo, file=None):
    """A configuration in which every key that names a program names the canary."""
    where = ["--file", file] if file else []
    keys = """core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy diff.external
    diff.evil.textconv diff.evil.command merge.evil.driver credential.helper gpg.program gpg.openpgp.program
    gpg.x509.program gpg.ssh.program pager.log pager.diff pager.show pager.branch pager.tag pager.status pager.blame
    pager.grep sequence.editor interactive.diffFilter core.alternateRefsCommand uploadpack.packObjectsHook
    remote.origin.uploadpack filter.evil.clean filter.evil.smudge filter.evil.process man.evil.cmd browser.evil.cmd
    tar.x.command""".split()
    for key in keys:
        repo.git("config", *where, key, repo.script)
    for name in ("log", "status", "diff", "evil", "show"):
        repo.git("config", *where, "alias." + name, f"!{repo.script}")
    for key, value in (("log.showSignature", "true"), ("log.diffMerges", "remerge"), ("diff.submodule", "diff"),
                       ("status.submoduleSummary", "true"), ("submodule.recurse", "true"),
                       ("protocol.allow", "always"), ("protocol.ext.allow", "always"), ("help.autocorrect", "1"),
                       ("pretty.evil", "%G?%GG"), ("gpg.ssh.allowedSignersFile", "/dev/null"),
                       ("core.hooksPath", repo.box.outside / "hooks"), ("grep.fallbackToNoIndex", "true")):
        repo.git("config", *where, key, value)
    hooks(repo, repo.box.outside / "hooks")


def hooks(repo, directory):
    directory.mkdir(exist_ok=True)
    repo.box.own(directory)
    for name in HOOKS:
        repo.box.script(directory / name, repo.canary)


@means("status", "diff", "ls-files -m")
def fsmonitor(repo):
    repo.config("core.fsmonitor", repo.script)


@means("status", "describe --always --dirty")
def hooks_of_the_repository(repo):
    hooks(repo, repo.path / ".git/hooks")


@means("status", "describe --always --dirty")
def hooks_path(repo):
    hooks(repo, repo.path / "planted-hooks")
    repo.config("core.hooksPath", "planted-hooks")


@means("diff", "diff HEAD~4 HEAD")
def external_diff(repo):
    repo.config("diff.external", repo.script)


@means("diff", "show --ext-diff HEAD~4")
def diff_driver(repo):
    repo.write(".gitattributes", "*.txt diff=evil\n")
    repo.config("diff.evil.command", repo.script)


@means("diff", "log -p", "show HEAD~4", "blame a.txt", "show --textconv HEAD:a.txt", "log -Gfirst",
       "grep --textconv first", "cat-file --textconv HEAD:a.txt")
def textconv_driver(repo):
    repo.write(".gitattributes", "*.txt diff=evil\n")
    repo.config("diff.evil.textconv", repo.script)


@means("diff", "log -p")
def textconv_by_info_attributes(repo):
    repo.write(".git/info/attributes", "* diff=evil\n")
    repo.config("diff.evil.textconv", repo.script)


@means("diff", "log -p")
def textconv_by_attributes_file(repo):
    repo.write("elsewhere", "* diff=evil\n")
    repo.config("core.attributesFile", repo.path / "elsewhere")
    repo.config("diff.evil.textconv", repo.script)


@means("diff", "status", "ls-files -m", "blame a.txt", "diff-files -p", only_execs=True)
def clean_filter(repo):
    repo.write(".gitattributes", "*.txt filter=evil\n")
    repo.config("filter.evil.clean", repo.script)


@means("diff", "status", only_execs=True)
def required_clean_filter(repo):
    repo.write(".git/info/attributes", "*.txt filter=evil\n")
    repo.config("filter.evil.clean", repo.script)
    repo.config("filter.evil.required", "true")


@means("cat-file --filters HEAD:a.txt", "checkout-index --prefix=copy/ still.txt", reachable=False)
def smudge_filter(repo):
    repo.write(".gitattributes", "*.txt filter=evil\n")
    repo.config("filter.evil.smudge", repo.script)


@means("diff", "status", "blame a.txt", only_execs=True)
def process_filter(repo):
    repo.write(".gitattributes", "*.txt filter=evil\n")
    repo.config("filter.evil.process", repo.script)


@means("diff", "status")
def large_file_filter(repo):
    """The one driver with a known name, so it is switched off by name."""
    repo.write(".gitattributes", "*.txt filter=lfs\n")
    for key in ("clean", "smudge", "process"):
        repo.config("filter.lfs." + key, repo.script)
    repo.config("filter.lfs.required", "true")


@means("show --remerge-diff HEAD~3", "log -p -m", "log -p --diff-merges=on")
def merge_driver(repo):
    repo.write(".gitattributes", "*.txt merge=evil\n")
    repo.config("merge.evil.driver", repo.script)
    repo.config("log.diffMerges", "remerge")


@means("log", "branch -a", "diff", reachable=False, terminal=True)
def pager(repo):
    repo.config("core.pager", repo.script)


@means("status", "describe --always", reachable=False, terminal=True)
def pager_of_a_subcommand(repo):
    repo.config("pager.status", str(repo.script))
    repo.config("pager.describe", str(repo.script))


@means("branch --edit-description", "commit --allow-empty", "tag -a v9", reachable=False)
def editor(repo):
    repo.config("core.editor", repo.script)


@means("evil", "-c alias.also=evil also", reachable=False)
def alias(repo):
    for name in ("evil", "log", "status", "diff", "show", "ls-files", "rev-parse", "version"):
        repo.config("alias." + name, f"!{repo.script}")


@means("log --show-signature", "log --format=%G?", "show --pretty=format:%GK HEAD~2", "verify-commit HEAD~2")
def gpg_program(repo):
    repo.config("gpg.program", repo.script)


@means("log --format=%G?")
def gpg_program_of_the_format(repo):
    repo.config("gpg.openpgp.program", repo.script)


@means("log --format=%G?")
def gpg_program_of_x509(repo):
    repo.config("gpg.x509.program", repo.script)


@means("log --format=%G?")
def gpg_program_of_ssh(repo):
    repo.config("gpg.ssh.program", repo.script)
    repo.config("gpg.ssh.allowedSignersFile", repo.script)


@means("log", "show HEAD~2")
def signatures_shown_by_configuration(repo):
    repo.config("gpg.program", repo.script)
    repo.config("log.showSignature", "true")


@means("log", "log --pretty=evil")
def signature_in_a_configured_format(repo):
    repo.config("gpg.program", repo.script)
    repo.config("pretty.evil", "%G?")
    repo.config("format.pretty", "evil")


@means("status", "diff", "log", only_execs=True)
def included_configuration(repo):
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    everything(repo, repo.path / "planted.config")
    repo.config("include.path", "../planted.config")


@means("status", "diff", "log", only_execs=True)
def conditionally_included_configuration(repo):
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    everything(repo, repo.path / "planted.config")
    repo.config("includeIf.onbranch:main.path", "../planted.config")


@means("status", "diff", "log", only_execs=True)
def configuration_of_the_worktree(repo):
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    repo.config("core.repositoryFormatVersion", "1")
    repo.config("extensions.worktreeConfig", "true")
    everything(repo, repo.path / ".git/config.worktree")


@means("status", "diff", "log", only_execs=True)
def git_file_that_points_elsewhere(repo):
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    shutil.move(repo.path / ".git", repo.box.outside / "elsewhere")
    repo.write(".git", f"gitdir: {repo.box.outside / 'elsewhere'}\n")
    everything(repo)


@means("status", "diff", "log", only_execs=True)
def common_directory_elsewhere(repo):
    repo.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
    everything(repo)
    shutil.copytree(repo.path / ".git", repo.box.outside / "common", symlinks=True)
    for parent, names, files in os.walk(repo.box.outside / "common"):
        for name in [".", *names, *files]:
            repo.box.own(os.path.join(parent, name))
    (repo.path / ".git/config").unlink()
    repo.write(".git/commondir", f"{repo.box.outside / 'common'}\n")


@means("log --alternate-refs -1", reachable=False)
def command_for_alternate_refs(repo):
    other = repo.box.outside / "other.git"
    repo.git("init", "-q", "--bare", other)
    repo.write(".git/objects/info/alternates", f"{other}/objects\n")
    repo.config("core.alternateRefsCommand", repo.script)


@means("status", "diff")
def submodule_with_fsmonitor(repo):
    repo.submodule().config("core.fsmonitor", repo.script)


@means("status", "diff")
def submodule_with_hooks(repo):
    inner = repo.submodule()
    hooks(repo, repo.path / "sub/.git/hooks")
    inner.config("status.aheadBehind", "true")


@means("status", "diff")
def submodule_with_a_filter(repo):
    inner = repo.submodule()
    inner.write(".gitattributes", "*.txt filter=evil\n")
    inner.config("filter.evil.clean", repo.script)


@means("diff")
def submodule_with_external_diff(repo):
    repo.submodule().config("diff.external", repo.script)
    repo.config("diff.submodule", "diff")


@means("diff")
def submodule_with_textconv(repo):
    inner = repo.submodule()
    inner.write(".gitattributes", "*.txt diff=evil\n")
    inner.config("diff.evil.textconv", repo.script)
    repo.config("diff.submodule", "diff")


MISSING = ("cat-file -p HEAD:gone.txt", "show HEAD:gone.txt", "log -p --all", "rev-list --objects --all --disk-usage")


@means(*MISSING)
def missing_object_from_a_helper(repo):
    repo.remove_object("gone.txt")
    repo.config("remote.origin.url", f"ext::{repo.script}")
    repo.config("protocol.ext.allow", "always")


@means(*MISSING)
def missing_object_from_a_rewritten_address(repo):
    repo.remove_object("gone.txt")
    repo.config(f"url.ext::{repo.script} .insteadOf", "https://example.invalid/")
    repo.config("protocol.ext.allow", "always")


@means(*MISSING)
def missing_object_from_an_upload_pack(repo):
    repo.remove_object("gone.txt")
    repo.config("remote.origin.url", repo.path)
    repo.config("remote.origin.uploadpack", repo.script)


@means(*MISSING)
def missing_object_over_ssh(repo):
    repo.remove_object("gone.txt")
    repo.config("remote.origin.url", "ssh://host.invalid/x.git")
    repo.config("core.sshCommand", repo.script)


@means(*MISSING)
def missing_object_through_a_proxy(repo):
    repo.remove_object("gone.txt")
    repo.config("remote.origin.url", "git://host.invalid/x.git")
    repo.config("core.gitProxy", repo.script)


@means(*MISSING[:2])
def missing_object_with_a_credential_helper(repo):
    repo.remove_object("gone.txt")
    with web_server() as address:
        repo.config("remote.origin.url", address)
        repo.config("credential.helper", repo.script)
        yield


@means(*MISSING[:2])
def missing_object_with_a_password_prompt(repo):
    repo.remove_object("gone.txt")
    with web_server() as address:
        repo.config("remote.origin.url", address)
        repo.config("core.askPass", repo.script)
        yield


@means("diff", only_overrides=True)
def external_diff_that_is_the_loader(repo):
    """The loader must be executable, or no program could start; and it runs any file. As an
    external diff it gets a file of the repository: a shell, and as its script what was
    committed under the same name. Its directory sorts before all other names, because git ends
    at the first file that the loader cannot run."""
    repo.write("A/shell.bin", f": > '{repo.canary}'\n")
    repo.commit("a script", "A/shell.bin")
    with open("/bin/sh", "rb") as stream:
        repo.write("A/shell.bin", stream.read())
    repo.config("diff.external", loader())
