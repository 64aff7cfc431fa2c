#!/usr/bin/python3
"""platforms-page.py DIR [--check] - the tables of docs/platforms.md, from what the suite `kernels` left in DIR.

DIR is platforms/ of a build directory, after a full run. A place that was not run, or where something failed, is not there,
and so not in the tables. With --check nothing is written, and it is an error if the page does not have exactly the places, the
states and the groups of tests that were found. Versions of kernels and counts may differ: the archive moves on.
"""
import json
import os
import sys

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "platforms.md")
MARK = "<!-- platforms -->\n"
ORDER = ("5.10", "6.1", "newest", "arm64", "no-user-namespaces-for-users", "no-user-namespaces", "apparmor-userns", "apparmor-ubuntu",
         "container", "no-landlock", "selinux", "selinux-userns")
COLUMNS = (("Landlock", "kernel.execs"), ("user namespaces", "namespace.user"), ("cgroup.kill", "cgroup.cgroup.kill"),
           ("limits by cgroup", "cgroup.memory"), ("native", "jail.native"), ("native without namespaces", "jail.native-degraded"),
           ("bwrap", "jail.bwrap"), ("egress", "jail.native-egress"), ("guard", "jail.guard"))


def state(layer, name):
    if layer["holds"]:
        return layer["detail"].replace("Landlock ", "") if name == "kernel.execs" else "held"
    return "refused" if name.startswith("jail.") else "missing"


def table(places):
    rows = [["place", "kernel", "caller", *(title for title, _ in COLUMNS), "attempts held"]]
    for place in places:
        for caller, had in place["callers"].items():
            attempts = had["attempts"]
            tried = f"{attempts['held']} of {sum(attempts.values())}" if attempts else "no jail to try"
            rows.append([place["title"], place["kernel"], caller, *(state(had["layers"][name], name) for _, name in COLUMNS), tried])
    rows.insert(1, ["---"] * len(rows[0]))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def reasons(places):
    """What is missing, in the words of doctor, once for all places that say it."""
    said = {}
    for place in places:
        for caller, had in place["callers"].items():
            for title, name in COLUMNS:
                layer = had["layers"][name]
                if not layer["holds"]:
                    said.setdefault((title, layer["cause"]), {}).setdefault(place["title"], []).append(caller)
    text = "| what | where | what doctor says |\n|---|---|---|\n"
    for (title, cause), where in said.items():
        text += f"| {title} | {'; '.join(f'{place} ({chr(44).join(callers)})' for place, callers in where.items())} | {cause} |\n"
    return text


def tests(places):
    text = "| place | tests | passed | failed | skipped |\n|---|---|---|---|---|\n"
    for place in places:
        for name, counts in place["tests"].items():
            text += f"| {place['title']} | {name} | {counts['passed']} | {counts['failed']} | {counts['skipped']} |\n"
    return text


def states(text):
    """What holds, by place and caller, without the kernel's version and counts; and the groups of tests, by place and name."""
    layers, _, groups = ([[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()[2:]]
                         for part in text.strip().split("\n\n"))
    return {**{(row[0], row[2]): row[3:-1] for row in layers}, **{(row[0], f"tests {row[1]}"): [] for row in groups}}


def differing(found, written):
    found, written = states(found), states(written)
    return sorted(key for key in {**found, **written} if found.get(key) != written.get(key))


def read(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def main():
    directory = sys.argv[1]
    paths = [os.path.join(directory, f"{name}.json") for name in ORDER]
    places = [read(path) for path in paths if os.path.exists(path)]
    with open(PAGE, encoding="utf-8") as stream:
        page = stream.read()
    before, old, after = page.split(MARK)
    new = f"\n{table(places)}\n{reasons(places)}\n{tests(places)}\n"
    if "--check" in sys.argv:
        wrong = differing(new, old)
        if wrong:
            sys.exit(f"docs/platforms.md differs from what was found: {wrong}; write it with tools/gen/platforms-page.py {directory}")
        return
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(MARK.join((before, new, after)))


if __name__ == "__main__":
    main()
