"""A context: runs from asyncio, from a blocking caller, and as a stream."""
from __future__ import annotations

import asyncio
import atexit
import json
import logging
import threading
import weakref
from types import TracebackType
from typing import (Any, AsyncIterator, Callable, Dict, Iterable, List, Literal, Mapping, NamedTuple, Optional,
                    Sequence, Tuple, Type, Union, overload)

from . import _choke
from ._request import Input, names, request, vector
from ._result import AnyResult, Argv, Error, Result, StrPath, raise_call_error, raise_for

LEVELS = {1: logging.DEBUG, 2: logging.INFO, 3: logging.WARNING}
SYNCS = {"batched": 0, "every": 1, "none": 2}
BUDGET_US = 5000  # of one call from the loop: other callbacks wait that long at most
STREAM_KEPT_BYTES = 65536
AUDIT_NAMED, AUDIT_DEFAULT, AUDIT_OFF = range(3)

EventFn = Callable[[int, str, Dict[str, str]], object]
logger = logging.getLogger("chokepoint")
logger.addHandler(logging.NullHandler())  # as every library: a program that wants events configures logging
_open: "weakref.WeakSet[Context]" = weakref.WeakSet()


class Chunk(NamedTuple):
    """A piece of output, as it arrived."""
    stream: Literal["stdout", "stderr"]
    data: bytes


