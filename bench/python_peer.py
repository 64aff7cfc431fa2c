"""The Python package beside Python's own ways, in one interpreter: the line protocol of bench-worker, "SIDE COUNT".

"pairs COUNT" is one run of each in turn, with a pause before each, and answers with the median of each.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time

sys.path.insert(0, sys.argv[1])
import chokepoint  # noqa: E402

POLICY, ROOT, TRUE, ENV = sys.argv[2], sys.argv[3], sys.argv[4], json.loads(sys.argv[5])
PAUSE_S = 0.001
JAILED = {"root": ROOT, "timeout": 60, "jail": "native"}


def plain(count):
    for _ in range(count):
        subprocess.run([TRUE], env=ENV, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)


def jailed(count):
    for _ in range(count):
        chokepoint.run(["true"], policy=POLICY, check=True, **JAILED)


def took_ns(side):
    time.sleep(PAUSE_S)
    start = time.perf_counter_ns()
    side(1)
    return time.perf_counter_ns() - start


def pairs(count):
    times = [(took_ns(plain), took_ns(jailed)) for _ in range(count)]
    return {name: statistics.median(values) for name, values in zip(("plain_ns", "jailed_ns"), zip(*times))}


async def plain_one():
    process = await asyncio.create_subprocess_exec(TRUE, env=ENV, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                   stderr=subprocess.PIPE)
    await process.communicate()


async def plain_after_another(count):
    for _ in range(count):
        await plain_one()


async def jailed_after_another(context, count):
    for _ in range(count):
        await context.run(["true"], **JAILED)


async def at_once(one, count):
    await asyncio.gather(*(one() for _ in range(count)))


SIDES = {
    "plain": lambda loop, context, count: plain(count),
    "jailed": lambda loop, context, count: jailed(count),
    "plain_aio": lambda loop, context, count: loop.run_until_complete(plain_after_another(count)),
    "jailed_aio": lambda loop, context, count: loop.run_until_complete(jailed_after_another(context, count)),
    "plain_many": lambda loop, context, count: loop.run_until_complete(at_once(plain_one, count)),
    "jailed_many": lambda loop, context, count: loop.run_until_complete(at_once(lambda: context.run(["true"], **JAILED), count)),
}


def main():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # the watcher of child processes needs the one of the main thread
    if sys.version_info < (3, 12):
        asyncio.get_child_watcher().attach_loop(loop)
    context = chokepoint.Context(POLICY)
    print('{"ready": true}', flush=True)
    for line in sys.stdin:
        name, count = line.split()
        if name == "pairs":
            print(json.dumps(pairs(int(count))), flush=True)
            continue
        start = time.perf_counter_ns()
        SIDES[name](loop, context, int(count))
        wall_ns = time.perf_counter_ns() - start
        print(json.dumps({"runs": int(count), "wall_ns": wall_ns}), flush=True)


if __name__ == "__main__":
    main()
