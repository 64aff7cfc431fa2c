"""A program that uses every part of the package with types. It is not run: `mypy --strict` reads it."""
import asyncio
import logging
from typing import Optional

import chokepoint
from chokepoint import exec as gateway


def blocking() -> bytes:
    result: chokepoint.Result[bytes] = chokepoint.run(["git", "log"], root=".", timeout=5.0, env={"A": "b"}, egress=["host"])
    text: chokepoint.Result[str] = chokepoint.run(["git", "log"], text=True, check=True, policy="p.yaml", audit=True)
    line: str = text.stdout
    code: int = result.returncode
    tool: Optional[chokepoint.Tool] = result.tool
    print(line, code, tool["name"] if tool else None, result.denied, result.duration_ms + 1.0)
    return result.stdout


async def loop() -> int:
    async with chokepoint.Context(audit="log.jsonl", logger=logging.getLogger("mine")) as context:
        result = await context.run(["git", "log"], root=".", input=b"x")
        stream = context.stream(["git", "log"], root=".")
        async for chunk in stream:
            data: bytes = chunk.data
            print(chunk.stream, data)
        ended: Optional[chokepoint.Result[bytes]] = stream.result
        print(ended)
        return result.returncode


async def story() -> bytes:
    try:
        process = await gateway.run_external_cli("a_probe", ["rg", "x"], cwd=".", timeout_s=5, allowlisted_egress=())
    except gateway.SubprocessTimeoutError as error:
        print(error.outcome, error.result)
        raise
    return process.stdout


def others() -> None:
    print(chokepoint.lint(["src"], root=".")["clean"], chokepoint.doctor()["ready"], chokepoint.explain(["git"])["decision"])
    print(chokepoint.Policy.embedded().diff(chokepoint.Policy("p.yaml")), chokepoint.audit.verify("log.jsonl").records)


if __name__ == "__main__":
    blocking()
    asyncio.run(loop())
    asyncio.run(story())
    others()
