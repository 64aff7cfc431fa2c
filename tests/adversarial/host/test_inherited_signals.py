"""Promise: The environment.
Attacker: whoever starts the command. Means: signals ignored or blocked from the start, which every program
inherits through exec; a tool that ignores SIGPIPE or cannot be terminated behaves in ways its author never saw.

Expected: the tool starts with nothing blocked and nothing ignored; a timeout works; SIGTERM to the command still ends
all.
"""
import signal

from promises import returns_in_time

EVERYTHING = set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}


def spoil():
    for number in EVERYTHING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, EVERYTHING)


SPOILED = {"preexec_fn": spoil, "restore_signals": False}


def test_tool_starts_clean(box):
    answer = box.run("say_state", popen=SPOILED)
    assert answer.status == 0
    assert b"blocked=" not in answer.stream("stdout")
    assert b"ignored=" not in answer.stream("stdout")


def test_timeout_holds(box):
    answer = returns_in_time(lambda: box.run("sleep", "20", timeout=0.3, popen=SPOILED), 0.3)
    assert (answer.status, answer.outcome) == (124, "timeout")


def test_tool_dies_of_a_closed_pipe(box):
    """yes | head ends only if SIGPIPE has its default action again."""
    answer = box.run("sh", "-c", "yes | head -1", popen=SPOILED)
    assert (answer.status, answer.stream("stdout")) == (0, b"y\n")


def test_signal_of_the_tool_is_reported(box):
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGPIPE, signal.SIGKILL, signal.SIGUSR1):
        answer = box.run("sh", "-c", f"kill -{int(number)} $$", popen=SPOILED)
        assert (answer.status, answer.outcome, answer["signal"]) == (128 + number, "signaled", number)
