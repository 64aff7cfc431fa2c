"""Policies with limits, and which mechanisms enforce them on this machine."""
import os

from feature import skip

JAILS = ("none", "native", "bwrap")


def entries(box, **limits):
    """hog with these limits, the same without limits under another name, and what the jails need."""
    hog = str(box.bin / "hog")
    return [box.entry("hog", limits=limits), box.entry("hog_free", path=hog), box.entry("true", limits=limits),
            {**box.entry("bwrap"), "route": "jail"}]


def limited(box, *argv, jail="none", limits=None, **shape):
    """Runs hog with limits; a requested jail must be available."""
    policy = box.write_policy(entries(box, **limits), name=f"policy/{'-'.join(limits)}.yaml")
    answer = box.run(*argv, policy=policy, options=["--jail", jail], **shape)
    if jail != "none" and answer.outcome == "jail_unavailable" and answer["rule"] == "request.jail":
        skip(jail, answer.message)
    return answer


def mechanisms(answer):
    return {limit["name"]: limit["mechanism"] for limit in answer["limits"]}


def need_cgroup(box, name="memory_mib"):
    """Skips where this caller cannot make a cgroup for the limit."""
    probe = limited(box, "true", limits={name: 64})
    if mechanisms(probe).get(name) not in ("cgroup1", "cgroup2"):
        skip("cgroup", f"no cgroup that holds {name} may be made: {probe.document}")


def without_cgroups(argv):
    """The same command line where no cgroup can be reached: something else is mounted over all of
    them."""
    return ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"", "sh",
            *(os.fspath(word) for word in argv)]
