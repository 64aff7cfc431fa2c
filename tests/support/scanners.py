"""A machine with scanners in /usr/local and /opt, where the default policy looks for them.

Nothing is written into the real directories: each command runs in a mount namespace in which they are directories of the
box. The real gitleaks and tree-sitter are from Debian (tests/support/suite.py). semgrep, syft and grype are stand-ins:
no archive that the tests can reach has them.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig

import registry
import suite
from command import Box

TOP = pathlib.Path(__file__).parents[2]
ENTER = 'mount --bind "$1/local" /usr/local && mount --bind "$1/opt" /opt && shift && exec "$@"'
SCRIPT = "#!{python}\nimport sys\nfrom semgrep.console_scripts.{module} import main\nsys.exit(main())\n"
VERSION = f"python{sysconfig.get_python_version()}"


def bill_program() -> pathlib.Path:
    """tests/stand_ins/bill, compiled once for this version of it."""
    source = TOP / "tests/stand_ins/bill/main.go"

    def fetch(directory):
        env = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off", "GOCACHE": f"{directory}/cache", "GOPATH": f"{directory}/path"}
        (directory / "ready").mkdir()
        subprocess.run(["/usr/bin/go", "build", "-o", directory / "ready/bill", source], check=True, env=env, stdin=subprocess.DEVNULL)
        return directory / "ready"
    return registry.kept_as(f"bill-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}", fetch) / "bill"


class ScannersBox(Box):
    """local, opt: what the caller has as /usr/local and /opt. Only root can change them."""

    def __init__(self, stage, actor, base):
        super().__init__(stage, actor, base)
        self.local, self.opt = base / "local", base / "opt"
        for path in (self.local, self.local / "bin", self.opt):
            path.mkdir(parents=True, mode=0o755)

    def popen(self, argv, raw=False, env=None, shape=None, **keywords):
        command = list(argv) if raw else self.run_argv(argv, **(shape or {}))
        into = ["/usr/bin/unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", ENTER, "sh", str(self.base)]
        if self.actor.uid != 0:
            into += [str(self.stage / "tests/helpers/as_user"), str(self.actor.uid), str(self.actor.gid)]
        return super().popen([*into, *command], raw=True, env=env, user=None, group=None, extra_groups=None, **keywords)

    def system_file(self, path, text, mode=0o644):
        """A file of root; path begins with local/ or opt/."""
        path = self.base / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def install(self, program, name):
        """A program in /usr/local/bin."""
        shutil.copy(program, self.local / "bin" / name)
        (self.local / "bin" / name).chmod(0o755)

    # ---- semgrep, as its installers place it

    def package(self, directory):
        """The package of the stand-in, with its native program."""
        shutil.copytree(TOP / "tests/stand_ins/semgrep", self.base / directory / "semgrep",
                        ignore=shutil.ignore_patterns("__pycache__"))
        native = self.base / directory / "semgrep/bin"
        native.mkdir()
        shutil.copy(self.stage / "tests/helpers/semgrep_core", native / "semgrep-core")
        for parent, _, names in os.walk(self.base / directory):
            for path in [parent, *(os.path.join(parent, name) for name in names)]:
                os.chmod(path, 0o755)

    def scripts(self, directory, python):
        for name, module in (("semgrep", "entrypoint"), ("pysemgrep", "pysemgrep")):
            self.system_file(f"{directory}/{name}", SCRIPT.format(python=python, module=module), 0o755)

    def semgrep_by_pip(self):
        """`pip install semgrep`, as root: the system's interpreter."""
        self.package(f"local/lib/{VERSION}/dist-packages")
        self.scripts("local/bin", "/usr/bin/python3")

    def semgrep_by_venv(self, place="semgrep"):
        """`python3 -m venv /opt/semgrep`: an interpreter that is a symlink, and links in /usr/local/bin to the script."""
        self.package(f"opt/{place}/lib/{VERSION}/site-packages")
        self.scripts(f"opt/{place}/bin", f"/opt/{place}/bin/python")
        self.system_file(f"opt/{place}/pyvenv.cfg", f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {VERSION[6:]}\n")
        (self.opt / place / "bin/python").symlink_to("/usr/bin/python3")
        for name in ("semgrep", "pysemgrep"):
            (self.local / "bin" / name).symlink_to(f"/opt/{place}/bin/{name}")

    def semgrep_by_pipx(self):
        """`pipx install --global semgrep`."""
        self.semgrep_by_venv("pipx/venvs/semgrep")

    # ---- syft and grype

    def syft_and_grype(self):
        """Static programs, and a database with one vulnerability."""
        for name in ("syft", "grype"):
            self.install(bill_program(), name)
        self.system_file("local/share/grype/6/vulnerability.db", "flask 0.5 GHSA-562c-5r94-xh97 High\n")

    # ---- tree-sitter, as docs/tools.md says

    def tree_sitter(self, grammars=True):
        """The program, its configuration, and a grammar for JSON."""
        self.system_file("local/bin/tree-sitter", suite.tree_sitter(), 0o755)
        place = "share/tree-sitter/grammars"
        if grammars:
            shutil.copytree(registry.grammar(), self.local / place / "tree-sitter-json")
            library = self.system_file("local/lib/tree-sitter/json.so", (registry.grammar() / "json.so").read_bytes(), 0o755)
            os.utime(library)  # newer than the sources, or it would be compiled
        self.system_file("local/share/tree-sitter/config.json", json.dumps({"parser-directories": [f"/usr/local/{place}"]}))
