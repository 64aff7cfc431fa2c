"""What clang-tidy is run with, and which files it has already found nothing in.

A file that is compiled for several programs is looked at once, as the library has it: the flags differ, the code does
not. Nor is a file looked at again that is as it was. It is known by all that clang-tidy would see of it: what the
preprocessor makes of it, comments included (NOLINT), its compile command, the configuration and the version of
clang-tidy.
"""
import hashlib
import json
import os
import shlex

from harness import ROOT, read_json, run


def is_library(command):
    """It includes banned.h, as all of src/ does that is not for a keeper."""
    return "banned.h" in command["command"]


def without_output(words):
    """The words of a compile command that say what is compiled, and not where to."""
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
    """Kept in a directory of the build directory, with a compile database that has each file once."""

    def __init__(self, build, arguments=()):
        """arguments: what clang-tidy is given beyond its configuration."""
        self.place = os.path.join(ROOT, build, "tidied")
        os.makedirs(self.place, exist_ok=True)
        commands = sorted(read_json(os.path.join(ROOT, build, "compile_commands.json")), key=is_library)
        self.commands = {os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT): c for c in commands}
        with open(os.path.join(self.place, "compile_commands.json"), "w", encoding="utf-8") as stream:
            json.dump(list(self.commands.values()), stream)
        with open(os.path.join(ROOT, ".clang-tidy"), encoding="utf-8") as stream:
            self.common = "\0".join([run(["clang-tidy", "--version"]).output, stream.read(), *arguments])

    def key(self, path):
        """None where the file cannot be preprocessed: clang-tidy will say why."""
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
