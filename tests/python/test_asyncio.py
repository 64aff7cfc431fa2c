"""asyncio: one descriptor in the loop, cancellation that kills the tree, streams that wait for their reader (R96)."""
import asyncio
import gc
import logging
import os
import resource
import threading
import time

import chokepoint
import pytest
from conftest import full

STUBBORN = "trap '' TERM; echo $$ > {}; while :; do sleep 1; done"


async def pid_of(path):
    deadline = time.monotonic() + 60
    await asyncio.sleep(0)  # a task that has not begun would end without a trace when it is cancelled
    while not path.exists() or not path.read_text().strip():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    return int(path.read_text())


async def gone(pid):
    """On a busy machine a run is given up after a quarter of a second, and its tree dies a moment later."""
    deadline = time.monotonic() + 30
    while is_alive(pid):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_await_run_returns_the_result(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            result = await context.run(["sh", "-c", "echo hello; exit 2"], root=root, timeout=30)
            assert (result.returncode, result.stdout) == (2, b"hello\n")
            with pytest.raises(chokepoint.Refused):
                await context.run(["rm"], root=root)
            with pytest.raises(chokepoint.Timeout):
                await context.run(["sleep", "50"], root=root, timeout=0.3)
            with pytest.raises(chokepoint.Failed):
                await context.run(["false"], root=root, check=True)
            assert context.running == 0
        assert context.closed
    asyncio.run(main(), debug=True)


def test_many_at_once(policy, root):
    count = 300 if full() else 100

    async def main():
        async with chokepoint.Context(policy) as context:
            results = await asyncio.gather(*(context.run(["sh", "-c", f"echo {number}"], root=root, timeout=55)
                                             for number in range(count)))
            assert [int(result.stdout) for result in results] == list(range(count))
    asyncio.run(main())


def test_cancelled_task_kills_a_tree_that_ignores_sigterm(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            best, dead = 60.0, 0
            for number in range(5):  # a promise about time is checked by the best of five tries
                place = root / f"pid{number}"
                task = asyncio.create_task(context.run(["sh", "-c", STUBBORN.format(place.name)], root=root, timeout=60))
                tool = await pid_of(place)
                began = time.monotonic()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                best = min(best, time.monotonic() - began)
                dead += not is_alive(tool)
                assert context.running == 0
                await gone(tool)
            assert best < 0.3 and dead > 0
            assert (await context.run(["true"], root=root)).returncode == 0
    asyncio.run(main())


def test_task_that_is_cancelled_twice_still_waits_for_the_end(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            task = asyncio.create_task(context.run(["sh", "-c", STUBBORN.format("pid")], root=root, timeout=60))
            tool = await pid_of(root / "pid")
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gone(tool)
    asyncio.run(main())


def test_timeouts_of_asyncio_work(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(context.run(["sh", "-c", STUBBORN.format("pid")], root=root, timeout=60), 0.5)
            assert context.running == 0
            await gone(int((root / "pid").read_text()))
            if hasattr(asyncio, "timeout"):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await context.run(["sleep", "50"], root=root)
                assert context.running == 0
    asyncio.run(main())


def test_ctrl_c_in_a_loop_leaves_nothing(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            loop = asyncio.get_running_loop()
            task = asyncio.create_task(context.run(["sh", "-c", STUBBORN.format("pid")], root=root, timeout=60))
            await pid_of(root / "pid")
            loop.call_soon(task.cancel)  # what asyncio.run does at SIGINT
            await task
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    asyncio.run(gone(int((root / "pid").read_text())))


def test_close_ends_what_runs_and_wakes_its_task(policy, root):
    async def main():
        context = chokepoint.Context(policy)
        task = asyncio.create_task(context.run(["sh", "-c", STUBBORN.format("pid")], root=root, timeout=60))
        tool = await pid_of(root / "pid")
        context.close()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gone(tool)
        with pytest.raises(ValueError):
            await context.run(["true"], root=root)
    asyncio.run(main())


def test_one_loop_after_another(policy, root):
    context = chokepoint.Context(policy)
    for _ in range(3):
        assert asyncio.run(context.run(["true"], root=root)).returncode == 0
    assert context.run_sync(["true"], root=root).returncode == 0
    context.close()


def test_two_loops_at_once_are_refused(policy, root):
    async def other(context):
        await context.run(["true"], root=root)

    async def main():
        async with chokepoint.Context(policy) as context:
            task = asyncio.create_task(context.run(["sleep", "30"], root=root, timeout=50))
            await asyncio.sleep(0.05)
            failures = []

            def work():
                for call in (lambda: asyncio.run(other(context)), lambda: context.run_sync(["true"], root=root)):
                    try:
                        call()
                    except RuntimeError as error:
                        failures.append(str(error))
            thread = threading.Thread(target=work)
            thread.start()
            await asyncio.get_running_loop().run_in_executor(None, thread.join)
            assert len(failures) == 2 and all("one context for each" in text for text in failures)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    asyncio.run(main())


def test_loops_in_several_threads(policy, root):
    outputs = []

    async def main(number):
        async with chokepoint.Context(policy) as context:
            for result in await asyncio.gather(*(context.run(["sh", "-c", f"echo {number}"], root=root, timeout=50)
                                                 for _ in range(10))):
                outputs.append(int(result.stdout))
    threads = [threading.Thread(target=asyncio.run, args=(main(number),)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == sorted([*range(3)] * 10)


# ---- streams ----

def test_stream_gives_chunks_as_they_arrive(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            stream = context.stream(["sh", "-c", "echo one; sleep 0.3; echo two >&2; exit 4"], root=root, timeout=30)
            assert stream.result is None
            chunks = [chunk async for chunk in stream]
            assert chunks == [("stdout", b"one\n"), ("stderr", b"two\n")]
            assert stream.result.returncode == 4
            with pytest.raises(StopAsyncIteration):
                await stream.__anext__()
            with pytest.raises(chokepoint.Refused):
                async for _ in context.stream(["rm"], root=root):
                    raise AssertionError
            with pytest.raises(chokepoint.Failed):
                async for _ in context.stream(["false"], root=root, check=True):
                    raise AssertionError
    asyncio.run(main())


def test_slow_reader_lets_the_tool_wait(policy, root):
    """200 MB that nobody takes need a MiB, and not 200."""
    async def main():
        async with chokepoint.Context(policy) as context:
            async with context.stream(["sh", "-c", "yes 0123456789 | head -c 200000000"], root=root, timeout=60) as stream:
                await stream.__anext__()
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                await asyncio.sleep(1)
                assert stream._job.paused
                assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20000
            assert context.running == 0
    asyncio.run(main())


def test_slow_reader_gets_every_byte(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            total, last = 0, b""
            async for chunk in context.stream(["sh", "-c", "yes 0123456789 | head -c 5000000; printf END"], root=root, timeout=60):
                total += len(chunk.data)
                last = chunk.data
                if total % 7 == 0:
                    await asyncio.sleep(0.001)
            assert total == 5000003 and last.endswith(b"END")
    asyncio.run(main())


def test_stream_left_early_kills_the_tree(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            async with context.stream(["sh", "-c", "echo x; " + STUBBORN.format("pid")], root=root, timeout=60) as stream:
                await stream.__anext__()
                tool = await pid_of(root / "pid")
            assert context.running == 0
            await gone(tool)
            task = asyncio.create_task(consume(context.stream(["sh", "-c", STUBBORN.format("pid2")], root=root, timeout=60)))
            tool = await pid_of(root / "pid2")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gone(tool)

    async def consume(stream):
        async for _ in stream:
            pass
    asyncio.run(main())


def test_stream_that_is_dropped_kills_the_tree(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            async for _ in context.stream(["sh", "-c", "echo x; " + STUBBORN.format("pid")], root=root, timeout=60):
                break
            gc.collect()
            deadline = time.monotonic() + 30
            while context.running:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
    asyncio.run(main())


# ---- events, the loop's other work, dropped objects ----

def test_events_go_to_logging(policy, root, caplog):
    with caplog.at_level(logging.DEBUG, logger="chokepoint"):
        with chokepoint.Context(policy) as context:
            context.run_sync(["true"], root=root)
            with pytest.raises(chokepoint.Refused):
                context.run_sync(["rm"], root=root)
    events = {record.event: record for record in caplog.records}
    assert events["subproc.started"].levelno == logging.INFO and events["subproc.started"].fields["tool"] == "true"
    assert events["subproc.refused"].levelno == logging.WARNING and "rm" in events["subproc.refused"].getMessage()
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="chokepoint"):
        with chokepoint.Context(policy) as context:
            context.run_sync(["true"], root=root)
    assert not caplog.records


class Broken(logging.Handler):
    """A handler that raises, and does not catch it as handlers should."""

    def handle(self, record):
        raise OSError("the log is full")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of close(), which goes on
def test_handler_that_raises_does_not_lose_a_run(policy, root):
    logger = logging.Logger("broken", logging.DEBUG)
    logger.addHandler(Broken())

    async def main():
        async with chokepoint.Context(policy, logger=logger) as context:
            with pytest.raises(OSError):
                await asyncio.wait_for(context.run(["true"], root=root), 30)
    with chokepoint.Context(policy, logger=logger) as context:
        with pytest.raises(OSError):
            context.run_sync(["sleep", "30"], root=root, timeout=50)
        assert context.running == 0
    asyncio.run(main())


def test_loop_does_other_work_beside_floods(policy, root):
    async def main():
        async with chokepoint.Context(policy) as context:
            floods = [asyncio.create_task(context.run(["yes"], root=root, timeout=2, max_output=1000)) for _ in range(4)]
            gaps, before = [], time.monotonic()
            while not all(task.done() for task in floods):
                await asyncio.sleep(0)
                gaps.append(time.monotonic() - before)
                before = time.monotonic()
            results = await asyncio.gather(*floods, return_exceptions=True)
            assert all(isinstance(result, chokepoint.Timeout) for result in results)
            assert sorted(gaps)[len(gaps) // 2] < 0.05
    asyncio.run(main())


def test_dropped_context_ends_its_runs(policy, root):
    async def main():
        context = chokepoint.Context(policy)
        job = context._start(context_values(root), False)
        tool = await pid_of(root / "pid")
        context._detach()
        del context, job
        gc.collect()
        deadline = time.monotonic() + 30
        while is_alive(tool):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
    asyncio.run(main())


def context_values(root):
    from chokepoint._request import request
    return request(["sh", "-c", STUBBORN.format("pid")], root=root, timeout=60)
