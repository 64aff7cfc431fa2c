"""Promise: What each jail holds.
Attacker: the tool. Means: the kernel's keyrings, which belong to the user and not to a namespace
of the run: a key that is left there is found by the next run, and keys of the caller (of an
encrypted disk, of Kerberos) could be used, or found by name in /proc/keys.

Expected: refused.
"""
import ctypes
import os
import uuid

from feature import needs_machine
from no_userns import NoUserns

SYS_ADD_KEY, SYS_KEYCTL, USER_KEYRING, REVOKE = 248, 250, -4, 3


def test_no_key_is_left(cell):
    answer = cell.breaks_out_only_outside("breach_calls", "keyring", errnos="EPERM")
    assert b"(add_key)" in answer.stream("stdout")


def test_no_keyring_is_found(cell):
    cell.breaks_out_only_outside("breach_calls", "find_keyring", errnos="EPERM")


def test_no_key_of_the_callers_is_used(root_cell):
    needs_machine("x86_64")  # the numbers of the calls are
    name = "choke-" + uuid.uuid4().hex
    libc = ctypes.CDLL(None, use_errno=True)
    key = libc.syscall(SYS_ADD_KEY, b"user", name.encode(), b"secret", 6, USER_KEYRING)
    assert key > 0, os.strerror(ctypes.get_errno())
    try:
        root_cell.breaks_out_only_outside("breach_calls", "request_key", name, errnos="EPERM")
    finally:
        libc.syscall(SYS_KEYCTL, REVOKE, key)


def test_keys_are_not_listed(cell):
    """The list is the user's, in every namespace."""
    attack = ["breach_files", "read", "/proc/keys"]
    cell.succeeds_outside(*attack)
    cell.refused_inside(*attack, errnos="EACCES")


def test_keys_are_not_listed_without_namespaces(box):
    NoUserns(box, "container").refused_inside("breach_files", "read", "/proc/keys", errnos="EACCES")


def test_what_runtimes_ask_of_the_machine_is_there(cell):
    for name in ("cpuinfo", "meminfo", "stat", "uptime", "sys/kernel/osrelease", "self/status"):
        cell.succeeds_inside("breach_files", "read", f"/proc/{name}")
