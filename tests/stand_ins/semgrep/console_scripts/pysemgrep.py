"""The script `pysemgrep`: what `semgrep scan --config=- --json` does."""
import argparse
import asyncio
import json
import logging
import multiprocessing
import os
import pathlib
import re
import resource
import sys
import tempfile

import semgrep
from semgrep import core

LOG = logging.getLogger("semgrep")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="semgrep")
    parser.add_argument("--version", action="version", version=semgrep.__VERSION__)
    scan = parser.add_subparsers(dest="command", required=True).add_parser("scan")
    scan.add_argument("--config", required=True)
    scan.add_argument("-j", "--jobs", type=int, default=2)
    scan.add_argument("--max-target-bytes", type=int, default=1000000)
    for name in ("--exclude", "--metrics", "--timeout", "--timeout-threshold"):
        scan.add_argument(name)
    for name in ("--json", "--quiet", "--no-rewrite-rule-ids", "--disable-nosem", "--no-git-ignore", "--disable-version-check"):
        scan.add_argument(name, action="store_true")
    scan.add_argument("targets", nargs="*", default=["."])
    return parser.parse_args(arguments)


def write_state():
    """Settings are replaced, the log is written anew."""
    directory = pathlib.Path("~/.semgrep").expanduser()
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as settings:
        settings.write("has_shown_metrics_notification: true\nanonymous_user_id: none\n")
    os.replace(settings.name, directory / "settings.yml")
    handler = logging.FileHandler(directory / "semgrep.log", mode="w")
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG)


def read_rules(config):
    if config == "-":
        return sys.stdin.read()
    return pathlib.Path(config).read_text(encoding="utf-8")


def list_files(top):
    """Runs in a process of the pool."""
    if not os.path.isdir(top):
        return [top]
    found = []
    for parent, directories, names in os.walk(top):
        directories[:] = sorted(name for name in directories if name != ".git")
        found += [os.path.normpath(os.path.join(parent, name)) for name in sorted(names)]
    return found


def find_targets(tops, largest):
    with multiprocessing.Pool(2) as pool:  # semaphores, pipes, a queue
        lists = pool.map(list_files, tops)
    return [path for paths in lists for path in paths if os.path.isfile(path) and os.path.getsize(path) <= largest]


def limit_stack():
    """Runs in the new process, before it executes the native program."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = hard if hard != resource.RLIM_INFINITY else max(soft, 64 << 20)
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


async def run_core(arguments):
    process = await asyncio.create_subprocess_exec(core.path(), *arguments, stdout=asyncio.subprocess.PIPE,
                                                   stderr=asyncio.subprocess.PIPE, preexec_fn=limit_stack)
    out, err = await process.communicate()
    if process.returncode != 0:
        sys.exit(f"Error while running rules: semgrep-core exited with {process.returncode}: {err.decode()}")
    return json.loads(out)


def match(found, rules):
    start = {"line": found["line"], "col": 1, "offset": 0}
    severity = re.search(rf"id: {found['check_id']}\n(?:.*\n)*?\s+severity: (\w+)", rules)
    return {"check_id": found["check_id"], "path": found["path"], "start": start, "end": start,
            "extra": {"severity": severity.group(1) if severity else "INFO", "message": "found", "lines": "requires login",
                      "metadata": {}, "fingerprint": "0", "validation_state": "NO_VALIDATOR", "engine_kind": "OSS"}}


def main():
    options = parse(sys.argv[1:])
    write_state()
    rules = read_rules(options.config)
    targets = find_targets(options.targets, options.max_target_bytes)
    LOG.debug("%d targets", len(targets))
    with tempfile.TemporaryDirectory() as directory:
        names = [os.path.join(directory, name) for name in ("rules.json", "targets")]
        for name, text in zip(names, (rules, "".join(f"{path}\n" for path in targets))):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        found = asyncio.run(run_core(["-json", "-rules", names[0], "-targets", names[1], "-j", str(options.jobs)]))
    json.dump({"version": semgrep.__VERSION__, "results": [match(one, rules) for one in found["results"]], "errors": [],
               "paths": {"scanned": found["scanned"]}, "interfile_languages_used": [], "skipped_rules": []}, sys.stdout)
    return 0
