"""chokepoint fleet: lists of small repositories, and what a run leaves."""
import json
import os
import pathlib

from gathered import probe, write_probes


def text_of(value):
    """A path or URL of index.json, as bytes if it is not UTF-8."""
    import base64  # pylint: disable=import-outside-toplevel
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key != "timing"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


class Fleet:
    """A list of directories, probes that read one file of each, and the directory of the fleet."""

    def __init__(self, box, count=4, probes=None, out="fleet"):
        self.box, self.out = box, box.outside / out
        self.repositories = [self.repository(f"repo{number}", f"text {number}\n") for number in range(count)]
        self.probes = write_probes(box, *(probes or [probe("one", "cat", "file"), probe("two", "true")]))
        self.list = box.file("outside/LIST", "".join(f"{path}\n" for path in self.repositories))

    def repository(self, name, text="text\n") -> pathlib.Path:
        path = self.box.directory(f"outside/{name}")
        self.box.file(path / "file", text)
        return path

    def write_list(self, *lines):
        self.list = self.box.file("outside/LIST", b"".join(os.fsencode(line) + b"\n" for line in lines))

    def argv(self, *options, out=None, policy=None, audit=False):
        command = [self.box.command, "fleet", "run", self.list, "--out", out or self.out]
        if policy != "default":
            command += ["--policy", policy or self.box.policy]
        if self.probes:
            command += ["--probes", self.probes]
        return command + ([] if audit else ["--no-audit"]) + list(options)

    def run(self, *options, deadline=120.0, env=None, **shape):
        return self.box.call(self.argv(*options, **shape), deadline=deadline, env=env)

    def start(self, *options, **shape):
        return self.box.popen(self.argv(*options, **shape), raw=True)

    def status(self, out=None):
        answer = self.box.call([self.box.command, "fleet", "status", "--json", out or self.out])
        assert answer.status == 0, answer
        return json.loads(answer.out)

    def index(self, out=None):
        index = json.loads(((out or self.out) / "index.json").read_text())
        assert index["format"] == 1
        return {name: text_of(entry.get("path", entry.get("url"))) for name, entry in index["repositories"].items()}

    def documents(self, out=None):
        """By the path or URL, without times."""
        out = out or self.out
        names = self.index(out)
        found = sorted(path for path in (out / "documents").iterdir() if not path.name.startswith("."))
        return {names[path.name[:-5]]: without_times(json.loads(path.read_text())) for path in found}

    def failures(self, out=None):
        found = [json.loads(path.read_text()) for path in sorted(((out or self.out) / "failed").iterdir())]
        return {text_of(failure.get("path", failure.get("url"))): failure for failure in found}

    def claims(self):
        return sorted(os.listdir(self.out / "claims"))

    def name_of(self, path):
        return next(name for name, where in self.index().items() if where == str(path))
