"""Promise: Egress.
Attacker: who calls curl and gh of the catalogue, and the server that answers. Means: other protocols, other hosts, proxies
and resolvers, redirects, files that are sent or overwritten, configuration files, names of files that the server or a
pattern in the URL chooses; commands of gh that write, expressions that print the token.

Expected: curl fetches by https from granted hosts, to stdout or into the root. gh reads from granted hosts, and the token
that it was given reaches the host and nothing else. The rest is refused: by the arguments, by curl, or by the proxy.
Neither runs without a jail.
"""
import json

import pytest

import audit
import catalog
from catalog import Case
from feature import full
from jails import JAILS

URL = "https://web.example.org/"
TOKEN = "ghp_" + "a1b2" * 9
ENV = ["--env", f"GH_ENTERPRISE_TOKEN={TOKEN}", "--env", "GH_HOST=web.example.org"]

# Arguments, with | between the calls.
REFUSED = {
    "curl": """
        -K own | --config own | -q | -x http://127.0.0.1:1 | --proxy http://x | --preproxy socks5://x |
        --noproxy '*' | --socks5 x | --unix-socket /run/docker.sock | --abstract-unix-socket x |
        --resolve web.example.org:443:127.0.0.1 | --connect-to ::127.0.0.1:443 | --doh-url https://x |
        --interface lo | --dns-servers 1.1.1.1 | --proto =file | --proto-redir =all | --proto-default file |
        -o /tmp/x | -o../x | -o ../x | --output /etc/x | --output=../x | -so../x | -sSLo /tmp/x | -O | -JO | -sO |
        --remote-name-all | --output-dir /tmp -o x | --create-dirs -o x/y | -T a | --upload-file a | -d @/etc/passwd
        | -d x | --data-binary @a | --data-urlencode x@/etc/passwd | --json {} | -F f=@/etc/passwd | --form x=@a |
        -b /etc/passwd | -c jar | --cookie-jar /tmp/x | -n | --netrc | --netrc-file /etc/x | -u user:pass |
        --oauth2-bearer x | --location-trusted | -k | --insecure | --cacert own | -E own | --key own | --engine own
        | --trace /tmp/x | --trace-ascii /tmp/x | --libcurl /tmp/x | --stderr /tmp/x | --hsts /tmp/x |
        --alt-svc /tmp/x | --etag-save /tmp/x | --etag-compare /etc/passwd | -z /etc/passwd | -D /tmp/x |
        --dump-header ../x | -w @/etc/passwd | -w '%output{/tmp/x}' | --write-out @own | -H @/etc/passwd |
        --header @a | -H 'Host: x' | -H 'Authorization: x' | -X POST | -X DELETE | --request PUT | --next | -Q DELE
        | --variable x@/etc/passwd | --expand-url x | --request-target /x | --outpu x | -e x""",
    "gh": """
         | auth token | auth status -t | auth login | auth refresh | config set pager ./x | config get x |
        alias set x '!id' | alias list | extension install o/r | extension exec x | x | browse | codespace ssh |
        ssh-key add x | gpg-key add x | secret set X | secret list | variable set X | pr create | pr merge 1 |
        pr checkout 1 | pr close 1 | pr comment 1 -b x | pr edit 1 | pr review 1 --approve | pr ready 1 |
        issue create | issue close 1 | issue comment 1 | issue delete 1 | issue develop 1 | repo clone o/r |
        repo create x | repo delete o/r | repo fork o/r | repo sync | repo edit | release create x |
        release delete x | release download x | release upload x a | run rerun 1 | run cancel 1 | run download 1 |
        run watch 1 | workflow run x | workflow disable x | gist create a | label create x | label delete x |
        cache delete x | api -X POST x | api --method=DELETE x | api -f a=b x | api -F a=@/etc/passwd x |
        api --raw-field a=b x | api --field a=@a x | api --input /etc/passwd x | api --input - x |
        api --jq env.GH_TOKEN x | api -q env x | api -qenv x | api -H 'Authorization: x' x | api --verbose x |
        api http://web.example.org/x | api https://web.example.org/x | api //web.example.org/x | api ../x |
        pr list --jq env | pr list -q env | pr list --web | pr list -w | pr view 1 --web | pr checks 1 --watch |
        issue view 1 -w | repo view o/r -w | pr list --json a --jq env | -R o/r pr list | --repo o/r api x""",
}
TABLE = {name: Case(refused=catalog.vectors(name, text, URL if name == "curl" else "")) for name, text in REFUSED.items()}


