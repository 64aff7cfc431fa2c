#: pexpect is found
import pexpect

child = pexpect.spawn("ssh host")  #> python-library-process
pexpect.run("ls")  #> python-library-process

#: psutil.Popen is found
from psutil import Popen

Popen(["ls"])  #> python-library-process

#: anyio and trio are found
import anyio
import trio


async def work():
    await anyio.run_process(["ls"])  #> python-library-process
    await trio.run_process(["ls"])  #> python-library-process

#: subprocess of gevent is found
from gevent import subprocess

subprocess.run(["ls"])  #> python-library-process

#: spawn of distutils is found
from distutils.spawn import spawn

spawn(["ls"])  #> python-library-process

#: the reactor's spawnProcess is found
def start(reactor, protocol):
    reactor.spawnProcess(protocol, "ls")  #> python-library-process

#: code that is run as a module or a script is found
import runpy

runpy.run_path("setup.py")  #> python-run-code
runpy.run_module("venv")  #> python-run-code

#: an interpreter within is found
import code

code.interact(local=globals())  #> python-run-code
code.InteractiveInterpreter().runsource("1")  #> python-run-code

#: a variable named code is clean
code = response.status
code.interact()

#: the modules of Python 2 are found
import commands
import popen2

commands.getoutput("ls")  #> python-shell-call
popen2.popen3("ls")  #> python-shell-call

#: a process made by its class is found where it is derived from
import subprocess


class Traced(subprocess.Popen):  #> python-popen
    pass

#: a process's class that is handed on by keyword is found
import subprocess

start(factory=subprocess.Popen)  #> python-popen

#: multiprocessing is clean, for it runs no other program
import multiprocessing

multiprocessing.Process(target=work).start()
