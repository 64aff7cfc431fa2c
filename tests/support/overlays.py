"""Helpers for the tests of `workspace: overlay`: a repository, tools that may write over it, and
its bytes before and after.
"""
import hashlib
import os

from feature import skip

HELPERS = "ls cat rm mkdir mv chmod ln touch dd mkfifo cp git".split()


def snapshot(top) -> dict:
    """Every name beneath a directory, with type, mode and bytes."""
    found = {}
    for parent, directories, files in os.walk(os.fsencode(str(top))):
        for name in directories + files + [b"."]:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            text = b""
            if os.path.islink(path):
                text = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    text = file.read()
            found[path] = (status.st_mode, status.st_uid, status.st_mtime_ns, hashlib.sha256(text).digest())
    return found


class OverlayBox:
    """A box with tools that see the root through an overlay."""

    def __init__(self, box):
        self.box = box
        tools = [box.entry("sh", route="external", workspace="overlay", execs=HELPERS),
                 box.entry("python3", route="external", workspace="overlay"),
                 box.entry("git", route="external", workspace="overlay"),
                 box.entry("touch", workspace="overlay"),
                 box.entry("ls", route="external"),
                 box.entry("bwrap", route="jail"),
                 box.entry("cp", route="external", workspace="rw")]
        self.policy = box.write_policy(tools, search_path=["/usr/bin", "/bin"])
        box.repository()
        for name in ("d", "e"):
            box.directory(f"root/{name}")
            box.file(f"root/{name}/old", f"{name}\n")
        box.file("root/package.json", '{"name": "x", "scripts": {"test": "a"}}')
        box.file("root/tool", "#!/bin/sh\n", 0o755)
        self.before = snapshot(box.root)

    def run(self, *argv, jail="native", options=(), **shape):
        answer = self.box.run(*argv, options=["--jail", jail, *options], policy=self.policy, **shape)
        if answer.outcome == "jail_unavailable" and answer["rule"] == "request.jail":
            skip(jail, answer.message)
        return answer

    def sh(self, script, **shape):
        """A script runs to its end, and the repository stays unchanged."""
        return self.ends_well(self.run("sh", "-e", "-c", script, **shape))

    def python(self, script, **shape):
        return self.ends_well(self.run("python3", "-I", "-S", "-c", script, **shape))

    def ends_well(self, answer):
        assert (answer.outcome, answer.status) == ("exited", 0), answer.document
        assert "overlay" in answer["layers"]
        self.nothing_changed()
        return answer

    def nothing_changed(self):
        assert snapshot(self.box.root) == self.before


def listed(answer) -> dict:
    """path: (kind, type, runs_later)"""
    return {change["path"]: (change["kind"], change["type"], change["runs_later"]) for change in answer["changes"]}
