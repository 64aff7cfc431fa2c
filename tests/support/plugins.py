"""Helpers for the plug-ins of interpreters in jails where library directories are no code."""
import glob
import json
import os
import resource

from jails import OPENED
from processes import wait_until

# Prints what can be mapped as code, with its size, one line for each path. Exits with 2 if the last one does not exist, and
# with 1 if it cannot be mapped.
MAPS = """
import mmap, os, sys
code = 0
for path in sys.argv[1:]:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError as error:
        print("missing", path, error.strerror)
        code = 2
        continue
    try:
        print("mapped", path, len(mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)))
        code = 0
    except OSError as error:
        print("refused", path, error.strerror)
        code = 1
sys.exit(code)
"""

# A tree over a directory of the system, for one command. Nothing else on the machine sees it.
OVER = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'


def small_files():
    """The copy of the loader, with which library directories can be code, does not fit."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))}


def over(tree, place, *command):
    return ["unshare", "--mount", "sh", "-c", OVER, "sh", str(tree), str(place), *map(str, command)]


def a_plugin():
    """A small plug-in of Python that needs nothing but the C library."""
    return glob.glob("/usr/lib/python3.*/lib-dynload/_json.*.so")[0]


class Python:
    """python3 with an entry that opens the workspace: only listed files and plug-ins are code."""

    def __init__(self, cell, **keys):
        self.box, self.jail = cell.box, cell.jail
        self.box.file("root/maps.py", MAPS)
        tools = [self.box.entry("python3", route="external", **{**OPENED, **keys}), self.box.entry("bwrap", route="jail")]
        self.policy = self.box.write_policy(tools, name="policy/plugins.yaml")

    @property
    def cache(self):
        """The remembered list."""
        name = "plugins" + os.path.realpath("/usr/bin/python3").replace("/", "-")
        return self.box.home / ".cache/chokepoint" / name

    def remembered(self, run=None, holds=None):
        """Runs until the list is remembered. It is not while a directory of the system has just changed."""
        run = run or (lambda: self.maps(a_plugin()))
        holds = holds or self.cache.exists

        def tried():
            said = run()
            return said if holds() else None
        return wait_until(tried, "the list is remembered", 60)

    def run(self, *argv, **shape):
        return self.box.run("python3", *map(str, argv), options=["--jail", self.jail], policy=self.policy, **shape)

    def maps(self, *paths, **shape):
        """path -> mapped, refused or missing"""
        return self.said(self.run("maps.py", *paths, **shape).document)

    def run_over(self, tree, place, *paths):
        """The document of a run with another tree at a place of the system."""
        command = self.box.run_argv(["python3", "maps.py", *map(str, paths)], options=["--jail", self.jail], policy=self.policy)
        return json.loads(self.box.call(over(tree, place, *command)).out)

    def maps_over(self, tree, place, *paths):
        """As maps, with another tree at a place of the system."""
        return self.said(self.run_over(tree, place, *paths))

    def explained(self):
        """What `policy explain` says: with the native jail, also every file that is code."""
        return self.box.call([self.box.command, "policy", "explain", "--policy", self.policy, "--root", self.box.root,
                              "--jail", self.jail, "--", "python3", "-V"]).out.decode()

    @staticmethod
    def said(document):
        assert document["outcome"] == "exited", document
        lines = [line.split() for line in document["stdout"]["text"].splitlines()]
        assert lines, document
        return {line[1]: line[0] for line in lines}

    @staticmethod
    def sizes(document):
        """The size of each file that was mapped."""
        lines = [line.split() for line in document["stdout"]["text"].splitlines()]
        return {line[1]: int(line[2]) for line in lines if line[0] == "mapped"}
