"""chokepoint fleet: URLs in LIST, which git clones through the door, from a server in a private network."""
import os
import pathlib

import pytest

from catalog import taking
from fleets import Fleet

HOST = "git.example.org"
GRANT = [{"name": "git", "subcommand": "clone", "egress": [HOST, "web.example.org"]}]

# The jail is the same as for every clone; test_catalog_git.py has the others.
pytestmark = pytest.mark.parametrize("way", ["native"], indirect=True)


@pytest.fixture
def urls(way):
    way.network.take()
    fleet = Fleet(way.box, count=1)
    fleet.probes = None
    fleet.policy = taking(way.box, "git-clone", extends="default", grant=GRANT)
    fleet.way = way
    return fleet


def run(fleet, *options):
    return fleet.run("--only", "snapshot", *options, policy=fleet.policy)


def scratch(uid):
    return [entry.name for entry in os.scandir("/tmp") if entry.name.startswith("chokepoint-clone-") and
            entry.stat(follow_symlinks=False).st_uid == uid]


def test_a_url_is_cloned_gathered_and_removed(urls):
    urls.write_list(f"https://{HOST}/hostile.git", "HTTPS://GIT.Example.ORG:443/hostile.git//", urls.repositories[0])
    answer = run(urls)
    assert answer.status == 0, answer
    found = urls.documents()
    assert sorted(found) == sorted([str(urls.repositories[0]), f"https://{HOST}/hostile.git"])
    document = found[f"https://{HOST}/hostile.git"]
    assert next(probe for probe in document["probes"] if probe["name"] == "snapshot")["state"] == "ok"
    assert scratch(urls.box.actor.uid) == []
    asked = urls.way.network.take()["asked"]
    assert asked and all(HOST in one for one in asked), asked


def test_what_cannot_be_cloned_is_a_failure(urls):
    gone = f"https://{HOST}/nothing.git"
    urls.write_list(gone, urls.repositories[0])
    answer = run(urls)
    assert answer.status == 1 and b"git clone exited with 128" in answer.err, answer
    assert urls.failures()[gone]["stage"] == "clone" and len(urls.documents()) == 1
    assert scratch(urls.box.actor.uid) == []


# A /tmp of this size, with the directory of the tests in it; what follows is the command.
SMALL_TMP = """set -e; stage="$1"; keep="$2"; size="$3"; shift 3
mount --bind "$stage" "$keep"; mount -t tmpfs -o "size=$size,mode=1777" small /tmp
mkdir "$stage"; mount --bind "$keep" "$stage"
exec "$@"
"""


def test_a_full_tmp_is_no_failure_of_a_repository(urls):
    """git reports it as its own error. The run ends, and the same command goes on where there is room."""
    if urls.box.actor.uid != 0:
        return  # to mount takes root
    stage = pathlib.Path(*urls.box.base.parts[:3])
    urls.write_list(f"https://{HOST}/hostile.git", urls.repositories[0])
    argv = urls.argv("--only", "snapshot", "--jobs", "1", policy=urls.policy)
    answer = urls.box.call(["/usr/bin/unshare", "--mount", "/bin/sh", "-c", SMALL_TMP, "sh", stage, "/mnt", "64k", *argv])
    assert answer.status == 1 and b"/tmp has no room for a clone" in answer.err and b"goes on from here" in answer.err, answer
    assert urls.failures() == {}
    assert run(urls).status == 0 and len(urls.documents()) == 2


def test_a_host_that_is_not_granted_begins_nothing(urls):
    urls.write_list(f"https://{HOST}/hostile.git", "https://other.example.org/x.git")
    answer = run(urls)
    assert answer.status == 125 and b"egress: [other.example.org]" in answer.err, answer
    assert urls.way.network.take()["asked"] == [] and not urls.out.exists() and scratch(urls.box.actor.uid) == []
