#: os.popen by its plain name is found
import os

os.popen("ls")  #> python-shell-call@1

#: os.popen of a module with another name is found
import os as _m


def work():
    return _m.popen("ls")  #> python-shell-call@12

#: os.popen imported by itself is found
from os import popen

if popen("ls"):  #> python-shell-call
    pass

#: os.popen imported under another name is found
from os import (
    popen as go,
)

result = [go("ls") for _ in range(3)]  #> python-shell-call

#: os.popen assigned to a name is found twice
import os

launch = os.popen  #> python-shell-call
launch("ls")  #> python-shell-call

#: os.popen by getattr with a literal is found
import os

getattr(os, "popen")("ls")  #> python-shell-call

#: os.popen by getattr with a literal in two halves is found
import os

name = "po" + "pen"
getattr(os, name)("ls")  #> python-shell-call

#: os.popen of __import__ is found
__import__("os").popen("ls")  #> python-shell-call python-import

#: os.popen of import_module is found
import importlib

mod = importlib.import_module("os")
mod.popen("ls")  #> python-shell-call

#: os.popen of sys.modules is found
import sys

sys.modules["os"].popen("ls")  #> python-shell-call

#: os.popen of a star import is found
from os import *

popen("ls")  #> python-shell-call

#: os.popen imported where it is used is found
class Runner:
    def start(self):
        import os
        self.last = os.popen("ls")  #> python-shell-call

#: os.popen in the dictionary of its module is found
import os

os.__dict__["popen"]("ls")  #> python-shell-call
vars(os)["popen"]("ls")  #> python-shell-call

#: os.popen handed on as an argument is found
import os

list(map(os.popen, ["a", "b"]))  #> python-shell-call

#: os.popen inside an f-string is found
import os

print(f'it is {os.popen("ls")}')  #> python-shell-call

#: os.popen chosen by a condition is found
import os


def go(dry):
    (print if dry else os.popen)("ls")  #> python-shell-call python-shell-call

#: Popen handed to a pool is found
from concurrent.futures import ThreadPoolExecutor
from subprocess import Popen

with ThreadPoolExecutor() as pool:
    pool.submit(Popen, ["ls"])  #> python-popen

#: Popen as the class that a thing is compared with is clean
import subprocess

assert isinstance(thing, subprocess.Popen)
assert issubclass(kind, (subprocess.Popen))
