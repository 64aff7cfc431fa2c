"""Where the native program is: in the package, else in PATH."""
import importlib.resources
import os
import shutil
import sys


def path() -> str:
    packaged = importlib.resources.files("semgrep").joinpath("bin", "semgrep-core")
    if packaged.is_file() and os.access(str(packaged), os.X_OK):
        return str(packaged)
    found = shutil.which("semgrep-core")
    if found is None:
        sys.exit("Failed to find semgrep-core in PATH or in the semgrep package.")
    return found
