"""Entries of the catalogue (policy/catalog/*.yaml) with the tools themselves.

A family has one table, from names to cases. Of each case a test makes the ordinary call in a jail, sees that the calls
in `refused` are refused, and makes the attacks: each succeeds without chokepoint and fails in the jail.
"""
import dataclasses
import json
import os
import pathlib
import shlex
import shutil

import yaml

from feature import full, skip

PROJECT = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((PROJECT / "policy/policy.schema.json").read_text(encoding="utf-8"))
SEARCH_PATH = ["/usr/local/bin", "/usr/bin", "/bin"]
SECRET = "the-secret-of-the-host"


@dataclasses.dataclass
class Case:
    """argv and the vectors in then, refused and attacks are one text each, split as a shell does. In arguments and files CANARY
    is a file that an attack makes, SECRET one outside of the root that it prints."""
    argv: str = ""         # empty: the tool is not available here, so only its arguments are tested
    files: dict = dataclasses.field(default_factory=dict)
    said: str = ""         # in the output
    status: int = 0
    then: tuple = ()       # in a full run: further ordinary calls, in the same root; each succeeds
    refused: tuple = ()
    attacks: dict = dataclasses.field(default_factory=dict)  # a name: (argv, files)
    sample: bool = False   # also in a run that is not full
    env: dict = dataclasses.field(default_factory=dict)      # of an attack without chokepoint; OUTSIDE is a directory


def families() -> dict:
    """Each file of the catalogue, as it is in the sources."""
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
            for path in sorted((PROJECT / "policy/catalog").glob("*.yaml"))}


def family(name) -> dict:
    """The entries of one file, by name."""
    return {entry["name"]: entry for entry in families()[f"{name}.yaml"]["tools"]}


def names() -> list:
    return [entry["name"] for document in families().values() for entry in document["tools"]]


def taking(box, *entries, **keys) -> pathlib.Path:
    """A policy of the caller that takes these. keys: further keys, extends="default"; grant=[...]."""
    document = {"version": 1, "catalog": list(entries), **keys}
    if "extends" not in keys:
        document.setdefault("search_path", SEARCH_PATH)
    if "extends" not in keys and "bwrap" not in entries:
        document["tools"] = [*document.get("tools", []), box.entry("bwrap", route="jail")]
        document["adr_dir"] = "adr"
    if "catalog" not in SCHEMA["properties"]:
        known = {entry["name"]: entry for family in families().values() for entry in family["tools"]}
        document["tools"] += [known[name] for name in document.pop("catalog")]
    return box.file("policy/catalog.yaml", json.dumps(document, indent=1), 0o600)


def policy(box, *entries, search_path=None, more=()) -> pathlib.Path:
    """The same without extends; more: entries of the test."""
    return taking(box, *entries, search_path=[*map(str, search_path or SEARCH_PATH)], tools=list(more))


def chosen(table) -> list:
    """The names whose tools run: all in a full run, else the samples."""
    return [name for name, case in table.items() if case.argv and (full() or case.sample)]


def chosen_attacks(table) -> list:
    """Of these names all attacks in a full run, else the first."""
    return [(name, attack) for name in chosen(table) for attack in [*table[name].attacks][:None if full() else 1]]


def expanded(box, text: str) -> str:
    places = {"CANARY": box.canary(), "SECRET": box.outside / "secret", "OUTSIDE": box.outside}
    for word, path in places.items():
        text = text.replace(word, str(path))
    return text


def vector(box, text: str) -> list:
    return [expanded(box, word) for word in shlex.split(text)]


def plant(box, files) -> None:
    """Writes the files beneath the root, and the secret outside of it."""
    box.file("outside/secret", SECRET, 0o600)
    for name, text in files.items():
        path = box.root / name
        for parent in reversed([*path.relative_to(box.root).parents][:-1]):
            if not (box.root / parent).exists():
                box.own(box.directory(f"root/{parent}"))
        box.file(f"root/{name}", expanded(box, text), 0o755 if text.startswith("#!") else 0o644)


def empty(box) -> None:
    """Removes what a call left."""
    for path in [*box.root.iterdir(), box.canary()]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def needs(name) -> None:
    if not any(os.access(os.path.join(place, name), os.X_OK) for place in SEARCH_PATH):
        skip(name, f"{name} is not installed")


def output(answer) -> str:
    return (answer.stream("stdout") + answer.stream("stderr")).decode(errors="replace")


def check_work(cell, name, case, **shape) -> None:
    """The ordinary call does its work in the jail."""
    needs(name)
    plant(cell.box, case.files)
    shape = {"policy": policy(cell.box, name), "timeout": 300, "deadline": 400, **shape}
    answer = cell.run(*vector(cell.box, case.argv), **shape)
    assert (answer.outcome, answer["jail"]) == ("exited", cell.jail), answer.document
    assert answer.status == case.status and case.said in output(answer), output(answer)
    for text in case.then if full() else ():
        answer = cell.run(*vector(cell.box, text), **shape)
        assert (answer.outcome, answer.status) == ("exited", 0), (text, output(answer))


def check_refused(box, name, case) -> None:
    """Each is refused by its arguments, before anything runs."""
    plant(box, case.files)
    made = policy(box, name)
    for text in case.refused:
        answer = box.run(*vector(box, text), policy=made)
        assert answer.outcome == "disallowed", (text, answer.document)
        assert answer["rule"].startswith(f"tools.{name}"), (text, answer.document)


def succeeded(box, said: str) -> bool:
    return box.canary().exists() or SECRET in said


def check_attack(cell, name, case, attack, **shape) -> None:
    """It succeeds without chokepoint, and not in the jail, where the call is allowed."""
    needs(name)
    box = cell.box
    text, files = case.attacks[attack]
    plant(box, {**case.files, **files})
    env = {name: expanded(box, value) for name, value in case.env.items()}
    plain = box.call(vector(box, text), deadline=400, env=box.environment(PATH=":".join(SEARCH_PATH), **env))
    said = (plain.out + plain.err).decode(errors="replace")
    assert succeeded(box, said), f"the attack fails without a jail too: {said}"
    empty(box)
    plant(box, {**case.files, **files})
    shape = {"policy": policy(box, name), "timeout": 300, "deadline": 400, **shape}
    answer = cell.run(*vector(box, text), **shape)
    assert answer["jail"] == cell.jail, answer.document
    assert not succeeded(box, output(answer)), output(answer)


def vectors(name, text, tail="") -> tuple:
    """For `refused`: calls of one tool, with | between their arguments."""
    return tuple(f"{name} {' '.join(words.split())} {tail}".strip() for words in text.split("|"))
