#: create_subprocess_exec by its plain name is found
import asyncio

asyncio.create_subprocess_exec("ls", "-l")  #> python-asyncio-process@1

#: create_subprocess_exec of a module with another name is found
import asyncio as _m


def work():
    return _m.create_subprocess_exec("ls", "-l")  #> python-asyncio-process@12

#: create_subprocess_exec imported by itself is found
from asyncio import create_subprocess_exec

if create_subprocess_exec("ls", "-l"):  #> python-asyncio-process
    pass

#: create_subprocess_exec imported under another name is found
from asyncio import (
    create_subprocess_exec as go,
)

result = [go("ls", "-l") for _ in range(3)]  #> python-asyncio-process

#: create_subprocess_exec assigned to a name is found twice
import asyncio

launch = asyncio.create_subprocess_exec  #> python-asyncio-process
launch("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec by getattr with a literal is found
import asyncio

getattr(asyncio, "create_subprocess_exec")("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec by getattr with a literal in two halves is found
import asyncio

name = "cr" + "eate_subprocess_exec"
getattr(asyncio, name)("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec of __import__ is found
__import__("asyncio").create_subprocess_exec("ls", "-l")  #> python-asyncio-process python-import

#: create_subprocess_exec of import_module is found
import importlib

mod = importlib.import_module("asyncio")
mod.create_subprocess_exec("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec of sys.modules is found
import sys

sys.modules["asyncio"].create_subprocess_exec("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec of a star import is found
from asyncio import *

create_subprocess_exec("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec imported where it is used is found
class Runner:
    def start(self):
        import asyncio
        self.last = asyncio.create_subprocess_exec("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec in the dictionary of its module is found
import asyncio

asyncio.__dict__["create_subprocess_exec"]("ls", "-l")  #> python-asyncio-process
vars(asyncio)["create_subprocess_exec"]("ls", "-l")  #> python-asyncio-process

#: create_subprocess_exec handed on as an argument is found
import asyncio

list(map(asyncio.create_subprocess_exec, ["a", "b"]))  #> python-asyncio-process

#: create_subprocess_exec inside an f-string is found
import asyncio

print(f'it is {asyncio.create_subprocess_exec("ls", "-l")}')  #> python-asyncio-process

#: create_subprocess_exec chosen by a condition is found
import asyncio


def go(dry):
    (print if dry else asyncio.create_subprocess_exec)("ls", "-l")  #> python-asyncio-process python-asyncio-process

#: the method of a loop is found
import asyncio


async def go():
    loop = asyncio.get_running_loop()
    await loop.subprocess_exec(asyncio.SubprocessProtocol, "ls")  #> python-asyncio-process

#: the method of a loop that runs a shell is found
async def go(loop, protocol):
    await loop.subprocess_shell(protocol, "ls")  #> python-shell-call

#: create_subprocess_shell is found
import asyncio

asyncio.run(asyncio.create_subprocess_shell("ls"))  #> python-shell-call

#: the submodule of asyncio is found
import asyncio.subprocess


async def go():
    await asyncio.subprocess.create_subprocess_exec("ls")  #> python-asyncio-process
