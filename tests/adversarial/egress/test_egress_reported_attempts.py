"""Promise: Egress.
Attacker: a tool that may reach one host through the proxy. Means: direct attempts, which fail, but
might not be noticed: connections to addresses, a connection by sending, sockets of other kinds;
and a flood of them, to fill the log or to keep the listener busy.

Expected: each attempt is refused, and reported once: an event, a record, a number in the result.
Up to a limit each is reported, and then that there are more. Connections to the proxy are not
among them, nor the sockets that libraries always open.
"""
import json

import pytest

import audit
from jails import JAILS
from no_userns import helper, on_fake_kernel

STREAM, RAW, MPTCP = 1, 3, 262
UNIX, INET, NETLINK, PACKET = 1, 2, 16, 17
MOST = 64  # CK_DIRECT_ATTEMPTS_MAX
DIRECT_ATTEMPTS = {
    "a connection": (("reach", "192.0.2.1", 443), ("tcp", "192.0.2.1", "443")),
    "of IPv6": (("reach", "2001:db8::1", 80), ("tcp", "2001:db8::1", "80")),
    "to an IPv4 address written as IPv6": (("reach", "::ffff:192.0.2.1", 22), ("tcp", "192.0.2.1", "22")),
    "to the port of the gate elsewhere": (("reach", "192.0.2.1", 3128), ("tcp", "192.0.2.1", "3128")),
    "to a neighbour of the gate": (("again", "127.0.0.1", 3129), ("tcp", "127.0.0.1", "3129")),
    "by sending": (("fastopen", "192.0.2.1", 80), ("tcp", "192.0.2.1", "80")),
    "a question to a resolver": (("query", "8.8.8.8", 53), ("udp", "", "0")),
    "packets": (("socket", PACKET, RAW, 0), ("packet", "", "0")),
    "a raw socket": (("socket", INET, RAW, 6), ("raw", "", "0")),
    "another kind of stream": (("socket", INET, STREAM, MPTCP), ("mptcp", "", "0")),
}


def refusals(answer):
    found = [json.loads(line) for line in answer.err.splitlines()]
    return [event for event in found if event["event"] == "subproc.egress.refused"]


@pytest.mark.parametrize("name", DIRECT_ATTEMPTS)
def test_direct_attempt_is_reported(egress_cell, name):
    attack, (protocol, address, port) = DIRECT_ATTEMPTS[name]
    answer = egress_cell.refused_inside("breach_net", *attack, options=["--verbose", "--probe", "some_probe"])
    assert "egress_named" in answer["layers"]
    event, = refusals(answer)
    expected = {"tool": "breach_net", "host": address, "address": address, "port": port, "protocol": protocol, "rule": "",
                "connection": "0", "reason": "direct", "probe_name": "some_probe"}
    assert {key: event.get(key, "") for key in expected} == expected
    assert answer["egress"]["refused"] == 1 and answer["limit_hit"] is None
    record, = [record for record in audit.records(egress_cell.box.log) if record["kind"] == "egress"]
    assert (record["verdict"], record["protocol"], record["address"], record["port"], record["reason"]) == (
        "refused", protocol, address, int(port), "direct")


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"])
def test_gate_is_not_reached_otherwise(egress_cell, address):
    answer = egress_cell.succeeds_inside("breach_net", "reach", address, 3128, options=["--verbose"])
    assert refusals(answer) == [] and answer["egress"]["refused"] == 0


@pytest.mark.parametrize("family", [UNIX, NETLINK])
def test_sockets_that_libraries_try_are_not_reported(egress_cell, family):
    answer = egress_cell.refused_inside("breach_net", "socket", family, RAW if family == NETLINK else STREAM, 0,
                                        errnos="EAFNOSUPPORT", options=["--verbose"])
    assert refusals(answer) == [] and answer["egress"]["refused"] == 0


def test_flood_is_reported_once_and_ends(egress_cell):
    """Each is tried twice, while many signals come; and the gate works after it all."""
    answer = egress_cell.succeeds_inside("breach_net", "scatter", 1000, options=["--verbose"])
    *events, last = refusals(answer)
    assert [event["address"] for event in events] == [f"198.18.0.{i}" for i in range(MOST)]
    assert last.get("address", "") == "" and str(MOST) in last["message"]
    assert answer["egress"]["refused"] == MOST + 1


@pytest.mark.parametrize("jail", JAILS)
def test_direct_attempt_is_refused_where_it_cannot_be_reported(user_box, jail):
    policy = user_box.write_policy([user_box.entry("breach_net", route="external", egress=["a.example.org"]),
                                    user_box.entry("bwrap", route="jail")])
    options = ["--jail", jail, "--egress", "a.example.org", "--verbose"]
    answer = on_fake_kernel(user_box, "unasked", "breach_net", "reach", "192.0.2.1", "3128", policy=policy, options=options)
    assert answer.stream("stdout") == b"refused: ENETUNREACH (connect)\n" and refusals(answer) == []
    assert "egress" in answer["layers"] and "egress_named" not in answer["layers"]
    answer = on_fake_kernel(user_box, "unasked", "breach_net", "reach", "127.0.0.1", "3128", policy=policy, options=options)
    assert answer.status == 0


def test_doctor_reports_where_it_cannot_be(user_box):
    policy = user_box.write_policy([user_box.entry("breach_net"), user_box.entry("bwrap", route="jail")])
    args = [user_box.command, "doctor", "--json", "--policy", str(policy)]
    for prefix, said in (([], "are reported"), ([helper(user_box, "fake_kernel"), "unasked"], "are not reported")):
        layers = {layer["name"]: layer for layer in json.loads(user_box.call([*prefix, *args]).out)["layers"]}
        for jail in JAILS:
            assert layers[f"{jail}-egress"]["detail"].endswith(said)
