#!/usr/bin/python3
"""installed-targets.py BUILD - prints the files of a Meson build directory that are made and then installed."""
import json
import os
import subprocess
import sys

build = os.path.realpath(sys.argv[1])
listed = subprocess.run(["meson", "introspect", "--installed", build], check=True, capture_output=True)
print(*sorted(os.path.relpath(path, build) for path in json.loads(listed.stdout)
              if path.startswith(build + "/") and "/meson-private/" not in path))
