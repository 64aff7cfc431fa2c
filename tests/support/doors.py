"""A door with a guard made of Python: what the door sends, byte by byte, and what it does with the answers.

The messages are those of src/base/door_wire.h.
"""
import array
import fcntl
import os
import pathlib
import platform
import socket
import struct
import subprocess

NOTIF_RECV, NOTIF_ADDFD, NOTIF_SEND = 0xC0502100, 0x40182103, 0xC0182101
ADDFD_SEND = 2
MAGIC = 0x646F6F7263616765
CONNECT = {"x86_64": 180, "aarch64": 42}[platform.machine()]
BEGIN, TEXT, FDS, SIGNAL, BUSY, STARTED, END = range(1, 8)
EXITED, SIGNALED = 1, 2
HEAD = struct.Struct("=7IiQ" + "16s" * 16 + "16i")
ANSWER = struct.Struct("=4I")
MESSAGE_MAX = 32768
PATIENCE = 60  # s


class Call:
    """One call as the door handed it over."""

    def __init__(self, connection):
        self.connection = connection
        self.fds = {}
        message = self.receive()
        fields = HEAD.unpack_from(message)
        (kind, text_bytes, self.argc, envc, fd_count, here, self.umask, self.nice, self.ignored) = fields[:9]
        assert kind == BEGIN, kind
        self.rlimits = [struct.unpack("=QQ", pair) for pair in fields[9:25]]
        self.number(fields[25:25 + here])
        texts = message[HEAD.size:]
        while len(texts) < text_bytes or len(self.fds) < fd_count:
            message = self.receive()
            kind, count = struct.unpack_from("=II", message)
            if kind == TEXT:
                assert count == len(message) - 8
                texts += message[8:]
            else:
                assert kind == FDS
                self.number(struct.unpack_from(f"={count}i", message, 8))
        assert len(texts) == text_bytes and texts.endswith(b"\0")
        self.cwd, self.exe, self.executed, *strings = texts[:-1].split(b"\0")
        self.argv, self.env = strings[:self.argc], strings[self.argc:]
        assert len(self.env) == envc

    def receive(self):
        message, control, flags, _ = self.connection.recvmsg(MESSAGE_MAX, socket.CMSG_SPACE(16 * 4))
        assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC), flags
        self.came = array.array("i")
        for _, _, data in control:
            self.came.frombytes(data)
        return message

    def number(self, numbers):
        assert len(numbers) == len(self.came)
        self.fds.update(zip(numbers, self.came))

    def close_fds(self):
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}

    def started(self):
        self.connection.send(struct.pack("=I", STARTED))

    def busy(self):
        self.connection.send(struct.pack("=I", BUSY))
        self.close()

    def signal(self):
        """The next signal that the door forwards."""
        message = self.connection.recv(MESSAGE_MAX)
        kind, number = struct.unpack("=II", message)
        assert kind == SIGNAL
        return number

    def end(self, how=EXITED, value=0, says=b""):
        self.connection.send(ANSWER.pack(END, how, value, len(says)) + says)
        self.close()

    def close(self):
        self.close_fds()
        self.connection.close()


class FakeGuard:
    """A process whose tree connects to us with the system call of a door."""

    def __init__(self, helper, argv, refuse=0, **settings):
        """refuse: the count of connections that get EAGAIN first."""
        self.refuse = refuse
        self.again = []  # the second argument of each attempt to connect
        ours, theirs = socket.socketpair()
        with ours, theirs:
            command = [str(helper), str(theirs.fileno()), *argv]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno(), *settings.pop("pass_fds", ())], **settings)
            theirs.close()
            _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        self.listener = fds[0]

    def accept(self) -> Call:
        """The next call, whole."""
        while True:
            notification = bytearray(80)
            fcntl.ioctl(self.listener, NOTIF_RECV, notification)
            ident, _pid, _flags, number = struct.unpack_from("=QIIi", notification)
            magic, again = struct.unpack_from("=QQ", notification, 32)
            assert number == CONNECT and magic == MAGIC
            self.again.append(again)
            if self.refuse > 0:
                self.refuse -= 1
                fcntl.ioctl(self.listener, NOTIF_SEND, bytearray(struct.pack("=QqiI", ident, 0, -11, 0)))
                continue
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.settimeout(PATIENCE)
            with theirs:
                fcntl.ioctl(self.listener, NOTIF_ADDFD, struct.pack("=QIIII", ident, ADDFD_SEND, theirs.fileno(), 0, os.O_CLOEXEC))
            return Call(ours)

    def finish(self) -> int:
        """The status of the process, negative for a signal."""
        return self.process.wait(PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        os.close(self.listener)


def door() -> pathlib.Path:
    return pathlib.Path(os.environ["CHOKE_BUILD"]) / "src/chokepoint-door"
