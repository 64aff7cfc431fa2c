"""The two calls of the story that chokepoint comes from, for orchestrators that are written against them (R96).

`run_allowlisted` runs a tool of the registry; `run_external_cli` runs one for a probe, in a jail where one is available.
The directory is the root of the call: nothing that it names may leave it. A status other than 0 is returned, not raised.
"""
from __future__ import annotations

import asyncio
import weakref
from typing import Iterable, Mapping, NamedTuple, Optional

from ._context import Context
from ._result import AnyResult, Argv, Error, Refused, StrPath, Timeout, ToolMissing

__all__ = ["DEFAULT_MAX_STDOUT_BYTES", "DisallowedSubprocessError", "ProcessResult", "SubprocessTimeoutError", "ToolMissingError",
           "run_allowlisted", "run_external_cli"]

DEFAULT_MAX_STDOUT_BYTES = 64 * 1024 * 1024


class ProcessResult(NamedTuple):
    """How a tool ended: negative is the signal that ended it."""
    returncode: int
    stdout: bytes
    stderr: bytes


class DisallowedSubprocessError(Refused):
    """The registry does not allow this call."""


class ToolMissingError(ToolMissing):
    """The tool is allowed but not installed."""


class SubprocessTimeoutError(Timeout):
    """The tool did not end in time, and was killed with everything that it had started."""


_contexts: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Context]" = weakref.WeakKeyDictionary()


def _context() -> Context:
    """One for each event loop, as long as the loop lives."""
    loop = asyncio.get_running_loop()
    context = _contexts.get(loop)
    if context is None or context.closed:
        context = _contexts[loop] = Context()
    return context


def _translate(error: Error) -> Error:
    for kind, own in ((Timeout, SubprocessTimeoutError), (ToolMissing, ToolMissingError), (Refused, DisallowedSubprocessError)):
        if isinstance(error, kind):
            return own(str(error), error.outcome, error.result)
    return error


def _result(result: AnyResult) -> ProcessResult:
    assert isinstance(result.stdout, bytes) and isinstance(result.stderr, bytes)
    return ProcessResult(result.returncode, result.stdout, result.stderr)


async def run_allowlisted(argv: Argv, *, cwd: StrPath, timeout_s: float,
                          env_extra: Optional[Mapping[str, str]] = None) -> ProcessResult:
    """Runs a tool of the registry in cwd. Its environment is PATH, HOME, LANG and LC_ALL, what the entry sets, and
    env_extra as far as the entry grants it."""
    try:
        return _result(await _context().run(argv, root=cwd, timeout=timeout_s, env=env_extra))
    except Error as error:
        raise _translate(error) from None


async def run_external_cli(probe_name: str, argv: Argv, *, cwd: StrPath, timeout_s: float, allowlisted_egress: Iterable[str],
                           max_stdout_bytes: int = DEFAULT_MAX_STDOUT_BYTES) -> ProcessResult:
    """Runs a tool for a probe, in a jail where one is available, with the network that allowlisted_egress names and no
    other. Of a stream over max_stdout_bytes the last bytes are kept, after a marker."""
    try:
        return _result(await _context().run(argv, root=cwd, timeout=timeout_s, probe=probe_name, egress=allowlisted_egress,
                                            max_output=max_stdout_bytes))
    except Error as error:
        raise _translate(error) from None
