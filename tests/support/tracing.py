"""A repository with a Dockerfile, and the trace of the program in its image."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess

PROBES = pathlib.Path(__file__).parents[2] / "policy/probes.yaml"
PLACE = "      - {name: DOCKER_CONFIG, value: /nonexistent}"


class Tracing:
    """The image holds one program. The arguments in the Dockerfile's CMD say what it does."""

    def __init__(self, box, socket):
        self.box, self.socket = box, socket
        self.before = stages()
        self.policy = box.default_policy(replace=[(PLACE,
                                                   f'      - {{name: DOCKER_HOST, value: "unix://{socket}"}}\n{PLACE}')])

    def image(self, *args, more=""):
        shutil.copy(self.box.stage / "tests/helpers/traced", self.box.root / "traced")
        self.box.file("root/Dockerfile", f"FROM scratch\nCOPY traced /bin/traced\nENV PATH=/none:/bin SECRET=xyz\n{more}"
                                         f'ENTRYPOINT ["traced"]\nCMD {json.dumps(args)}\n')

    def probes(self, seconds):
        """The shipped probes with another time limit for the traced program."""
        text = PROBES.read_text(encoding="utf-8")
        assert text.count('<image>, "10", <program>') == 1
        return self.box.file("policy/probes.yaml", text.replace('<image>, "10"', f'<image>, "{seconds}"'), 0o600)

    def gather_argv(self, *options):
        return [self.box.command, "gather", str(self.box.root), "--only", "runtime_trace", "--policy", str(self.policy),
                "--no-audit", "--json", *map(str, options)]

    def gather(self, *options):
        answer = self.box.call(self.gather_argv(*options), deadline=120)
        assert answer.status == 0, answer
        return json.loads(answer.out)

    def look(self, *options):
        return report_of(self.gather(*options))

    def docker(self, *args):
        env = {**os.environ, "DOCKER_HOST": f"unix://{self.socket}"}
        return subprocess.run(["docker", *args], env=env, check=True, capture_output=True, text=True).stdout

    def containers(self):
        return self.docker("ps", "--all", "--quiet", "--filter=label=chokepoint.probe").split()

    def left(self):
        """The trace directories that exist."""
        return stages() - self.before

    def running(self):
        return self.docker("ps", "--quiet", "--filter=label=chokepoint.probe").split()


def report_of(document):
    (report,) = [probe for probe in document["probes"] if probe["name"] == "runtime_trace"]
    return report


def without_timing(value):
    if isinstance(value, dict):
        return {key: without_timing(item) for key, item in value.items() if key != "timing"}
    return [without_timing(item) for item in value] if isinstance(value, list) else value


def stages():
    """Directories that traces made and did not remove. A locked one is in use by some process."""
    return {path for path in pathlib.Path("/tmp").glob("chokepoint-trace-*") if not is_held(path)}


def is_held(path):
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return True  # it is gone, or we may not see it
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
