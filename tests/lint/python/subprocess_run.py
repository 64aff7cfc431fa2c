#: subprocess.run by its plain name is found
import subprocess

subprocess.run(["ls"])  #> python-subprocess@1

#: subprocess.run of a module with another name is found
import subprocess as _m


def work():
    return _m.run(["ls"])  #> python-subprocess@12

#: subprocess.run imported by itself is found
from subprocess import run

if run(["ls"]):  #> python-subprocess
    pass

#: subprocess.run imported under another name is found
from subprocess import (
    run as go,
)

result = [go(["ls"]) for _ in range(3)]  #> python-subprocess

#: subprocess.run assigned to a name is found twice
import subprocess

launch = subprocess.run  #> python-subprocess
launch(["ls"])  #> python-subprocess

#: subprocess.run by getattr with a literal is found
import subprocess

getattr(subprocess, "run")(["ls"])  #> python-subprocess

#: subprocess.run by getattr with a literal in two halves is found
import subprocess

name = "ru" + "n"
getattr(subprocess, name)(["ls"])  #> python-subprocess

#: subprocess.run of __import__ is found
__import__("subprocess").run(["ls"])  #> python-subprocess python-import

#: subprocess.run of import_module is found
import importlib

mod = importlib.import_module("subprocess")
mod.run(["ls"])  #> python-subprocess

#: subprocess.run of sys.modules is found
import sys

sys.modules["subprocess"].run(["ls"])  #> python-subprocess

#: subprocess.run of a star import is found
from subprocess import *

run(["ls"])  #> python-subprocess

#: subprocess.run imported where it is used is found
class Runner:
    def start(self):
        import subprocess
        self.last = subprocess.run(["ls"])  #> python-subprocess

#: subprocess.run in the dictionary of its module is found
import subprocess

subprocess.__dict__["run"](["ls"])  #> python-subprocess
vars(subprocess)["run"](["ls"])  #> python-subprocess

#: subprocess.run handed on as an argument is found
import subprocess

list(map(subprocess.run, ["a", "b"]))  #> python-subprocess

#: subprocess.run inside an f-string is found
import subprocess

print(f'it is {subprocess.run(["ls"])}')  #> python-subprocess

#: subprocess.run chosen by a condition is found
import subprocess


def go(dry):
    (print if dry else subprocess.run)(["ls"])  #> python-subprocess python-subprocess

#: subprocess.call is found
import subprocess

subprocess.call(["ls"])  #> python-subprocess

#: subprocess.check_call is found
import subprocess

subprocess.check_call(["ls"])  #> python-subprocess

#: subprocess.check_output is found
import subprocess

subprocess.check_output(["ls"])  #> python-subprocess

#: subprocess.Popen is found
import subprocess

subprocess.Popen(["ls"])  #> python-popen

#: subprocess.getoutput is found
import subprocess

subprocess.getoutput("ls")  #> python-shell-call

#: subprocess.getstatusoutput is found
import subprocess

subprocess.getstatusoutput("ls")  #> python-shell-call
