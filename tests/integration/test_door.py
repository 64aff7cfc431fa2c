"""The door by itself: what it hands over of a call, how it forwards signals, and how it ends (docs/adr/0105).

The guard is made of Python, so that each message is seen. The real one is in test_guard_*.py.
"""
import os
import pty
import resource
import signal
import subprocess

import pytest

import doors
from doors import EXITED, SIGNALED, PATIENCE
from processes import stat_of, wait_until

FORWARDED = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT, signal.SIGUSR1, signal.SIGUSR2,
             signal.SIGPIPE, signal.SIGALRM, signal.SIGTERM, signal.SIGCONT, signal.SIGWINCH]


@pytest.fixture
def behind_door(stage):
    """Starts a process whose doors are answered by the test."""
    made = []

    def start(argv=None, **settings):
        made.append(doors.FakeGuard(stage / "tests/helpers/door_way", argv or [doors.door()], **settings))
        return made[-1]
    yield start
    for fake in made:
        fake.close()


def shell(script):
    return ["/bin/sh", "-c", script, doors.door()]


def test_everything_is_handed_over(behind_door, tmp_path):
    fake = behind_door(shell('umask 027; cd "$1"; ulimit -Sn 512; exec nice -n 5 "$0" "" "a b" "$(printf "\\303\\050\\nx")"')
                   + [tmp_path], env={"A": "1", "EMPTY": "", "PATH": "/usr/bin:/bin"})
    call = fake.accept()
    assert call.argv == [bytes(doors.door()), b"", b"a b", b"\xc3(\nx"]
    assert {b"A=1", b"EMPTY=", b"PATH=/usr/bin:/bin"} <= set(call.env)
    assert call.cwd == bytes(tmp_path) and call.exe == call.executed == bytes(doors.door().resolve())
    assert (call.umask, call.nice) == (0o027, min(19, 5 + os.nice(0))), "19 is the most that the kernel has"
    for number, (soft, hard) in enumerate(call.rlimits):
        ours = tuple(value % 2**64 for value in resource.getrlimit(number))
        assert (soft, hard) == ((512, ours[1]) if number == resource.RLIMIT_NOFILE else ours), number
    call.end()
    assert fake.finish() == 0


def test_forged_name_is_seen_beside_the_real_one(behind_door):
    fake = behind_door(["/bin/bash", "-c", 'exec -a git "$0" x', doors.door()])
    call = fake.accept()
    assert (call.argv, call.exe) == ([b"git", b"x"], bytes(doors.door().resolve()))
    call.end()


@pytest.mark.parametrize("how", ["link", "directory", "relative", "dots", "slashes", "loop"])
def test_own_file_is_found_by_any_name(behind_door, tmp_path, how):
    """Only a path without a link in it is taken for that of the file."""
    real = doors.door().resolve()
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "directory").symlink_to(real.parent)
    path = {"link": tmp_path / "link", "directory": tmp_path / "directory" / real.name, "relative": f"./{real.name}",
            "dots": f"{real.parent}/../{real.parent.name}/{real.name}", "slashes": f"{real.parent}//{real.name}",
            "loop": f"{real.parent}/./{real.name}"}[how]
    fake = behind_door(["/bin/sh", "-c", 'cd "$0"; exec "$1"', real.parent, path])
    call = fake.accept()
    assert (call.exe, call.executed) == (bytes(real), os.fsencode(path))
    call.end()
    assert fake.finish() == 0


def test_deleted_directory_is_empty(behind_door, tmp_path):
    (tmp_path / "gone").mkdir()
    fake = behind_door(shell('cd "$1/gone"; rmdir ../gone; exec "$0"') + [tmp_path])
    call = fake.accept()
    assert call.cwd == b""
    call.end()


def test_large_call_is_handed_over_whole(behind_door):
    words = [b"%d:" % i + b"x" * 100000 for i in range(14)]
    fake = behind_door([doors.door(), *words], env={f"V{i}": "y" * 1000 for i in range(100)})
    call = fake.accept()
    assert call.argv[1:] == words and len(call.env) == 100
    call.end()
    assert fake.finish() == 0


