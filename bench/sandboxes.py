"""Other sandboxes beside the native jail and the command: each runs true(1), one process from its start to its end.

They differ in what they hold and in what they are for: bwrap and firejail have namespaces, and firejail a filter; runsc is a
kernel of its own; the sandboxes of codex and of sandbox-runtime start bwrap and add rules of their own. The native jail is a call
of the library in a program that lives on; all others pay for a process of their own, as the command does.
"""

import contextlib
import pathlib
import shutil

from measure import Failure, alternate, batch_size, ratios

NODE_PACKAGES = pathlib.Path(__file__).resolve().parent.parent / "third_party/node/peers"
CODEX = "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
SRT = "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js"
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def command_lines():
    """The words before the tool, by the name of the sandbox; only of those that are installed."""
    node = shutil.which("node", path=SYSTEM)
    words = {
        "firejail": ["firejail", "--quiet", "--noprofile", "--net=none", "--caps.drop=all", "--seccomp", "--nonewprivs",
                     "--ipc-namespace", "--private-dev", "--read-only=/", "--"],
        "minijail0": ["minijail0", "-p", "-v", "-N", "-l", "-e", "-r", "-n", "--"],
        "nsjail": ["nsjail", "-Mo", "--quiet", "--chroot", "/", "--"],
        "isolate": ["isolate", "--silent", "--run", "--"],
        "runsc": ["runsc", "--network=none", "--ignore-cgroups", "do"],
    }
    found = {name: [shutil.which(line[0], path=SYSTEM), *line[1:]] for name, line in words.items()
             if shutil.which(line[0], path=SYSTEM)}
    if (NODE_PACKAGES / CODEX).exists():
        found["codex sandbox"] = [str(NODE_PACKAGES / CODEX), "sandbox", "--"]
    if node and (NODE_PACKAGES / SRT).exists():
        found["sandbox-runtime"] = [node, str(NODE_PACKAGES / SRT)]
    return found


def sandboxes(lab):
    # codex makes links to itself in its home, and refuses to do so beneath a temporary directory.
    home = NODE_PACKAGES / "home"
    if NODE_PACKAGES.exists():
        home.mkdir(exist_ok=True)
    own = ["posix_spawn", "native", "command"] + (["plain_bwrap"] if lab.programs["bwrap"] else [])
    with contextlib.ExitStack() as stack:
        worker = stack.enter_context(lab.worker())
        turns = {side: lambda side=side: worker.wall("jailed", side, "true", 5) for side in own}
        for name, words in command_lines().items():
            peer = lab.worker(BENCH_PEER="\n".join(words), HOME=str(home), PATH=SYSTEM)
            try:
                batch = batch_size(lambda n, peer=peer: peer.wall("jailed", "peer", "true", n), target_ms=40, most=10)
            except Failure as failure:
                lab.note(f"{name} cannot run true(1) here, and is left out: {failure}")
                continue
            stack.enter_context(peer)
            turns[name] = lambda peer=peer, batch=batch: peer.wall("jailed", "peer", "true", batch)
        samples = alternate(lab.rounds(30), turns)
    lab.keep(samples, "peers")
    names = {"native": "native jail", "command": "the command", "plain_bwrap": "bwrap"}
    for name, values in samples.items():
        lab.peers[names.get(name, name)] = lab.median(values) / 1e3
        if name not in own[:2]:
            lab.report("peer", f"{names.get(name, name)} / native jail", ratios(values, samples["native"]))
        lab.report("peer", f"{names.get(name, name)}, one run of true", [value / 1e6 for value in values], unit="ms")
