"""R91: a program in the cage of guard has a terminal of its own, and job control, signals and sizes behave as without."""
import shlex
import signal

import pytest

from guards import Terminal, running
from processes import stat_of, wait_until

SHELL = ["bash", "--norc", "--noprofile", "-i"]


@pytest.fixture
def terminals(once_guarded):
    """Starts programs in terminals; each is made once outside and once inside."""
    made = []

    def start(argv, inside=True, **keywords):
        made.append(Terminal(once_guarded, argv, inside, **keywords))
        return made[-1]
    start.guarded = once_guarded
    yield start
    for terminal in made:
        terminal.close()


@pytest.fixture(params=[False, True], ids=["outside", "inside"])
def prompt(terminals, request):
    """An interactive shell that waits for its first line."""
    terminal = terminals(SHELL, request.param)
    terminal.type("PS1='ready> '; unset PROMPT_COMMAND; bind 'set enable-bracketed-paste off' 2>/dev/null; echo be''gin\n")
    terminal.expect(r"begin\r?\n")
    terminal.expect("ready> ")
    return terminal


def interrupt(terminal, name):
    """The shell may not have made the job the one in the foreground yet."""
    def ended():
        terminal.type("\x03")
        return not running(terminal.process, name)
    wait_until(ended, "the tool has ended")


def end(terminal, status=0):
    terminal.type(f"exit {status}\n")
    assert terminal.finish() == status


def test_tool_has_the_terminal(prompt):
    prompt.type("cat\n")
    wait_until(lambda: running(prompt.process, "cat"), "the tool runs")
    prompt.type("typed line\n")
    prompt.expect(r"typed line\r\ntyped line\r\n")
    prompt.type("\x04")
    prompt.expect("ready> ")
    end(prompt, 5)


def test_interrupt_ends_the_tool_and_not_the_shell(prompt):
    prompt.type("sleep 1000\n")
    prompt.expect("sleep 1000")
    wait_until(lambda: running(prompt.process, "sleep"), "the tool runs")
    prompt.type("\x03")
    prompt.expect("ready> ")
    prompt.type("echo st''atus $?\n")
    prompt.expect("status 130")
    end(prompt)


def test_stop_background_and_foreground(prompt):
    prompt.type("sleep 1000\n")
    (pid,) = wait_until(lambda: running(prompt.process, "sleep"), "the tool runs")
    prompt.type("\x1a")
    prompt.expect(r"Stopped +sleep 1000")
    wait_until(lambda: stat_of(pid)[0] == "T", "the tool is stopped")
    prompt.type("bg\n")
    prompt.expect(r"sleep 1000 &")
    wait_until(lambda: stat_of(pid)[0] == "S", "the tool continues")
    prompt.type("fg\n")
    prompt.expect("sleep 1000")
    interrupt(prompt, "sleep")
    prompt.expect("ready> ")
    prompt.type("jobs; echo st''atus\n")
    prompt.expect(r"\nstatus")
    end(prompt)


def test_background_tool_does_not_read_what_is_typed(prompt):
    prompt.type("cat > taken & sleep 0.2; read -r line; echo \"got $line\"\n")
    prompt.type("for the shell\n")
    prompt.expect(r"got for the shell\r\n")
    prompt.type("kill %1 2> /dev/null; wc -c < taken; echo al''l\n")
    prompt.expect(r"\n0\r\n")
    prompt.expect("all")
    end(prompt)


def test_size_of_the_terminal(prompt):
    prompt.type("stty size < /dev/tty; shopt -s checkwinsize; trap 'echo re''sized' WINCH\n")
    prompt.expect(r"40 200\r\n")
    prompt.expect("ready> ")
    prompt.resize(30, 100)
    prompt.type("\n")
    prompt.expect("resized")
    prompt.type("stty size\n")
    prompt.expect(r"30 100\r\n")
    end(prompt)