@pytest.fixture
def granted(way):
    """Runs an entry of the catalogue with what `grant` adds to it: hosts."""
    def run(*argv, outcome="exited", **shape):
        name = argv[0]
        catalog.needs(name)
        entry = {**catalog.family("network")[name], "egress": ["*.example.org"]}
        policy = way.box.write_policy([entry, way.box.entry("bwrap", route="jail")], name="policy/granted.yaml")
        answer = way.run(*argv, policy=policy, **shape)
        assert answer.outcome == outcome and (outcome != "exited" or answer["jail"] == way.jail), answer.document
        return answer
    run.box, run.network = way.box, way.network
    return run


# The proxy and the jails have their own tests for every caller and jail: only a full run repeats these.
ONCE = [pytest.mark.parametrize("network_box", ["root", "user"] if full() else ["user"], indirect=True),
        pytest.mark.parametrize("way", JAILS if full() else ["native"], indirect=True)]


def once(test):
    for mark in ONCE:
        test = mark(test)
    return test


def asked(network):
    return [line for line in network.take()["asked"] if "/" in line]


def test_table_has_every_entry():
    assert set(TABLE) == set(catalog.family("network"))


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_refused(user_box, name):
    catalog.check_refused(user_box, name, TABLE[name])


@pytest.mark.parametrize("name", TABLE)
def test_no_host_is_granted_as_it_is_shipped(user_box, name):
    policy = catalog.policy(user_box, name)
    argv = {"curl": ["curl", URL], "gh": ["gh", "api", "x"]}[name]
    answer = user_box.run(*argv, policy=policy, options=["--egress", "web.example.org"])
    assert (answer.outcome, answer["rule"]) == ("disallowed", f"tools.{name}.egress"), answer.document
    answer = user_box.run(*argv, policy=policy, options=["--jail", "none"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", f"tools.{name}.loopback"), answer.document


@pytest.mark.parametrize("name", TABLE)
def test_policy_check_warns_of_nothing(user_box, name):
    answer = user_box.call([user_box.command, "policy", "check", "--json", str(catalog.policy(user_box, name))])
    assert [found for found in json.loads(answer.out)["findings"] if found["severity"] == "warning"] == [], answer.out


# ---- curl ----

FETCHES = ["-sS " + URL, f"-fsSL --retry 2 --max-time 60 -H 'Accept: text/plain' {URL}", "-sS web.example.org",
           f"-sSL {URL}redirect?{URL}x", f"-s -o - -A agent --compressed {URL}", "-sS https://web.example.org:8443/"]


def test_curl_fetches(granted):
    for text in FETCHES if full() else FETCHES[:2]:
        answer = granted("curl", *catalog.vector(granted.box, text))
        assert answer.stream("stdout") == b"a word from web.example.org", answer.document
    answer = granted("curl", "-sSo", "fetched", "-w", "%{http_code}\\n", "-D", "-", URL)
    assert answer.stream("stdout").endswith(b"200\n"), answer.document
    assert (granted.box.root / "fetched").read_bytes() == b"a word from web.example.org"


PROTOCOLS = ["http://web.example.org/", "file:///etc/passwd", "file:a", "FILE:///etc/passwd",
             *(f"{name}://web.example.org/x" for name in ("dict ftp ftps gopher imap ldap mqtt pop3 rtmp rtsp scp sftp smb smtp "
                                                          "telnet tftp ws").split())]


@once
def test_curl_speaks_https_alone(granted):
    """Plainly called it reads a file and speaks http."""
    assert b"root:" in granted.box.call(["curl", "-s", "file:///etc/passwd"]).out
    for url in PROTOCOLS if full() else PROTOCOLS[:3]:
        answer = granted("curl", "-sS", url)
        assert answer.status != 0 and answer.stream("stdout") == b"", (url, answer.document)
        assert granted.network.take() == {"asked": [], "names": []}, url


REDIRECTS = ["http://web.example.org/x", "file:///etc/passwd", "https://other.example.org/x", "https://web.example.net/x",
             "https://self.example.org/x"]


@once
def test_redirects_of_curl_stay_with_https_and_granted_hosts(granted):
    for target in REDIRECTS:
        answer = granted("curl", "-sSL", f"{URL}redirect?{target}")
        assert answer.status != 0 and answer.stream("stdout") == b"", (target, answer.document)
        assert asked(granted.network) == [f"web.example.org /redirect?{target}"]


@once
def test_curl_names_no_file_by_a_pattern(granted):
    """A part of the URL in braces becomes a part of the name: plainly called, curl leaves the directory."""
    argv = ["curl", "-sS", "--path-as-is", "-o", f"{granted.box.root}/#1", URL + "{../outside/made}"]
    granted.box.call(argv)
    made = granted.box.outside / "made"
    assert made.exists()
    made.unlink()
    granted(*argv)
    assert not made.exists()


@once
def test_curl_writes_through_no_link(granted):
    """Plainly called it does, to a file outside."""
    made = granted.box.outside / "made"
    (granted.box.root / "link").symlink_to(made)
    granted.box.call(["curl", "-sS", "-o", f"{granted.box.root}/link", URL])
    assert made.exists()
    made.unlink()
    answer = granted("curl", "-sS", "-o", "link", URL, outcome="disallowed")
    assert "leads out of the root" in answer.message and not made.exists()


@once
def test_curl_reads_no_configuration(granted):
    """Of the user; -q is first, where it counts."""
    granted.box.file("home/.curlrc", f'output = "{granted.box.canary()}"\n')
    granted.box.call(["curl", "-sS", URL])
    assert granted.box.canary().exists()
    granted.box.canary().unlink()
    assert granted("curl", "-sS", URL).stream("stdout") == b"a word from web.example.org"
    assert not granted.box.canary().exists()
    begun = [record for record in audit.records(granted.box.log) if record["kind"] == "intent"][-1]
    assert begun["argv"][1] == "-q"


# ---- gh ----

def test_gh_reads_with_the_token_of_the_caller(granted):
    """The host gets it. No message, event or record has it."""
    answer = granted("gh", "api", "repos/o/r", options=ENV)
    assert answer.status == 0, catalog.output(answer)
    assert json.loads(answer.stream("stdout")) == {"method": "GET", "authorization": f"token {TOKEN}"}
    assert TOKEN.encode() not in answer.err and TOKEN.encode() not in granted.box.log.read_bytes()


@once
def test_gh_lists_pull_requests(granted):
    answer = granted("gh", "pr", "list", "-R", "web.example.org/o/r", "--json", "number,title", options=ENV)
    assert answer.status == 0, catalog.output(answer)
    assert json.loads(answer.stream("stdout")) == [{"number": 7, "title": "a word"}]


@once
def test_plain_gh_prints_its_token_and_sends_it_in_the_clear(granted):
    """The reasons why --jq and URLs are refused."""
    env = granted.box.environment(GH_ENTERPRISE_TOKEN=TOKEN, GH_HOST="web.example.org", GH_CONFIG_DIR="/nonexistent")
    answer = granted.box.call(["gh", "api", "repos/o/r", "--jq", "env.GH_ENTERPRISE_TOKEN"], env=env)
    assert answer.out.strip().decode() == TOKEN, answer
    answer = granted.box.call(["gh", "api", "http://web.example.org/api/v3/x"], env=env)
    assert TOKEN in answer.out.decode() and "web.example.org:80" in granted.network.take()["asked"], answer


@once
def test_gh_sends_the_token_to_no_other_host(granted):
    for host in ("other.example.org", "web.example.net", "self.example.org"):
        answer = granted("gh", "api", "--hostname", host, "x", options=ENV)
        assert answer.status != 0 and asked(granted.network) == [], answer.document


@once
def test_gh_has_no_token_of_the_user(granted):
    """Neither of the caller's environment nor of the configuration in its home."""
    granted.box.directory("home/.config")
    granted.box.directory("home/.config/gh")
    granted.box.file("home/.config/gh/hosts.yml", f"web.example.org:\n    oauth_token: {TOKEN}\n    user: a\n", 0o600)
    env = granted.box.environment(GH_ENTERPRISE_TOKEN=TOKEN)
    answer = granted("gh", "api", "--hostname", "web.example.org", "x", env=env)
    assert TOKEN not in catalog.output(answer) and asked(granted.network) == [], answer.document


@once
def test_gh_starts_no_program(granted):
    """Without -R it asks git, which is not there for it."""
    answer = granted("gh", "pr", "list", options=ENV)
    assert answer.status != 0 and asked(granted.network) == [], answer.document
