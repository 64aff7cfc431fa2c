"""Promise: Egress.
Attacker: a tool whose entry has `loopback`; a program of the repository that has `workspace_code` too.
Means: its sockets, towards services of the host on 127.0.0.1 and ::1, abstract sockets and sockets in
files, other machines, the kernel's own families, the loopback of another run; with egress, the port of
the proxy, which it takes or pretends to be.

Expected (R87): TCP and UDP within the run's own loopback, and nothing else. Outside the jail the same
calls reach the host.
"""
import re
import socket

import pytest

from conftest import CELLS
from jails import LoopbackCell, WorkspaceLoopbackCell
from kernel import FAMILIES
from test_jail_sockets import (  # noqa: F401 - they are made again, on the cell of this file
    listen, reached_only_outside, test_abstract_socket_is_not_reached, test_loopback_is_not_reached,
    test_socket_in_the_repository_is_not_reached, test_socket_outside_of_the_repository_is_not_reached)

STREAM, DATAGRAM, RAW, RDM, SEQPACKET = 1, 2, 3, 4, 5
INET, INET6 = 2, 10
TCP, UDP, ICMP, SCTP, MPTCP, UDPLITE = 6, 17, 1, 132, 262, 136
GATE = 3128
REFUSED_KINDS = {"ping": (INET, DATAGRAM, ICMP), "ping6": (INET6, DATAGRAM, 58), "raw": (INET, RAW, TCP),
                 "raw6": (INET6, RAW, UDP), "mptcp": (INET, STREAM, MPTCP), "sctp": (INET, STREAM, SCTP),
                 "sctp packets": (INET, SEQPACKET, SCTP), "udplite": (INET, DATAGRAM, UDPLITE), "rdm": (INET, RDM, 0)}


@pytest.fixture(params=[*CELLS, "repository"])
def cell(request, once_box):
    """For one kind of caller: the network is the same for each. The attacks with egress have both. "repository": the
    attacker is a program of the repository, which has `workspace_code` too."""
    if request.param == "repository":
        return WorkspaceLoopbackCell(once_box, "native")
    return LoopbackCell(once_box, request.param)


@pytest.fixture(params=CELLS)
def gated(request, box):
    return LoopbackCell(box, request.param, egress=True)


@pytest.mark.parametrize("family,kind,protocol", [
    (INET, STREAM, 0), (INET, STREAM, TCP), (INET6, STREAM, 0), (INET, DATAGRAM, 0), (INET, DATAGRAM, UDP), (INET6, DATAGRAM, UDP)])
def test_tcp_and_udp_are_there(cell, family, kind, protocol):
    cell.succeeds_inside("breach_net", "socket", family, kind, protocol)


@pytest.mark.parametrize("egress", [False, True])
def test_other_kinds_are_refused(box, egress):
    for jail in CELLS:
        cell = LoopbackCell(box, jail, egress)
        for family, kind, protocol in REFUSED_KINDS.values():
            cell.refused_inside("breach_net", "socket", family, kind, protocol, errnos="EAFNOSUPPORT")
        for name, (family, kind) in FAMILIES.items():
            if name not in ("inet", "inet6"):
                cell.refused_inside("breach_net", "socket", family, kind, 0, errnos="EAFNOSUPPORT")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "127.255.255.254", "::1", "::", "::ffff:127.0.0.1", "0.0.0.0"])
def test_service_of_the_host_is_not_reached(cell, address):
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as service:
        port = service.getsockname()[1]
        cell.succeeds_outside("breach_net", "reach", address, port)
        service.accept()[0].close()
        cell.refused_inside("breach_net", "reach", address, port, errnos="ECONNREFUSED")
        service.setblocking(False)
        with pytest.raises(BlockingIOError):
            service.accept()


