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

#: each name of the module sh is a program
import sh

sh.ls("-l")  #> python-command-module
sh.git.status()
sh.Command("ls")  #> python-command-module

#: a program imported from sh
from sh import git, ls as listing

git("status")  #> python-command-module
listing("-l")  #> python-command-module

#: sh under another name
import sh as shell

shell.rm("-r", "x")  #> python-command-module

#: a program of sh that is handed on
import sh

run(sh.make)  #> python-command-module

#: a module of one's own that is called sh is clean
sh = load()
sh.ls("-l")

#: each name of plumbum.cmd is a program
from plumbum.cmd import ls, grep as search

ls("-l")  #> python-command-module
search("x")  #> python-command-module

#: a command of plumbum.cmd gets its arguments in brackets
from plumbum import FG, local
from plumbum.cmd import grep

grep["x"] & FG  #> python-plumbum-local
local.cmd.ls()  #> python-command-module
local.get("ls")()  #> python-command-module

#: plumbum.cmd as a module
from plumbum import cmd

cmd.ls()  #> python-command-module

#: a command of plumbum is looked up
from plumbum import local

ls = local["ls"]  #> python-plumbum-local
ls("-l")

#: plumbum by its whole name
import plumbum

plumbum.local["git"]("status")  #> python-plumbum-local

#: a dictionary that is called local is clean
local = {}
local["ls"]()

#: GitPython runs git
import git

repo = git.Repo(".")  #> python-git-process
git.Repo.clone_from("https://localhost/x", "y")  #> python-git-process
git.Git(".").execute(["git", "log"])  #> python-git-process

#: a class of GitPython
from git import Repo

Repo("/srv/x")  #> python-git-process
Repo.init("/srv/y")  #> python-git-process

#: GitPython under another name
from git import Repo as R
import git as g

R(".")  #> python-git-process
g.cmd.Git(".")  #> python-git-process

#: GitPython's errors alone are clean
from git import InvalidGitRepositoryError

raise InvalidGitRepositoryError("x")
