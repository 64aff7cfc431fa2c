"""R110: two whole builds of a release have the same bytes.

Only in a full run: each takes a minute of one processor. test_dist.py packs the build directory in every run, with the same code
after the compiler, and looks for paths of the builder in the programs.
"""
import os

from making import EPOCH, ROOT, run


def bytes_of(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def sources(directory):
    """A clone that has what the working tree has, committed, without the compiled grammars."""
    run(ROOT / "tools/sources.sh", directory)
    run("rm", "-rf", directory / "third_party")
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-C", directory]
    run(*git, "init", "-q")
    run(*git, "add", ".")
    run(*git, "commit", "-q", "-m", "all")


def test_two_builds_have_the_same_bytes(ordinary, tmp_path, stage):
    """Other directory, other user, other umask, time zone, language and flags in the environment, other time."""
    first, second = tmp_path / "first", stage / "a-longer-name/of-a-second-one"
    second.parent.mkdir()
    for directory in (first, second):
        sources(directory)
    run("chown", "-R", f"{ordinary.uid}:{ordinary.gid}", second.parent)
    env = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    run(first / "tools/dist/dist.sh", tmp_path / "one", env=env, cwd=first, timeout=3600)
    other = {**env, "TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "HOME": str(second.parent), "CFLAGS": "-O0", "LDFLAGS": "-s"}
    run(second / "tools/dist/dist.sh", second.parent / "two", env=other, cwd=second, umask=0o077, timeout=3600, user=ordinary.uid,
        group=ordinary.gid, extra_groups=[])
    assert len(bytes_of(tmp_path / "one")) == 3
    assert bytes_of(tmp_path / "one") == bytes_of(second.parent / "two")
