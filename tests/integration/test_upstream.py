"""The proxy of a site, `upstream` of a policy: hosts are reached through it, in every jail, and nobody else gets its
credentials.

tests/adversarial/egress/test_upstream_*.py has the attacks.
"""
import json

import pytest

import audit
from site_proxy import PASSWORD
from upstreams import credentials, url_of, with_upstream

IN_NATIVE = pytest.mark.parametrize("way", ["native"], indirect=True)  # the proxy is the same for every jail

@pytest.fixture
def site(way, proxies):
    """A proxy that wants credentials, and a policy that names it."""
    proxy = proxies()
    proxy.policy = with_upstream(way, {"url": proxy.url, "credentials_file": str(credentials(way.box))})
    return proxy


# ---- what goes through it ----

@pytest.mark.parametrize("url,asked,protocol", [
    ("https://web.example.org/", "CONNECT web.example.org:443", "connect"),
    ("https://web.example.org:8443/", "CONNECT web.example.org:8443", "connect"),
    ("http://web.example.org/", "GET http://web.example.org/", "http"),
    ("http://WEB.example.org/a?b=c", "GET http://web.example.org/a?b=c", "http")])
def test_host_is_reached_through_it_by_name(way, site, url, asked, protocol):
    answer = way.succeeds("curl", "-sS", url, policy=site.policy)
    assert answer.stream("stdout") == b"a word from web.example.org"
    assert site.asked == [asked]
    assert way.network.take()["names"] == []  # the name was looked up by the proxy alone
    allowed, = way.events(answer, "allowed")
    assert (allowed["host"], allowed["address"], allowed["via"], allowed["protocol"]) == (
        "web.example.org", None, site.url, protocol)
    records = [record for record in audit.records(way.box.log) if record["kind"] == "egress"]
    assert [(one["verdict"], one["address"], one["via"]) for one in records] == [
        ("allowed", None, site.url), ("closed", None, site.url)]


def test_socks_goes_through_it_too(way, site):
    answer = way.succeeds("curl", "-sS", "--proxy", "socks5h://127.0.0.1:3128", "https://web.example.org/", policy=site.policy)
    assert answer.stream("stdout") == b"a word from web.example.org" and site.asked == ["CONNECT web.example.org:443"]


@IN_NATIVE
def test_bodies_pass_both_ways(way, site):
    way.box.file("root/body", "x" * 5000)
    answer = way.succeeds("curl", "-sS", "--data-binary", "@body", "http://web.example.org/api/x", policy=site.policy)
    assert json.loads(answer.stream("stdout"))["method"] == "POST"
    assert answer["egress"]["sent_bytes"] > 5000
    answer = way.succeeds("curl", "-sS", "http://web.example.org/flood?300000", policy=site.policy)
    assert len(answer.stream("stdout")) == 300000


def test_git_clone_through_it(way, site):
    way.succeeds("git", "clone", "-q", "https://git.example.org/repo.git", "cloned", egress=["git.example.org:443"],
                 policy=site.policy)
    assert (way.box.root / "cloned/.git/HEAD").exists()


@IN_NATIVE
def test_explanation_names_it_without_its_credentials(way, site):
    answer = way.run("curl", "--version", options=["--dry-run"], policy=site.policy)
    assert answer["via"] == site.url and PASSWORD not in json.dumps(answer.document)
    assert f"HTTPS_PROXY={site.url}" not in answer["env"]
    assert way.run("curl", "--version", egress=[], options=["--dry-run"], policy=site.policy)["via"] is None
    assert site.heads == []


# ---- the environment ----

@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy"])
def test_proxy_of_the_environment_is_used_if_the_policy_says_so(way, proxies, name):
    proxy = proxies()
    policy = with_upstream(way, "environment")
    answer = way.succeeds("curl", "-sS", "https://web.example.org/", policy=policy, env=way.box.environment(**{name: url_of(proxy)}))
    assert answer.stream("stdout") == b"a word from web.example.org" and proxy.asked == ["CONNECT web.example.org:443"]


@IN_NATIVE
def test_without_the_variable_hosts_are_reached_directly(way):
    policy = with_upstream(way, "environment")
    answer = way.succeeds("curl", "-sS", "https://web.example.org/", policy=policy)
    assert way.events(answer, "allowed")[0]["address"] == "93.184.216.10" and way.events(answer, "allowed")[0]["via"] == ""


