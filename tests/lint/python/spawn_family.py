#: os.spawnv by its plain name is found
import os

os.spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process@1

#: os.spawnv of a module with another name is found
import os as _m


def work():
    return _m.spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process@12

#: os.spawnv imported by itself is found
from os import spawnv

if spawnv(os.P_WAIT, "/bin/ls", ["ls"]):  #> python-os-process
    pass

#: os.spawnv imported under another name is found
from os import (
    spawnv as go,
)

result = [go(os.P_WAIT, "/bin/ls", ["ls"]) for _ in range(3)]  #> python-os-process

#: os.spawnv assigned to a name is found twice
import os

launch = os.spawnv  #> python-os-process
launch(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv by getattr with a literal is found
import os

getattr(os, "spawnv")(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv by getattr with a literal in two halves is found
import os

name = "sp" + "awnv"
getattr(os, name)(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv of __import__ is found
__import__("os").spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process python-import

#: os.spawnv of import_module is found
import importlib

mod = importlib.import_module("os")
mod.spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv of sys.modules is found
import sys

sys.modules["os"].spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv of a star import is found
from os import *

spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv imported where it is used is found
class Runner:
    def start(self):
        import os
        self.last = os.spawnv(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv in the dictionary of its module is found
import os

os.__dict__["spawnv"](os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process
vars(os)["spawnv"](os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process

#: os.spawnv handed on as an argument is found
import os

list(map(os.spawnv, ["a", "b"]))  #> python-os-process

#: os.spawnv inside an f-string is found
import os

print(f'it is {os.spawnv(os.P_WAIT, "/bin/ls", ["ls"])}')  #> python-os-process

#: os.spawnv chosen by a condition is found
import os


def go(dry):
    (print if dry else os.spawnv)(os.P_WAIT, "/bin/ls", ["ls"])  #> python-os-process python-os-process

#: os.spawnl is found
import os

os.spawnl(os.P_NOWAIT, *rest)  #> python-os-process

#: os.spawnle is found
import os

os.spawnle(os.P_NOWAIT, *rest)  #> python-os-process

#: os.spawnlp is found
import os

os.spawnlp(os.P_NOWAIT, *rest)  #> python-os-process

#: os.spawnlpe is found
import os

os.spawnlpe(os.P_NOWAIT, *rest)  #> python-os-process

#: os.spawnve is found
import os

os.spawnve(os.P_NOWAIT, *rest)  #> python-os-process

#: os.spawnvp is found
import os

os.spawnvp(os.P_NOWAIT, *rest)  #> python-os-process

#: os.spawnvpe is found
import os

os.spawnvpe(os.P_NOWAIT, *rest)  #> python-os-process

#: pty.spawn is found
import pty

pty.spawn("/bin/sh")  #> python-os-process

#: pty.fork is found
from pty import fork

pid, fd = fork()  #> python-os-process

#: posix.fork is found
import posix

posix.fork()  #> python-os-process
