"""Promise: Egress.
Attacker: a tool that may reach one host through the proxy. Means: direct attempts, without the
proxy. Datagrams (its own resolver), raw packets, other kinds of streams, which rules about TCP do
not see, families of the kernel; a listener of the host on loopback, at any port; a connection made
by sending; its own server for another process in the jail.

Expected: there are TCP sockets, and they reach the proxy and nothing else. Outside the jail the
same calls succeed.
"""
import ctypes
import re
import socket
import subprocess

import pytest

from processes import wait_until
from kernel import FAMILIES, NO_KIND
from network import TWIN

STREAM, DATAGRAM, RAW, RDM, SEQPACKET = 1, 2, 3, 4, 5
INET, INET6 = 2, 10
TCP, UDP, ICMP, SCTP, MPTCP, SMC = 6, 17, 1, 132, 262, 256
GATE = 3128
LANDLOCK_CREATE_RULESET = 444  # on every machine
# Kinds of sockets of the two families that there are, by what one would use them for.
KINDS = {"udp": (INET, DATAGRAM, 0), "udp6": (INET6, DATAGRAM, 0), "ping": (INET, DATAGRAM, ICMP),
         "raw": (INET, RAW, TCP), "raw6": (INET6, RAW, UDP), "mptcp": (INET, STREAM, MPTCP), "mptcp6": (INET6, STREAM, MPTCP),
         "sctp": (INET, STREAM, SCTP), "sctp packets": (INET, SEQPACKET, SCTP), "smc": (INET, STREAM, SMC),
         "rdm": (INET, RDM, 0), "packet": (INET, 10, 0)}
FLAGS = 0o2004000  # SOCK_CLOEXEC and SOCK_NONBLOCK


@pytest.fixture
def listener():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.listen(8)
        made.setblocking(False)
        yield made


def test_tcp_sockets_are_there(egress_cell):
    for family in (INET, INET6):
        for protocol in (0, TCP):
            egress_cell.succeeds_inside("breach_net", "socket", family, STREAM | FLAGS, protocol)


def test_the_gate_is_reached(egress_cell):
    egress_cell.succeeds_inside("breach_net", "reach", "127.0.0.1", GATE)


@pytest.mark.parametrize("name", KINDS)
def test_other_kind_of_socket_is_refused(egress_cell, name):
    family, kind, protocol = KINDS[name]
    egress_cell.refused_inside("breach_net", "socket", family, kind | FLAGS, protocol, errnos="EAFNOSUPPORT")
    if name in ("udp", "udp6", "mptcp", "mptcp6"):
        egress_cell.succeeds_outside("breach_net", "socket", family, kind, protocol)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("inet", "inet6")])
def test_other_family_is_refused(egress_cell, name):
    family, kind = FAMILIES[name]
    for given in (kind, NO_KIND, STREAM):
        egress_cell.refused_inside("breach_net", "socket", family, given, 0, errnos="EAFNOSUPPORT")


@pytest.mark.parametrize("kind", [(INET, DATAGRAM + (1 << 32), 0), (1 + (1 << 32), STREAM, 0), (INET, STREAM, MPTCP + (1 << 32))])
def test_kind_with_high_bits_is_refused(egress_cell, kind):
    """The kernel looks at the lower half."""
    egress_cell.succeeds_outside("breach_net", "socket", *kind)
    egress_cell.refused_inside("breach_net", "socket", *kind, errnos="EAFNOSUPPORT")


@pytest.mark.parametrize("way", ["reach", "fastopen", "again"])
def test_listener_of_the_host_is_not_reached(egress_cell, listener, way):
    port = listener.getsockname()[1]
    if way != "again":
        egress_cell.succeeds_outside("breach_net", way, "127.0.0.1", port)
        listener.accept()[0].close()
    egress_cell.refused_inside("breach_net", way, "127.0.0.1", port, errnos="EACCES ECONNREFUSED EOPNOTSUPP")
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_listener_of_the_host_at_the_same_port_is_not_reached(way):
    """Loopback has the address inside, too, and Landlock allows the port: nothing but the namespace keeps the two apart."""
    attack = ["breach_net", "reach", TWIN, str(GATE)]
    assert way.box.run(*attack, options=["--jail", "none"], policy=way.policy).status == 0
    wait_until(lambda: way.network.take()["asked"] == [f"twin:{GATE}"], "the stranger was reached without a jail")
    answer = way.fails(*attack)
    assert answer.stream("stdout") == b"refused: ECONNREFUSED (connect)\n" and way.network.take()["asked"] == []


