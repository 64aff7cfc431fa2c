"""Promise: Credentials.
Attacker: a program in the cage of guard whose requests get a secret, everything that it starts, and whoever reads what
guard leaves. Means: variables, arguments, memory and descriptors of every process that it sees, every file that it can
read, the tools behind the doors; and outside records, the report, events, messages, the process list, a core dump.

Expected: the host gets the secret, and it is nowhere else. In the guard itself it is only in memory that is not dumped.
"""
import contextlib
import re

import pytest

from guards import Guarded
from processes import command_line, descendants, executes, proc_file, wait_until
from tls_hosts import HEADER, VALUE, answer_heads

WORD = b"4711-secret-word"  # of VALUE
SEARCH = r"""
curl -sS --max-time 60 "http://$1/v1" || exit 3
: > ready
until [ -e go ]; do read -t 0.05 <> <(:); done
for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/auxv /proc/[0-9]*/fd/* /proc/[0-9]*/fdinfo/*; do
    [ -f "$file" ] && grep -aq '4711-secre[t]-word' "$file" && echo "found in $file"
done < /dev/null 2> /dev/null
grep -arl '4711-secre[t]-word' . /tmp /dev/shm /etc "$HOME" /run /var 2> /dev/null | sed 's/^/found in /'
echo; env | grep -c '4711-secre[t]'
cat "$2"; ls -l "$2"
printenv; exit 0
"""


def secret_file(box, text=VALUE + "\n", name="policy/key", mode=0o600):
    return box.file(name, text, mode)


@pytest.fixture
def held(network_box, cage_victims):
    """A program in the cage, in the private network."""
    return Guarded(network_box, cage_victims)


@pytest.fixture
def asked(held, secure_hosts, authority):
    """A host with a secret, a policy that lists it, and the options of guard."""
    host = secure_hosts(answer_heads())
    held.set_policy(carriers=("bash", "sh", "curl", "grep", "env"), section={"egress": [host.target]})
    held.file = secret_file(held.box)
    host.options = ["--secret", f"{host.target},{HEADER}={held.file}", "--secret-ca", str(authority.pem)]
    return host


def memory_with(pid, word):
    """Regions of a process that have the word, with their flags. None of one that has ended."""
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        regions = re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", proc_file(pid, "smaps").decode())
        for region in regions[1:]:
            first, last = (int(text, 16) for text in region.split(" ", 1)[0].split("-"))
            if "VmFlags:" not in region or not region.split(" ", 2)[1].startswith("r") or "[v" in region.split("\n", 1)[0]:
                continue
            memory.seek(first)
            if word in memory.read(last - first):
                found.append(region.split("VmFlags:")[1].split())
    return found


def test_secret_is_nowhere(held, asked):
    box = held.box
    process = box.popen(held.argv("bash", "-c", SEARCH, "bash", asked.target, held.file, options=asked.options), raw=True)
    wait_until(lambda: (box.root / "ready").exists() or process.poll() is not None, "the request is answered")
    if process.poll() is None:
        guard = next(pid for pid in [process.pid, *descendants(process.pid)]
                     if b"\0guard\0" in command_line(pid) and executes(pid, "/chokepoint"))
        regions = memory_with(guard, WORD)
        for pid in descendants(process.pid):
            for name in ("environ", "cmdline"):
                assert WORD not in proc_file(pid, name)
        assert regions and all("dd" in flags for flags in regions), regions
        for pid in set(descendants(guard)):
            assert memory_with(pid, WORD) == []
    box.file("root/go")
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, (out, err)
    assert b"found in" not in out and WORD not in out and WORD not in err, (out, err)
    assert b"\n0\n" in out and b"ok" in out
    head = asked.wait_received()[0]
    assert head.count(VALUE.encode()) == 1
    for path in (box.log, held.report_path):
        data = path.read_bytes()
        assert WORD not in data and HEADER.encode() in data and b"web.example.org" in data
    for path in box.root.rglob("*"):
        assert WORD not in path.read_bytes()


def test_tool_behind_a_door_gets_no_secret(held, asked, secure_hosts):
    """The same request by a tool that has egress of its own."""
    held.set_policy(carriers=("bash",), tools=("cat",), section={"egress": [asked.target]},
                    more=[held.tool("curl", egress=[asked.target])])
    answer = held.shell(f"curl -sS --max-time 20 http://{asked.target}/v1", options=["--quiet", *asked.options])
    assert not answer.out.endswith(b"ok") and VALUE.encode() not in b"".join(asked.received_data) + answer.out + answer.err
