"""Promise: Credentials.
Attacker: a tool that may reach a host through the proxy of the site, which wants a password. Means: its environment and
arguments, /proc, the file with the password; and whoever reads the process list, events, messages, records and the
output of every command.

Expected: the password is in none of them, plain or as it is sent. The proxy gets it.
"""
import base64
import os
import pathlib

import pytest

from processes import wait_until
from site_proxy import PASSWORD, USER
from upstreams import credentials, url_of, with_upstream

SENT = base64.b64encode(f"{USER}:{PASSWORD}".encode())
SECRETS = [PASSWORD.encode(), SENT, SENT.rstrip(b"="), PASSWORD.replace(":", "%3A").replace("%p", "%25p").encode()]


def has_secret(data: bytes) -> bool:
    return any(secret in data for secret in SECRETS)


@pytest.fixture(params=["file", "environment"])
def site(request, way, proxies):
    """A proxy, a policy, and the environment of the calling program."""
    proxy = proxies()
    proxy.env = way.box.environment()
    if request.param == "file":
        proxy.policy = with_upstream(way, {"url": proxy.url, "credentials_file": str(credentials(way.box))})
    else:
        proxy.policy = with_upstream(way, "environment")
        proxy.env = way.box.environment(HTTPS_PROXY=url_of(proxy))
    return proxy


def test_tool_does_not_have_it(way, site):
    for sandbox in ([], ["--sandbox"]):
        answer = way.succeeds("say_env", policy=site.policy, env=site.env, options=sandbox)
        assert b"HTTPS_PROXY=http://127.0.0.1:3128" in answer.stream("stdout") and not has_secret(answer.stream("stdout"))


def descendants(pid):
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def test_no_process_has_it_among_arguments_or_variables(way, site):
    """The calling program has its own HTTPS_PROXY, of course."""
    site.behave = "hang"
    argv = way.box.run_argv(["curl", "-sS", "https://web.example.org/"], options=["--jail", way.jail, "--egress", "web.example.org"],
                            policy=site.policy, timeout=60)
    process = way.box.popen(argv, raw=True, env=site.env)
    wait_until(lambda: site.heads, "the proxy is asked")
    seen = 0
    for pid in descendants(process.pid):
        place = pathlib.Path(f"/proc/{pid}")
        try:
            own = os.path.basename(os.readlink(place / "exe")) in ("chokepoint", "as_user", "nsenter", "setpriv")
            arguments, environment = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        assert not has_secret(arguments), pid
        assert own or not has_secret(environment), pid
        seen += not own
    assert seen >= 2  # the tool, and those that watch it
    process.terminate()
    process.communicate(timeout=60)
    assert has_secret(site.heads[0])


@pytest.mark.parametrize("url", ["https://web.example.org/", "http://web.example.org/"])
def test_neither_events_nor_records_nor_messages_have_it(way, site, url):
    def look(answer):
        assert not has_secret(answer.out + answer.err + way.box.log.read_bytes())
    look(way.succeeds("curl", "-sSv", url, policy=site.policy, env=site.env))
    look(way.run("curl", "-sSv", url, policy=site.policy, env=site.env, options=["--dry-run"]))
    site.expected = "Basic something-else"
    look(way.run("curl", "-sSv", url, policy=site.policy, env=site.env))
    # A proxy that repeats the request in its answer.
    for status in (b"407 No", b"403 No", b"200 OK", b"No"):
        site.behave = b"HTTP/1.1 %s\r\nX-Was: %s\r\nContent-Length: %d\r\n\r\n%s" % (status, SENT, len(SENT), SENT)
        answer = way.run("curl", "-sSv", "https://web.example.org/", policy=site.policy, env=site.env)
        assert answer.status != 0
        look(answer)
    look(way.box.call([way.box.command, "policy", "show", str(site.policy)], env=site.env))
    look(way.box.call([way.box.command, "policy", "show", "--yaml", str(site.policy)], env=site.env))
    assert all(has_secret(head) for head in site.heads)


def test_tool_cannot_read_the_file(way, proxies):
    proxy = proxies()
    file = credentials(way.box)
    policy = with_upstream(way, {"url": proxy.url, "credentials_file": str(file)})
    answer = way.fails("curl", "-sS", f"file://{file}", policy=policy)
    assert not has_secret(answer.stream("stdout"))
    assert has_secret(way.box.call(["curl", "-sS", f"file://{file}"]).out)  # without a jail it can
