"""Parts that a kernel may lack, and how a refusal by the jail is still recognized.

If a part is missing, an attack on it cannot succeed outside; and the kernel refuses it by
itself, which proves nothing. So each attack is made so that the jail's answer differs from the
kernel's:

  AF_ALG   a socket type that no family has: the kernel answers EINVAL, with or without the
    family; the filter answers first
  x32      the kernel answers ENOSYS, the filter kills
  sysrq    a file in the same directory of the same mount: the mount answers EROFS for any file

tests/unit/test_seccomp.c also evaluates what the filter answers to AF_ALG and to x32 numbers.
"""
import os
import socket

# Socket families, each with a type that it has; and a type that no family has.
STREAM, DATAGRAM, RAW, NO_KIND = 1, 2, 3, 77
FAMILIES = {"inet": (2, DATAGRAM), "inet6": (10, DATAGRAM), "netlink": (16, RAW), "packet": (17, RAW), "vsock": (40, STREAM),
            "xdp": (44, RAW), "unix": (1, STREAM), "bluetooth": (31, RAW), "alg": (38, 5), "tipc": (30, RAW),
            "key": (15, RAW), "can": (29, RAW), "qipcrtr": (42, DATAGRAM)}


def has_alg() -> bool:
    try:
        socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).close()
    except OSError:
        return False
    return True


def itself_or_beside(path: str) -> str:
    """The file, or one beside it that its mode lets be written."""
    directory = os.path.dirname(path)
    beside = [one.path for one in os.scandir(directory) if one.is_file() and one.stat().st_mode & 0o222]
    return path if os.path.exists(path) else min(beside)


def lacks_x32(said: bytes) -> bool:
    """What a victim prints after such a call."""
    return b"refused: ENOSYS" in said
