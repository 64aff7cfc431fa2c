#: os.system by its plain name is found
import os

os.system("ls")  #> python-shell-call@1

#: os.system of a module with another name is found
import os as _m


def work():
    return _m.system("ls")  #> python-shell-call@12

#: os.system imported by itself is found
from os import system

if system("ls"):  #> python-shell-call
    pass

#: os.system imported under another name is found
from os import (
    system as go,
)

result = [go("ls") for _ in range(3)]  #> python-shell-call

#: os.system assigned to a name is found twice
import os

launch = os.system  #> python-shell-call
launch("ls")  #> python-shell-call

#: os.system by getattr with a literal is found
import os

getattr(os, "system")("ls")  #> python-shell-call

#: os.system by getattr with a literal in two halves is found
import os

name = "sy" + "stem"
getattr(os, name)("ls")  #> python-shell-call

#: os.system of __import__ is found
__import__("os").system("ls")  #> python-shell-call python-import

#: os.system of import_module is found
import importlib

mod = importlib.import_module("os")
mod.system("ls")  #> python-shell-call

#: os.system of sys.modules is found
import sys

sys.modules["os"].system("ls")  #> python-shell-call

#: os.system of a star import is found
from os import *

system("ls")  #> python-shell-call

#: os.system imported where it is used is found
class Runner:
    def start(self):
        import os
        self.last = os.system("ls")  #> python-shell-call

#: os.system in the dictionary of its module is found
import os

os.__dict__["system"]("ls")  #> python-shell-call
vars(os)["system"]("ls")  #> python-shell-call

#: os.system handed on as an argument is found
import os

list(map(os.system, ["a", "b"]))  #> python-shell-call

#: os.system inside an f-string is found
import os

print(f'it is {os.system("ls")}')  #> python-shell-call

#: os.system chosen by a condition is found
import os


def go(dry):
    (print if dry else os.system)("ls")  #> python-shell-call python-shell-call