def test_descriptors_are_handed_over_with_their_numbers(behind_door, tmp_path):
    (tmp_path / "in").write_text("of the file", encoding="ascii")
    fake = behind_door(["/bin/bash", "-c", 'exec 0<"$1/in" 63>"$1/out" 7<&0 1>&-; exec "$0"', doors.door(), tmp_path])
    call = fake.accept()
    assert set(call.fds) == {0, 2, 7, 63}
    assert os.read(call.fds[7], 100) == b"of the file" and os.read(call.fds[0], 100) == b""
    os.write(call.fds[63], b"written")
    call.end()
    assert fake.finish() == 0 and (tmp_path / "out").read_bytes() == b"written"


@pytest.mark.parametrize("limit", [64, 400, 512])
def test_descriptors_above_the_limit_are_handed_over(behind_door, limit):
    """A process may have numbers above its own limit: they were opened before it was lowered."""
    fake = behind_door(["/bin/bash", "-c", f'exec 63<&0 499<&0 500>&2; ulimit -Sn {limit}; exec "$0"', doors.door()])
    call = fake.accept()
    assert set(call.fds) == {0, 1, 2, 63, 499, 500}
    call.end()
    assert fake.finish() == 0


def test_closed_streams_are_not_handed_over(behind_door):
    """The socket of the door and what it opens get these numbers, and must not be taken for streams."""
    fake = behind_door(["/bin/sh", "-c", 'exec "$0" <&- >&- 2>&-', doors.door()])
    call = fake.accept()
    assert call.fds == {}
    call.started()
    call.end(value=3, says=b"not for the socket\n")
    assert fake.finish() == 3


@pytest.mark.parametrize("count, fits", [(64, True), (65, False)])
def test_many_descriptors(behind_door, count, fits):
    more = [os.open("/dev/null", os.O_RDONLY) for _ in range(count - 3)]
    try:
        fake = behind_door(pass_fds=more, stderr=subprocess.PIPE)
    finally:
        for fd in more:
            os.close(fd)
    if fits:
        call = fake.accept()
        assert len(call.fds) == count
        call.end()
        assert fake.finish() == 0
    else:
        assert fake.finish() == 126
        assert b"more than 64 descriptors are open" in fake.process.stderr.read()


@pytest.mark.parametrize("how, value, status", [
    (EXITED, 0, 0), (EXITED, 125, 125), (SIGNALED, signal.SIGTERM, -signal.SIGTERM),
    (SIGNALED, signal.SIGSEGV, -signal.SIGSEGV), (SIGNALED, signal.SIGKILL, -signal.SIGKILL), (SIGNALED, 40, -40)])
def test_it_ends_as_the_tool_ended(behind_door, how, value, status):
    fake = behind_door()
    call = fake.accept()
    call.started()
    call.end(how, value)
    assert fake.finish() == status


def test_no_core_file_of_the_door(behind_door, tmp_path):
    fake = behind_door(cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)))
    fake.accept().end(SIGNALED, signal.SIGQUIT)
    _, status = os.waitpid(fake.process.pid, 0)
    assert os.WTERMSIG(status) == signal.SIGQUIT and not os.WCOREDUMP(status)
    fake.process.returncode = -signal.SIGQUIT


def test_signal_that_the_caller_ignores_ends_it_too(behind_door):
    fake = behind_door(shell('trap "" TERM; exec "$0"'))
    fake.accept().end(SIGNALED, signal.SIGTERM)
    assert fake.finish() == -signal.SIGTERM


def test_words_of_the_guard_are_on_stderr(behind_door):
    fake = behind_door(stderr=subprocess.PIPE)
    fake.accept().end(value=126, says=b"chokepoint: 'x' is not allowed\n")
    assert (fake.finish(), fake.process.stderr.read()) == (126, b"chokepoint: 'x' is not allowed\n")


@pytest.mark.parametrize("number", FORWARDED, ids=lambda number: number.name)
def test_signal_is_forwarded(behind_door, number):
    fake = behind_door()
    call = fake.accept()
    call.started()
    fake.process.send_signal(number)
    assert call.signal() == number
    call.end(value=1)
    assert fake.finish() == 1


