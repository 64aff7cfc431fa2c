#: shell=True by its keyword is found
import subprocess

subprocess.run("ls", shell=True)  #> python-shell-true@1

#: shell=True of Popen is found
from subprocess import Popen

with Popen("ls", shell=True, stdout=-1) as p:  #> python-shell-true
    pass

#: shell=True of check_output under another name is found
from subprocess import check_output as read

text = read("ls | wc", shell=True).decode()  #> python-shell-true

#: shell=1 is found
import subprocess as sp

sp.call("ls", shell=1)  #> python-shell-true

#: shell with any true constant is found
import subprocess

subprocess.call("ls", shell="yes")  #> python-shell-true
subprocess.call("ls", shell=[0])  #> python-shell-true
subprocess.call("ls", shell=0x10)  #> python-shell-true

#: shell=not False is found
import subprocess

subprocess.check_call("ls", shell=not False)  #> python-shell-true

#: shell=True in a literal that is spread is found
import subprocess

subprocess.run("ls", **{"shell": True})  #> python-shell-true

#: shell=True in a dictionary with a name is found
import subprocess

OPTIONS = {"check": True, "shell": True}
subprocess.run("ls", **OPTIONS)  #> python-shell-true

#: shell=True in a dictionary within a dictionary is found
import subprocess

subprocess.run("ls", **{"check": True, **{"shell": True}})  #> python-shell-true

#: shell=True in a call of dict is found
import subprocess

subprocess.run("ls", **dict(shell=True))  #> python-shell-true python-shell-true-elsewhere

#: shell=True at its position is found
import subprocess

subprocess.Popen("ls", -1, None, None, None, None, None, True, True)  #> python-shell-true

#: a constant with a name that is true is found
import subprocess

SHELL = True
subprocess.run("ls", shell=SHELL)  #> python-shell-true

#: shell=True on a line of its own is found where the call begins
import subprocess

subprocess.run(  #> python-shell-true
    "ls",
    shell=True,
)

#: shell=True of a function found by getattr is found
import subprocess

getattr(subprocess, "run")("ls", shell=True)  #> python-shell-true

#: shell=True with a keyword written in parts is found
import subprocess

subprocess.run("ls", **{"sh" "ell": True})  #> python-shell-true

#: shell=True through partial is found
import functools
import subprocess

go = functools.partial(subprocess.run, shell=True)  #> python-shell-true-elsewhere python-subprocess
go("ls")  #> python-subprocess

#: shell=True for a wrapper is found
from helpers import execute

execute("ls", shell=True)  #> python-shell-true-elsewhere

#: shell=True for a method is found
class Job:
    def start(self):
        self.connection.run("ls", shell=True)  #> python-shell-true-elsewhere

#: shell=flag cannot be told
import subprocess


def run(command, flag):
    subprocess.run(command, shell=flag)  #> python-shell-unsure

#: shell from an expression cannot be told
import subprocess
import sys

subprocess.run("ls", shell=sys.platform == "win32")  #> python-shell-unsure

#: keywords that cannot be seen cannot be told
import subprocess


def run(command, **kwargs):
    return subprocess.Popen(command, **kwargs)  #> python-shell-unsure

#: arguments that cannot be seen cannot be told
import subprocess


def run(*args):
    return subprocess.call(*args)  #> python-shell-unsure

#: a dictionary that may have got more cannot be told
import subprocess

options = {"check": True}
options["shell"] = len(options) == 1
subprocess.run("ls", **options)  #> python-shell-unsure

#: a constant that is bound in two branches cannot be told
import subprocess
import os

if os.name == "nt":
    SHELL = True
else:
    SHELL = False
subprocess.run("ls", shell=SHELL)  #> python-shell-unsure

#: a key that cannot be read cannot be told
import subprocess

subprocess.run("ls", **{key: True})  #> python-shell-unsure

#: shell=False is a process, not a shell
import subprocess

subprocess.run(["ls"], shell=False)  #> python-subprocess
subprocess.run(["ls"], shell=None)  #> python-subprocess
subprocess.run(["ls"], shell=0)  #> python-subprocess
subprocess.run(["ls"], **{"check": True})  #> python-subprocess

#: a constant with a name that is false is a process, not a shell
import subprocess

SHELL = False
subprocess.run(["ls"], shell=SHELL)  #> python-subprocess

#: a positional argument before that of shell is a process, not a shell
import subprocess

subprocess.Popen(["ls"], -1, None, None, None, None, None, True)  #> python-popen

#: the word shell in another keyword is clean
from helpers import execute

execute("ls", shell_name=True, shells=True, shell=False)
execute("ls", **{"shell": False})
execute(shell=flag)

#: shell=True in text is clean
"""Never call subprocess.run(x, shell=True)."""
# subprocess.run("ls", shell=True)
print("subprocess.run('ls', shell=True)")
print(r"subprocess.run(shell=True)", b"os.system('x')")

#: a parameter named shell is clean
def configure(shell=True):
    return shell
