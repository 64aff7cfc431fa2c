"""Helpers for the tests of `upstream`: policies that name a proxy of the site, and its credentials."""
import json
import urllib.parse

from site_proxy import PASSWORD, USER

HOSTS = {"web.example.org": "93.184.216.10", "git.example.org": "93.184.216.11", "npm.example.org": "93.184.216.12"}


def credentials(box, text=f"{USER}:{PASSWORD}\n", name="policy/credentials", mode=0o600):
    return box.file(name, text, mode)


def with_upstream(way, upstream, **entries):
    """A policy for the tools of way, with this value of upstream."""
    document = json.loads(way.write_policy(**entries).read_text(encoding="utf-8"))
    return way.box.file("policy/up.yaml", json.dumps({**document, "upstream": upstream}), 0o600)


def url_of(proxy):
    """With the credentials, as in a variable."""
    return proxy.url.replace("http://", f"http://{USER}:{urllib.parse.quote(PASSWORD, safe='')}@")
