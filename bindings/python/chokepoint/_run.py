"""The calls of the module: each thread has its own contexts, made when they are first needed."""
from __future__ import annotations

import os
import threading
from typing import Any, Dict, Iterable, Literal, Mapping, Optional, Tuple, Union, overload

from ._choke import file_state
from ._context import Context
from ._request import Input, request, vector
from ._result import Argv, Result, StrPath

MACHINE_POLICY = "/etc/chokepoint/policy.yaml"
CONTEXTS_MAX = 4  # of one thread; each may have a process
NO_CALL: Tuple[Any, Any, Optional[bytes], Optional[Context]] = (None, None, None, None)


class _Contexts(threading.local):
    """The contexts of this thread, the last used one last. They end with the thread."""

    def __init__(self) -> None:
        self.by_key: Dict[Tuple[Any, ...], Context] = {}
        self.last = NO_CALL  # policy, audit, state of the file, and what belongs to them


_contexts = _Contexts()


def _absolute(path: StrPath) -> str:
    """Without the work of abspath() where there is none."""
    text = path if type(path) is str else os.fsdecode(path)
    return text if text.startswith("/") else os.path.abspath(text)


def context_for(policy: Optional[StrPath], audit: Union[StrPath, bool, None]) -> Context:
    """A context of this thread for this policy, as it is now, and this log."""
    state = file_state(MACHINE_POLICY if policy is None else policy)
    last_policy, last_audit, last_state, context = _contexts.last
    if context is not None and last_policy is policy and last_audit is audit and last_state == state and not context.closed:
        return context  # most calls: the rest takes longer, and is a part of every run (R98)
    place = audit if audit is None or isinstance(audit, bool) else _absolute(audit)
    key = (None if policy is None else _absolute(policy), place, state)
    contexts = _contexts.by_key
    context = contexts.pop(key, None)
    if context is None or context.closed:
        context = Context(policy, audit)
        while len(contexts) >= CONTEXTS_MAX:
            contexts.pop(next(iter(contexts))).close()
    contexts[key] = context
    absolute = place is audit and key[0] is policy  # a relative path names another file after chdir()
    _contexts.last = (policy, audit, state, context) if absolute else NO_CALL
    return context


def _forget() -> None:
    """In a forked child: the contexts are the parent's. Dropping them there ends nothing."""
    _contexts.by_key, _contexts.last = {}, NO_CALL


os.register_at_fork(after_in_child=_forget)

Audit = Union[StrPath, bool, None]


@overload
def run(argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
        env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
        probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
        sandbox: bool = False, max_output: Optional[int] = None, text: Literal[False] = False, check: bool = False,
        keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False,
        policy: Optional[StrPath] = None, audit: Audit = None) -> Result[bytes]: ...


@overload
def run(argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
        env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
        probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
        sandbox: bool = False, max_output: Optional[int] = None, text: Literal[True], check: bool = False,
        keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False,
        policy: Optional[StrPath] = None, audit: Audit = None) -> Result[str]: ...


def run(argv: Argv, *, text: bool = False, check: bool = False, policy: Optional[StrPath] = None, audit: Audit = None,
        **options: Any) -> Any:
    """Runs a tool of the policy and returns its Result, in the shape of subprocess.run.

    argv[0] is the name of a tool in the policy, not a path. `root` is the repository: nothing that the call names may
    leave it; `cwd` is the directory beneath it to run in, and root itself without it. `timeout` is in seconds; None is
    the limit of the entry. `env` may have what the entry grants, `egress` lists what may be reached, `probe` names the
    user of the tool. `jail` is None, 'auto', 'native', 'bwrap' or 'none'; with `require_jail` no jail is an error, and
    `sandbox` is for code that a model or a repository wrote. `max_output` is the cap of each stream in bytes (64 MiB);
    over it the last bytes are kept, and with `keep_head` the first. With `text` the streams are str. With `check`
    another status than 0 raises Failed.

    Raises Refused, ToolMissing, Timeout, or Error; each has the result.
    """
    context = context_for(policy, audit)
    argv = vector(argv)
    return context._run_and_wait(argv, request(argv, **options), text, check)


def explain(argv: Argv, *, policy: Optional[StrPath] = None, **options: Any) -> Dict[str, Any]:
    """What run() would do with these arguments. Nothing is run."""
    return context_for(policy, None).explain(argv, **options)


def doctor(*, policy: Optional[StrPath] = None, tools: Optional[Iterable[str]] = None, cache: bool = True,
           layers: bool = True) -> Dict[str, Any]:
    """Is this machine ready? See Context.doctor."""
    return context_for(policy, None).doctor(tools=tools, cache=cache, layers=layers)
