"""Remembers in which files clang-tidy has found nothing, so that unchanged files are not checked again.

A file that is compiled for several programs is checked once, with the flags of the library: only the flags differ. The key
of a file covers all that clang-tidy sees: the preprocessed text with comments (NOLINT), the compile command, the
configuration and the version of clang-tidy.
"""
import hashlib
import json
import os
import shlex

from harness import ROOT, read_json, run


def is_library(command):
    """The library includes banned.h; the keeper, which has no libc, does not."""
    return "banned.h" in command["command"]


def without_output(words):
    """The arguments of a compile command without the output files."""
    kept, dropped = [], 0
    for word in words:
        if dropped:
            dropped -= 1
        elif word in ("-o", "-MQ", "-MF"):
            dropped = 1
        elif word != "-MD":
            kept.append(word)
    return kept


class TidyCache:
    """In a subdirectory of the build directory, with a compile database that has each file once."""

    def __init__(self, build, arguments=()):
        """arguments: options of clang-tidy besides its configuration."""
        self.place = os.path.join(ROOT, build, "tidied")
        os.makedirs(self.place, exist_ok=True)
        commands = sorted(read_json(os.path.join(ROOT, build, "compile_commands.json")), key=is_library)
        self.commands = {os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT): c for c in commands}
        with open(os.path.join(self.place, "compile_commands.json"), "w", encoding="utf-8") as stream:
            json.dump(list(self.commands.values()), stream)
        with open(os.path.join(ROOT, ".clang-tidy"), encoding="utf-8") as stream:
            self.common = "\0".join([run(["clang-tidy", "--version"]).output, stream.read(), *arguments])

    def key(self, path):
        """None if the file cannot be preprocessed: clang-tidy will report the reason."""
        command = self.commands[path]
        finished = run([*without_output(shlex.split(command["command"])), "-E", "-CC"], cwd=command["directory"])
        text = "\0".join([self.common, command["command"], finished.output])
        return hashlib.sha256(text.encode()).hexdigest() if finished.status == 0 else None

    def knows(self, key):
        return key is not None and os.path.exists(os.path.join(self.place, key))

    def learn(self, key):
        if key is not None:
            with open(os.path.join(self.place, key), "w", encoding="utf-8"):
                pass
