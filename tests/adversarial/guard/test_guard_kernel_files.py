"""Promise: A guarded program.
Attacker: a carrier, also with the uid of root. Means: files by which the kernel is configured or asked: /proc/sys
(core_pattern would run a program of the host), /sys, /proc/sysrq-trigger, devices, mounts, namespaces, and terminals
(TIOCSTI types for their user).

Expected (R91): none of them can be written, and none of these calls is allowed.
"""
import pytest

FILES = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/memfd_noexec", "/proc/sysrq-trigger",
         "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper", "/dev/kmsg", "/dev/mem",
         "/sys/fs/cgroup/cgroup.procs", "/etc/passwd", "/usr/bin/planted"]


@pytest.mark.parametrize("path", FILES)
def test_file_is_not_opened_for_writing(guarded, path):
    """Nothing is written: a failure of this test must not harm the machine."""
    answer = guarded.shell(f": >> {path}; echo $?")
    assert answer.out == b"1\n", answer


@pytest.mark.parametrize("attack", [["breach_mounts", "unshare"], ["breach_mounts", "clone"], ["breach_mounts", "clone3"],
                                    ["breach_calls", "uring"], ["breach_calls", "bpf"], ["breach_calls", "keyring"],
                                    ["breach_calls", "request", "0x5412"], ["breach_calls", "socket", "1", "1"]])
def test_call_is_refused(guarded, attack):
    guarded.set_policy(carriers=["bash", attack[0]], tools=["cat"])
    answer = guarded.inside(*attack)
    assert answer.status == 113, answer


@pytest.mark.parametrize("way", ["/run", "/var/run", "/root", "/home", "/run/user", "/var/lib/docker"])
def test_place_of_the_host_is_not_there(guarded, way):
    answer = guarded.shell(f"for f in {way}/* {way}/.[!.]*; do [ -e \"$f\" ] && echo \"$f\"; done; echo end")
    assert answer.out == b"end\n" or str(guarded.box.base).encode() in answer.out, answer
