"""Promise: Credentials.
Attacker: a repository, or another user of the machine. Means: a file with credentials for the proxy of the site that
they wrote, can read or can replace: in the root, by a link, with open modes, of another owner, a FIFO, in a directory
that the jail shows; or a text that adds a line to a request.

Expected: refused before anything runs, and the proxy is not asked. The message does not repeat the text.
"""
import os

import pytest

from site_proxy import PASSWORD, USER
from upstreams import credentials, with_upstream

pytestmark = pytest.mark.parametrize("way", ["native"], indirect=True)  # it is refused before there is a jail


def refused(way, proxy, path, **entries):
    policy = with_upstream(way, {"url": proxy.url, "credentials_file": str(path)}, **entries)
    answer = way.run("curl", "-sS", "https://web.example.org/", policy=policy)
    assert answer.status == 125 and proxy.heads == [], answer.document
    assert PASSWORD not in answer.message and str(path) in answer.message
    return answer


def in_root(box):
    return credentials(box, name="root/credentials")


def link_into_the_root(box):
    os.symlink(in_root(box), box.base / "policy/link")
    return box.own(box.base / "policy/link")


def readable_by_others(box):
    return credentials(box, mode=0o644)


def writable_by_a_group(box):
    return credentials(box, mode=0o620)


def of_another_user(box):
    path = credentials(box)
    os.chown(path, 4242, 4242)
    return path


def in_a_directory_of_others(box):
    box.directory("shared", 0o777)
    return credentials(box, name="shared/credentials")


def fifo(box):
    path = box.base / "policy/fifo"
    os.mkfifo(path, 0o600)
    return box.own(path)


def directory(box):
    return box.directory("policy/directory", 0o700)


def missing(box):
    return box.base / "policy/missing"


@pytest.mark.parametrize("plant", [in_root, link_into_the_root, readable_by_others, writable_by_a_group, of_another_user,
                                   in_a_directory_of_others, fifo, directory, missing])
def test_file_that_is_no_secret_of_the_caller_is_refused(way, proxies, plant):
    answer = refused(way, proxies(), plant(way.box))
    assert (answer.outcome, answer["rule"]) == ("policy", "upstream")


@pytest.mark.parametrize("text", ["", "\n", USER, f"{USER}:{PASSWORD}\nX-Injected: 1\n", f"{USER}:{PASSWORD}\r\n",
                                  f"{USER}:{PASSWORD}\0", f"{USER}:{PASSWORD}" + "x" * 600])
def test_file_that_is_not_one_line_with_a_colon_is_refused(way, proxies, text):
    answer = refused(way, proxies(), credentials(way.box, text))
    assert (answer.outcome, answer["rule"]) == ("policy", "upstream")


def test_directory_that_holds_it_is_not_shown(way, proxies):
    """reads shows a directory in the jail, where the tool is the same user."""
    kept = way.box.directory("kept", 0o755)
    proxy, file = proxies(), credentials(way.box, name="kept/credentials")
    policy = with_upstream(way, {"url": proxy.url, "credentials_file": str(file)}, curl={"reads": [str(kept)]})
    answer = way.run("curl", "-sS", f"file://{file}", policy=policy)
    assert (answer.outcome, answer["rule"]) == ("disallowed", "tools.curl.reads") and "credentials_file" in answer.message


def test_file_in_a_directory_of_the_system_is_refused(way, proxies):
    """Every jail shows /usr. A file of root is there already; as an ordinary user it is not the caller's."""
    path = "/usr/share/common-licenses/GPL-3"
    answer = refused(way, proxies(), os.path.realpath(path))
    assert answer["rule"] == "upstream" and "system" in answer.message


def test_good_file_is_accepted(way, proxies):
    proxy = proxies()
    for text in (f"{USER}:{PASSWORD}\n", f"{USER}:{PASSWORD}"):
        policy = with_upstream(way, {"url": proxy.url, "credentials_file": str(credentials(way.box, text))})
        assert way.succeeds("curl", "-sS", "https://web.example.org/", policy=policy).stream("stdout") == b"a word from web.example.org"
