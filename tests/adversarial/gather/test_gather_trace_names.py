"""Promise: A look at a repository.
Attacker: whoever wrote the Dockerfile. Means: names that are read in one way here and in another
by the builder: a stage that is named within itself, `library/` before a name with a slash,
docker's registry in capitals, instructions in a local image (ONBUILD), and any Dockerfile that a
generator makes.

Expected: the daemon requests nothing; all its connections would go to a server of the test.
"""
import json
import os
import subprocess
import uuid

import hypothesis
from hypothesis import strategies
import pytest

from tracing import Tracing

HERE = {name: f"{name}{uuid.uuid4().hex[:8]}" for name in ("base", "user", "orders")}
FOREIGN = "registry.example/x"


@pytest.fixture(scope="module")
def images(docker_socket, tmp_path_factory):
    """A plain image under two names, and one that orders instructions for builds on it."""
    env = {**os.environ, "DOCKER_HOST": f"unix://{docker_socket}", "DOCKER_BUILDKIT": "0"}
    directory = tmp_path_factory.mktemp("images")

    def build(text, *names):
        (directory / "Dockerfile").write_text(text, encoding="utf-8")
        tags = [word for name in names for word in ("--tag", name)]
        subprocess.run(["docker", "build", "--quiet", *tags, str(directory)], env=env, check=True, capture_output=True)
    build("FROM scratch\nLABEL plain=1\n", HERE["base"], HERE["user"] + "/img")
    build(f"FROM scratch\nONBUILD COPY --from={FOREIGN} /x /x\n", HERE["orders"])


@pytest.fixture
def tracing(root_box, docker_socket, images, daemon_asked):
    daemon_asked.take()
    return Tracing(root_box, docker_socket)


NAMED = {
    "stage_in_itself": "FROM scratch AS x\nCOPY --from=x /a /a\n",
    "later_stage": "FROM scratch\nCOPY --from=x /a /a\nFROM scratch AS x\n",
    "number_as_a_base": "FROM scratch\nFROM 00000000\n",  # one digit would be the beginning of many an id
    "library": "FROM library/{user}/img\n",
    "capitals": "FROM Docker.IO/{base}\n",
    "orders": "FROM {orders}\n",
    "stage_in_a_comment": "FROM scratch AS a\nRUN x \\\n# y \\\nFROM scratch AS foreign\nFROM foreign\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_no_name_is_fetched(tracing, daemon_asked, name):
    tracing.box.file("root/Dockerfile", NAMED[name].format(**HERE))
    report = tracing.look()
    assert daemon_asked.take() == []
    assert report["state"] == "failed" and "build" not in [call["id"] for call in report["calls"]], report


def test_an_existing_image_is_built_on(tracing, daemon_asked):
    """By every name that docker has for it."""
    text = ("FROM docker.io/library/{base}:latest AS One\nFROM {user}/img AS two\nFROM one\nCOPY --from=TWO . /two\n"
            "COPY --from=0 --chown=1:1 . /one\nCOPY --from={base} [\".\", \"/base\"]\nCMD [\"x\"]\n")
    tracing.box.file("root/Dockerfile", text.format(**HERE))
    report = tracing.look()
    assert daemon_asked.take() == []
    assert [call["id"] for call in report["calls"]][:3] == ["daemon", "bases", "build"], report["reason"]
    assert "fetch" not in (report["reason"] or "")


def plain_build(tracing):
    args = ["docker", "build", "--network=none", "--quiet", "."]
    env = tracing.box.environment(DOCKER_HOST=f"unix://{tracing.socket}", DOCKER_BUILDKIT="0",
                                  PATH="/usr/local/bin:/usr/bin:/bin")
    return tracing.box.popen(args, raw=True, env=env).wait(60)


def test_plain_build_asks(tracing, daemon_asked):
    """Otherwise the tests here would prove nothing."""
    tracing.box.file("root/Dockerfile", f"FROM {FOREIGN}\n")
    assert plain_build(tracing) != 0
    assert daemon_asked.take() != []


def test_text_that_is_not_a_name_is_never_resolved(tracing, daemon_asked):
    """Though there is no such image, and no such stage: docker takes neither for the name of a repository."""
    missing = "0123456789abcdef" * 4
    for text in (f"FROM {missing}\n", f"FROM scratch\nCOPY --from={missing} /x /x\n", "FROM stage0-\n",
                 "FROM scratch\nCOPY --from=7 /x /x\n"):
        tracing.box.file("root/Dockerfile", text)
        assert plain_build(tracing) != 0
        assert daemon_asked.take() == []


# ---- any Dockerfile ----

NAMES = ["scratch", "a", "B", "0", "1", "x", FOREIGN, "library/{user}/img", "{base}", "{user}/img", "Docker.IO/{base}",
         "docker.io/library/{base}", "{orders}", "$A", "stage0-", "--platform=linux/amd64", "AS", "as", "\\", "\u00a0"]
GAPS = [" ", "\t", "\\\n", " \\ \n", "\\\n# c\n", "\\\n\n", "\u00a0", "\u2003", "\\\\\n", "`\n"]
HEADS = ["FROM", "from", "COPY --from=", "COPY --chown=1 --from=", "ADD http://", "ADD", "ONBUILD FROM", "RUN echo",
         "ONBUILD COPY --from=", "RUN --mount=from=", "COPY <<E", "RUN cat <<E", "E", "ARG A=", "# syntax=", "# escape=`", "ENV A=b"]
LINES = strategies.builds(lambda head, args, gaps, end: head + "".join(g + w for g, w in zip(gaps, args)) + end,
                          strategies.sampled_from(HEADS), strategies.lists(strategies.sampled_from(NAMES), max_size=4),
                          strategies.lists(strategies.sampled_from(GAPS + [" "] * 20), min_size=4, max_size=4),
                          strategies.sampled_from(["\n"] * 8 + ["\r\n", "\\\n", " \\\n"]))
FILES = strategies.builds(lambda mark, first, lines: mark + first + "".join(lines),
                          strategies.sampled_from(["", "", "\ufeff"]),
                          strategies.sampled_from(["FROM scratch\n", "FROM {base} AS a\n", ""]),
                          strategies.lists(LINES, max_size=5))


@hypothesis.settings(max_examples=20, deadline=None, derandomize=True, database=None,
                     suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(text=FILES)
def test_no_generated_file_asks(tracing, daemon_asked, text):
    for key, name in HERE.items():
        text = text.replace("{" + key + "}", name)
    (tracing.box.root / "Dockerfile").write_text(text, encoding="utf-8")
    report = tracing.look("--timeout", 60)
    assert daemon_asked.take() == [], json.dumps(text)
    assert report["state"] in ("failed", "ok")