class Context:
    """The policy, and what is kept warm between runs. Make one for a program, or one for each thread.

    `policy` is the file; None: the machine's policy, else the one embedded in the library. `audit` is the log: a path,
    True for the default log, False for none, None for none unless a locked policy wants one. Events go to `logger`, by
    their names, with `event` and `fields` in each record.

    A context is used by one thread at a time, and by one event loop at a time.
    """

    def __init__(self, policy: Optional[StrPath] = None, audit: Union[StrPath, bool, None] = None, *,
                 audit_sync: str = "batched", audit_max_bytes: int = 0,
                 logger: Optional[logging.Logger] = logger) -> None:
        self._logger = logger
        self._loop: Optional[asyncio.AbstractEventLoop] = None  # while _jobs is not empty
        self._thread = 0  # of the loop
        self._jobs: Dict[_choke.Job, None] = {}  # those whose end the loop waits for
        if audit_sync not in SYNCS:
            raise ValueError(f"audit_sync must be 'batched', 'every' or 'none', not {audit_sync!r}")
        kind = {True: AUDIT_DEFAULT, False: AUDIT_OFF}[audit] if isinstance(audit, bool) else AUDIT_NAMED
        path = None if isinstance(audit, bool) else audit
        # A method of this object would keep it alive, and so its processes.
        me = weakref.ref(self)

        def on_event(level: int, name: str, fields: Dict[str, str]) -> None:
            context = me()
            if context is not None:
                context._log(level, name, fields)

        try:
            self._choke = _choke.Context(policy, path, kind, SYNCS[audit_sync], audit_max_bytes, on_event)
        except _choke.CallError as error:
            raise_call_error(error)
        _open.add(self)

    # ---- life ----

    def close(self) -> None:
        """Ends everything that runs, and waits for its end. A task that awaits a run gets CancelledError."""
        jobs = list(self._jobs)
        self._detach()
        self._choke.close()
        for job in jobs:
            _wake(job)
        _open.discard(self)

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    async def __aenter__(self) -> "Context":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return self._choke.closed

    @property
    def running(self) -> int:
        """The number of runs in flight."""
        return self._choke.running

    def fileno(self) -> int:
        """The descriptor that is readable when something is to be done, for loops other than asyncio."""
        return self._choke.fileno()

    # ---- events ----

    def _log(self, level: int, name: str, fields: Dict[str, str]) -> None:
        if self._logger is not None:
            text = " ".join(f"{key}={value}" for key, value in fields.items() if value)
            self._logger.log(LEVELS[level], "%s %s", name, text, extra={"event": name, "fields": fields})

    def _listen(self) -> None:
        """Which events are wanted now: building the others would cost time in every run."""
        effective = self._logger.getEffectiveLevel() if self._logger is not None else logging.CRITICAL
        self._choke.level = 1 if effective <= 10 else 2 if effective <= 20 else 3 if effective <= 30 else 0

    # ---- the loop ----

    def _attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The descriptor is in the loop only while a run is in flight: so an idle context can be dropped at any time, and
        can be used by one loop after another."""
        if self._loop is not None and self._loop.is_closed():
            for job in self._jobs:
                job.cancel()
            self._jobs.clear()
            self._loop = None
        if self._loop is None:
            loop.add_reader(self._choke.fileno(), self._readable)
            self._loop, self._thread = loop, threading.get_ident()
        elif self._loop is not loop:
            raise RuntimeError("the context has runs in another event loop; use one context for each loop")

    def _detach(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._choke.fileno())
        self._loop = None
        self._jobs.clear()

    def _readable(self) -> None:
        try:
            finished = self._choke.dispatch(BUDGET_US)
        except _choke.CallError as error:  # the descriptors are closed, or this is a fork: nothing will end here
            lost = list(self._jobs)
            self._jobs.clear()
            self._loop = None
            for job in lost:
                _wake(job, Error(error.args[0], error.args[1]))
            raise_call_error(error)
        except BaseException:  # of a logging handler; what has finished meanwhile must not wait for another event
            self._deliver(self._choke.take())
            raise
        self._deliver(finished)

    def _deliver(self, finished: Iterable[_choke.Job]) -> None:
        for job in finished:
            self._jobs.pop(job, None)
            _wake(job)
        for job in self._jobs:
            stream = _stream_of(job)
            if stream is not None:
                stream._wake()
        if not self._jobs:
            self._detach()

    def _start(self, values: Sequence[object], streams: bool) -> _choke.Job:
        self._attach(asyncio.get_running_loop())
        self._listen()
        try:
            job = self._choke.start(tuple(values), streams)
        except BaseException as error:
            if not self._jobs:
                self._detach()
            if isinstance(error, _choke.CallError):
                raise_call_error(error)
            raise
        self._jobs[job] = None
        return job

    async def _ended(self, job: _choke.Job) -> None:
        """Waits for the end of a cancelled job, whatever is cancelled meanwhile: it comes within a quarter of a second."""
        while job.result is None and job in self._jobs:
            job.waiter = asyncio.get_running_loop().create_future()
            try:
                await job.waiter
            except asyncio.CancelledError:
                pass

    # ---- runs ----

    @overload
    async def run(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
                  env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
                  probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
                  sandbox: bool = False, max_output: Optional[int] = None, text: Literal[False] = False, check: bool = False,
                  keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> Result[bytes]: ...

    @overload
    async def run(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
                  env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
                  probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
                  sandbox: bool = False, max_output: Optional[int] = None, text: Literal[True], check: bool = False,
                  keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> Result[str]: ...

    async def run(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
                  env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
                  probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
                  sandbox: bool = False, max_output: Optional[int] = None, text: bool = False, check: bool = False,
                  keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> Any:
        """Runs a tool and returns its Result; see chokepoint.run. Cancelling the task kills the whole process tree, and
        the task ends when the tree has."""
        argv = vector(argv)
        values = request(argv, root=root, cwd=cwd, timeout=timeout, env=env, input=input, stdin=stdin, egress=egress, probe=probe,
                         jail=jail, require_jail=require_jail, sandbox=sandbox, max_output=max_output, keep_head=keep_head,
                         keep=keep, why=why)
        job = self._start(values, False)
        job.waiter = asyncio.get_running_loop().create_future()
        try:
            await job.waiter
        except asyncio.CancelledError:
            if job.result is None and not self.closed:
                job.cancel()
                await self._ended(job)
            raise
        return finish(job, argv, text, check)

    def stream(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
               env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
               probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
               sandbox: bool = False, max_output: Optional[int] = None, check: bool = False,
               keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> "Stream":
        """Starts a tool and returns its output as it arrives: `async for chunk in context.stream(...)`. A tool that is
        faster than the loop waits. `result` of the stream is there after the last chunk; its stdout and stderr have the
        last 64 KiB unless max_output says otherwise. What run() raises is raised after the last chunk. Leave the loop
        early with `async with`, which kills the tree."""
        argv = vector(argv)
        max_output = STREAM_KEPT_BYTES if max_output is None else max_output
        values = request(argv, root=root, cwd=cwd, timeout=timeout, env=env, input=input, stdin=stdin, egress=egress, probe=probe,
                         jail=jail, require_jail=require_jail, sandbox=sandbox, max_output=max_output, keep_head=keep_head,
                         keep=keep, why=why)
        return Stream(self, self._start(values, True), argv, check)

    @overload
    def run_sync(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
                 env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
                 probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
                 sandbox: bool = False, max_output: Optional[int] = None, text: Literal[False] = False, check: bool = False,
                 keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> Result[bytes]: ...

    @overload
    def run_sync(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
                 env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
                 probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
                 sandbox: bool = False, max_output: Optional[int] = None, text: Literal[True], check: bool = False,
                 keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> Result[str]: ...

    def run_sync(self, argv: Argv, *, text: bool = False, check: bool = False, **options: Any) -> Any:
        """The same for a caller that blocks. An exception of a signal handler (Ctrl-C) kills the tree, and is raised when
        it has ended."""
        argv = vector(argv)
        return self._run_and_wait(argv, request(argv, **options), text, check)

    def _run_and_wait(self, argv: Any, values: Tuple[object, ...], text: bool, check: bool) -> Any:
        if self._jobs and threading.get_ident() != self._thread:
            raise RuntimeError("the context has runs in an event loop of another thread; use one context for each thread")
        self._listen()
        try:
            job = self._choke.run(values)
        except _choke.CallError as error:
            raise_call_error(error)
        finally:
            others = self._choke.take()
            if self._jobs:
                self._deliver(others)
        return finish(job, argv, text, check)

    # ---- looking ----

    def explain(self, argv: Argv, *, root: StrPath = ".", cwd: Optional[StrPath] = None, timeout: Optional[float] = None,
                env: Optional[Mapping[str, str]] = None, input: Input = None, stdin: Any = None, egress: Iterable[str] = (),
                probe: Optional[str] = None, jail: Optional[str] = None, require_jail: bool = False,
                sandbox: bool = False, max_output: Optional[int] = None,
                keep_head: Optional[int] = None, keep: Optional[StrPath] = None, why: bool = False) -> Dict[str, Any]:
        """What a call would do: the decision, its rule, the exact argv and environment, the jail. Nothing is run."""
        argv = vector(argv)
        values = request(argv, root=root, cwd=cwd, timeout=timeout, env=env, input=input, stdin=stdin, egress=egress, probe=probe,
                         jail=jail, require_jail=require_jail, sandbox=sandbox, max_output=max_output, keep_head=keep_head,
                         keep=keep, why=why)
        try:
            return self._choke.explain(values)
        except _choke.CallError as error:
            raise_call_error(error)

    def doctor(self, *, tools: Optional[Iterable[str]] = None, cache: bool = True, layers: bool = True) -> Dict[str, Any]:
        """Is this machine ready? Finds every tool and tries every layer of protection; the fields of `doctor --json`."""
        chosen = None if tools is None else names(tools, "tools") or []
        try:
            return self._choke.doctor(not cache, not layers, chosen)
        except _choke.CallError as error:
            raise_call_error(error)

    def tools(self) -> List[Dict[str, Any]]:
        """The tools of the policy: name, why, adr, route, required, install."""
        return self._choke.tools()

    def policy(self) -> Dict[str, Any]:
        """The policy in use, as `policy show --json` prints it."""
        document: Dict[str, Any] = json.loads(self._choke.policy_json())
        return document


def finish(job: _choke.Job, argv: Any, text: bool, check: bool) -> Any:
    """The Result of a finished job, or what belongs to its outcome."""
    if job.result is None:
        raise Error("the context was closed while the run was in flight", "cancelled")
    result: AnyResult = Result(job.result, argv, text)
    raise_for(result, check)
    return result


def _stream_of(job: _choke.Job) -> "Optional[Stream]":
    """Of a job whose stream is still in use. The job does not keep it alive: a stream that is dropped ends its job."""
    stream = job.waiter() if isinstance(job.waiter, weakref.ref) else None
    return stream if isinstance(stream, Stream) else None


def _wake(job: _choke.Job, error: Optional[BaseException] = None) -> None:
    """Continues whoever waits for the job. Without a result and an error its context was closed: CancelledError."""
    waiter = job.waiter
    stream = _stream_of(job)
    if stream is not None:
        stream._wake(error)
    elif isinstance(waiter, asyncio.Future) and not waiter.done() and not waiter.get_loop().is_closed():
        if error is not None:
            waiter.set_exception(error)
        elif job.result is None:
            waiter.cancel()
        else:
            waiter.set_result(None)


class Stream(AsyncIterator[Chunk]):
    """The output of one run. See Context.stream."""

    def __init__(self, context: Context, job: _choke.Job, argv: Any, check: bool) -> None:
        self._context, self._job, self._argv, self._check = context, job, argv, check
        self._pieces: List[Any] = []
        self._future: "Optional[asyncio.Future[None]]" = None
        self._over = False
        self.result: Optional[Result[bytes]] = None
        job.waiter = weakref.ref(self)

    def __del__(self) -> None:
        # A `break` in the loop without `async with`. Nobody can wait for the end; the loop notices it.
        try:
            if self._job.result is None and not self._context.closed:
                self._job.cancel()
        except (AttributeError, RuntimeError, ValueError):  # not made completely, or another thread is in a call
            pass

    def _wake(self, error: Optional[BaseException] = None) -> None:
        future = self._future
        if future is not None and not future.done() and not future.get_loop().is_closed():
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(None)

    async def __anext__(self) -> Chunk:
        while not self._pieces:
            ended = self._job.result is not None or self._context.closed  # before take(): it may still have the last ones
            self._pieces = self._job.take()[::-1]
            if self._pieces:
                break
            if ended:
                self._end()
            await self._wait()
        stream, data = self._pieces.pop()
        return Chunk("stdout" if stream == 1 else "stderr", data)

    def _end(self) -> None:
        if not self._over:
            self._over = True
            result: Result[bytes] = finish(self._job, self._argv, False, False) if self._job.result is None else Result(
                self._job.result, self._argv, False)
            self.result = result
            raise_for(result, self._check)
        raise StopAsyncIteration

    async def _wait(self) -> None:
        self._future = asyncio.get_running_loop().create_future()
        try:
            await self._future
        except asyncio.CancelledError:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Kills the tree if it still runs, and waits for its end."""
        self._over, self._pieces = True, []
        if self._job.result is None and not self._context.closed:
            self._job.cancel()
            await self._context._ended(self._job)

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        if not self._over:
            await self.aclose()


@atexit.register
def _close_all() -> None:
    for context in list(_open):
        try:
            context.close()
        except (RuntimeError, ValueError):  # a daemon thread is in the middle of a call
            pass
