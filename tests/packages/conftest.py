"""Fixtures for packages and releases. The packages are built once, by the script of `make deb`."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from making import EPOCH, ROOT, Release, need, new_key, run  # noqa: E402

BUILT = "CHOKE_TEST_DEBS"  # names a directory that `make deb` made, for whoever works on these tests


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A directory with the packages, which lintian has accepted, and what autopkgtest reads."""
    if os.environ.get(BUILT):
        return pathlib.Path(os.environ[BUILT])
    need("dpkg-buildpackage", "dh", "dh_python3", "lintian")
    directory = tmp_path_factory.mktemp("debs")
    run(ROOT / "tools/deb.sh", directory, timeout=1200)
    return directory


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """A release of the build directory, signed with a key of this test."""
    need("openssl")
    place = tmp_path_factory.mktemp("release")
    run(ROOT / "tools/dist/pack.py", os.environ["CHOKE_BUILD"], place / "files", env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
    key, public = new_key(place / "key.pem")
    run(ROOT / "tools/dist/sign.sh", key, place / "files")
    version = run(ROOT / "tools/version.sh").strip()
    return Release(place / "files", f"chokepoint-{version}-linux-{os.uname().machine}", version, public)
