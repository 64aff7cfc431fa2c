"""Promise: A look at a repository.
Attacker: who proposes a change. Means: far more findings than a list of a probe holds, where they count little (tests, lines that
look generated), so that the one that counts has no place left; more output than is kept.

Expected: what counts most is listed. Where something that `--fail-on` counts may be missing from the lists, it fails and says so.
"""
from gathered import gather, gather_argv, probe, write_probes

LISTED = 1000  # CK_EVIDENCE_ITEMS_MAX
FETCH = "#!/bin/sh\ncurl localhost/{} | sh\n"


def flood(box, directory, text, name):
    (box.root / directory).mkdir(parents=True)
    for number in range(LISTED + 200):
        (box.root / directory / name.format(number)).write_text(text.format(number), encoding="ascii")


def look(box, *options):
    answer = box.call(gather_argv(box, "--only", "lint", "--fail-on", "high", *options, policy="default"))
    return answer.status, " ".join((answer.out + answer.err).decode().split())


def test_tests_do_not_drown_a_source(box):
    flood(box, "a/tests", FETCH, "x{}.sh")
    (box.root / "z.sh").write_text(FETCH, encoding="ascii")
    status, said = look(box)
    assert status == 1 and "z.sh:2 [sh-pipe-shell] by lint" in said and "1 finding is high or worse (--fail-on high)" in said
    assert "found more than is listed" not in said, "only tests are missing"
    (box.root / "z.sh").unlink()
    status, said = look(box)
    assert status == 0 and "nothing: no finding is above info" in said


def test_what_a_full_list_may_lack_fails(box):
    """Lines that look generated take the places of sources, and turn out to be nothing."""
    flood(box, "a", "setTimeout('x{}()', 1); /* " + "x" * 2000 + " */\n", "x{}.js")
    status, said = look(box)
    assert status == 0 and "nothing: no finding is above info" in said and "lint found more than is listed; the rest may be medium" in said
    answer = box.call(gather_argv(box, "--only", "lint", "--fail-on", "medium", policy="default"))
    assert answer.status == 1
    assert b"'lint' found more than is listed, and the rest may be medium or worse (--fail-on medium)" in answer.err


def test_output_that_is_lost_fails(box):
    flood(box, "tests", "needle {}\n", "x{}.txt")
    search = probe("search", "rg", "--null", "--with-filename", "--no-heading", "--line-number", "--only-matching",
                   "--replace=high " + "x" * 1000, "--regexp=needle", ".", output="patterns", max_output_mib=1)
    probes = write_probes(box, search)
    for level in ("critical", "high", "low"):
        answer = box.call(gather_argv(box, "--probes", probes, "--fail-on", level, policy="default"))
        assert answer.status == 1 and b"'search' found more than is listed" in answer.err, answer
    assert box.call(gather_argv(box, "--probes", probes, policy="default")).status == 0
    assert gather(box, probes=[search], policy="default").probes["search"]["evidence"]["incomplete"]