@IN_NATIVE
def test_without_the_key_the_environment_is_not_used(way, proxies):
    proxy = proxies(credentials=None)
    answer = way.succeeds("curl", "-sS", "https://web.example.org/", env=way.box.environment(HTTPS_PROXY=proxy.url))
    assert proxy.heads == [] and way.events(answer, "allowed")[0]["via"] == ""


@IN_NATIVE
@pytest.mark.parametrize("url", ["https://nobody.example.org/", "https://web.example.org:9/"])
def test_failed_connection_says_that_the_variable_is_not_used_and_what_to_add(way, url):
    secret = "http://someone:hidden-word@proxy.example.net:3128"
    answer = way.fails("curl", "-sS", url, egress=["*.example.org"], env=way.box.environment(HTTPS_PROXY=secret))
    failed, = way.events(answer, "failed")
    assert "HTTPS_PROXY is set" in failed["message"] and "'upstream: environment'" in failed["message"]
    assert b"hidden-word" not in answer.err + answer.out
    answer = way.fails("curl", "-sS", url, egress=["*.example.org"])
    assert "upstream" not in way.events(answer, "failed")[0]["message"]


@IN_NATIVE
@pytest.mark.parametrize("value", ["https://proxy.example.net:3128", "http://proxy.example.net", "socks5://a:1",
                                   "http://u:hidden-word%zz@a:1"])
def test_variable_that_names_no_proxy_is_refused_without_being_shown(way, value):
    answer = way.run("curl", "--version", policy=with_upstream(way, "environment"), env=way.box.environment(HTTPS_PROXY=value))
    assert (answer.outcome, answer["rule"]) == ("invalid", "upstream")
    assert "HTTPS_PROXY" in answer.message and "hidden-word" not in answer.message and "proxy.example.net" not in answer.message
    # It is not looked at for a run without egress.
    answer = way.run("curl", "--version", egress=[], policy=with_upstream(way, "environment"), env=way.box.environment(HTTPS_PROXY=value))
    assert answer.outcome == "exited"


# ---- failures ----

@IN_NATIVE
@pytest.mark.parametrize("url", ["https://web.example.org/", "http://web.example.org/"])
def test_wrong_credentials_are_an_error_that_names_the_proxy(way, proxies, url):
    proxy = proxies()
    for upstream in ({"url": proxy.url}, {"url": proxy.url, "credentials_file": str(credentials(way.box, "a:wrong-word\n"))}):
        answer = way.run("curl", "-sSf", url, policy=with_upstream(way, upstream))
        assert answer.status != 0
        failed, = way.events(answer, "failed")
        assert (failed["reason"], failed["via"], failed["address"]) == ("upstream_auth", proxy.url, None)
        assert f"'{proxy.url}'" in failed["message"] and "407" in failed["message"]
        assert ("credentials_file" in failed["message"]) == ("credentials_file" not in upstream)
        assert b"wrong-word" not in answer.err + answer.out
    assert proxy.asked == []


def failing(way, policy, url="https://web.example.org/", **shape):
    answer = way.run("curl", "-sSf", url, policy=policy, **shape)
    assert (answer.outcome, answer.status != 0) == ("exited", True), answer.document
    failed, = way.events(answer, "failed")
    assert failed["via"] and failed["via"] in failed["message"] and failed["host"] == "web.example.org"
    return failed


@IN_NATIVE
@pytest.mark.parametrize("behave", ["close", "noise", b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
                                    b"HTTP/1.1 200 OK\r\n\r\nbytes that nobody asked for", b"HTTP/1.1 200 OK\r\nContent-Le"])
def test_proxy_that_makes_no_tunnel_is_named(way, proxies, behave):
    proxy = proxies(behave=behave)
    assert failing(way, with_upstream(way, {"url": proxy.url}))["reason"] == "upstream"


@IN_NATIVE
@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://nobody.example.org:3128"])
def test_dead_proxy_is_named(way, url):
    for target in ("https://web.example.org/", "http://web.example.org/"):
        assert failing(way, with_upstream(way, {"url": url}), target)["reason"] == "upstream"
    assert "web.example.org" not in way.network.take()["names"]


@IN_NATIVE
@pytest.mark.parametrize("url", ["https://web.example.org/", "http://web.example.org/"])
def test_proxy_that_hangs_is_named_within_the_timeout(way, proxies, url):
    proxy = proxies(behave="hang")
    failed = failing(way, with_upstream(way, {"url": proxy.url}), url, timeout=8)
    assert failed["reason"] == "timeout" and "did not answer within 4000 ms" in failed["message"]
