"""Promise: An overlay and its changes.
Attacker: a tool with `workspace: overlay`. Means: it leaves a tree to attack whoever reads it
afterwards: symlinks to secrets, names of any bytes, closed directories, trees deeper than a path,
a huge number of entries.

Expected: nothing outside the overlay is touched or read, the list is bounded and says when it is
incomplete."""
import base64
import os

import pytest

from feature import scaled
from overlays import OverlayBox, listed


@pytest.fixture
def overlay_box(box):
    return OverlayBox(box)


@pytest.fixture
def once(once_box):
    """A layer is made, filled and read by the same code for root; only the bound matters here."""
    return OverlayBox(once_box)


def test_links_to_secrets_are_kept_as_links(overlay_box):
    secret = overlay_box.box.file("outside/secret", "secret")
    directory = overlay_box.box.home / "kept"
    answer = overlay_box.sh(f"ln -s {secret} a; rm -r d; ln -s {overlay_box.box.outside} d; ln -s /proc/self/root b; "
                        f"rm package.json; ln -s {secret} package.json", options=["--keep", str(directory)])
    assert listed(answer) == {
        "a": ("added", "link", "leads out of the root"), "d": ("modified", "link", "leads out of the root"),
        "b": ("added", "link", "leads out of the root"), "package.json": ("modified", "link", "leads out of the root")}
    assert sorted(os.listdir(directory)) == ["a", "b", "d", "package.json"]
    assert all(os.path.islink(directory / name) for name in os.listdir(directory))
    assert os.listdir(overlay_box.box.outside) == ["secret"]


def test_names_of_any_bytes(overlay_box):
    directory = overlay_box.box.home / "kept"
    answer = overlay_box.python(r"""
import os
for name in (b"a\nb", b"\xff\xfe", b"\x1b[2J", b"-rf", b" ", b'"', "\u202e".encode()):
    os.close(os.open(name, os.O_CREAT))
""", options=["--keep", str(directory)])
    names = {base64.b64decode(path["base64"]) if isinstance(path, dict) else path.encode()
             for path in (change["path"] for change in answer["changes"])}
    assert names == {b"a\nb", b"\xff\xfe", b"\x1b[2J", b"-rf", b" ", b'"', "\u202e".encode()}
    assert set(os.listdir(os.fsencode(str(directory)))) == names


def test_closed_directories_hide_nothing(overlay_box):
    answer = overlay_box.sh("mkdir -p x/y; echo '#!' > x/y/z; chmod 0 x/y/z x/y x; chmod 0 .")
    assert listed(answer) == {".": ("mode", "dir", None), "x": ("added", "dir", None), "x/y": ("added", "dir", None),
                              "x/y/z": ("added", "file", "script")}


def test_tree_deeper_than_a_path(overlay_box):
    answer = overlay_box.python("""
import os
for i in range(2000):
    os.mkdir("d" * 100); os.chdir("d" * 100)
""")
    assert answer["changes_incomplete"] and 30 <= len(answer["changes"]) <= 45


def test_more_entries_than_are_looked_at(once):
    count = scaled(150_000, 110_000)
    answer = once.python(f"""
import os
for i in range({count}):
    if i % 1000 == 0: os.mkdir(str(i)); os.chdir(str(i))
    os.close(os.open(str(i) + ".x", os.O_CREAT))
    if i % 1000 == 999: os.chdir("/work")
""", timeout=60, deadline=90)
    assert answer["changes_incomplete"] and len(answer["changes"]) <= 100_000


def test_more_entries_than_there_are_inodes(once):
    answer = once.run("python3", "-I", "-S", "-c", """
import os
made = 0
try:
    while made < 300_000:
        os.mkfifo(str(made)); made += 1
except OSError as error:
    print(error.errno, made)
""", timeout=60, deadline=90)
    number, made = answer.stream("stdout").split()
    assert number == b"28" and int(made) < 210_000  # ENOSPC
    assert answer["changes_incomplete"]
    once.nothing_changed()


def test_whole_repository_deleted(overlay_box):
    answer = overlay_box.sh("rm -rf .git * ; ls -A")
    assert answer.stream("stdout") == b""
    assert listed(answer) == {".git": ("deleted", "dir", None), "d": ("deleted", "dir", None),
                              "e": ("deleted", "dir", None), "package.json": ("deleted", "file", None),
                              "tool": ("deleted", "file", None)}


def test_whiteouts_and_notes_of_the_kernel_cannot_be_forged(overlay_box):
    answer = overlay_box.python("""
import os, stat
for attempt in (lambda: os.mknod("tool2", stat.S_IFCHR | 0o600, os.makedev(0, 0)),
                lambda: os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))):
    try: attempt(); print("made")
    except OSError as error: print("refused")
for name, value in ((b"user.overlay.opaque", b"y"), (b"user.overlay.redirect", b"/etc"),
                    (b"user.overlay.metacopy", b"")):
    try: os.setxattr("d", name, value)
    except OSError: pass
print(sorted(os.listdir("d")))
""")
    assert answer.stream("stdout") == b"refused\nrefused\n['old']\n"
    assert answer["changes"] == []


def test_one_file_with_many_names_is_kept_within_bounds(once):
    """40 MB of data, a hundred names: four gigabytes if each became a separate file."""
    directory = once.box.home / "kept"
    answer = once.python("""
import os
with open("a", "wb") as file: file.write(b"x" * 40_000_000)
for i in range(100): os.link("a", f"a{i}")
""", options=["--keep", str(directory)], timeout=30, deadline=120)
    assert answer["kept_incomplete"] and len(answer["changes"]) == 101
    assert sum(path.stat().st_blocks for path in directory.iterdir()) * 512 <= 1 << 30


def test_package_with_many_names_does_not_hold_the_caller_up(once):
    answer = once.python("""
import os
scripts = ",".join(f'"{i}": "x"' for i in range(60000))
with open("package.json", "w") as file: file.write('{"scripts": {' + scripts + "}}")
for i in range(5000):
    os.mkdir(str(i)); os.link("package.json", f"{i}/package.json")
""", timeout=30, deadline=120)
    reasons = {why for path, (_, _, why) in listed(answer).items() if path.endswith("json")}
    assert reasons == {"package script"} and not answer["changes_incomplete"]
    assert answer.seconds * 1000 - answer["duration_ms"] < 15000
