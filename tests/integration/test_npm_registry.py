"""npm with a registry, by the default policy and a grant: install, ci and a lock file through the proxy of the run, then the
tests of the project in the sandbox; directly, and behind a proxy of the site that wants a password.

tests/adversarial/tools/test_npm_registry_*.py has repositories and registries that are hostile.
"""
import json

import pytest

import audit
import registry
from command import Box
from feature import full
from npm_registry import grant
from promises import tried
from site_proxy import PASSWORD, USER, SiteProxy
from upstreams import credentials

MOCHA = registry.MOCHA["mocha"]
SUITE = """const assert = require("assert");
it("passes", () => assert.equal(process.env.HTTPS_PROXY, undefined));
it("has no network", done => require("dns").lookup("example.org", error => done(error ? null : new Error("reached"))));
"""
# A full run has every combination.
SEATS = [("native", "user_box", "nothing"), ("native", "user_box", "a proxy"), ("native", "root_box", "a proxy"),
         ("bwrap", "user_box", "a proxy")]
SEATS += [("native", "root_box", "nothing"), ("bwrap", "user_box", "nothing"), ("bwrap", "root_box", "a proxy")] if full() else []


@pytest.fixture
def site():
    """A proxy of the site on loopback."""
    proxy = SiteProxy()
    yield proxy
    proxy.close()


@pytest.fixture(params=SEATS, ids="-".join)
def seat(request):
    """A caller with a jail, and whether a proxy of the site is in between."""
    jail, box, behind = request.param
    made = request.getfixturevalue(box)
    made.jail, made.behind = jail, behind
    return made


def project(box, url, **manifest):
    box.file("root/package.json", json.dumps({"name": "project", "version": "1.0.0", "scripts": {"test": "mocha"},
                                              "dependencies": {"mocha": MOCHA}, **manifest}))
    box.file("root/.npmrc", f"registry={url}\n")


def npm(box: Box, *argv, policy, options=(), expected=0):
    answer = box.run("npm", *argv, policy=policy, options=["--verbose", *options], timeout=120, deadline=180)
    assert (answer.outcome, answer["exit_code"] == 0) == ("exited", expected == 0), (answer.document, answer.err)
    return answer


def events(answer, kind):
    found = [json.loads(line) for line in answer.err.splitlines()]
    return [event for event in found if event["event"] == f"subproc.egress.{kind}"]


