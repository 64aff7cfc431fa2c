"""The pages of chokepoint report and audit report in a real browser: what is seen first, clicking, keyboard, filters, light and
dark, narrow and wide, and without a script. Nothing is logged and nothing is asked for from anywhere. Screenshots are kept
in build/report-screenshots.
"""
import base64
import os
import pathlib
import re
import shutil
import zlib

import pytest
import reports
from audit import Log
from browser import browser
from devtools import traced
from reports import Reporter, document, merged, probe, some_log

SHOTS = pathlib.Path(os.environ["CHOKE_BUILD"]) / "report-screenshots"
TOP = pathlib.Path(__file__).parents[2]
ROWS_100K = 100000
LONGEST_MS = 200


@pytest.fixture
def window():
    with browser() as made:
        yield made


@pytest.fixture
def reporter(user_box):
    return Reporter(user_box)


def some_findings():
    rules = [("pipe_to_shell", "high", "what 'curl' fetches is run at once", "install.sh"), ("eval_call", "medium", "'eval' makes code of text", "src/a.py"),
             ("shell_call", "low", "a shell may run this", "tests/t.py")]
    return [merged(rule, severity, message, path, line, probes=("patterns", "lint") if line == 1 else ("patterns",), source=f"line {line} of {path}")
            for rule, severity, message, path in rules for line in range(1, 15)]


def some_document():
    missing = [probe(name, name, state="tool_missing", reason="-", install=f"see https://{name}.example", calls=[]) for name in ("semgrep", "gitleaks")]
    bare = probe("node_version", "node", calls=[reports.call("node", "--version", jail="none", layers=["no_new_privs"])])
    return document(findings=some_findings(), probes=[probe("patterns", "rg"), bare, *missing])


def open_some(reporter, window, **size):
    reporter.page(reporter.write("all.json", some_document()))
    window.size(**{"width": 1280, "height": 800, **size})
    window.open_ready(reporter.out)


def labels(window):
    return window.value("[...document.querySelectorAll('.rows .row')].map(row => row.innerText.replaceAll('\\n', ' '))")


