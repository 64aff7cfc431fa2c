"""Promise: A look at a repository.
Attacker: whoever wrote the Dockerfile. Means: FROM, COPY --from and ADD name an address of the
attacker. The daemon has the network that a build does not have. It fetches from there, and so
reveals who examines the repository, when, and from which network.

Expected: nothing is built that names what is not on this machine; no request is made.
"""
import contextlib
import socket

import pytest

from tracing import Tracing

NAMED = ["FROM {here}/x\n", "FROM scratch\nCOPY --from={here}/x /x /x\n", "FROM scratch\nADD http://{here}/x /x\n",
         "FR\\\nOM {here}/x\n", "ARG A={here}/x\nFROM $A\n",
         "FROM scratch AS a\nONBUILD ADD http://{here}/x /x\nFROM a\n"]


@pytest.fixture
def tracing(root_box, docker_socket):
    return Tracing(root_box, docker_socket)


@contextlib.contextmanager
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def was_asked(server):
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("text", NAMED)
def test_nothing_is_fetched(tracing, text):
    with listener() as server:
        tracing.box.file("root/Dockerfile", text.format(here="127.0.0.1:%d" % server.getsockname()[1]))
        report = tracing.look()
        assert report["state"] == "failed", report
        assert not {"build", "run"} & {call["id"] for call in report["calls"]}
        assert not was_asked(server)


def test_plain_build_fetches(tracing):
    """Otherwise the tests above would prove nothing."""
    with listener() as server:
        tracing.box.file("root/Dockerfile", NAMED[0].format(here="127.0.0.1:%d" % server.getsockname()[1]))
        args = ["docker", "build", "--network=none", "--quiet", "."]
        env = tracing.box.environment(DOCKER_HOST=f"unix://{tracing.socket}", DOCKER_BUILDKIT="0",
                                      PATH="/usr/local/bin:/usr/bin:/bin")
        process = tracing.box.popen(args, raw=True, env=env)
        server.settimeout(60)
        server.accept()[0].close()
        process.kill()
        process.wait()
