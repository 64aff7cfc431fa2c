"""Python's subprocess as a peer: the line protocol of bench-worker, "run N" and "call N"."""

import json
import subprocess
import sys
import time


def run(path, env):
    subprocess.run([path], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def call(path, env):
    subprocess.check_call([path], env=env)


def main():
    path, env = sys.argv[1], json.loads(sys.argv[2])
    print('{"ready": true}', flush=True)
    for line in sys.stdin:
        name, count = line.split()
        once = {"run": run, "call": call}[name]
        start = time.perf_counter_ns()
        for _ in range(int(count)):
            once(path, env)
        wall_ns = time.perf_counter_ns() - start
        print(json.dumps({"runs": int(count), "wall_ns": wall_ns}), flush=True)


if __name__ == "__main__":
    main()
