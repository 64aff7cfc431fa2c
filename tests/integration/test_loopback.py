"""`loopback`: a test suite that listens runs in the jail (R87), and every report says so.

tests/adversarial/jail/test_loopback_escape.py attacks it.
"""
import functools
import json
import os
import re
import shutil
import socket

import pytest

import audit
import registry
from feature import full
from jails import OPENED
from no_userns import NoUserns

LISTENS = """
const assert = require('assert'), http = require('http'), dgram = require('dgram');
for (const host of ['127.0.0.1', '::1', 'localhost'])
  it('serves on ' + host, done => {
    const server = http.createServer((_, answer) => answer.end('served')).listen(0, host, () => {
      http.get({host, port: server.address().port}, answer => answer.on('data', text => {
        assert.equal(String(text), 'served'); server.close(); done(); }));
    });
  });
it('sends datagrams', done => {
  const socket = dgram.createSocket('udp4').on('message', () => { socket.close(); done(); });
  socket.bind(0, '127.0.0.1', () => socket.send('word', socket.address().port, '127.0.0.1'));
});
"""


@pytest.fixture
def listening(cell):
    """Runs an entry with `loopback` in a jail."""
    run = functools.partial(cell.run_entry, loopback=True)
    run.box, run.jail = cell.box, cell.jail
    return run


def sample(box):
    registry.project(box, "mocha", LISTENS)


def published(box):
    shutil.copytree(registry.suite(), box.root, symlinks=True, dirs_exist_ok=True)
    for parent, names, _ in os.walk(box.root):  # nyc writes there
        for name in names:
            box.own(os.path.join(parent, name))


OUTSIDE = {}


def passing(output):
    """How many tests passed, and how many failed."""
    return [int(next(iter(re.findall(rb"^ +(\d+) %s" % kind, output, re.MULTILINE)), 0)) for kind in (b"passing", b"failing")]


@pytest.mark.parametrize("make, least", [(sample, 4), *([(published, 2000)] if full() else [])])
def test_as_many_tests_pass_as_outside(once_cell, make, least):
    """`npm test` as it is, by the default policy. A full run also has the suite of a package (2,107 tests)."""
    make(once_cell.box)
    if make not in OUTSIDE:  # once is enough
        OUTSIDE[make] = once_cell.box.call(["npm", "test", "--ignore-scripts"], deadline=600)
    outside = OUTSIDE[make]
    inside = once_cell.run("npm", "test", policy="default", timeout=600, deadline=630)
    assert inside.outcome == "exited" and inside["loopback"] and inside["workspace_code"], inside.document
    count, failed = passing(outside.out)
    assert count >= least and failed == 0, outside
    assert passing(inside.stream("stdout")) == [count, 0] and inside.status == 0, inside.document


REACHES = """
const assert = require('assert'), net = require('net');
for (const host of ['127.0.0.1', '::1'])
  it('reaches ' + host, done => {
    const socket = net.connect(%d, host, () => { socket.destroy(); done(); }).on('error', done);
  });
"""


def test_suite_does_not_reach_the_host(cell):
    """The same suite reaches a service of the host without a jail."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as service:
        registry.project(cell.box, "mocha", REACHES % service.getsockname()[1])
        assert passing(cell.box.call(["npm", "test"]).out) == [2, 0]
        answer = cell.run("npm", "test", policy="default", timeout=60)
        assert passing(answer.stream("stdout")) == [0, 2], answer.document
        assert answer.stream("stdout").count(b"ECONNREFUSED") >= 2


def test_names_are_those_of_the_run(listening):
    answer = listening("cat", "/etc/hosts")
    assert answer.stream("stdout") == b"127.0.0.1 localhost jail\n::1 localhost ip6-localhost ip6-loopback\n"


def test_result_record_events_explain_and_show_say_it(listening):
    answer = listening("true", options=["--verbose"])
    assert answer["loopback"] and "net_ns" in answer["layers"]
    intent = next(record for record in audit.records(listening.box.log) if record["kind"] == "intent")
    assert intent["loopback"] is True
    started = next(event for event in map(json.loads, answer.err.splitlines()) if event["event"] == "subproc.started")
    assert started["loopback"] == "true"
    assert listening("true", options=["--dry-run"], outcome=None).document["loopback"]
    command = [listening.box.command, "policy", "show", str(listening.box.policy)]
    assert b"its own loopback" in b" ".join(listening.box.call(command).out.split())


def test_direct_tool_gets_a_jail(user_box):
    answer = user_box.run("true", policy=user_box.write_policy([user_box.entry("true", loopback=True)]))
    assert answer["jail"] == "native" and answer["loopback"], answer.document


def test_without_a_network_namespace_it_is_refused(user_box):
    policy = user_box.write_policy([user_box.entry("true", route="external", loopback=True)])
    answer = user_box.run("true", policy=policy, options=["--jail", "none"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.true.loopback"), answer.document
    machine = NoUserns(user_box, "container")
    answer = machine.run("attempt", "plain", "/bin/true", policy=machine.write_policy(attempt={"loopback": True}))
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.attempt.loopback"), answer.document


def test_own_servers_are_not_asked_through_the_proxy(listening):
    answer = listening("env", options=["--egress", "a.example.org"], egress=["a.example.org"])
    found = dict(line.split("=", 1) for line in answer.stream("stdout").decode().splitlines())
    assert found["NO_PROXY"] == found["no_proxy"] == "localhost,127.0.0.1,::1" and found["HTTPS_PROXY"]


def test_subcommand_has_its_own(listening):
    """As `npm test` of the default policy: the code of the repository and loopback, for one subcommand."""
    registry.project(listening.box, "mocha", LISTENS)
    args = {"subcommands": [{"name": "test", **OPENED, "loopback": True}, {"name": "ls"}]}
    answer = listening("npm", "test", args=args, uses=registry.HELPERS, loopback=False)
    assert answer.status == 0 and answer["loopback"] and answer["workspace_code"], answer.document
    answer = listening("npm", "ls", args=args, uses=registry.HELPERS, loopback=False)
    assert not answer["loopback"] and not answer["workspace_code"] and "execs" in answer["layers"], answer.document
    policy = listening.box.write_policy([listening.box.entry("npm", route="external", args=args)])
    answer = listening.box.run("npm", "test", policy=policy, options=["--jail", "none"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", "tools.npm.args.subcommands.test.workspace_code")