def test_signal_before_the_tool_exists_is_forwarded(behind_door):
    fake = behind_door()
    call = fake.accept()
    fake.process.send_signal(signal.SIGTERM)
    assert call.signal() == signal.SIGTERM
    call.end(SIGNALED, signal.SIGTERM)
    assert fake.finish() == -signal.SIGTERM


def test_ignored_signal_stays_ignored(behind_door):
    fake = behind_door(shell('trap "" HUP INT; exec "$0"'))
    call = fake.accept()
    assert call.ignored & 3 == 3 and not call.ignored & 1 << (signal.SIGTERM - 1)
    call.started()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        fake.process.send_signal(number)
    assert call.signal() == signal.SIGTERM
    call.end()
    assert fake.finish() == 0


def test_stop_and_continue(behind_door):
    """In a group of its own beneath a process of the session, as a shell starts a job."""
    fake = behind_door(process_group=0)
    call = fake.accept()
    call.started()
    for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        fake.process.send_signal(number)
        assert call.signal() == number
        wait_until(lambda: stat_of(fake.process.pid)[0] == "T", "it is stopped, as its shell expects")
        fake.process.send_signal(signal.SIGCONT)
        assert call.signal() == signal.SIGCONT
    call.end(value=4)
    assert fake.finish() == 4


def test_stop_without_a_shell_is_ignored(behind_door):
    """The kernel ignores it in an orphaned process group; the tool, which it has reached, must continue."""
    fake = behind_door(start_new_session=True)
    call = fake.accept()
    call.started()
    for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        fake.process.send_signal(number)
        assert (call.signal(), call.signal()) == (number, signal.SIGCONT)
    call.end(value=4)
    assert fake.finish() == 4


def test_streams_are_closed_when_the_tool_has_them(behind_door):
    """The writer of a pipe must get SIGPIPE when the tool does not read it any more, and the reader of another its end."""
    fake = behind_door(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    call = fake.accept()
    call.started()
    call.close_fds()
    assert fake.process.stdout.read() == b""
    with pytest.raises(BrokenPipeError):
        for _ in range(PATIENCE):
            os.write(fake.process.stdin.fileno(), b"x")
    assert fake.process.poll() is None
    call.end()
    assert fake.finish() == 0


def test_death_of_the_door_closes_the_connection(behind_door):
    fake = behind_door()
    call = fake.accept()
    call.started()
    fake.process.kill()
    try:
        assert call.connection.recv(1) == b""
    except ConnectionResetError:  # it did not read our last message
        pass
    call.close()


def test_busy_guard_is_asked_again(behind_door):
    fake = behind_door(refuse=3, stdin=subprocess.DEVNULL)
    for _ in range(3):
        call = fake.accept()
        assert 0 in call.fds
        call.busy()
    fake.accept().end(value=7)
    assert fake.finish() == 7 and fake.again == [0] * 4 + [1] * 3


def test_signal_while_the_guard_is_busy_ends_the_door(behind_door):
    fake = behind_door()
    call = fake.accept()
    fake.process.send_signal(signal.SIGTERM)
    assert call.signal() == signal.SIGTERM
    call.busy()
    assert fake.finish() == -signal.SIGTERM


def test_guard_that_is_gone(behind_door):
    fake = behind_door(stderr=subprocess.PIPE)
    call = fake.accept()
    call.close()
    assert (fake.finish(), fake.process.stderr.read()) == (126, b"chokepoint: the guard is gone\n")


def test_outside_of_a_cage():
    done = subprocess.run([doors.door()], capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (126, b"") and b"only works in the cage" in done.stderr


@pytest.mark.parametrize("foreground", [True, False])
def test_background_process_gets_no_terminal(behind_door, foreground):
    ours, theirs = pty.openpty()
    end = "" if foreground else "&"
    try:  # an interactive shell has a process group for each job
        fake = behind_door(["/bin/bash", "-c", f'set -m; "$0" {end} wait', doors.door()], stdin=theirs, start_new_session=True,
                       preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)))
        call = fake.accept()
        assert os.isatty(call.fds[0]) is foreground
        assert foreground or os.read(call.fds[0], 1) == b""
        call.end()
        assert fake.finish() == 0
    finally:
        os.close(theirs)
        os.close(ours)
