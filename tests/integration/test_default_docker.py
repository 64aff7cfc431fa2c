"""The default policy allows docker to build, run, inspect and print its version, with a daemon of
the test.

The last tests show that the escapes of test_gtfobins_docker.py are real.
"""
import os
import shutil
import subprocess

import pytest

from command import captured

SAFE = ["--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
IMAGE = "choke/container_report"


@pytest.fixture
def docker(root_box, docker_socket):
    """Runs docker by the default policy, which the test points to its daemon."""
    here = "      - {name: DOCKER_CONFIG, value: /nonexistent}"
    policy = root_box.default_policy(replace=[(here,
                                               f'      - {{name: DOCKER_HOST, value: "unix://{docker_socket}"}}\n{here}')])
    shutil.copy(root_box.stage / "tests/helpers/container_report", root_box.root / "container_report")
    root_box.file("root/Dockerfile",
                  "FROM scratch\nARG WHO\nLABEL who=$WHO\nCOPY container_report /container_report\n"
                  "ENTRYPOINT [\"/container_report\"]\n")
    root_box.file("root/text", "mounted\n")
    root_box.file("outside/secret", "secret of the host\n")

    def run(*argv, expected=0, **shape):
        answer = root_box.run("docker", *argv, policy=policy, timeout=60, deadline=90, **shape)
        assert (answer.outcome, answer["exit_code"]) == ("exited", expected), answer.document
        return captured(answer["stdout"]).decode()
    return run


@pytest.fixture
def image(docker):
    docker("build", "--network=none", "-q", "-t", IMAGE, ".")
    return IMAGE


def test_version_is_reported(docker):
    assert docker("version", "--format", "{{.Server.Os}}") == "linux\n"
    assert docker("--version").startswith("Docker version ")


@pytest.mark.parametrize("args", [[".", "--network=none"], ["--network", "none", "-t", IMAGE, "--no-cache", "."],
                                   ["--network=none", "--file=Dockerfile", "--build-arg", "WHO=me", "--label=a=b",
                                    "--rm", "."],
                                   ["--network=none", "-fDockerfile", "--force-rm", "--", "."]], ids=" ".join)
def test_build(docker, args):
    assert "Successfully built" in docker("build", *args)


def test_run_has_no_rights_and_no_network(docker, image):
    said = docker("run", "--rm", *SAFE, image)
    assert "user 0\n" in said and "CapBnd:\t0000000000000000\n" in said and "NoNewPrivs:\t1\n" in said
    assert "interface lo\n" in said and said.count("interface ") == 1


@pytest.mark.parametrize("args", [
    ["--rm", "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    [*SAFE, "--rm", "--read-only", "--user=1000:1000", "--name=choke-report", "--hostname=report", "--workdir=/"],
    [*SAFE, "--rm", "--memory=64m", "--memory-swap=64m", "--pids-limit=20", "--cpus=0.5", "--shm-size=1m"],
    [*SAFE, "--rm", "-i", "--init", "-e", "A=b", "--env=C=d", "--label=a=b", "--tmpfs=/tmp", "--log-driver=none"],
    [*SAFE, "--rm", "--pull=never", "--no-healthcheck", "--stop-timeout=1", "--stop-signal=KILL",
     "--entrypoint=/container_report"]], ids=" ".join)
def test_run_with_options(docker, image, args):
    assert "user " in docker("run", *args, image)


def test_mount_beneath_the_root(docker, image, root_box):
    for volume in (f"{root_box.root}:/w:ro", f"{root_box.root}:/w"):
        assert "mounted\n" in docker("run", "--rm", *SAFE, "-v", volume, image, "/w/text")
    assert "mounted\n" in docker("run", "--rm", *SAFE, f"--volume={root_box.root}/text:/t:ro", image, "/t")


def test_what_follows_the_image_is_for_the_container(docker, image):
    assert "user 0\n" in docker("run", "--rm", *SAFE, image, "--privileged", "-v", "/:/mnt")


def test_image_that_is_not_there_is_not_fetched(docker):
    docker("run", "--rm", *SAFE, "choke/no-such-image", expected=125)


def test_objects_are_looked_at(docker, image):
    assert docker("inspect", "--format={{.Os}}", "--type=image", image) == "linux\n"
    assert docker("image", "inspect", "-f", "{{.Os}}", image) == "linux\n"
    assert IMAGE in docker("images", "--format", "{{.Repository}}") and IMAGE in docker("image", "ls", "--no-trunc",
                                                                                        IMAGE)
    assert "CONTAINER ID" in docker("ps", "-a") and docker("container", "ls", "--all", "--quiet") == ""


def test_plain_docker_reads_the_host(image, root_box, docker_socket):
    args = ["docker", "run", "--rm", "--network=none", "-v", f"{root_box.outside}:/w", image, "/w/secret"]
    env = root_box.environment(DOCKER_HOST=f"unix://{docker_socket}", PATH="/usr/local/bin:/usr/bin:/bin")
    assert "secret of the host" in root_box.call(args, env=env, deadline=120).out.decode()
    linked = root_box.root / "linked"
    os.symlink(root_box.outside, linked)
    args[args.index("-v") + 1] = f"{linked}:/w"
    assert "secret of the host" in root_box.call(args, env=env, deadline=120).out.decode()
    answer = root_box.run(*args[:4], *SAFE, *args[4:], policy="default")
    assert (answer.status, answer.outcome) == (125, "disallowed")


def test_configuration_of_the_user_is_not_read(docker, root_box):
    """The file could name a credential helper, a plugin, or proxies that every container gets."""
    config = root_box.home / ".docker"
    config.mkdir()
    (config / "config.json").write_text('{"currentContext": "no-such-context"}')
    assert docker("version", "--format", "{{.Server.Os}}") == "linux\n"
    plain = subprocess.run(["docker", "version"], env=root_box.environment(PATH="/usr/local/bin:/usr/bin:/bin"),
                           check=False,
                           capture_output=True)
    assert b"no-such-context" in plain.stderr
