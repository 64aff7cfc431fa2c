"""Policies that take entries of the catalogue, and what the build has of it."""
import json
import pathlib

import yaml

PROJECT = pathlib.Path(__file__).parents[2]
SEARCH_PATH = ["/usr/local/bin", "/usr/bin", "/bin"]


def families():
    """Each file of the catalogue, as it is in the sources."""
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
            for path in sorted((PROJECT / "policy/catalog").glob("*.yaml"))}


def names():
    return [entry["name"] for family in families().values() for entry in family["tools"]]


def taking(box, *entries, **keys):
    """A policy of the caller that takes these. keys: further keys, extends="default"; grant=[...]."""
    document = {"version": 1, "catalog": list(entries), **keys}
    if "extends" not in keys:
        document.setdefault("search_path", SEARCH_PATH)
    if "extends" not in keys and "bwrap" not in entries:
        document.setdefault("tools", []).append(box.entry("bwrap", route="jail"))
        document["adr_dir"] = "adr"
    return box.file("policy/catalog.yaml", json.dumps(document), 0o600)
