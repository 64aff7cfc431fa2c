"""What a kernel may have been built without, and how its refusal is known all the same.

An attack on such a part cannot succeed outside where the part is missing; a kernel that lacks it refuses by itself, and
that proves nothing. So each is refused inside in words that are not the kernel's:

  AF_ALG   a kind of socket that no family has: the kernel says EINVAL, whether it has the family or not; the filter
           never lets it look
  x32      the kernel says ENOSYS, the filter kills
  sysrq    a file in the same directory of the same mount: it is the mount that says EROFS, whatever the file

What the filter answers to AF_ALG and to the numbers of x32 is also evaluated in tests/unit/test_seccomp.c.
"""
import os
import socket

# Families of sockets, each with a kind that it has; and a kind that none has.
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
    """The file, or one beside it that could be written as far as its mode goes."""
    directory = os.path.dirname(path)
    beside = [one.path for one in os.scandir(directory) if one.is_file() and one.stat().st_mode & 0o222]
    return path if os.path.exists(path) else min(beside)


def lacks_x32(said: bytes) -> bool:
    """What a victim says that has made such a call."""
    return b"refused: ENOSYS" in said
