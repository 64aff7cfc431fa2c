"""R113: the minimal image, built from a release and run by a docker daemon of this test, which has no network."""
import json
import os
import shutil
import subprocess

import daemon
import pytest
from making import ROOT

FLAGS = ["--rm", "--network", "none"]


@pytest.fixture(scope="module")
def docker():
    with daemon.asked() as server, daemon.running(server.env) as socket:
        env = {**os.environ, "DOCKER_HOST": f"unix://{socket}", "DOCKER_CONFIG": "/nonexistent"}

        def call(*argv, status=0):
            done = subprocess.run(["docker", *map(str, argv)], env=env, capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == status, done.stdout + done.stderr
            return done.stdout
        yield call
        assert not server.take()  # the daemon asked no other machine for anything


@pytest.fixture(scope="module")
def image(docker, release):
    docker("build", "--network", "none", "-q", "-f", ROOT / "packaging/Containerfile", "--build-arg", f"VERSION={release.version}",
           "--build-arg", f"MACHINE={os.uname().machine}", "-t", "chokepoint", release.directory)
    return "chokepoint"


def test_the_image_is_the_command_and_nothing_else(docker, image, release, tmp_path):
    assert docker("run", *FLAGS, image, "--version") == f"chokepoint {release.version}\n"
    config = json.loads(docker("image", "inspect", image))[0]
    assert config["Config"]["User"] == "65534:65534" and config["Config"]["Labels"]["org.opencontainers.image.version"] == release.version
    assert config["Size"] < 16 << 20
    container = docker("create", image).strip()
    docker("export", "-o", tmp_path / "image.tar", container)
    docker("rm", container)
    listed = subprocess.run(["tar", "-tf", tmp_path / "image.tar"], capture_output=True, text=True, check=True).stdout.splitlines()
    programs = {name for name in listed if name.startswith(("usr/local/bin/", "usr/local/libexec/")) and not name.endswith("/")}
    assert programs == {"usr/local/bin/chokepoint", "usr/local/libexec/chokepoint/chokepoint-attack"}
    assert not any(name.startswith(("bin/", "lib", "usr/bin/", "usr/lib/")) for name in listed)
    assert "usr/local/share/doc/chokepoint/licences/libseccomp-dev.txt" in listed


def test_the_image_lints_what_it_is_shown(docker, image, tmp_path):
    (tmp_path / "bad.py").write_text("import os\nos.system('id')\n", encoding="ascii")
    for path in (tmp_path, tmp_path.parent):
        path.chmod(0o755)
    hardened = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    assert "bad.py:2:1: error" in docker("run", *FLAGS, *hardened, "-v", f"{tmp_path}:/work:ro", image, "lint", status=1)


def test_another_image_takes_the_command_and_runs_its_tools_with_it(docker, image, tmp_path):
    """The tool is a static program of the tests: it prints what a container allows it."""
    shutil.copy(os.path.join(os.environ["CHOKE_BUILD"], "tests/helpers/container_report"), tmp_path / "container_report")
    (tmp_path / "adr").mkdir()
    (tmp_path / "adr/0001-report.md").write_text("# 0001 Report\n", encoding="ascii")
    (tmp_path / "policy.yaml").write_text(
        "version: 1\nadr_dir: adr\nsearch_path: [/usr/bin]\ntools:\n"
        "- {name: container_report, why: The test., adr: \"0001\", route: external, args: {operands: none}, execs: []}\n", encoding="ascii")
    (tmp_path / "Dockerfile").write_text(
        f"FROM scratch\nCOPY --from={image} /usr/local/bin/chokepoint /usr/local/bin/chokepoint\n"
        "COPY container_report /usr/bin/container_report\nCOPY policy.yaml /etc/chokepoint/policy.yaml\nCOPY adr /etc/chokepoint/adr\n"
        "WORKDIR /tmp\nWORKDIR /work\nENTRYPOINT [\"/usr/local/bin/chokepoint\"]\n", encoding="ascii")
    docker("build", "--network", "none", "-q", "-t", "tools", tmp_path)
    run = ["run", "--no-audit", "--json", "--"]
    document = json.loads(docker("run", *FLAGS, "tools", *run, "container_report"))
    assert (document["outcome"], document["exit_code"]) == ("exited", 0)
    assert {"landlock", "seccomp", "no_new_privs", "no_capabilities"} <= set(document["layers"]), document["layers"]
    refused = json.loads(docker("run", *FLAGS, "tools", *run, "sh", status=125))
    assert refused["outcome"] == "disallowed"
