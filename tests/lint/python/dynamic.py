#: a module whose name is not known is found
import importlib


def load(name):
    return importlib.import_module(name)  #> python-dynamic-import

#: a module whose name is put together is found
from importlib import import_module

plugin = import_module("plugins." + kind)  #> python-dynamic-import

#: a module whose name is a constant is clean
import importlib

importlib.import_module("json")
importlib.import_module("plugins." "text")
importlib.import_module(name="json")

#: an attribute of os that is not known is found
import os

getattr(os, name)("ls")  #> python-dynamic-attribute

#: an attribute of os that is spelt backwards is found
import os

getattr(os, "metsys"[::-1])("ls")  #> python-dynamic-attribute

#: an attribute of subprocess that is not known is found
import subprocess

getattr(subprocess, sys.argv[1])(["ls"])  #> python-dynamic-attribute

#: an attribute of builtins that is not known is found
import builtins

getattr(builtins, "".join(["ev", "al"]))("1")  #> python-dynamic-attribute

#: an attribute of os that is known and harmless is clean
import os

getattr(os, "O_BINARY", 0)
getattr(os, "getcwd")()

#: an attribute of something else that is not known is clean
import json

getattr(json, name)(text)
getattr(self, "do_" + command)()

#: os.system with an escape in its name is found
import os

getattr(os, "sys\x74em")("ls")  #> python-shell-call
getattr(os, "\163ystem")("ls")  #> python-shell-call
getattr(os, "sys\u0074em")("ls")  #> python-shell-call

#: os.system by attrgetter is found
import operator
import os

operator.attrgetter("system")(os)("ls")  #> python-shell-call

#: os.system by __getattribute__ is found
import os

os.__getattribute__("system")("ls")  #> python-shell-call
object.__getattribute__(os, "system")("ls")  #> python-shell-call

#: os.system through globals is found
import os

globals()["os"].system("ls")  #> python-shell-call

#: os.system through sys.modules.get is found
import sys

sys.modules.get("os").system("ls")  #> python-shell-call

#: os.system of a module assigned to a name is found
import os

mod = os
mod.system("ls")  #> python-shell-call

#: os.system over three names is found
import os

a = os
b = a
c = b.system  #> python-shell-call
c("ls")  #> python-shell-call

#: os.system unpacked from a tuple is found
import os

run, show = os.system, print  #> python-shell-call
run("ls")  #> python-shell-call
show("ls")

#: os.system as an attribute of one's own is found
import os


class Job:
    def __init__(self):
        self.run = os.system  #> python-shell-call

#: os.system as a default is found
import os


def start(command, run=os.system):  #> python-shell-call
    run(command)

#: os.system as a thread's target is found
import os
import threading

threading.Thread(target=os.system, args=("ls",)).start()  #> python-shell-call

#: os.system returned is found
import os


def choose():
    return os.system  #> python-shell-call

#: os.system in a list is found
import os

steps = [print, os.system]  #> python-shell-call

#: os.system as a decorator is found
import os


@os.system  #> python-shell-call
def command():
    pass

#: os.system declared global is found
import os


def prepare():
    global run
    run = os.system  #> python-shell-call


def work():
    run("ls")  #> python-shell-call

#: os.system declared nonlocal is found
import os


def outer():
    run = None

    def prepare():
        nonlocal run
        run = os.system  #> python-shell-call

    def work():
        run("ls")  #> python-shell-call

    return prepare, work

#: os.system that a loop brings is found
import os

run = print
for command in commands:
    run(command)  #> python-shell-call
    run = os.system  #> python-shell-call

#: os.system in a class body is found
import os


class Job:
    os.system("ls")  #> python-shell-call

#: os.system after os.path was imported is found
import os.path

os.system("ls")  #> python-shell-call

#: os.system in a match statement is found
import os

match command:
    case "list":
        os.system("ls")  #> python-shell-call
    case other:
        other("ls")

#: os.system in a star argument is found
import os

print(*[os.system("ls")])  #> python-shell-call

#: os.system with a comment between is found
import os

os. \
    system("ls")  #>^ python-shell-call
(os
 # the next line
 .system)("ls")  #>^^ python-shell-call

#: os.system in an async function is found
import os


async def work():
    async with lock:
        os.system("ls")  #> python-shell-call

#: the column counts characters
import os

"日本語"; os.system("ls")  #> python-shell-call@8

#: letters that Python takes for others are found
import os

ｅval("1")  #> python-eval
os.𝘴𝘺𝘴𝘵𝘦𝘮("ls")  #> python-shell-call
os.ſyﬆem("ls")  #> python-shell-call

#: a module imported in other letters is found
import 𝓸𝓼

os.system("ls")  #> python-shell-call

#: a name bound in other letters is found
import os

ｒun = os.system  #> python-shell-call
run("ls")  #> python-shell-call

#: letters that stay what they are are clean
évaluer("1")
евал("1")

#: a star import after one from the same package is found
from . import *
from os import *

system("ls")  #> python-shell-call

#: an item of the builtins is found
__builtins__["exec"]("x")  #> python-exec

#: an item of the dictionary of the builtins is found
__builtins__.__dict__["eval"]("x")  #> python-eval

#: what a dictionary of a module is asked for is found
import os

vars(os).get("system")("ls")  #> python-shell-call
os.__dict__.__getitem__("execv")("/bin/ls", [])  #> python-os-process
sys.modules.pop("os").popen("ls")  #> python-shell-call

#: the os that another module has imported is found
import shutil
import tempfile as t

shutil.os.system("ls")  #> python-shell-call
t._os.path.join("a", "b")
shutil.sys.modules["os"].fork()  #> python-os-process

#: the os of an object is not the module's
class Host:
    def boot(self):
        self.os.system("ls")


from . import near

near.os.system("ls")

#: a function by its own call is found
import os

os.system.__call__("ls")  #> python-shell-call

#: a module that is loaded again is found
import importlib
import os

importlib.reload(os).system("ls")  #> python-shell-call

#: the default of getattr is found where it is called
import os

run = getattr(mine, "run", os.system)  #> python-shell-call
run("ls")  #> python-shell-call

#: an item of the builtins by a name in two halves is found
__builtins__["ev" + "al"]("x")  #> python-eval

#: yaml.load by a name in two halves is found
import yaml

getattr(yaml, "lo" + "ad")("x")  #> python-yaml-load

#: functions that are returned, yielded and gone through with others are found
import os


def both():
    return os.system, os.fork  #> python-shell-call python-os-process


def each():
    yield os.popen, 1  #> python-shell-call
    for call in os.system, os.popen:  #> python-shell-call python-shell-call
        call("ls")

#: functions that a comprehension makes are found
import os

calls = [os.system for _ in range(2)]  #> python-shell-call
calls = {os.popen for _ in range(2)}  #> python-shell-call
calls = tuple(os.fork for _ in range(2))  #> python-os-process

#: the variable of a comprehension is not the module
import os

calls = [os.system for os in hosts]
