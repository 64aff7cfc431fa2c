"""Promise: Only listed arguments.
Attacker: whoever writes the request, the repository at the root, or the server. Means: for `clone` of the catalogue's
git-clone: other transports (ext, ssh, git, http, file, a bundle, a path), options that run a program or fetch more, a host
that was not granted, redirects, a password in the URL, a destination outside the root, and a `.git/config` that rewrites
the URL.

Expected: refused, or git ends with an error; nothing outside is asked, run, read or written. Plainly called, ext runs
its program, and the redirect is followed.
"""
import os

import pytest

from catalog import taking
from feature import full

HOST = "git.example.org"
URL = f"https://{HOST}/hostile.git"
GRANT = [{"name": "git", "subcommand": "clone", "egress": [HOST, "web.example.org"]}]

# The library does the same for root and for a user.
pytestmark = [] if full() else [pytest.mark.parametrize("network_box", ["user"], indirect=True)]

# Refused by the rules about arguments.
OPTIONS = [
    ["--upload-pack=touch {canary}"], ["-u", "touch {canary}"], ["--config", "core.sshCommand=touch {canary}"],
    ["-c", "core.hooksPath=hooks"], ["-ccore.hooksPath=hooks"], ["--template=template"], ["--recurse-submodules"],
    ["--recursive"], ["--remote-submodules"], ["--reference", "/"], ["--separate-git-dir={outside}/git"], ["--mirror"],
    ["--depth=1000"], ["--depth", "0"], ["--no-single-branch"], ["--bundle-uri=https://other.example.org/x"],
    ["--filter=blob:none"], ["--local"], ["--shared"], ["--jobs=8"], ["--origin=x"], ["--no-local"], ["--exec=x"],
    ["--server-option=x"], ["--sparse"], ["--shallow-since=2000"], ["--upload-pac=x"], ["--no-template"],
]
URLS = ["ext::sh -c 'touch {canary}'", "/etc", "{outside}/repo", "../outside/repo", "-u", "--upload-pack=x", "", ".",
        f"https://{HOST}/../x", "https://git.example.org/a b", "$(x)", "https://token:{secret}@git.example.org/x"]

# Judged as a name, refused by git: GIT_ALLOW_PROTOCOL.
TRANSPORTS = ["http://git.example.org/hostile.git", "git://git.example.org/hostile.git", "ssh://git.example.org/x",
              "git@git.example.org:x", "file:///etc", "ftp://git.example.org/x", "ext::x", "fd::17", "local", "x.bundle",
              "local/.git"]


@pytest.fixture
def hostile(way):
    box = way.box
    canary = box.canary()
    env = box.environment(GIT_CONFIG_NOSYSTEM="1")
    box.file("outside/secret", "secret\n")
    for place in (box.root / "local", box.outside / "repo"):
        for command in (["init", "-q", place], ["-C", place, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit",
                                                "-q", "--allow-empty", "-m", "first"]):
            assert box.call(["git", *command], env=env).status == 0
    assert box.call(["git", "-C", box.root / "local", "bundle", "create", "-q", box.root / "x.bundle", "HEAD"], env=env).status == 0
    os.symlink(box.outside, box.root / "link")
    way.policy = taking(box, "git-clone", extends="default", grant=GRANT)
    return {"canary": str(canary), "outside": str(box.outside), "secret": "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"}


def clone(way, *args, egress=(HOST,), **shape):
    way.network.take()
    return way.run("git", "clone", *args, egress=egress, timeout=60, **shape)


def nothing_happened(way, hostile, answer):
    assert not os.path.exists(hostile["canary"]) and not (way.box.root / "made").exists(), answer.document
    assert way.network.take()["asked"] == [], answer.document


def test_arguments_are_a_closed_list(way, hostile):
    for option in OPTIONS:
        answer = clone(way, *(word.format(**hostile) for word in option), URL, "made")
        assert answer.outcome == "disallowed" and ".args." in answer["rule"], (option, answer.document)
        nothing_happened(way, hostile, answer)
    for url in URLS:
        answer = clone(way, "--", url.format(**hostile), "made")
        assert answer.outcome == "disallowed", (url, answer.document)
        nothing_happened(way, hostile, answer)


def test_only_https_is_a_transport(way, hostile):
    for url in TRANSPORTS:
        answer = clone(way, "-q", url, "made")
        assert answer.outcome == "exited" and answer.status == 128, (url, answer.document)
        nothing_happened(way, hostile, answer)


def test_only_granted_hosts_are_reached(way, hostile):
    answer = clone(way, "-q", URL, "made", egress=())
    assert answer.outcome == "exited" and answer.status == 128, answer.document
    nothing_happened(way, hostile, answer)
    assert clone(way, "-q", "https://other.example.org/x", "made", egress=("other.example.org",)).outcome != "exited"
    answer = clone(way, "-q", "https://other.example.org/x", "made")
    assert answer.status == 128
    nothing_happened(way, hostile, answer)
    # Without a grant the taken subcommand reaches nothing.
    way.policy = taking(way.box, "git-clone", extends="default")
    assert clone(way, "-q", URL, "made").outcome != "exited"


def test_a_redirect_is_not_followed(way, hostile):
    """Both hosts are granted and asked for, so that only git can refuse it."""
    moved = "https://web.example.org/moved/hostile.git"
    answer = clone(way, "-q", moved, "made", egress=(HOST, "web.example.org"))
    asked = way.network.take()["asked"]
    assert answer.status == 128 and not (way.box.root / "made").exists(), answer.document
    assert way.box.call(["git", "clone", "-q", moved, way.box.root / "made"]).status == 0
    assert any("/moved/" in one for one in asked) and not any(one.startswith(HOST) for one in asked), asked


def test_destination_is_beneath_the_root(way, hostile):
    for place in ("{outside}/made", "../outside/made", "link/made", "/tmp/made-by-clone"):
        answer = clone(way, "-q", URL, place.format(**hostile))
        assert answer.outcome == "disallowed" and not (way.box.outside / "made").exists(), answer.document


def test_a_configuration_at_the_root_changes_nothing(way, hostile):
    """Plainly called, git in such a directory does not read it for clone either; here it is held to that."""
    box = way.box
    assert box.call(["git", "init", "-q", box.root]).status == 0
    box.file("root/.git/config", f"""[core]
    repositoryformatversion = 0
    sshCommand = touch {hostile['canary']}
    fsmonitor = touch {hostile['canary']}
    hooksPath = {box.root}/hooks
[url "ext::sh -c touch% {hostile['canary']}"]
    insteadOf = https://git.example.org/
[url "https://web.example.org/"]
    insteadOf = https://git.example.org/
[protocol "ext"]
    allow = always
[credential]
    helper = !touch {hostile['canary']}
[filter "evil"]
    smudge = touch {hostile['canary']}
    required = true
[http]
    proxy = http://other.example.org
    sslVerify = false
""")
    box.directory("root/hooks")
    box.script("root/hooks/post-checkout", hostile["canary"])
    answer = clone(way, "-q", URL, "made")
    assert (answer.outcome, answer.status) == ("exited", 0), answer.document
    assert not os.path.exists(hostile["canary"])
    assert all(HOST in one for one in way.network.take()["asked"])


def test_ext_runs_a_program_without_chokepoint(way, hostile):
    way.box.call(["git", "-c", "protocol.ext.allow=always", "clone", f"ext::touch {hostile['canary']}", way.box.root / "made"])
    assert os.path.exists(hostile["canary"])
