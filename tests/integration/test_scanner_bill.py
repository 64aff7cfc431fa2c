"""syft and grype, by stand-ins of their shape (tests/stand_ins/bill): directories, bills of materials and images."""
import hashlib
import io
import json
import tarfile

import pytest

from jails import JAILS

LAYER = "app/requirements.txt"
SOURCES = ["src", "dir:src", "file:src/requirements.txt", "docker-archive:docker.tar", "oci-archive:oci.tar", "oci-dir:image"]


def archive(files) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def oci_files(layer):
    """An image in the layout of the OCI, with one layer."""
    def named(data):
        return f"sha256:{hashlib.sha256(data).hexdigest()}"
    manifest = json.dumps({"layers": [{"digest": named(layer)}]}).encode()
    index = json.dumps({"manifests": [{"digest": named(manifest)}]}).encode()
    return {"index.json": index, **{f"blobs/{named(data).replace(':', '/')}": data for data in (manifest, layer)}}


@pytest.fixture
def sources(scanners_box):
    box = scanners_box
    box.syft_and_grype()
    layer = archive({LAYER: b"flask==0.5\n"})
    box.own(box.directory("root/src"))
    box.file("root/src/requirements.txt", "flask==0.5\n")
    box.file("root/docker.tar", archive({"manifest.json": json.dumps([{"Layers": ["layer.tar"]}]).encode(), "layer.tar": layer}))
    box.file("root/oci.tar", archive(oci_files(layer)))
    for name, data in oci_files(layer).items():
        path = box.root / "image" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return box


@pytest.mark.parametrize("jail", [*JAILS, "none"])
def test_every_source_is_read(sources, jail):
    for source in SOURCES:
        answer = sources.run("syft", "scan", "--output=cyclonedx-json", source, policy="default", options=["--jail", jail])
        assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
        assert [one["purl"] for one in json.loads(answer.stream("stdout"))["components"]] == ["pkg:pypi/flask@0.5"], source
        sources.file("root/sbom.json", answer.stream("stdout"))
    for source in [*SOURCES, "sbom:sbom.json", "sbom.json"]:
        answer = sources.run("grype", "--output=json", source, policy="default", options=["--jail", jail])
        assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
        assert [one["vulnerability"]["id"] for one in json.loads(answer.stream("stdout"))["matches"]] == ["GHSA-562c-5r94-xh97"], source


def test_a_path_after_a_scheme_is_spelled_as_the_tool_sees_it(sources):
    """An absolute path beneath the root, and one as another run printed it."""
    for source in (f"oci-dir:{sources.root}/image", "oci-dir:/work/image"):
        answer = sources.run("syft", "scan", "--output=cyclonedx-json", source, policy="default")
        assert (answer.outcome, answer["exit_code"]) == ("exited", 0), answer.document
