"""The JSON schema of SARIF 2.1.0, from a package of the npm registry that carries it, checked by its recorded hash."""
import base64
import fcntl
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile

import jsonschema
from feature import skip

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SHA512 = "A1fOhPd6Ic5iDk4F9YPw1qNB4XF+7+IviR7xl8r2F6QzQkx5cpY9LsGk2rExiFIEcBbjpVnSmwWGBukASkiQ9A=="
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"


def fetch() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=directory, capture_output=True, check=False,
                              timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            skip("npm-registry", f"npm cannot fetch {PACKAGE}: {done.stderr.decode()[-500:]}")
        archive = next(pathlib.Path(directory).glob("*.tgz")).read_bytes()
    assert base64.b64encode(hashlib.sha512(archive).digest()).decode() == SHA512, f"{PACKAGE} is not what it was"
    with tarfile.open(fileobj=io.BytesIO(archive)) as package:
        return package.extractfile(MEMBER).read()


def schema() -> dict:
    """The build directory keeps it, so it is fetched once."""
    kept = pathlib.Path(os.environ["CHOKE_BUILD"]) / "test-tools" / "sarif-2.1.0.json"
    kept.parent.mkdir(exist_ok=True)
    with open(kept.parent / "sarif-lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes
        if not kept.exists():
            fresh = kept.with_suffix(".new")
            fresh.write_bytes(fetch())
            fresh.rename(kept)
    return json.loads(kept.read_bytes())


def validator():
    text = schema()
    kind = jsonschema.validators.validator_for(text)
    kind.check_schema(text)
    return kind(text)
