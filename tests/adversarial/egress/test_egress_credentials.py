"""Promise: Egress.
Attacker: a tool that may reach one host, and holds a credential. Means: requests that are refused and recorded, with the
credential where a host's name belongs: the name itself, in capitals too; the Host of a request; the TLS name in a tunnel.

Expected: refused, and neither an event nor the log has the credential, whatever part of the decision it would be in.
"""
import pytest

import audit

TOKEN = "ghp_" + "a1b2" * 9
KEY = "AKIA" + "ABCD2345" * 2
# In a file, for in the arguments it would be refused before there is a connection.
REQUESTS = {
    "a name": f'url = "http://{TOKEN}.example.net/"\n',
    "a name in capitals": f'url = "http://{KEY}.example.net/"\n',
    "a Host": f'url = "http://web.example.org/"\nheader = "Host: {TOKEN}.example.net"\n',
    "a TLS name": f'url = "https://{TOKEN}.example.net/"\nconnect-to = "{TOKEN}.example.net:443:web.example.org:443"\n',
    "a URL of https": f'url = "http://web.example.org/"\nrequest-target = "https://{TOKEN}.example.net/"\n',
}


@pytest.mark.parametrize("part", REQUESTS)
def test_credential_in_a_refusal_is_neither_recorded_nor_reported(way, part):
    way.box.file("root/names", REQUESTS[part] + "max-time = 8\n")
    answer = way.run("curl", "-sS", "-K", "names")
    assert [record["verdict"] for record in audit.records(way.box.log) if record["kind"] == "egress"][-1] in ("refused", "closed")
    log = way.box.log.read_text(encoding="utf-8").lower()
    reported = "".join(str(event) for kind in ("refused", "closed", "allowed") for event in way.events(answer, kind)).lower()
    assert way.events(answer, "refused")
    for secret in (TOKEN.lower(), KEY.lower()):
        assert secret not in log and secret not in reported
