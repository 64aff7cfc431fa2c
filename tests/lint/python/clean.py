#: a parameter shadows the module
import os


def start(os):
    os.system("ls")

#: a local shadows the module
import os


def start():
    os = Fake()
    os.system("ls")

#: a name bound anew shadows the module
import os

os = Fake()
os.system("ls")

#: a function of one's own shadows a builtin
def eval(text):
    return text


print(eval("1"))

#: a name imported from elsewhere shadows a builtin
from calculator import eval

eval("1 + 1")

#: a loop's variable shadows the module
import subprocess

for subprocess in workers:
    subprocess.run()

#: a comprehension's variable shadows the module
import subprocess

[subprocess.run() for subprocess in workers]

#: the target of with shadows the module
import pickle

with open_store() as pickle:
    pickle.loads(b"")

#: the name of an exception shadows the module
import os

try:
    work()
except Error as os:
    os.system("x")

#: a class shadows the module
import os


class os:
    @staticmethod
    def system(command):
        pass


os.system("ls")

#: a lambda's parameter shadows a builtin
apply = lambda eval: eval("1")

#: a pattern's name shadows the module
import os

match thing:
    case os:
        os.system("ls")

#: a walrus shadows the module
import os

if (os := fake()):
    os.system("ls")

#: a module of the same package is not the standard one
from . import subprocess
from .os import system

subprocess.run(["ls"])
system("ls")

#: methods of other things are clean
model.eval()
self.exec(query)
cursor.execute("select 1")
queue.popen()
session.run(["x"])
platform.system()
engine.system("x")
loader.loads(data)

#: a method that is named as a builtin is clean
class Query:
    def exec(self):
        return 1

    def run(self):
        return self.exec()

#: constants and exceptions of subprocess are clean
import subprocess

try:
    work()
except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
    print(error, subprocess.PIPE, subprocess.DEVNULL)

#: a process as a type is clean
import subprocess
from typing import Optional


def wait(process: subprocess.Popen, other: Optional[subprocess.Popen] = None) -> subprocess.Popen:
    assert isinstance(process, subprocess.Popen)
    return process

#: an import alone is clean
import asyncio
import os
import pickle
import subprocess
import yaml
from os import system
from subprocess import Popen, run

#: text is clean
"""os.system("ls"), eval("1"), exec("x"), __import__("os"), pickle.loads(b"")"""
# os.system("ls")
print("os.system('ls')", 'eval(1)', """exec("x")""", f"os.system {name}")


def work():
    """Calls subprocess.run(["ls"]) never."""

#: other functions of os are clean
import os

os.getcwd()
os.path.join("a", "b")
os.environ["PATH"]
os.listdir(".")
os.kill(os.getpid(), 0)

#: dumping is clean
import pickle

pickle.dumps({})
pickle.dump({}, stream)
pickle.HIGHEST_PROTOCOL

#: literal_eval and compile are clean
import ast
import re

ast.literal_eval("[1]")
re.compile("a")
compile("1", "x", "eval")

#: asyncio without processes is clean
import asyncio

asyncio.run(main())
asyncio.create_task(work())
asyncio.subprocess.PIPE

#: names that only begin alike are clean
import os

evaluate("1")
execute("x")
os.system_name
osx.system("x")
my_eval("1")

#: attributes that are assigned or removed are clean
class Settings:
    eval = 1
    system = "linux"


settings.system = "x"
del settings.exec

#: keywords named alike are clean
configure(eval=True, exec=None, system="x", run=1)

#: a comparison with a function is clean
import os

if hasattr(os, "system") and hook is not os.system:
    pass

#: a dictionary that is looked into by a name like a builtin is clean
table["eval"]("x")
handlers.get("exec")()

#: sys.modules of a module that is harmless is clean
import sys

sys.modules["json"].loads("{}")
sys.modules[__name__].main()

#: a deleted name is not the module any more
import os

del os
os.system("ls")

#: an empty file is clean

#: a name in an inner class does not reach its methods
import os


class Outer:
    os = Fake()

    def work(self):
        return self.os.system("ls")

#: a loop's variable in its own loop is not the module
import os

for os in things:
    os.system("x")
    os.popen("x")
