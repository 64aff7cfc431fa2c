"""Promise: A report.
Attacker: a repository, and whoever asks for calls. Means: names, messages, lines and arguments that are markup, that end the
script element they are in, that change the direction of text, or that are a megabyte long.

Expected: all of it is text on the page. No script runs, nothing is asked for, nothing is written, and what cannot be seen is
shown as an escape.
"""
import re
import socket

import pytest
import reports
from audit import Log
from browser import browser
from reports import Reporter, document, merged, probe

MARKUP = ("<img src=x onerror=\"document.title='owned'\">", "</script><script>document.title='owned'</script>", "<!--<script>", "]]></style>", "&lt;b&gt;",
          "\"' onmouseover=document.title='owned' x='", "javascript:document.title='owned'", "<svg/onload=document.title='owned'>", "{{constructor}}", "<base href=//evil.example/>",
          "<meta http-equiv=refresh content='0;url=//evil.example'>", "<link rel=stylesheet href=//evil.example/x.css>", "<!--{data}-->", "%s%n")
HIDDEN = "a\u202egpj.exe\u2066\x1b[31m\u200b\u2028\ufeff"
LONG = "long " + "x" * (1 << 20)


@pytest.fixture
def window():
    with browser() as made:
        yield made


@pytest.fixture
def reporter(user_box):
    return Reporter(user_box)


def check(window, path):
    """What was given is there as text, and did nothing."""
    for scripts in (True, False):
        window.size(1280, 2000, scripts=scripts)
        try:
            (window.open_ready if scripts else window.open)(path)
            read = lambda expression: window.cdp("Runtime.evaluate", expression=expression)["result"].get("value")
            text, title = read("document.body.textContent"), read("document.title")
            elements = read("document.querySelectorAll('img, iframe, object, embed, base, form, link, audio, video, svg svg, [onerror], [onload], [onmouseover], [style]:not(.grid *)').length")
            links = read("[...document.querySelectorAll('[href]')].filter(a => !a.getAttribute('href').startsWith('#')).length")
        finally:
            window.size(1280, 2000)
        assert title != "owned" and elements == 0 and links == 0
        for markup in MARKUP:
            assert markup in text, markup
        assert not re.search("[\u202e\u2066\x1b\u200b\u2028\ufeff]", text) and r"a\xe2\x80\xaegpj.exe\xe2\x81\xa6\x1b[31m" in text
        assert "bytes more)" in text and "x" * 5000 not in text
        if scripts:
            window.check_quiet()


def test_what_a_repository_says_is_text(reporter, window):
    texts = [*MARKUP, HIDDEN, LONG, "nul\x00byte"]
    findings = [merged(text, "high", text, text, probes=(text,), source=text, fingerprint=text, place=text) for text in texts]
    probes = [probe(text, text, reason=text, install=text, state=state, calls=[reports.call("rg", text, layers=[text])])
              for text in texts for state in ("failed", "ok")]
    hostile = document(root="/srv/" + MARKUP[0], findings=findings, probes=probes, commit=HIDDEN, chokepoint=MARKUP[1],
                       tools=[{"name": text, "path": text, "version": text, "sha256": text} for text in texts])
    page = reporter.page(reporter.write("all.json", hostile))
    assert "<img" not in page and len(page) < 1 << 21
    check(window, reporter.out)
    window.open_ready(reporter.out)
    window.run("document.querySelector('.grid').focus()")
    for _ in texts:
        window.press("enter")
        assert window.value("document.querySelector('dialog').querySelectorAll('img, script, svg').length") == 0
        window.press("escape", "down")
    window.check_quiet()


def test_what_a_fleet_says_is_text(reporter, window):
    repositories = {"/srv/" + text: document(root=text, findings=[merged(text, message=text)]) for text in (*MARKUP, HIDDEN, LONG[:9000])}
    reporter.page(reports.fleet(reporter.box.outside / "fleet", repositories, failed=["/x/" + MARKUP[0]]))
    check(window, reporter.out)


def test_long_names_leave_room_on_the_first_screen(reporter, window):
    """A name cannot push out of sight what was not looked at."""
    long = "a very long name " * 240
    lost = [probe(f"{number} {long}", long, state="failed", reason=long, install=long, calls=[]) for number in range(6)]
    found = [merged(f"rule {number} {long}", "high", long, f"{number}/{long}", probes=(long,)) for number in range(6)]
    reporter.page(reporter.write("all.json", document(root="/srv/" + long, commit="c" * 300, findings=found, probes=lost)))
    for width, height in ((1280, 800), (390, 844)):
        window.size(width, height)
        window.open_ready(reporter.out)
        for selector in (".lead-found .figure", ".lead-found .legend", ".lead-gaps .figure", ".lead-gaps li:nth-child(2)"):
            assert window.sees(selector), (width, selector)
        assert window.value("document.documentElement.scrollWidth <= innerWidth")
    window.check_quiet()


def test_what_a_caller_asks_for_is_text(reporter, window):
    log = Log()
    # The library accepts no record that has the other hidden characters as they are.
    for text in (*MARKUP, HIDDEN.rstrip("\u200b\u2028\ufeff"), LONG[:9000]):
        log.refused("rg", text, error={"code": "disallowed", "message": text})
        log.outcome(log.intent("rg", text, probe="p", jail=text, layers=[text], rule=text, root=text), text, denied=[{"kind": text, "path": text}])
        log.add("later", words=text)
    reporter.audit(log)
    check(window, reporter.out)


def test_policy_of_the_page_holds_if_markup_gets_in(reporter, window):
    """As if an escape had been forgotten: the page is given what it should never have. (For a form the browser opens a connection
    before it asks the policy, and sends nothing; so its address is another one.)"""
    reporter.page(reporter.write("all.json", document(findings=[merged()])))
    window.size(1280, 800)
    window.open_ready(reporter.out)
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    window.run("""
      const address = 'http://127.0.0.1:' + arguments[0];
      const script = document.createElement('script');
      script.textContent = 'window.owned = 1';
      const image = document.createElement('img');
      image.src = address + '/x.png';
      const place = document.createElement('div');
      place.innerHTML = '<b style="position: fixed" onclick="window.owned = 2">x</b><style>body { color: red }</style><form action="http://127.0.0.1:9/"><button>y</button></form>';
      document.body.append(script, image, place);
      place.querySelector('b').click();
      place.querySelector('button').click();
      return fetch(address).then(() => { window.owned = 3; }, () => 0);
    """, server.getsockname()[1])
    assert window.value("window.owned === undefined && getComputedStyle(document.querySelector('b')).position !== 'fixed'")
    assert window.value("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    violated = {violation.split()[0] for violation in window.value("watched.violations")}
    assert violated >= {"script-src-elem", "img-src", "style-src-attr", "script-src-attr", "style-src-elem", "connect-src", "form-action"}, violated
    with server, pytest.raises(BlockingIOError):  # nobody has connected
        server.accept()
