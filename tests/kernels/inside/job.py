#!/usr/bin/python3
"""The job of a guest: what /job/job.json says, each part with a file in /results.

prepare: commands; one that fails ends the job. profile: the AppArmor profile of what follows. container: what
follows runs in a container of docker, as `docker run` makes it. selinux: the policy in /job/selinux is enforced, and what
follows runs in this context. doctor: callers for whom the machine is described. attack: callers for whom `doctor --attack` tries the native jail. tests: arguments of pytest, by the name of the result.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

JOB, RESULTS = pathlib.Path("/job"), pathlib.Path("/results")
TREE = JOB / "chokepoint"
COMMAND = TREE / "build/chokepoint"
USER = 1000
CALLERS = {"root": [], "user": ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--"]}


# The profile of the next execution of this process; it is inherited from there on.
UNDER_PROFILE = 'echo "exec $0" > /proc/self/attr/apparmor/exec && exec "$@"'
UNDER_CONTEXT = 'printf %s "$0" > /proc/self/attr/exec && exec "$@"'
SELINUX, DOCKER_S = pathlib.Path("/sys/fs/selinux"), 600
AGAIN = ["/usr/bin/python3", "/job/run", "inside"]


def keep(name, argv, status=None, tries=1, **keywords):
    for _ in range(tries):
        done = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL, **keywords)
        if done.returncode == 0:
            break
    (RESULTS / name).write_bytes(done.stdout)
    (RESULTS / f"{name}.stderr").write_bytes(done.stderr + f"status {done.returncode}\n".encode())
    if status is not None and done.returncode != status:
        raise SystemExit(f"{argv}: status {done.returncode}: {done.stderr.decode()[-500:]}")


def environment(caller):
    home = pathlib.Path("/root" if caller == "root" else "/run/user-home")
    home.mkdir(exist_ok=True)
    if caller != "root":
        os.chown(home, USER, USER)
    return {**os.environ, "HOME": str(home)}


def describe(job, under):
    for caller in job["doctor"]:
        keep(f"doctor-{caller}.json", [*CALLERS[caller], *under, COMMAND, "doctor", "--json", "--no-cache"],
             env=environment(caller), cwd="/")


def attack(job, under):
    """An attempt has a time, so an emulated machine that was stopped for some seconds tries again. The time of all attempts
    is for one jail here: bwrap is hidden."""
    hidden = ["unshare", "--mount", "--", "sh", "-c", 'mount --bind /dev/null /usr/bin/bwrap && exec "$@"', "sh"]
    for caller in job["attack"]:
        keep(f"attack-{caller}.json", [*hidden, *CALLERS[caller], *under, COMMAND, "doctor", "--attack", "--json"],
             env=environment(caller), cwd="/run", tries=3)


def test(job, under):
    """Root makes users for the tests; where only a user is described, that user runs them."""
    tester = CALLERS["root" if "root" in job["doctor"] else "user"]
    for name, arguments in job["tests"].items():
        keep(f"{name}.log", [*tester, *under, "/usr/bin/python3", "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider",
                             f"--junitxml=/results/{name}.xml", *arguments], cwd=TREE,
             env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CHOKE_BUILD": str(TREE / "build"), "CHOKE_TEST_REQUIRE": job["require"], **job["environment"]})


def do(job):
    under = ["sh", "-c", UNDER_PROFILE, job["profile"]] if job["profile"] else []
    describe(job, under)
    attack(job, under)
    test(job, under)


# ---- in a container

def wait_for_docker(daemon):
    deadline = time.monotonic() + DOCKER_S
    while subprocess.run(["docker", "version"], capture_output=True, check=False).returncode != 0:
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("dockerd does not start")
        time.sleep(0.5)


def in_container():
    """The files of this machine are the image: /etc in it, /usr mounted."""
    image = pathlib.Path("/run/image")
    image.mkdir()
    shutil.copytree("/etc", image / "etc", symlinks=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        if (pathlib.Path("/usr") / name).exists():
            (image / name).symlink_to(f"usr/{name}")
    for name in ("usr", "job", "results", "root", "run", "tmp", "var/tmp"):
        (image / name).mkdir(parents=True)
    (image / "tmp").chmod(0o1777)
    (image / "var/tmp").chmod(0o1777)
    with open(RESULTS / "dockerd.log", "wb") as log, \
         subprocess.Popen(["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs",
                           "--data-root=/run/docker-data"], stdout=log, stderr=log, stdin=subprocess.DEVNULL) as daemon:
        wait_for_docker(daemon)
        keep("docker-import", ["sh", "-c", "tar -C /run/image -c . | docker import - place"], status=0)
        keep("docker-info", ["docker", "info", "--format", "{{.ServerVersion}} {{.SecurityOptions}}"])
        mounts = [word for place, mode in (("/usr", ":ro"), ("/job", ""), ("/results", ""))
                  for word in ("--volume", f"{place}:{place}{mode}")]
        keep("docker-run", ["docker", "run", "--rm", "--network=none", *mounts, "place", *AGAIN],
             status=0)
        daemon.terminate()


# ---- with a policy of SELinux

def under_selinux(context):
    """The first program in the context begins to enforce: before, nothing may enter it."""
    keep("selinux-mount", ["mount", "-t", "selinuxfs", "selinuxfs", SELINUX], status=0)
    (SELINUX / "load").write_bytes((JOB / "selinux/policy").read_bytes())
    keep("selinux-labels", ["setfiles", "-F", "-e", "/proc", "-e", "/sys", "-e", "/results", JOB / "selinux/file_contexts", "/"], status=0)
    keep("selinux-run", ["sh", "-c", UNDER_CONTEXT, context, *AGAIN], status=0)
    keep("selinux-denied", ["sh", "-c", "dmesg | grep 'avc:  denied'"])


def main():
    job = json.loads((JOB / "job.json").read_text(encoding="utf-8"))
    RESULTS.chmod(0o1777)
    if "inside" in sys.argv:
        if job["selinux"]:
            (SELINUX / "enforce").write_text("1", encoding="ascii")
        do(job)
        return
    for number, command in enumerate([["ip", "link", "set", "lo", "up"], *job["prepare"]]):
        keep(f"prepare-{number}", command, status=0)
    if job["container"]:
        in_container()
    elif job["selinux"]:
        under_selinux(job["selinux"])
    else:
        do(job)


if __name__ == "__main__":
    main()
