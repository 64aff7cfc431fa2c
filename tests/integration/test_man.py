"""chokepoint(1) and --help say the same: every command, and every option of it, in the synopsis and in its section."""
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/man/chokepoint.1"
OPTION = re.compile(r"\bFl Fl ([a-z][a-z-]*)")
RUN = ".Op Ar options of run"  # of policy explain, which has those that decide about a call
RUNNING = {"stream", "dry-run", "why", "audit", "no-audit", "audit-sync", "audit-max"}  # these it has not


def synopsis():
    """The options of each command. A command may have several lines of its own."""
    text = PAGE.read_text(encoding="utf-8").split(".Sh SYNOPSIS\n")[1].split("\n.Sh ")[0]
    found = {}
    for block in text.split(".Nm\n")[1:]:
        first, _, rest = block.partition("\n")
        if first.startswith(".Cm "):
            found.setdefault(first[4:], set()).update(OPTION.findall(rest), {RUN} if RUN in rest else ())
    return {name: options - {RUN} | found["run"] - RUNNING if RUN in options else options for name, options in found.items()}


def sections():
    """The text about each command."""
    parts = re.split(r"^\.S[sh] (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {title.removeprefix("chokepoint "): text for title, text in zip(parts[1::2], parts[2::2]) if title.startswith("chokepoint ")}


@pytest.fixture
def helped(user_box):
    """The options of each command, as --help shows them."""
    def shown(*words):
        answer = user_box.call([user_box.command, "help", *words])
        assert answer.status == 0, answer
        return answer.out.decode()
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  +\S", shown().split("Commands:\n")[1].split("\nOptions:")[0], re.MULTILINE)
    return {name: set(re.findall(r"^  --([a-z-]+)", shown(*name.split()), re.MULTILINE)) - {"help"} for name in names}


def test_synopsis_has_every_option_and_no_other(helped):
    shown = synopsis()
    assert set(shown) == set(helped) and len(shown) > 20
    differing = {name: sorted(options ^ helped[name]) for name, options in shown.items()}
    assert {name: options for name, options in differing.items() if options} == {}


def test_each_option_is_described(helped):
    described = {name: set(OPTION.findall(text)) for name, text in sections().items()}
    described["policy explain"] |= described["run"]
    missing = {name: sorted(options - described[name]) for name, options in helped.items()}
    assert {name: options for name, options in missing.items() if options} == {}
