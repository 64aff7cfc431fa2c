"""What a call returns, and what it raises."""
from __future__ import annotations

import os
from typing import Any, Dict, Generic, Iterable, List, NoReturn, Optional, Sequence, Tuple, TypedDict, TypeVar, Union

from . import _choke

AnyStr = TypeVar("AnyStr", bytes, str)
StrPath = Union[str, "os.PathLike[str]"]
Argv = Sequence[Union[str, bytes, "os.PathLike[str]"]]


def listed(paths: Union[StrPath, Iterable[StrPath]]) -> List[StrPath]:
    """One path or several."""
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)


class Tool(TypedDict):
    """The tool of a call: its name in the policy, and its file if it was found."""
    name: str
    path: Optional[str]


class Limit(TypedDict):
    """A limit of the policy, and what enforced it."""
    name: str
    value: int
    mechanism: str


class Change(TypedDict):
    """A difference that a tool with `workspace: overlay` left."""
    path: str
    kind: str
    type: str
    runs_later: Optional[str]


class Denial(TypedDict):
    """Something that the jail refused."""
    kind: str
    path: str
    by: str
    errno: int
    add: Optional[str]


class Egress(TypedDict):
    """How a run with egress used it."""
    rules: List[str]
    allowed: int
    refused: int
    failed: int
    sent_bytes: int
    received_bytes: int


class ErrorInfo(TypedDict, total=False):
    """Why a call was refused or ended early."""
    code: str
    message: str
    errno: int
    line: int
    column: int


class Result(Generic[AnyStr]):
    """How a call ended. The fields have the names of the command's JSON; the streams are bytes, or text with
    `text=True`. `stdout_total` and `stdout_truncated` say how much the tool wrote and whether some of it is missing."""

    args: List[str]
    outcome: str
    exit_code: Optional[int]
    signal: Optional[int]
    stdout: AnyStr
    stderr: AnyStr
    stdout_total: int
    stderr_total: int
    stdout_truncated: bool
    stderr_truncated: bool
    output_incomplete: bool
    duration_ms: float
    user_ms: float
    system_ms: float
    max_rss_kib: int
    timeout_ms: int
    jail: Optional[str]
    layers: List[str]
    kill: Optional[str]
    tool: Optional[Tool]
    rule: Optional[str]
    error: Optional[ErrorInfo]
    limits: List[Limit]
    limit_hit: Optional[str]
    changes: Optional[List[Change]]
    changes_incomplete: bool
    kept_incomplete: bool
    egress: Optional[Egress]
    unrecorded: bool
    workspace_code: bool
    loopback: bool
    denied: Optional[List[Denial]]
    denied_more: int
    egress_offer: Optional[List[str]]

    def __init__(self, fields: Dict[str, Any], args: Sequence[Any], text: bool) -> None:
        if text:
            fields["stdout"] = fields["stdout"].decode("utf-8", "surrogateescape")
            fields["stderr"] = fields["stderr"].decode("utf-8", "surrogateescape")
        self.__dict__ = fields
        self.args = list(args)
        for index, arg in enumerate(args):
            if type(arg) is not str:
                self.args[index] = os.fsdecode(arg)

    @property
    def returncode(self) -> int:
        """The exit status; negative: the signal that ended the tool. Of a call that did not run it is 125, as the
        status of the command."""
        if self.exit_code is not None:
            return self.exit_code
        return -self.signal if self.signal else 125

    @property
    def message(self) -> str:
        """Why it was refused or ended early; empty if the tool ended by itself."""
        return self.error["message"] if self.error else ""

    def __repr__(self) -> str:
        # Neither arguments nor output: both may be long, and may hold what must not be in a log.
        name = self.tool["name"] if self.tool else None
        ended = f"returncode={self.returncode}, " if self.outcome in ("exited", "signaled") else ""
        return (f"<chokepoint.Result {name!r} {self.outcome}, {ended}stdout={self.stdout_total} bytes, "
                f"stderr={self.stderr_total} bytes, {self.duration_ms:.1f} ms>")


AnyResult = Union["Result[bytes]", "Result[str]"]


class Error(Exception):
    """A call did not do its work. `outcome` is one word, as in the command's JSON; `result` is the whole result, if
    there is one."""

    def __init__(self, message: str, outcome: str = "", result: Optional[AnyResult] = None) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.result = result

    def __reduce__(self) -> Tuple[Any, ...]:
        # A result can be large, and is for the process that ran the tool.
        return type(self), (str(self), self.outcome)


class Refused(Error):
    """The policy does not allow the call, or the request itself is wrong; `outcome` says which."""


class ToolMissing(Error):
    """The policy allows the tool, but it is not installed."""


class Timeout(Error, TimeoutError):
    """The tool was killed at its timeout."""


class Failed(Error):
    """With `check=True`: the tool ended with another status than 0, or by a signal."""


REFUSALS = frozenset({"disallowed", "invalid", "cwd", "env_forbidden", "jail_unavailable", "policy"})
KINDS = {"tool_missing": ToolMissing, "timeout": Timeout, **dict.fromkeys(REFUSALS, Refused)}


def raise_for(result: AnyResult, check: bool) -> None:
    """Raises what belongs to the outcome."""
    if result.outcome in ("exited", "signaled"):
        if check and result.returncode != 0:
            how = f"status {result.exit_code}" if result.exit_code is not None else f"signal {result.signal}"
            name = result.tool["name"] if result.tool else "?"
            raise Failed(f"'{name}' ended with {how}", result.outcome, result)
        return
    kind = KINDS.get(result.outcome, Error)
    raise kind(result.message or result.outcome, result.outcome, result)


def raise_call_error(error: _choke.CallError) -> NoReturn:
    """A call of the library failed, before there was a result."""
    message, outcome, _ = error.args
    kind = KINDS.get(outcome, Error)
    raise kind(message, outcome) from None