def test_first_screen_says_what_was_found_and_what_was_not_looked_at(reporter, window):
    for width, height, dark in ((1280, 800, False), (1280, 800, True), (390, 844, False)):
        open_some(reporter, window, width=width, height=height, dark=dark)
        for selector in (".lead-found .figure", ".lead-found .legend", ".lead-gaps .figure", ".lead-gaps .gaps"):
            assert window.sees(selector), (width, selector)
        assert window.text(".lead-found .figure") == "42 findings"
        assert window.text(".lead-gaps .figure") == "2 of 4 probes did not run"
        assert window.value("document.documentElement.scrollWidth <= innerWidth"), f"something sticks out at {width}"
        background = window.value("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, background[4:-1].split(","))) < 200) == dark, background
        window.screenshot(SHOTS / f"gather-{width}{'-dark' if dark else ''}.png")
        window.check_quiet()


def test_page_of_this_repository(reporter, window):
    """What `make run` ends with, by the probes that need no other tool than rg; semgrep is not among them, so something is missing."""
    box = reporter.box
    shutil.copytree(TOP, box.root / "chokepoint", symlinks=True, ignore=shutil.ignore_patterns(".*", "build*", "third_party", "node_modules", "__pycache__"))
    made = box.call([box.command, "gather", "--policy", box.default_policy(replace=[('["/usr/local/bin", ', "[")]), "--no-audit", "--only",
                     "curated_patterns,documents,tests,lint,semgrep", "--out", box.outside / "all.json", box.root / "chokepoint"])
    assert made.status == 0, made
    reporter.page(box.outside / "all.json")
    window.size(1280, 800)
    window.open_ready(reporter.out)
    for selector in (".lead-found .figure", ".lead-found .legend", ".lead-gaps .figure", ".lead-gaps .gaps"):
        assert window.sees(selector), selector
    assert re.fullmatch(r"\d+ findings?( and [\d,]+ info)?", window.text(".lead-found .figure")), window.text(".lead-found .figure")
    assert "semgrep\nits tool is not installed" in window.text(".lead-gaps .gaps")
    assert window.text("h1") == "chokepoint" and int(window.text(".count").split()[0].replace(",", "")) > 100
    window.screenshot(SHOTS / "gather-repository.png")
    window.check_quiet()


def test_nothing_found_leaves_no_empty_parts(reporter, window):
    reporter.page(reporter.write("all.json", document()))
    window.size(1280, 800)
    window.open_ready(reporter.out)
    assert window.text(".lead-gaps .figure") == "0 of 1 probe did not run" and "The probes that ran found nothing." in window.text(".lead-found")
    headings = window.value("[...document.querySelectorAll('.card > h2')].map(heading => heading.innerText)")
    assert headings == ["Found", "Not looked at", "Findings", "Not looked at", "Probes", "Calls, and the layers that held"]
    window.check_quiet()


def test_no_word_of_a_table_is_broken(reporter, window):
    """Names of probes, outcomes and jails are whole, wide and narrow; what is narrow has no columns that stick out."""
    missing = [probe(name, "tool", state="tool_missing", reason="-", install="x" * 90, calls=[reports.call("tool", outcome="tool_missing", jail=None, layers=[])])
               for name in ("gitleaks_history", "structural_patterns")]
    reporter.page(reporter.write("all.json", document(findings=some_findings(), probes=missing)))
    for width in (1280, 390):
        window.size(width, 900)
        window.open_ready(reporter.out)
        heights = window.value("[...document.querySelectorAll('.plain tbody th, .layers td:nth-child(3), .gaps b')].map(cell => {"
                               "const range = document.createRange(); range.selectNodeContents(cell);"
                               "return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size; })")
        assert len(heights) > 6 and set(heights) == {1}, (width, heights)
        assert window.value("document.documentElement.scrollWidth <= innerWidth")
    assert window.value("document.querySelector('#gaps').scrollWidth <= document.querySelector('#gaps').clientWidth")


def test_clicks_filter_sort_and_open(reporter, window):
    open_some(reporter, window)
    assert window.text(".count") == "42 shown" and labels(window)[0].startswith("high what 'curl' fetches")
    window.click(".chips [data-name=high]")
    window.settled()
    assert window.text(".count") == "28 of 42 shown" and labels(window)[0].startswith("medium")
    window.click(".chips [data-name=high]")
    window.type("input[type=search]", "tests SHELL")
    window.settled()
    assert window.text(".count") == "14 of 42 shown" and all("tests/t.py" in label for label in labels(window))
    window.press("escape")
    window.settled()
    assert window.text(".count") == "42 shown"
    window.click(".top .cell:nth-child(3) button")
    window.settled()
    assert window.value("document.querySelectorAll('.top .cell')[2].getAttribute('aria-sort')") == "ascending" and "install.sh" in labels(window)[0]
    window.click(".top .cell:nth-child(3) button")
    window.settled()
    assert "tests/t.py" in labels(window)[0]
    window.click(".bars a[data-value=eval_call]")
    window.settled()
    assert window.text(".count") == "14 of 42 shown" and window.text(".pin") == "rule: eval_call ×"
    window.run("const select = document.querySelector('select'); select.value = [...select.options].find(o => o.text === 'lint').value; select.dispatchEvent(new Event('change'))")
    window.settled()
    assert window.text(".count") == "1 of 42 shown"
    window.click(".rows .row")
    details = window.text("dialog")
    assert "line 1 of src/a.py" in details and "What each said".upper() in details.upper() and "lint\neval_call: 'eval' makes code of text" in details
    window.screenshot(SHOTS / "gather-details.png")
    window.check_quiet()


def test_a_line_of_a_chart_shows_what_it_counts(reporter, window):
    """No more, though the words of the line are in others too."""
    findings = [merged("exec", path="src/exec/a.c"), merged("c-exec", message="not exec", path="src/exec/deep/b.c"), merged("top", path="exec.c"), merged("none", path="")]
    many = {f"/srv/app{name}": document(root=f"/srv/app{name}", findings=findings * count) for name, count in (("", 1), ("2", 2))}
    reporter.page(reporter.write("all.json", document(findings=findings)))
    for page in ("one", "many"):
        if page == "many":
            reporter.page(reports.fleet(reporter.box.outside / "fleet", many))
        window.size(1280, 800)
        window.open_ready(reporter.out)
        lines = window.value("document.querySelectorAll('.bars a, #repositories a').length")
        assert lines == {"one": 4 + 3, "many": 4 + 2 + 2}[page]
        for line in range(lines):
            window.run("const input = document.querySelector('input[type=search]'); input.value = 'zzz'; input.dispatchEvent(new Event('input'))")
            count = window.run("const line = document.querySelectorAll('.bars a, #repositories a')[arguments[0]]; line.click();"
                               "return (line.querySelector('.number') || line.closest('tr').cells[3]).innerText", line)
            window.settled()
            assert window.text(".count").split()[0] == count, window.text(".pin")
        window.click(".over .clear")
        window.settled()
        assert window.text(".count") == {"one": "4 shown", "many": "12 shown"}[page] and not window.value("document.querySelector('.pin')")
        window.check_quiet()


def test_all_filters_are_cleared_at_once(reporter, window):
    open_some(reporter, window)
    assert window.value("document.querySelector('.clear').hidden")
    window.click(".chips [data-name=high]")
    window.type("input[type=search]", "zzz")
    window.run("const select = document.querySelector('.controls select'); select.selectedIndex = 1; select.dispatchEvent(new Event('change'))")
    window.settled()
    assert window.text(".count") == "0 of 42 shown" and window.text(".empty") == "Nothing matches the search and the filters."
    window.click(".clear")
    window.settled()
    assert window.text(".count") == "42 shown" and window.value("document.querySelector('.clear').hidden")
    assert window.value("document.querySelector('.controls select').selectedIndex === 0 && document.querySelector('.chips [data-name=high]').ariaPressed === 'true'")
    window.check_quiet()


def test_a_narrow_window_has_an_order_and_the_ends_of_paths(reporter, window):
    found = [merged("a", path="a-directory/with-a-long-name/and-another-one/beneath-it/file.py", message="what is said " * 8), merged("b", "low", path="b.py")]
    reporter.page(reporter.write("all.json", document(findings=found)))
    window.size(390, 844)
    window.open_ready(reporter.out)
    assert window.text(".orders option:checked") == "The worst first" and labels(window)[0].startswith("medium")
    window.run("const select = document.querySelector('.orders'); select.value = [...select.options].find(o => o.text === 'Where ↓').value; select.dispatchEvent(new Event('change'))")
    window.settled()
    assert labels(window)[0].startswith("low")
    # The text sticks out on the left, so that its end is seen.
    assert window.value("[...document.querySelectorAll('.rows .tail')].map(cell => cell.querySelector('bdi').getBoundingClientRect().right <= cell.getBoundingClientRect().right + 1)") == [True, True]
    assert window.value("document.querySelector('.rows .main').getBoundingClientRect().width") > 280, "the message has the whole line"
    window.screenshot(SHOTS / "gather-narrow-list.png")
    window.check_quiet()


def test_printed_colours_are_kept(reporter, window):
    """A browser leaves out backgrounds when it prints; the dots and the proof are such."""
    reporter.audit(some_log())
    window.size(1280, 800)
    window.open_ready(reporter.out)
    printed = base64.b64decode(window.cdp("Page.printToPDF", printBackground=False)["data"])
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", printed, re.DOTALL)
    drawn = b"".join(zlib.decompressobj().decompress(stream) for stream in streams if stream[:1] == b"\x78")
    red, green, blue = (float(number) for number in (0xed / 255, 0xf6 / 255, 0xf1 / 255))
    colours = {tuple(round(float(number), 2) for number in match.split()[:3]) for match in re.findall(rb"[\d.]+ [\d.]+ [\d.]+ rg", drawn)}
    assert (round(red, 2), round(green, 2), round(blue, 2)) in colours, colours
    assert window.cdp("Emulation.setEmulatedMedia", media="print") is not None
    assert window.value("getComputedStyle(document.querySelector('#static')).display === 'block' && getComputedStyle(document.querySelector('.grid')).display === 'none'")


def test_keyboard_is_enough(reporter, window):
    open_some(reporter, window)
    window.press("/")
    assert window.value("document.activeElement.type") == "search"
    window.run("document.querySelector('.grid').focus()")
    window.press("down", "down", "up", "end")
    assert window.value("document.querySelector('.grid').getAttribute('aria-activedescendant')") == "row-41"
    assert window.value("document.getElementById('row-41').classList.contains('current')") and window.sees("#row-41")
    window.press("home", "page_down")
    assert 5 < int(window.value("document.querySelector('.current').dataset.at")) < 41
    window.press("home", "enter")
    assert window.value("document.querySelector('dialog').open") and "install.sh:1" in window.text("dialog")
    window.press("tab")
    window.run("[...document.querySelectorAll('dialog button')].find(button => button.textContent === 'Next').focus()")
    window.press("enter", "enter")
    assert "install.sh:3" in window.text("dialog") and window.value("document.activeElement.textContent") == "Next"
    assert window.text("dialog .buttons span") == "3 of 42"
    window.run("[...document.querySelectorAll('dialog button')].find(button => button.textContent === 'Previous').focus()")
    window.press("enter", "enter")
    assert "install.sh:1" in window.text("dialog") and window.value("document.activeElement.textContent") == "Previous"
    window.press("escape")
    assert not window.value("document.querySelector('dialog').open")
    assert window.value("document.activeElement.className").startswith("grid"), "the focus is back where it was"
    window.click(".rows .row:nth-child(3)")
    window.press("escape", "down")
    assert window.value("document.activeElement.getAttribute('aria-activedescendant')") == "row-3", "the arrows go on after a click too"
    window.check_quiet()


def test_changes_since_the_look_before_can_be_chosen(reporter, window):
    now = some_findings()
    before = [*now[5:], merged("old", "critical", "it was here", "old.py"), merged("other", path="o.py", probes=("semgrep",))]
    reporter.write("before.json", document(findings=before, date="2026-11-01T10:00:00Z"))
    reporter.page(reporter.write("now.json", document(findings=now)), reporter.box.outside / "before.json")
    window.size(1280, 800)
    window.open_ready(reporter.out)
    assert window.text(".count") == "42 of 44 shown" and window.text(".change") == "5 new, 1 gone, 1 not looked for again since the look before"
    for value, count in (("1", 5), ("2", 37), ("3", 1), ("4", 1)):
        window.run("const select = document.querySelector('select[aria-label^=Compared]'); select.value = arguments[0]; select.dispatchEvent(new Event('change'))", value)
        window.settled()
        assert window.text(".count") == f"{count} of 44 shown"
    window.click(".rows .row")
    assert "Compared with before\nnot looked for again" in window.text("dialog")
    window.press("escape")
    window.run("scrollTo(0, document.getElementById('time').offsetTop - 20)")
    window.screenshot(SHOTS / "gather-time.png")
    assert window.value("document.querySelectorAll('#time g').length") == 2
    window.check_quiet()


def test_without_a_script_it_can_be_read(reporter, window):
    reporter.page(reporter.write("all.json", document(findings=reports.many(1500))))
    window.size(1280, 800, scripts=False)
    try:
        window.open(reporter.out)
        texts = window.cdp("Runtime.evaluate", expression="document.body.innerText")["result"]["value"]
        rows = window.cdp("Runtime.evaluate", expression="document.querySelectorAll('#static tbody tr').length")["result"]["value"]
        charts = window.cdp("Runtime.evaluate", expression="document.querySelectorAll('.bars svg rect').length")["result"]["value"]
    finally:
        window.size(1280, 800)
    assert "1,500 findings" in texts and "The first 1,000 of 1,500 findings" in texts and rows == 1000 and charts > 10
    assert "Search findings" not in texts, "nothing is offered that needs a script"


def test_a_log_is_filtered_by_tool_outcome_and_time(reporter, window):
    log = some_log()
    reporter.audit(log)
    window.size(1280, 800)
    window.open_ready(reporter.out)
    assert window.text(".count") == "9 shown" and "git gc" in labels(window)[0], "the newest first"
    assert window.sees(".proof") and window.sees(".figures")
    window.screenshot(SHOTS / "audit-1280.png")
    window.click(".chips [data-name=run]")
    window.settled()
    assert window.text(".count") == "5 of 9 shown"
    window.click(".chips [data-name=run]")
    choose = "const select = document.querySelector(`select[aria-label='${arguments[0]}']`); select.value = [...select.options].find(o => o.text.startsWith(arguments[1])).value; select.dispatchEvent(new Event('change'))"
    for label, text, count in (("All tools", "npm", 3), ("All outcomes", "denied", 1), ("All outcomes", "All", 3), ("All tools", "All", 9)):
        window.run(choose, label, text)
        window.settled()
        assert window.text(".count").split()[0] == str(count), (label, text)
    window.run("const input = document.querySelector('input[aria-label=to]'); input.value = '2026-11-15T16:00:03'; input.dispatchEvent(new Event('change'))")
    window.settled()
    assert window.text(".count") == "3 of 9 shown"
    for column in range(11):
        shown = window.run("const column = document.querySelectorAll('.columns g')[arguments[0]]; column.querySelector('.hit').dispatchEvent(new MouseEvent('click', {bubbles: true}));"
                           "return column.querySelectorAll('rect').length - 1", column)
        window.settled()
        assert window.text(".count") == f"{shown} of 9 shown", "what its column shows"
    window.click(".bars a[data-tool=git]")
    window.settled()
    window.click(".rows .row")
    assert "WHAT HELD" in window.text("dialog").upper() and "native" in window.text("dialog")
    window.press("escape")
    window.check_quiet()


def test_choices_are_bounded(reporter, window):
    """Whoever asks for calls can name a new tool each time. A list of 100,000 to choose from kept the page busy for minutes."""
    log = Log()
    for number in range(700):
        log.refused(f"tool{number}", error={"code": "disallowed", "message": "-"})
    for _ in range(2):
        log.refused("often", error={"code": "disallowed", "message": "-"})
    reporter.audit(log)
    window.size(1280, 800)
    window.open_ready(reporter.out)
    tools = window.value("[...document.querySelectorAll('select[aria-label=\"All tools\"] option')].map(option => option.text)")
    assert len(tools) == 501 and tools[1] == "often (2)"
    assert window.value("document.querySelectorAll('.bars li').length") == 12
    window.check_quiet()


def test_an_empty_log_is_damage_and_nothing_else(reporter, window):
    reporter.audit(b"", status=1)
    window.size(1280, 800)
    window.open_ready(reporter.out)
    assert window.text(".proof h2") == "The log is damaged" and ":0" not in window.text(".proof")
    assert window.value("[...document.querySelectorAll('.card > h2')].map(heading => heading.innerText)") == ["Records"]
    assert "There are no records" in window.text("#calls")
    window.check_quiet()


def test_damage_is_red_and_first(reporter, window):
    log = some_log()
    lines = [*log.lines[:4], log.lines[4].replace(b"timeout", b"exited0"), *log.lines[5:]]
    reporter.audit(b"".join(line + b"\n" for line in lines), status=1)
    window.size(1280, 800)
    window.open_ready(reporter.out)
    red, green, _ = map(int, window.value("getComputedStyle(document.querySelector('.proof h2')).color")[4:-1].split(","))
    assert window.text(".proof h2") == "The log is damaged" and red > 2 * green and "audit.jsonl:5" in window.text(".proof")
    assert window.value("[...document.querySelectorAll('.rows .row')].every(row => row.classList.contains('doubtful') === row.innerText.includes('not proven'))")
    assert window.value("document.querySelectorAll('.rows .doubtful').length") > 0
    window.size(390, 844)
    window.open_ready(reporter.out)
    assert window.value("[...document.querySelectorAll('.rows .doubtful small')].every(mark => mark.offsetWidth > 0)"), "not by colour alone"
    window.screenshot(SHOTS / "audit-damaged.png")
    window.check_quiet()


def use(window, path, rows):
    """Loads, searches, filters, sorts by every column, and scrolls."""
    window.size(1280, 800)
    window.open_ready(path)
    assert window.text(".count") == f"{rows:,} shown"
    window.type("input[type=search]", "file12 rule")
    window.settled()
    window.run("const input = document.querySelector('input[type=search]'); input.value = ''; input.dispatchEvent(new Event('input'))")
    window.settled()
    for column in (2, 3, 1, 4):
        window.click(f".top .cell:nth-child({column}) button")
        window.settled()
    for name in ("medium", "low"):
        window.run("document.querySelector(`.chips [data-name=${arguments[0]}]`)?.click()", name)
        window.settled()
    window.run("document.querySelector('.scroller').scrollTop = 1e6")
    window.settled()


def test_100000_findings_stay_fluid(reporter, window):
    """No task keeps the page from answering for long, while it loads and while it is used."""
    longest = {}
    for rows in (1, ROWS_100K):
        reporter.page(reporter.write("all.json", document(findings=reports.many(rows))))
        with traced(window.debugging) as trace:
            use(window, reporter.out, rows)
        longest[rows] = trace["longest_ms"]
    window.screenshot(SHOTS / "gather-100000.png")
    figures = (f"{ROWS_100K} findings: longest task {longest[ROWS_100K]:.0f} ms, {longest[ROWS_100K] / longest[1]:.1f} times that of a page with one "
               f"({longest[1]:.0f} ms)")
    print(figures)
    (SHOTS / "longest-task.txt").write_text(figures + "\n")
    assert longest[ROWS_100K] < LONGEST_MS
