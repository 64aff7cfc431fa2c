"""The Python package for an ordinary user, and as a wheel. Its own tests are in tests/python."""
import os
import pathlib
import shutil
import subprocess

import pytest
from feature import full, sanitized

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON = "/usr/bin/python3"
LINE = 'import chokepoint; print(chokepoint.run(["git", "log", "-1", "--format=%H"], root=".", timeout=5).stdout.decode(), end="")'


def runtime():
    """What an interpreter needs to load a sanitized library. It leaks itself."""
    if not sanitized():
        return {}
    found = subprocess.run(["clang", "-print-file-name=libclang_rt.asan-x86_64.so"], check=True, capture_output=True, text=True).stdout
    return {"LD_PRELOAD": found.strip(), "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.mark.parametrize("files", [("test_run.py", "test_exec.py"), ("test_asyncio.py",), ("test_processes.py", "test_leaks.py")]
                         if full() else [("test_run.py",), ("test_asyncio.py",)])
def test_package_works_for_an_ordinary_user(user_box, files):
    place = user_box.directory("tests")
    for name in (*files, "conftest.py", "pytest.ini"):
        shutil.copy(TOP / "tests/python" / name, place / name)
        os.chmod(place / name, 0o644)
    env = user_box.environment(CHOKE_PYTHON=str(user_box.stage / "bindings/python"), CHOKE_BUILD=str(user_box.stage), PYTHONDEVMODE="1",
                               TMPDIR=str(user_box.directory("tmp", 0o700)), **runtime())
    answer = user_box.call([PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(str(place / name) for name in files)],
                           env=env, cwd=user_box.home, deadline=300)
    assert answer.status == 0 and b" passed" in answer.out, answer.out.decode()[-3000:]


def test_package_finds_the_library_beside_it(user_box):
    head = user_box.repository()
    env = user_box.environment(PYTHONPATH=str(user_box.stage / "bindings/python"), **runtime())
    answer = user_box.call([PYTHON, "-c", LINE], env=env, cwd=user_box.root)
    assert (answer.status, answer.out) == (0, head), answer.err


if full() and not sanitized():  # it compiles the library once more
    def test_wheel_brings_the_library(root_box, tmp_path):
        """In a virtual environment, on a machine where nothing of ours is installed."""
        head = root_box.repository()
        venv = tmp_path / "venv"
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", venv], check=True, env=clean)
        subprocess.run([venv / "bin/pip", "install", "-q", "--no-build-isolation", "--no-index", "."], check=True, cwd=TOP / "bindings/python",
                       env=clean)
        done = subprocess.run([venv / "bin/python", "-c", LINE], check=True, cwd=root_box.root, env=clean, capture_output=True)
        assert done.stdout == head
        where = subprocess.run([venv / "bin/python", "-c", "import chokepoint; print(chokepoint._choke.__file__)"], check=True, env=clean,
                               capture_output=True, text=True, cwd="/").stdout.strip()
        assert where.startswith(str(venv))
        needed = subprocess.run(["readelf", "-d", where], check=True, capture_output=True, text=True).stdout
        assert "libchokepoint" not in needed
        tag = next((venv / "lib").glob("python3*/site-packages/chokepoint-*.dist-info/WHEEL")).read_text()
        assert "Tag: cp39-abi3-" in tag