def test_another_port_is_refused_by_landlock_where_it_can(egress_cell):
    """Nobody listens there; but should somebody one day, the kernel is asked first (ABI 4, Linux 6.7)."""
    abi = ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, 1)
    for way in ("reach", "again"):
        egress_cell.refused_inside("breach_net", way, "127.0.0.1", GATE + 1, errnos="EACCES" if abi >= 4 else "ECONNREFUSED")


@pytest.mark.parametrize("address", ["192.0.2.1", "10.0.0.1", "169.254.169.254", "2001:db8::1", "fe80::1", "::1"])
def test_no_address_is_reached_but_the_gate(egress_cell, address):
    """The port is the one that Landlock allows, so it is the namespace that refuses."""
    egress_cell.refused_inside("breach_net", "reach", address, GATE, errnos="ENETUNREACH EADDRNOTAVAIL ECONNREFUSED EINVAL")


@pytest.mark.parametrize("address,port", [("127.0.0.53", 53), ("127.0.0.1", 53), ("8.8.8.8", 53)])
def test_resolver_is_not_asked_by_hand(egress_cell, address, port):
    egress_cell.refused_inside("breach_net", "query", address, port, errnos="EAFNOSUPPORT")
    egress_cell.refused_inside("breach_net", "reach", address, port, errnos="EACCES ENETUNREACH ECONNREFUSED")


def test_datagram_leaves_without_a_jail(egress_cell):
    """That the test above is about something."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.bind(("127.0.0.1", 0))
        resolver.settimeout(60)
        egress_cell.succeeds_outside("breach_net", "query", "127.0.0.1", resolver.getsockname()[1])
        assert b"secret" in resolver.recv(512)


@pytest.mark.parametrize("attack", [("bind", 8080), ("bind", GATE), ("bind", 0), ("listen",)])
def test_there_is_no_server_inside(egress_cell, attack):
    if attack in (("bind", 0), ("listen",)):  # the others' ports may be somebody's
        egress_cell.succeeds_outside("breach_net", *attack)
    egress_cell.refused_inside("breach_net", *attack, errnos="EPERM")


def test_nothing_is_put_over_tcp(egress_cell):
    assert b"ENOENT" in egress_cell.run("breach_net", "over", jail="none", egress=False).stream("stdout")
    egress_cell.refused_inside("breach_net", "over", errnos="ENOPROTOOPT")


# ---- one warden after the other ----

COUNT = 8
ONLY_THE_GATE = [["0100007F:0C38", "00000000:0000", "0A"]]


def alternating_runs(cell, *argv, **more):
    """What each of the runs said: with egress, without, with, ..."""
    said = cell.box.host("host_egress_alternating", cell.jail, COUNT, cell.HOST, *argv, **more).out.decode()
    runs = re.split(r"^end \d+\n", said, flags=re.MULTILINE)[:-1]
    assert len(runs) == COUNT, said
    return runs


def test_run_without_egress_has_no_socket_after_one_that_had(egress_cell):
    egress_cell.succeeds_inside("breach_net", "reach", "127.0.0.1", GATE)
    said = alternating_runs(egress_cell, "breach_net", "reach", "127.0.0.1", GATE, policy=egress_cell.policy)
    assert said == ["done\n", "refused: EAFNOSUPPORT (socket)\n"] * (COUNT // 2)


def test_run_finds_nothing_of_the_one_before(egress_cell):
    """Its network has one socket, and no connection that another run had, not even one that is over."""
    for index, run in enumerate(alternating_runs(egress_cell, "breach_net", "look", policy=egress_cell.policy)):
        network, _, *table = run.splitlines()[:-1]
        assert network.startswith("net:["), run
        assert [line.split()[1:4] for line in table] == ([] if index % 2 else ONLY_THE_GATE), run


def test_two_runs_at_once_have_two_networks(egress_cell):
    """Each holds its own; the numbers of both are there at the same time, so neither can be used again."""
    policy = egress_cell.write_policy(more=[egress_cell.box.entry("sh", route="external", egress=[egress_cell.HOST],
                                                                  execs=["readlink", "cat"])])
    shape = {"policy": policy, "options": ["--jail", egress_cell.jail, "--egress", egress_cell.HOST], "form": "--stream"}
    args = ["sh", "-c", "readlink /proc/self/ns/net; cat"]
    running = [egress_cell.box.popen(args, shape={**shape, "options": [*shape["options"], "--stdin", "-"]},
                                     stdin=subprocess.PIPE) for _ in range(2)]
    networks = [process.stdout.readline() for process in running]
    for process in running:
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert all(network.startswith(b"net:[") for network in networks) and networks[0] != networks[1]
