"""Every option of every subcommand that the shipped entry of git allows, each as a separate
command.
"""
from hostile import default_entry


def sample(option):
    """An argument that the option's notation allows."""
    name, _, value = option.partition("=")
    name = name.removesuffix("[")
    value = value.removesuffix("]").split("|")[0]
    if option == "-<number>":
        return ["-3"]
    if "=" not in option:
        return [name]
    text = {"": SAMPLES.get(name, "1"), "<number>": "1"}.get(value, value)
    return [f"{name}={text}" if name.startswith("--") else name + text]


SAMPLES = {"--format": "%G?", "--pretty": "%GG", "-L": "1,2:a.txt", "--with-tree": "HEAD", "--ignore-rev": "HEAD",
           "--contains": "HEAD", "--no-contains": "HEAD", "--merged": "HEAD", "--no-merged": "HEAD",
           "--points-at": "HEAD", "--sort": "refname", "--find-object": "HEAD:gone.txt", "--diff-filter": "M",
           "--date": "iso", "--color": "never", "--glob": "heads/*", "--filter": "blob:none", "--since": "2001-01-01"}
OPERANDS = {"blame": ["a.txt"], "grep": ["first"], "cat-file": ["HEAD:gone.txt"], "check-ignore": ["a.txt"],
            "check-attr": ["a.txt"], "diff-tree": ["HEAD~4", "HEAD"], "diff-index": ["HEAD"], "rev-list": ["HEAD"],
            "merge-base": ["HEAD", "HEAD~2"], "ls-tree": ["HEAD"], "name-rev": ["HEAD"], "remote get-url": ["origin"],
            "shortlog": ["HEAD"], "show": ["HEAD~3"]}


def every_option():
    args = default_entry()["args"]
    sets = {one["name"]: one["options"] for one in args["sets"]}
    for sub in args["subcommands"]:
        for option in sub.get("options", []):
            for one in sets[option[1:]] if option.startswith("@") else [option]:
                patch = ["-p"] if sub["name"] in ("log", "show", "diff-tree", "diff-index", "diff-files") else []
                if one in ("-s", "--no-patch") or one == "-p":
                    patch = []
                yield [*sub["name"].split(), *patch, *sample(one), *OPERANDS.get(sub["name"], [])]