def test_quit_and_end_of_file(prompt):
    prompt.type("sleep 1000\n")
    wait_until(lambda: running(prompt.process, "sleep"), "the tool runs")
    prompt.type("\x1c")
    prompt.expect("Quit")
    prompt.expect("ready> ")  # before, the kernel keeps an end of file for a line, and the shell reads a NUL byte in its place
    prompt.type("\x04")
    assert prompt.finish() in (0, 131)


def test_pipeline_in_the_foreground_is_interrupted_as_a_whole(prompt):
    prompt.type("yes | cat > /dev/null\n")
    wait_until(lambda: running(prompt.process, "cat"), "the tools run")
    prompt.type("\x03")
    prompt.expect("ready> ")
    wait_until(lambda: not running(prompt.process, "yes") and not running(prompt.process, "cat"), "both have ended")
    end(prompt)


def test_standard_output_alone_may_be_a_terminal(terminals):
    terminal = terminals(["bash", "-c", "[ -t 1 ] && echo terminal; seq 3 | cat; exit 4"])
    terminal.expect(r"terminal\r\n1\r\n2\r\n3\r\n")
    assert terminal.finish() == 4


def test_guard_that_was_started_in_the_background_has_the_terminal_later(terminals):
    """The shell of the caller has the terminal first. When it brings guard to the foreground, what is typed is for the program."""
    terminal = terminals(SHELL, inside=False)
    command = shlex.join(terminals.guarded.argv("bash", "-c", "echo be''gun; read -r line; echo \"got $line\"", options=["--quiet"]))
    terminal.type(f"PS1='ready> '; stty -g > before; {command} & sleep 0.1\n")
    terminal.expect("begun")
    terminal.type("fg\n")
    terminal.expect("guard --policy")
    terminal.type("typed\n")
    terminal.expect("got typed")
    terminal.expect("ready> ")
    terminal.type("stty -g > after; cmp before after && echo as it w''as\n")
    terminal.expect("as it was")
    end(terminal)


def test_hang_up_ends_the_tree(terminals):
    terminal = terminals(SHELL)
    terminal.type("sleep 1000\n")
    wait_until(lambda: running(terminal.process, "sleep"), "the tool runs")
    terminal.process.send_signal(signal.SIGHUP)
    terminal.process.wait(60)


@pytest.mark.parametrize("owned", [True, False])
def test_terminal_that_is_not_read_does_not_keep_guard(terminals, owned):
    """Ctrl-S, or a window that hangs: the time limit and signals hold all the same."""
    terminal = terminals(["bash", "-c", f"while :; do echo {'x' * 200}; done"], options=["--quiet", "--timeout", "2"], owned=owned)
    assert terminal.process.wait(terminal.PATIENCE) == 124


@pytest.mark.parametrize("owned", [True, False])
def test_all_output_arrives(terminals, owned):
    terminal = terminals(["bash", "-c", "for ((i = 0; i < 5000; i++)); do echo line $i; done"], owned=owned)
    for line in ("line 0", "line 4999"):
        terminal.expect(rf"{line}\r\n")
    assert terminal.finish() == 0


def test_last_output_arrives_when_it_is_read_late(terminals):
    terminal = terminals(["bash", "-c", f"echo {'x' * 20000}; echo last"])
    wait_until(lambda: not running(terminal.process, "bash"), "the program has ended")
    terminal.expect(r"last\r\n")
    assert terminal.finish() == 0


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
def test_stop_that_nobody_could_continue_is_ignored(terminals, inside):
    """The program is no shell: its process group is orphaned, and then the kernel ignores Ctrl-Z. So must a door, or all would hang."""
    terminal = terminals(["bash", "-c", "trap 'echo int''errupted' INT; sleep 1000; echo status $?"], inside)
    (pid,) = wait_until(lambda: running(terminal.process, "sleep"), "the tool runs")
    terminal.type("\x1a")
    terminal.expect(r"\^Z")
    wait_until(lambda: stat_of(pid)[0] == "S", "the tool runs on")
    terminal.type("\x03")
    terminal.expect("interrupted")
    terminal.expect("status 130")
    assert terminal.finish() == 0
