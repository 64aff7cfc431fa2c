#: os.execv by its plain name is found
import os

os.execv("/bin/ls", ["ls"])  #> python-os-process@1

#: os.execv of a module with another name is found
import os as _m


def work():
    return _m.execv("/bin/ls", ["ls"])  #> python-os-process@12

#: os.execv imported by itself is found
from os import execv

if execv("/bin/ls", ["ls"]):  #> python-os-process
    pass

#: os.execv imported under another name is found
from os import (
    execv as go,
)

result = [go("/bin/ls", ["ls"]) for _ in range(3)]  #> python-os-process

#: os.execv assigned to a name is found twice
import os

launch = os.execv  #> python-os-process
launch("/bin/ls", ["ls"])  #> python-os-process

#: os.execv by getattr with a literal is found
import os

getattr(os, "execv")("/bin/ls", ["ls"])  #> python-os-process

#: os.execv by getattr with a literal in two halves is found
import os

name = "ex" + "ecv"
getattr(os, name)("/bin/ls", ["ls"])  #> python-os-process

#: os.execv of __import__ is found
__import__("os").execv("/bin/ls", ["ls"])  #> python-os-process python-import

#: os.execv of import_module is found
import importlib

mod = importlib.import_module("os")
mod.execv("/bin/ls", ["ls"])  #> python-os-process

#: os.execv of sys.modules is found
import sys

sys.modules["os"].execv("/bin/ls", ["ls"])  #> python-os-process

#: os.execv of a star import is found
from os import *

execv("/bin/ls", ["ls"])  #> python-os-process

#: os.execv imported where it is used is found
class Runner:
    def start(self):
        import os
        self.last = os.execv("/bin/ls", ["ls"])  #> python-os-process

#: os.execv in the dictionary of its module is found
import os

os.__dict__["execv"]("/bin/ls", ["ls"])  #> python-os-process
vars(os)["execv"]("/bin/ls", ["ls"])  #> python-os-process

#: os.execv handed on as an argument is found
import os

list(map(os.execv, ["a", "b"]))  #> python-os-process

#: os.execv inside an f-string is found
import os

print(f'it is {os.execv("/bin/ls", ["ls"])}')  #> python-os-process

#: os.execv chosen by a condition is found
import os


def go(dry):
    (print if dry else os.execv)("/bin/ls", ["ls"])  #> python-os-process python-os-process

#: os.execl is found
import os

os.execl("/bin/ls", "ls")  #> python-os-process

#: os.execle is found
import os

os.execle("/bin/ls", "ls", {})  #> python-os-process

#: os.execlp is found
import os

os.execlp("ls", "ls")  #> python-os-process

#: os.execlpe is found
import os

os.execlpe("ls", "ls", {})  #> python-os-process

#: os.execve is found
import os

os.execve(p, a, e)  #> python-os-process

#: os.execvp is found
import os

os.execvp(p, a)  #> python-os-process

#: os.execvpe is found
import os

os.execvpe(p, a, e)  #> python-os-process

#: os.fork is found
import os

os.fork()  #> python-os-process

#: os.forkpty is found
import os

os.forkpty()  #> python-os-process

#: os.posix_spawn is found
import os

os.posix_spawn(p, a, e)  #> python-os-process

#: os.posix_spawnp is found
import os

os.posix_spawnp(p, a, e)  #> python-os-process
