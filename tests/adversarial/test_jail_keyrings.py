"""Attacker: the tool. Means: the kernel's keyrings, which belong to the user and not to a namespace of the run: a key that is left
there is found by the next run, and keys of the caller's (of an encrypted disk, of Kerberos) could be used.

Expected: refused.
"""
import os
import uuid

import pytest

SYS_ADD_KEY, SYS_KEYCTL, USER_KEYRING, REVOKE = 248, 250, -4, 3


def test_no_key_is_left(cell):
    answer = cell.breaks_out_only_outside("breach_calls", "keyring", errnos="EPERM")
    assert b"(add_key)" in answer.stream("stdout")


def test_no_keyring_is_found(cell):
    cell.breaks_out_only_outside("breach_calls", "find_keyring", errnos="EPERM")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the calls are this machine's")
def test_no_key_of_the_callers_is_used(root_cell):
    import ctypes
    name = "choke-" + uuid.uuid4().hex
    libc = ctypes.CDLL(None, use_errno=True)
    key = libc.syscall(SYS_ADD_KEY, b"user", name.encode(), b"secret", 6, USER_KEYRING)
    assert key > 0, os.strerror(ctypes.get_errno())
    try:
        root_cell.breaks_out_only_outside("breach_calls", "request_key", name, errnos="EPERM")
    finally:
        libc.syscall(SYS_KEYCTL, REVOKE, key)
