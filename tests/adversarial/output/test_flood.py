"""Promise: Output.
Attacker: the tool. Means: 10 GiB of output (make test: 5), on one stream and on both, against a cap of 1 MiB.

Expected: exactly the cap is kept, the marker and then the last bytes; the true length is reported;
the memory of the caller is what it is for 1 MiB of output.
"""
import json
import select

from command import MARK, captured, pattern
from feature import sanitized, scaled
from processes import PATIENCE_S, peak_kib, stat_of, wait_until
from promises import returns_in_time

MIB = 1 << 20
GIB = 1 << 30


def flood(box, size):
    """The document, and the command's peak memory when it had everything and was about to print: its stdout is a pipe
    that nobody has read yet, and the document does not fit."""
    env = box.environment(ASAN_OPTIONS="quarantine_size_mb=1") if sanitized() else None
    process = box.popen(["flood", str(size), "out"], env=env,
                        shape={"timeout": 300, "options": ["--max-output", str(MIB)]})
    assert select.select([process.stdout], [], [], 300)[0]
    wait_until(lambda: stat_of(process.pid)[0] == "S", "it waits for the reader")
    peak = peak_kib(process.pid)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    return json.loads(out), peak


def test_ten_gib_keep_the_tail_in_bounded_memory(user_box):
    size = scaled(10, 1, 5) * GIB + 12345  # more than 32 bits can count
    _, peak_for_cap = flood(user_box, MIB)
    document, peak = flood(user_box, size)
    kept = captured(document["stdout"])
    assert len(kept) == MIB
    assert kept == MARK + pattern(size - MIB + len(MARK), size)
    assert document["stdout"]["bytes"] == size
    assert document["stdout"]["truncated"] is True
    assert 0 < peak <= peak_for_cap + 1024, (peak, peak_for_cap)
    assert sanitized() or peak < 32 * 1024, peak


def test_both_streams_stay_under_cap_plus_one_mib_each(user_box):
    size = scaled(2, 1) * GIB
    env = user_box.environment(ASAN_OPTIONS="quarantine_size_mb=1") if sanitized() else None
    answer = user_box.host("host_memory", size, deadline=120, env=env)
    assert int(answer.out) <= 2 * 2 * 1024


def test_endless_output_ends_at_the_timeout(box):
    answer = returns_in_time(lambda: box.run("yes", timeout=2, options=["--max-output", str(MIB)]), 2)
    kept = answer.stream("stdout")
    assert answer.status == 124
    assert len(kept) == MIB
    assert kept.startswith(MARK)
    assert set(kept[len(MARK):]) == set(b"y\n")
    assert answer["stdout"]["bytes"] > MIB


def test_one_stream_does_not_starve_the_other(box):
    """A tool that fills stderr while it still has something to say on stdout would hang a naive reader."""
    script = f"'{box.bin}/flood' 10000000 err; echo said; '{box.bin}/flood' 10000000 err"
    answer = box.run("sh", "-c", script, options=["--max-output", "1000"])
    assert (answer.status, answer.stream("stdout")) == (0, b"said\n")
    assert len(answer.stream("stderr")) == 1000
    assert answer["stderr"]["bytes"] == 20000000