def test_resolver_of_the_host_is_not_asked(cell):
    """A datagram goes to the run's own loopback, where nobody reads it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.bind(("127.0.0.1", 0))
        resolver.settimeout(5)
        attack = ["breach_net", "query", "127.0.0.1", resolver.getsockname()[1]]
        cell.succeeds_outside(*attack)
        assert b"secret" in resolver.recv(512)
        cell.inside(*attack)
        resolver.setblocking(False)
        with pytest.raises(BlockingIOError):
            resolver.recv(512)


@pytest.mark.parametrize("address", ["192.0.2.1", "10.0.0.1", "169.254.169.254", "2001:db8::1", "fe80::1", "224.0.0.1"])
@pytest.mark.parametrize("way", ["reach", "query"])
def test_nothing_else_is_reached(cell, address, way):
    cell.refused_inside("breach_net", way, address, 53, errnos="ENETUNREACH EADDRNOTAVAIL EINVAL")


def test_each_run_has_its_own(cell):
    """A server of one run is not there for another that runs beside it. It serves until there is a file 'stop'."""
    serve = ("require('net').createServer().listen(4567, '127.0.0.1', () => console.log('up')); "
             "setInterval(() => require('fs').existsSync('stop') && process.exit(0), 20)")
    policy = cell.write_policy(more=[cell.box.entry("node", route="external", loopback=True)])
    server = cell.box.popen(["node", "-e", serve], shape={"options": ["--jail", cell.jail], "policy": policy, "form": "--stream"})
    assert server.stdout.readline() == b"up\n"
    cell.refused_inside("breach_net", "reach", "127.0.0.1", 4567, policy=policy, errnos="ECONNREFUSED")
    assert server.poll() is None
    cell.box.file("root/stop")
    assert server.wait() == 0


def test_run_without_it_has_no_sockets(cell):
    policy = cell.write_policy(breach_net={"loopback": False})
    answer = cell.run("breach_net", "socket", INET, STREAM, 0, policy=policy)
    assert b"refused: EAFNOSUPPORT" in answer.stream("stdout") and not answer["loopback"], answer.document


# ---- with egress ----

TAKE = """
import socket
for family, address in ((2, "127.0.0.1"), (2, "0.0.0.0"), (2, "127.0.0.2"), (2, ""), (10, "::1"), (10, "::")):
    for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        s = socket.socket(family)
        if option:
            s.setsockopt(socket.SOL_SOCKET, option, 1)
        try:
            s.bind((address, %d))
            s.listen(1)
            print("taken", family, address, option)
        except OSError as error:
            print(error.errno)
        s.close()
"""


def test_port_of_the_proxy_is_not_taken(gated):
    policy = gated.write_policy(more=[gated.box.entry("python3", route="external", loopback=True, egress=[gated.HOST])])
    answer = gated.inside("python3", "-c", TAKE % GATE, policy=policy)
    assert set(answer.stream("stdout").split(b"\n")) == {b"98", b""}, answer.document  # EADDRINUSE
    free = gated.inside("python3", "-c", TAKE % 4000, policy=policy).stream("stdout")
    assert free.count(b"taken") == 18, free


def test_proxy_is_reached_and_asked(gated):
    """The listener has every address of the run's loopback; it is the proxy at each of them."""
    for address in ("127.0.0.1", "127.0.0.2", "::1"):
        gated.succeeds_inside("breach_net", "reach", address, GATE)


def test_own_loopback_is_no_direct_attempt(gated):
    for address in ("127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"):
        answer = gated.refused_inside("breach_net", "reach", address, 9, options=["--verbose"], errnos="ECONNREFUSED")
        assert b"subproc.egress.refused" not in answer.err and answer["egress"]["refused"] == 0, answer.document


@pytest.mark.parametrize("attack", [("reach", "192.0.2.1", 80), ("reach", "2001:db8::1", 80), ("fastopen", "192.0.2.1", 80)])
def test_direct_attempt_is_still_reported(gated, attack):
    answer = gated.refused_inside("breach_net", *attack, options=["--verbose"])
    assert re.search(rb"subproc\.egress\.refused.*direct", answer.err), answer.err


def test_nothing_is_put_over_tcp(cell):
    cell.refused_inside("breach_net", "over", errnos="ENOPROTOOPT")
