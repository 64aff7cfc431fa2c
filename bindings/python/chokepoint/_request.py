"""Arguments of Python, as the extension module takes them. A wrong type is a TypeError, a wrong value a ValueError."""
from __future__ import annotations

import math
import os
import subprocess
from typing import Any, Iterable, List, Mapping, Optional, Tuple, Union

from ._choke import TIMEOUT_FROM_POLICY
from ._result import Argv, StrPath

JAILS = {None: 0, "auto": 1, "native": 2, "bwrap": 3, "none": 4}
Input = Union[bytes, bytearray, memoryview, str, None]
MAX_TIMEOUT_S = 366 * 86400.0


def vector(argv: Argv) -> Tuple[Any, ...]:
    """A copy: an argument whose conversion runs Python code cannot change it."""
    if type(argv) is list or type(argv) is tuple:  # whether it is a Mapping takes longer to say
        return tuple(argv)
    if isinstance(argv, (str, bytes, Mapping, set, frozenset)):
        raise TypeError(f"argv must be a sequence of strings, not {type(argv).__name__}")
    return tuple(argv)


def milliseconds(timeout: Optional[float]) -> int:
    """None: the limit of the entry. Rounded up, so that a timeout is never 0."""
    if timeout is None:
        return TIMEOUT_FROM_POLICY
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds or None, not {type(timeout).__name__}")
    if not 0 < timeout <= MAX_TIMEOUT_S:
        raise ValueError("timeout must be more than 0 seconds and at most 365 days")
    return math.ceil(timeout * 1000)


def environment(env: Mapping[str, str]) -> List[bytes]:
    if not isinstance(env, Mapping):
        raise TypeError(f"env must be a mapping or None, not {type(env).__name__}")
    pairs = []
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError("names and values of env must be str")
        if not name or "=" in name:
            raise ValueError(f"a name in env is empty or has a '=' in it: {name!r}")
        pairs.append(os.fsencode(f"{name}={value}"))
    return pairs


def standard_input(given: Input, stdin: Any) -> Tuple[Optional[bytes], int]:
    """(bytes or None, descriptor or -1); one of the two was given, or stdin is DEVNULL."""
    if given is not None:
        if stdin is not None:
            raise ValueError("input and stdin cannot be given together")
        if isinstance(given, str):
            return given.encode("utf-8", "surrogateescape"), -1
        if isinstance(given, (bytes, bytearray, memoryview)):
            return bytes(given), -1
        raise TypeError(f"input must be bytes, str or None, not {type(given).__name__}")
    if stdin is None or (stdin == subprocess.DEVNULL and isinstance(stdin, int)):
        return None, -1
    fd = stdin if isinstance(stdin, int) and not isinstance(stdin, bool) else getattr(stdin, "fileno", lambda: None)()
    if not isinstance(fd, int):
        raise TypeError("stdin must be a descriptor, a file or None")
    if not 0 <= fd <= 0x7fffffff:
        raise ValueError("stdin must be an open descriptor; a pipe that Python fills is not supported: use input")
    return None, fd


def names(items: Iterable[str], what: str) -> Optional[List[str]]:
    """A list of str; None if it is empty."""
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{what} must be a sequence of strings, not one string")
    found = list(items)
    if not all(isinstance(item, str) for item in found):
        raise TypeError(f"{what} must be a sequence of str")
    return found or None


def size(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int or None, not {type(value).__name__}")
    if not 0 < value < 1 << 62:
        raise ValueError(f"{what} must be more than 0 and a size that fits into memory")
    return value


def request(argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
            env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
            probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False, sandbox: bool = False,
            max_output: Optional[int] = None, keep_head: Optional[int] = None, keep: Optional[StrPath] = None,
            why: bool = False) -> Tuple[Any, ...]:
    """The 16 values of a request, in the order of py_request_parse. What was not given costs no call: this is a part of
    every run (R98)."""
    if root is None:
        raise TypeError("root must be a path")
    if probe is not None and not isinstance(probe, str):
        raise TypeError("probe must be a str or None")
    if jail is not None and not isinstance(jail, str):
        raise TypeError("jail must be a str or None")
    if jail not in JAILS:
        raise ValueError(f"jail must be None, 'auto', 'native', 'bwrap' or 'none', not {jail!r}")
    data, fd = (None, -1) if input is None and stdin is None else standard_input(input, stdin)
    return (argv, root, "." if cwd is None else cwd, milliseconds(timeout), None if env is None else environment(env), data, fd,
            None if egress == () else names(egress, "egress"), probe, JAILS[jail], bool(require_jail), bool(sandbox),
            0 if max_output is None else size(max_output, "max_output"), 0 if keep_head is None else size(keep_head, "keep_head"),
            keep, bool(why))
