"""Promise: A look at a repository.
Attacker: whoever wrote the Dockerfile. Means: code of the image gets into strace, which then
writes any trace that the attacker wants: by LD_PRELOAD and similar variables in the image's
environment, by /etc/ld.so.preload in the image, by a volume over the directory that strace's
libraries are in, with or without a symlink of that name.

Expected: nothing of the image is in the tracer; the trace is what the program did.
"""
import json
import pathlib
import shutil

import pytest

from tracing import Tracing

LIBRARIES = pathlib.Path("/lib/x86_64-linux-gnu")


@pytest.fixture
def tracing(root_box, docker_socket):
    return Tracing(root_box, docker_socket)


def libraries(root):
    """What strace needs, with the code under the name of the C library, and the C library under another name."""
    directory = root / "lib"
    directory.mkdir()
    for path in LIBRARIES.glob("lib*.so.*"):
        if path.name.startswith(("libunwind", "liblzma", "libdw", "libelf", "libz", "libbz2")):
            shutil.copy(path, directory / path.name)
    shutil.copy(LIBRARIES / "libc.so.6", directory / "libm.so.6")
    shutil.copy(root / "tracer_code.so", directory / "libc.so.6")


BESIDE = "COPY tracer_code.so /lib/tracer_code.so\nCOPY lib/libm.so.6 /lib/libm.so.6\n"
MEANS = {
    "preloaded": BESIDE + "ENV LD_PRELOAD=/lib/tracer_code.so\nCOPY preload /etc/ld.so.preload\n",
    "volume": "COPY lib /.chokepoint/lib\nVOLUME /.chokepoint/lib\n",
    "volume_by_a_link": "COPY link/ /\nCOPY lib /evil/lib\nVOLUME /evil/lib\n",
}


@pytest.mark.parametrize("means", MEANS)
def test_nothing_of_the_image_is_in_the_tracer(tracing, means):
    root = tracing.box.root
    shutil.copy(tracing.box.stage / "tests/helpers/tracer_code.so", root / "tracer_code.so")
    libraries(root)
    tracing.box.file("root/preload", "/lib/tracer_code.so\n")
    (root / "link").mkdir()
    (root / "link/.chokepoint").symlink_to("/evil")
    tracing.image("read=/behind", more=f"{MEANS[means]}USER 1234\n")
    report = tracing.look()
    assert report["state"] == "ok", report["reason"]
    evidence = report["evidence"]
    assert "forged" not in json.dumps(evidence)
    assert [program["path"] for program in evidence["programs"]] == ["/bin/traced"]
    assert (evidence["guarded"], evidence["complete"], evidence["exit_code"]) == (True, True, 3)
    assert "/behind" in [file["path"] for file in evidence["files"]]
