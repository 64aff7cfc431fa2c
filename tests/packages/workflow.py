"""Runs the steps of a composite action as a runner of GitHub does: variables, PATH and outputs between them."""
import dataclasses
import http.server
import os
import pathlib
import re
import subprocess
import threading

import yaml

EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")


@dataclasses.dataclass
class Done:
    status: int
    out: str
    outputs: dict
    steps: int


class Releases:
    """A server on loopback with the files of a directory."""

    def __init__(self, directory):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=str(directory))

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                asked.append(self.path)
        asked = self.asked = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Runner:
    """directory: of the action. work: a directory of the runner; the repository is in work/repository."""

    def __init__(self, directory, work, server_url):
        self.directory, self.work = pathlib.Path(directory), pathlib.Path(work)
        self.action = yaml.safe_load((self.directory / "action.yml").read_text(encoding="utf-8"))
        self.repository = self.work / "repository"
        self.repository.mkdir()
        (self.work / "temp").mkdir()
        self.github = {"action_path": str(self.directory), "server_url": server_url, "action_repository": "owner/chokepoint"}

    def value(self, text, inputs, steps):
        """A text with its expressions; only names are allowed, no operators and no functions."""
        def known(found):
            words = found.group(1).split(".")
            if words[0] == "inputs":
                return str(inputs[".".join(words[1:])])
            if words[0] == "github":
                return self.github[words[1]]
            assert words[0] == "steps" and words[2] == "outputs", words
            return steps.get(words[1], {}).get(words[3], "")
        return EXPRESSION.sub(known, str(text))

    def run(self, **given):
        inputs = {name: entry["default"] for name, entry in self.action["inputs"].items()}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(given) <= set(inputs)
        inputs.update(given)
        files = {name: self.work / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT")}
        out, status, steps, count = "", 0, {}, 0
        files["GITHUB_PATH"].write_text("", encoding="ascii")
        for step in self.action["runs"]["steps"]:
            assert step["shell"] == "bash" and set(step) <= {"id", "name", "shell", "env", "run"}, step
            files["GITHUB_OUTPUT"].write_text("", encoding="ascii")
            path = [*reversed(files["GITHUB_PATH"].read_text(encoding="utf-8").split()), "/usr/bin", "/bin"]
            env = {"PATH": os.pathsep.join(path), "HOME": str(self.work), "RUNNER_TEMP": str(self.work / "temp"),
                   **{name: str(path) for name, path in files.items()},
                   **{name: self.value(text, inputs, steps) for name, text in step.get("env", {}).items()}}
            script = self.work / "step.sh"
            script.write_text(self.value(step["run"], inputs, steps) + "\n", encoding="utf-8")
            done = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script], cwd=self.repository, env=env,
                                  capture_output=True, text=True, check=False, timeout=300)
            out, status, count = out + done.stdout + done.stderr, done.returncode, count + 1
            lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
            steps[step.get("id", count)] = dict(line.split("=", 1) for line in lines)
            if status:
                break
        outputs = {name: self.value(entry["value"], inputs, steps) for name, entry in self.action["outputs"].items()}
        return Done(status, out, outputs, count)
