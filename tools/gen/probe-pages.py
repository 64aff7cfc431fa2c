#!/usr/bin/python3
"""probe-pages.py [--check] - the section about calls in each page of docs/probes, from policy/probes.yaml.

The section is between "<!-- calls -->" and "<!-- end -->". Without --check it is rewritten. With --check a difference is
an error, and so is a probe without a page, or a page without a probe.
"""
import argparse
import os
import re
import shlex
import sys
import textwrap

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBES = os.path.join(TOP, "policy", "probes.yaml")
PAGES = os.path.join(TOP, "docs", "probes")
CALLS = re.compile(r"(<!-- calls -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)
WIDTH = 116


def rows(argv):
    """The arguments quoted for a shell, broken into lines."""
    row = ""
    for word in (shlex.quote(str(word)) for word in argv):
        if row and len(row) + len(word) >= WIDTH:
            yield row + " \\"
            row = "   "
        row += (" " if row else "") + word
    yield row


def describe(call):
    yield f"`{call['id']}`"
    yield from ("", "```sh", *rows(call["argv"]), "```", "")
    given = call.get("stdin", {})
    if "text" in given:
        yield from ("On stdin:", "", "```yaml", *given["text"].rstrip("\n").split("\n"), "```", "")
    if "probe" in given:
        yield from (f"On stdin: what `{given['call']}` of [{given['probe']}]({given['probe']}.md) printed.", "")
    if "may_fail" in call:
        yield from (f"Answers: 0, {', '.join(map(str, call['may_fail']))}.", "")


def when(probe):
    globs = probe.get("applies_when")
    if not globs:
        return "Always, where there is a git repository." if probe.get("git") else "Always."
    return textwrap.fill("Where a file matches one of " + " ".join(f"`{glob}`" for glob in globs) + ".", 120,
                         break_on_hyphens=False, break_long_words=False)


def unless(probe):
    """When it is skipped because its tool would block on a file."""
    globs = probe.get("opens")
    if globs == []:
        return []
    named = "`, `".join(globs) if globs else ""
    where = f"`{named}`" if globs else "any file"
    git = ", or a file of the git directory," if probe.get("git") else ""
    return ["", textwrap.fill(f"Not where {where}{git} is a FIFO or a device: its tool would wait for it.", 120,
                              break_on_hyphens=False, break_long_words=False)]


def block(probe):
    if "inside" in probe:
        return f"Code of the command, `inside: {probe['inside']}`, layer `{probe['layer']}`; no tool is called.\n\n{when(probe)}\n"
    lines = [f"Tool `{probe['tool']}`, layer `{probe['layer']}`, read as `{probe['output']}`.", "", when(probe),
             *unless(probe), ""]
    for call in probe["calls"]:
        lines += describe(call)
    return "\n".join(line.rstrip() for line in lines)


def rewritten(page, probe):
    """The page now, and the page with the new block; None if there is no page, or no place in it for the block."""
    try:
        with open(page, encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        return None, None
    if len(CALLS.findall(text)) != 1:
        return text, None
    return text, CALLS.sub(lambda match: match[1] + block(probe) + match[3], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with open(PROBES, encoding="utf-8") as stream:
        probes = yaml.safe_load(stream)["probes"]
    problems = []
    for probe in probes:
        page = os.path.join(PAGES, probe["name"] + ".md")
        before, after = rewritten(page, probe)
        if after is None:
            problems.append(f"{page}: is missing, or has no place for the calls of '{probe['name']}'")
        elif before != after and options.check:
            problems.append(f"{page}: differs from policy/probes.yaml; run tools/gen/probe-pages.py")
        elif before != after:
            with open(page, "w", encoding="utf-8") as stream:
                stream.write(after)
    known = {probe["name"] + ".md" for probe in probes}
    problems += [f"{name}: there is no such probe" for name in sorted(set(os.listdir(PAGES)) - known)]
    print("\n".join(problems + [f"{len(probes)} probes, {len(problems)} problems"]), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
