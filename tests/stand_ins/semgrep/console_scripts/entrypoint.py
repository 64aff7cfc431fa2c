"""The script `semgrep`."""
import os
import sys
import sysconfig

from semgrep import core


def main():
    """Never returns."""
    scripts = sysconfig.get_path("scripts")
    if scripts not in os.environ["PATH"].split(":"):
        os.environ["PATH"] += ":" + scripts  # where pysemgrep is
    os.execv(core.path(), ["osemgrep", *sys.argv[1:]])
