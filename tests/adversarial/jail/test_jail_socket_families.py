"""Promise: What each jail holds.
Attacker: the tool. Means: sockets of families that a network namespace does not bound, or bounds
only in part: AF_VSOCK (the hypervisor), AF_NETLINK, AF_PACKET, AF_ALG (the kernel's ciphers, with
a history of holes), AF_XDP, and plain AF_INET.

Expected: there is no socket of any family. Families that this kernel may not have are refused too:
tests/support/kernel.py.
"""
import pytest

import kernel
from kernel import FAMILIES, NO_KIND

ORDINARY = ("inet", "inet6", "netlink", "unix")  # what anybody has everywhere


@pytest.mark.parametrize("name", FAMILIES)
def test_family_is_refused(cell, name):
    family, kind = FAMILIES[name]
    if name in ORDINARY or name == "alg" and kernel.has_alg():
        cell.succeeds_outside("breach_calls", "socket", family, kind)
    cell.refused_inside("breach_calls", "socket", family, kind, errnos="EAFNOSUPPORT")


@pytest.mark.parametrize("name", ["packet", "vsock"])
def test_family_of_root_is_refused(root_cell, name):
    root_cell.breaks_out_only_outside("breach_calls", "socket", *FAMILIES[name], errnos="EAFNOSUPPORT")


@pytest.mark.parametrize("name", FAMILIES)
def test_filter_is_what_refuses(cell, name):
    attack = ["breach_calls", "socket", FAMILIES[name][0], NO_KIND]
    assert b"EINVAL" in cell.run(*attack, jail="none").stream("stdout")
    cell.refused_inside(*attack, errnos="EAFNOSUPPORT")
