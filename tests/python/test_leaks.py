"""Thousands of runs leak nothing: memory, descriptors, processes and Python objects are counted."""
import asyncio
import gc
import os
import sys
import time

import chokepoint
import pytest
from conftest import full

RUNS = 100_000 if full() else 2_000
SANITIZED = "LD_PRELOAD" in os.environ  # a sanitizer keeps freed memory for a while


def resident_kib() -> int:
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> int:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as stream:
        return len(stream.read().split())


def state():
    gc.collect()
    return resident_kib(), descriptors(), children(), sys.getallocatedblocks()


async def batch(context, root, count):
    """All kinds of ends: success, refusal, another status, cancelled, streamed."""
    for start in range(0, count, 50):
        number = min(50, count - start)
        tasks = [asyncio.create_task(one(context, root, start + index)) for index in range(number)]
        await asyncio.sleep(0)
        tasks[-1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def one(context, root, index):
    kind = index % 10
    if kind == 0:
        return await context.run(["rm"], root=root)
    if kind == 1:
        return await context.run(["false"], root=root, check=True)
    if kind == 2:
        return [chunk async for chunk in context.stream(["printf", "x" * 1000], root=root)]
    if kind == 3:
        return await context.run(["cat"], root=root, input=b"y" * 2000, env={}, egress=(), cwd=".")
    return await context.run(["true"], root=root)


@pytest.fixture
def quiet(policy):
    """Without events: pytest keeps what is logged."""
    with chokepoint.Context(policy, logger=None) as made:
        yield made


def test_runs_leak_nothing(quiet, root):
    context = quiet
    asyncio.run(batch(context, root, 400))
    before = state()
    asyncio.run(batch(context, root, RUNS))
    after = state()
    assert context.running == 0
    assert after[1] == before[1] and after[2] <= before[2] + 8, (before, after)
    assert after[3] - before[3] < 2000, (before, after)
    assert SANITIZED or after[0] - before[0] < 6000, (before, after)


def reap_down_to(count):
    """A context that is dropped waits 50 ms for its keeper. One that needs longer on a busy machine leaves its status to the program."""
    deadline = time.monotonic() + 30
    while children() > count and time.monotonic() < deadline:
        os.waitpid(-1, os.WNOHANG)
        time.sleep(0.01)


def test_contexts_leak_nothing(policy, root):
    def use():
        with chokepoint.Context(policy) as context:
            context.run_sync(["true"], root=root)
        dropped = chokepoint.Context(policy)
        dropped.run_sync(["true"], root=root)
    for _ in range(5):
        use()
    before = state()
    for _ in range(200 if full() else 25):
        use()
    reap_down_to(before[2])
    after = state()
    assert after[1] == before[1] and after[2] <= before[2] and after[3] - before[3] < 500, (before, after)
    assert SANITIZED or after[0] - before[0] < 4000, (before, after)


def test_refused_calls_and_wrong_types_leak_nothing(quiet, root):
    def use():
        for argv, options in ((["rm"], {}), (["true", None], {}), (["true"], {"timeout": "x"}), (["true", "a\0"], {}), (["true"], {"env": {"X": "y"}})):
            try:
                quiet.run_sync(argv, root=root, **options)
            except (TypeError, ValueError, chokepoint.Error):
                pass
    for _ in range(50):
        use()
    before = state()
    for _ in range(1000):
        use()
    after = state()
    assert after[1] == before[1] and after[3] - before[3] < 500, (before, after)
    assert SANITIZED or after[0] - before[0] < 3000, (before, after)
