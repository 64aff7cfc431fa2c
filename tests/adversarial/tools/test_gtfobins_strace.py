"""Promise: Only listed arguments.
Attacker: whoever writes the request. Means: strace runs any command, pipes its trace to a shell or
a file (-o), changes the command's variables and user, attaches to other processes, stays after the
end, injects results of system calls.

Expected: refused in every spelling; the command after the options must be a tool of the policy,
and is judged by its own entry. Plainly called, the command and the pipe of -o run the attacker's
program.
"""
import pytest

from escapes import fires, refused, some

COMMANDS = [["/bin/sh"], ["sh"], ["sh", "-p"], ["bash", "-c", "id"], ["/usr/bin/git", "--version"], ["./evil"],
            ["evil"], ["../outside/evil"], ["env", "sh"], ["strace", "sh"], ["strace", "-f", "strace", "/bin/sh"],
            ["--", "/bin/sh"], ["-f", "--", "sh"], ["GIT", "--version"], [" git", "--version"], ["bwrap", "sh"],
            ["sandbox-exec", "sh"],
            [""]]


@pytest.fixture
def evil(user_box):
    return str(user_box.script("root/evil", user_box.canary()))


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_only_tools_can_be_traced(user_box, evil, args):
    answer = refused(user_box, "strace", *args)
    assert answer["rule"].endswith(".args.command")
    refused(user_box, "strace", "-f", "-e", "trace=execve", *args)
    assert not user_box.canary().exists()


NESTED = [["git", "-c", "core.pager=./evil", "log"], ["git", "clone", "x"], ["node", "-e", "1"],
          ["rg", "--pre", "./evil", "x"], ["npm", "exec", "sh"], ["docker", "run", "-v", "/:/mnt", "alpine"],
          ["jq", ".", "/etc/passwd"],
          ["strace", "-o", "|./evil", "git", "--version"], ["strace", "strace", "strace", "rg", "-z", "x"], ["node"]]


@pytest.mark.parametrize("args", NESTED, ids=" ".join)
def test_traced_tool_is_held_to_its_own_entry(user_box, evil, args):
    user_box.repository()
    answer = refused(user_box, "strace", *args)
    assert answer["rule"].split(".")[1] in args
    assert not user_box.canary().exists()


OPTIONS = [
    ["-o", "|./evil"], ["-o|./evil"], ["-o", "!./evil"], ["-o!./evil"], ["-o", "/dev/null"], ["-o/dev/null"], ["-o=x"],
    ["--output=|./evil"], ["--output", "|./evil"], ["--out=x"], ["--outp", "x"], ["-fo|./evil"], ["-ffo", "x"],
    ["-fttTo", "x"], ["-qo", "|./evil"], ["-o", ""], ["-o"], ["--output="], ["-o", "x", "-o", "y"], ["-A", "-o", "x"],
    ["-ff", "-o", "x"], ["-A"], ["--output-append-mode"], ["--output-separately"], ["-E", "LD_PRELOAD=./evil.so"],
    ["-ELD_PRELOAD=./evil.so"], ["--env=LD_PRELOAD=./evil.so"], ["--env", "PATH=."], ["-fEPATH=."],
    ["-E", "GIT_CONFIG_COUNT"], ["--en=A=b"], ["-u", "root"], ["-uroot"], ["--user=root"], ["--use=root"],
    ["-fu", "root"], ["-p", "1"], ["-p1"], ["--attach=1"], ["--att=1"], ["-fp1"], ["-p", "1", "-p", "2"], ["-D"],
    ["-DD"], ["-DDD"], ["-fD"], ["--daemonize"], ["--daemonize=session"], ["--daem"], ["-b", "execve"], ["-bexecve"],
    ["--detach-on=execve"], ["-I", "4"], ["-I4"], ["--interruptible=never"], ["-e", "inject=execve:retval=0"],
    ["-einject=all:error=EPERM"], ["-e", "fault=openat"], ["-efault=openat:when=1"],
    ["-fe", "inject=open:signal=KILL"], ["--inject=open:error=EIO"], ["--inject", "open:error=EIO"], ["--fault=open"],
    ["--inj=open:error=EIO"], ["-e", "trace=open", "-e", "inject=open:error=EIO"], ["-e", "kvm=vcpu"], ["-e", ""],
    ["-e"], ["-e", "trace="], ["-k"], ["--stack-traces"], ["-fk"], ["-h"], ["--help"], ["-V"], ["--VERSION"],
    ["-P", "/etc/passwd"], ["-P/etc/passwd"], ["--trace-path=/etc/shadow"], ["--trace-path", "../outside"],
    ["-e", "trace=open,inject=open"], ["--trace=open:error=EIO=1"], ["-s", "x"], ["-s", "-1"], ["-s-1"], ["--verbose"],
    ["--verbose", "-o", "x"], ["--columns"], ["--tips"], ["-d"], ["--debug"], ["-O", "1"], ["-f", "-"],
]


@pytest.mark.parametrize("args", some(OPTIONS), ids=" ".join)
def test_option_is_refused(user_box, evil, args):
    refused(user_box, "strace", *args, "git", "--version")
    refused(user_box, "strace", "-f", *args, "git", "--version")
    assert not user_box.canary().exists()


def test_option_after_the_command_is_the_commands(user_box, evil):
    """strace stops at its command; -o is jq's then, and jq has none."""
    answer = refused(user_box, "strace", "jq", "-o", "|./evil", ".", named="-o")
    assert answer["rule"] == "tools.jq.args.options"


def test_plain_strace_runs_programs(user_box, evil):
    canary = user_box.canary()
    fires(user_box, canary, ["strace", "./evil"])
    fires(user_box, canary, ["strace", "-o", "|./evil", "true"])
    fires(user_box, canary, ["strace", "-o|./evil", "git", "--version"])
    fires(user_box, canary, ["strace", "-fo|./evil", "true"])
    fires(user_box, canary, ["strace", "--en=A=b", "./evil"])  # an abbreviation
    fires(user_box, canary, ["strace", f"-o{canary}", "true"])