def test_project_with_many_dependencies_is_installed_and_tested(seat, mocha_registry, site):
    box, jail = seat, ["--jail", seat.jail]
    upstream = {"url": site.url, "credentials_file": str(credentials(box))} if box.behind == "a proxy" else None
    policy = grant(box, mocha_registry, upstream=upstream)
    egress = [*jail, "--egress", mocha_registry.host]
    project(box, mocha_registry.url)
    box.own(box.directory("root/test"))
    box.file("root/test/one.js", SUITE)
    answers = [npm(box, "install", "--package-lock-only", policy=policy, options=egress)]
    assert (box.root / "package-lock.json").exists() and not (box.root / "node_modules").exists()
    answers.append(npm(box, "ci", policy=policy, options=egress))
    installed = json.loads((box.root / "node_modules/.package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert len(installed) >= 50
    answers.append(npm(box, "test", policy=policy, options=[*jail, "--sandbox"]))
    assert b"2 passing" in answers[-1].stream("stdout") and answers[-1]["jail"] == seat.jail
    assert answers[1]["egress"]["allowed"] > 0 and answers[1]["egress"]["refused"] == answers[1]["egress"]["failed"] == 0
    wanted = {(site.url, None)} if upstream else {("", "127.0.0.1")}
    assert {(event["via"], event["address"]) for event in events(answers[1], "allowed")} == wanted
    assert (len(site.asked) >= 50) == bool(upstream)
    said = b"".join(answer.out + answer.err for answer in answers) + box.log.read_bytes()
    assert PASSWORD.encode() not in said and USER.encode() not in said


def test_install_without_a_lock_file(user_box, mocha_registry):
    policy = grant(user_box, mocha_registry)
    project(user_box, mocha_registry.url, dependencies={"ms": "*"})
    npm(user_box, "install", policy=policy, options=["--egress", mocha_registry.host])
    assert (user_box.root / "node_modules/ms/package.json").exists() and (user_box.root / "package-lock.json").exists()
    kinds = [record["kind"] for record in audit.records(user_box.log)]
    assert kinds[0] == "begin" and kinds[1] == "intent" and kinds[-1] == "outcome" and "egress" in kinds


# ---- without a network ----

def test_install_without_egress_fails_within_two_seconds_and_says_what_to_add(user_box):
    project(user_box, "https://registry.npmjs.org/")
    for command in (["install"], ["install", "--package-lock-only"]):
        answer = tried(lambda words=tuple(command): npm(user_box, *words, policy="default", expected=1),
                       lambda answer: answer["duration_ms"] < 2000)
        assert answer["egress_offer"] == ["registry.npmjs.org"] and b"ENOTCACHED" in answer.stream("stderr")
    answer = user_box.call(user_box.run_argv(["npm", "install"], form="", policy="default"))
    assert answer.err.endswith(b"chokepoint: 'npm' had no network; if it needs one, add --egress registry.npmjs.org\n")


def test_what_needs_no_network_works_without_it_and_offers_nothing(user_box):
    user_box.own(user_box.directory("root/dep"))
    user_box.file("root/dep/package.json", json.dumps({"name": "dep", "version": "1.0.0"}))
    project(user_box, "https://registry.npmjs.org/", dependencies={"dep": "file:./dep"})
    answer = user_box.call(user_box.run_argv(["npm", "install"], form="", policy="default"))
    assert answer.status == 0 and b"had no network" not in answer.err, answer.err


def test_offline_variable_is_set_only_where_there_is_no_network(user_box):
    def environment(*options):
        answer = user_box.run("npm", "ci", policy="default", options=["--dry-run", *options])
        return answer["env"]
    assert "NPM_CONFIG_OFFLINE=true" in environment()
    assert not any("OFFLINE" in variable for variable in environment("--egress", "registry.npmjs.org"))
    assert not any("OFFLINE" in variable for variable in environment("--jail", "none"))


# ---- what would run later ----

def test_overlay_lists_what_would_run_later_and_leaves_the_root_alone(user_box, scripts_registry):
    policy = grant(user_box, scripts_registry)
    project(user_box, scripts_registry.url, dependencies={"scripted": "1.0.0"})
    answer = npm(user_box, "install", policy=policy, options=["--overlay", "--egress", scripts_registry.host])
    later = {change["path"]: change["runs_later"] for change in answer["changes"] if change["runs_later"]}
    assert later["node_modules/scripted/package.json"] == "package script"
    assert later["node_modules/scripted/run.js"] and later["node_modules/.bin/scripted"] and "package-lock.json" in later
    assert sorted(path.name for path in user_box.root.iterdir()) == [".npmrc", "package.json"]
    kept = user_box.directory("kept", 0o700)
    npm(user_box, "install", policy=policy, options=["--overlay", "--keep", str(kept), "--egress", scripts_registry.host])
    assert (kept / "node_modules/scripted/package.json").exists() and not (user_box.root / "node_modules").exists()


@pytest.mark.parametrize("jail,outcome", [("bwrap", "jail_unavailable"), ("none", "jail_unavailable"), ("native", "exited")])
def test_overlay_needs_the_native_jail(user_box, jail, outcome):
    project(user_box, "https://registry.npmjs.org/", dependencies={})
    answer = user_box.run("npm", "ls", policy="default", options=["--overlay", "--jail", jail])
    assert answer.outcome == outcome and (outcome == "exited" or "--overlay" in answer.message)


def test_overlay_changes_nothing_where_the_root_is_read_only(user_box):
    policy = user_box.write_policy([user_box.entry("touch", route="external")])
    answer = user_box.run("touch", "new", policy=policy, options=["--overlay"])
    assert answer["exit_code"] == 1 and answer["changes"] is None
