"""grammars.sh: what was fetched is used only if it is what the lock records, and what is there is not fetched again."""
import io
import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture
def place(tmp_path):
    """A copy of the tools, and an npm that packs something else than what it is asked for."""
    (tmp_path / "tools").mkdir()
    for name in ("grammars.sh", "grammars.lock"):
        shutil.copy(TOOLS / name, tmp_path / "tools" / name)
    other = tmp_path / "other.tgz"
    with tarfile.open(other, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("package/src/parser.c"), io.BytesIO())
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\ntouch {tmp_path}/asked\nname=$(echo "$3" | tr @ -)\ncp {other} "$name.tgz"\n', encoding="ascii")
    npm.chmod(0o755)
    return tmp_path


def run(place):
    env = {**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}"}
    return subprocess.run([place / "tools/grammars.sh"], env=env, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


def test_an_archive_that_is_another_is_not_used(place):
    answer = run(place)
    assert answer.returncode == 1 and "is not what tools/grammars.lock records" in answer.stderr
    assert (place / "asked").exists()
    assert sorted(path.name for path in (place / "third_party/grammars").iterdir()) == ["lock"]


def test_what_is_there_is_not_fetched_again(place):
    """The stamp is that of the lock and the script; without the object it does not count."""
    stamp = subprocess.run("cat tools/grammars.lock tools/grammars.sh | sha256sum", shell=True, cwd=place, check=True,
                           capture_output=True, text=True).stdout
    grammars = place / "third_party/grammars"
    grammars.mkdir(parents=True)
    (grammars / "stamp").write_text(stamp, encoding="ascii")
    assert run(place).returncode == 1 and (place / "asked").exists()
    (place / "asked").unlink()
    (grammars / "grammars.o").touch()
    assert run(place).returncode == 0 and not (place / "asked").exists()
