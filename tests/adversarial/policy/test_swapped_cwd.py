"""Promise: The directory.
Attacker: another process that may write in the root. Means: it exchanges the working directory for a link that
leads out, before, during and after its resolution.

Expected: no tool ever runs with a directory outside the root. It is refused as "cwd", or it runs beneath the root;
and once it runs it keeps the directory it was given.
"""
import os

from feature import scaled
from processes import PATIENCE_S


def test_race_is_never_won(box):
    answer = box.host("host_race", scaled(2000, 500), box.outside, deadline=120)
    fields = answer.out.split()
    ran, refused = int(fields[2]), int(fields[4])
    assert ran > 0 and refused > 0, "the race was not run: " + answer.out.decode()


def test_swap_before_the_run_is_refused(box):
    work = box.directory("root/work")
    work.rename(box.root / "away")
    (box.root / "work").symlink_to(box.outside)
    answer = box.run("say_state", cwd=work)
    assert (answer.status, answer.outcome) == (125, "cwd")


def test_swap_during_the_run_does_not_move_the_tool(box):
    work = box.directory("root/work")
    box.file("root/work/who", "inside")
    box.file("outside/who", "outside")
    process = box.popen(["sh", "-c", "echo ready; read go; cat who"], stdin=-1,
                        shape={"cwd": work, "form": "--stream", "options": ["--stdin", "-"]})
    assert process.stdout.readline() == b"ready\n"
    work.rename(box.root / "away")
    os.symlink(box.outside, work)
    process.stdin.write(b"go\n")
    process.stdin.close()
    process.stdin = None
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (0, b"inside")
