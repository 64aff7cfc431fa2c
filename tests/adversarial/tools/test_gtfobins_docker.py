"""Promise: Only listed arguments.
Attacker: whoever writes the request. Means: whoever may talk to the docker daemon is root on the
machine: by a mount of /, by privileges, devices, host namespaces, another daemon, files that the
client reads or writes, and by two dozen subcommands.

Expected: refused in every spelling, without a request to the daemon; test_default_docker.py shows
with a daemon that the mount is real, and that what is allowed works.
"""
import os

import pytest

from escapes import refused, some

SAFE = ["--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"]

SUBCOMMANDS = [
    ["run"], ["exec", "x", "sh"], ["create", *SAFE, "alpine"], ["start", "x"], ["cp", "/etc/shadow", "x:/"],
    ["cp", "x:/a", "/etc/a"], ["attach", "x"], ["commit", "x"], ["export", "x"], ["import", "-"], ["load", "-i", "x"],
    ["save", "-o", "/etc/a", "x"], ["pull", "x"], ["push", "x"], ["login"], ["logout"], ["search", "x"],
    ["tag", "a", "b"], ["rmi", "x"], ["rm", "-f", "x"], ["kill", "x"], ["stop", "x"], ["pause", "x"],
    ["rename", "a", "b"], ["restart", "x"], ["update", "--restart=always", "x"], ["wait", "x"], ["top", "x"],
    ["stats"], ["logs", "x"], ["diff", "x"], ["port", "x"], ["events"], ["info"], ["history", "x"],
    ["container", "run", *SAFE, "alpine"], ["container", "exec", "x", "sh"], ["container", "cp", "x:/a", "."],
    ["container"], ["image", "build", "--network=none", "."], ["image", "save", "x"], ["image", "rm", "x"], ["image"],
    ["builder", "build", "."], ["buildx", "build", "."], ["compose", "up"], ["volume", "create", "--opt=device=/"],
    ["volume", "inspect", "x"], ["network", "create", "x"], ["plugin", "install", "x"], ["swarm", "init"],
    ["service", "create", "x"], ["stack", "deploy"], ["secret", "create", "x"], ["config", "create", "x"],
    ["node", "ls"], ["context", "use", "x"], ["system", "prune"], ["trust", "sign", "x"], ["manifest", "inspect", "x"],
    ["checkpoint", "create", "x"], ["model", "run"], ["ai"], ["RUN", "x"], [], [""],
]

BEFORE = [["-H", "tcp://localhost:1"], ["-Htcp://localhost:1"], ["--host=tcp://localhost:1"], ["--host", "ssh://x"],
          ["--context=x"], ["-c", "x"], ["--config=."], ["--config", "."], ["--tls"], ["--tlsverify"],
          ["--tlscacert=x"], ["-D"], ["--debug"],
          ["-l", "debug"], ["--log-level=debug"], ["--"], ["-v"], ["--help"]]

RUN = [
    ["--privileged"], ["--privileged=true"], ["--priv"], ["--PRIVILEGED"], ["--pid=host"], ["--pid", "host"],
    ["--ipc=host"], ["--uts=host"], ["--userns=host"], ["--cgroupns=host"], ["--network=host"], ["--network", "host"],
    ["--net=host"], ["--net", "none"], ["--network=bridge"], ["--network=container:x"], ["--network=none,"],
    ["--network="], ["--network"], ["--network=none", "--network=host"], ["--cap-add=SYS_ADMIN"], ["--cap-add", "ALL"],
    ["--cap-drop=CHOWN"], ["--cap-drop=all"], ["--security-opt=seccomp=unconfined"],
    ["--security-opt", "apparmor=unconfined"], ["--security-opt=no-new-privileges=false"],
    ["--security-opt=no-new-privileges:false"], ["--security-opt=label=disable"], ["--device=/dev/sda"],
    ["--device", "/dev/kmsg"], ["--device-cgroup-rule=a *:* rwm"], ["--gpus=all"], ["--volumes-from=x"],
    ["--volumes-from", "x"], ["--mount", "type=bind,source=/,target=/mnt"], ["--mount=type=bind,src=/,dst=/mnt"],
    ["--mount=type=volume,dst=/x"], ["-v", "/:/mnt"], ["-v/:/mnt"], ["-v=/:/mnt"], ["--volume=/:/mnt"],
    ["--volume", "/:/mnt"], ["-iv", "/:/mnt"], ["-iv/:/mnt"], ["-v", "/etc:/mnt:ro"], ["-v", "../outside:/mnt"],
    ["-v", "./../outside:/mnt"], ["-v", "./link:/mnt"], ["-v", "{outside}:/mnt"], ["-v", "./sub/../../outside:/mnt"],
    ["-v", "{root}/../outside:/mnt"], ["-v", "volume:/mnt"], ["-v", "/mnt"], ["-v", ":/mnt"],
    ["-v", "/var/run/docker.sock:/s"], ["-v", "//:/mnt"], ["-v", "/.:/mnt"], ["-v", "/proc/self/root:/mnt"],
    ["-v", "./missing:/mnt"], ["-v", ".:/mnt", "-v", "/:/host"], ["-v", ""], ["-v"], ["-v", "~:/mnt"],
    ["-v", "sub:/mnt"], ["--volume-driver=local"], ["--env-file=/etc/shadow"], ["--env-file", "x"],
    ["--label-file=/etc/shadow"], ["--cidfile=/etc/x"], ["--link=x"], ["--add-host=a:1"], ["--dns=1.1.1.1"],
    ["--publish=80:80"], ["-p", "80:80"], ["-P"], ["--publish-all"], ["--runtime=x"], ["--restart=always"],
    ["--restart", "always"], ["-d"], ["--detach"], ["-di"], ["-it"], ["-t"], ["--tty"], ["--rm=false"],
    ["--group-add=docker"], ["--oom-score-adj=-1000"], ["--oom-kill-disable"], ["--sysctl=kernel.x=1"],
    ["--ulimit=nofile=1"], ["--cgroup-parent=/"], ["--log-driver=syslog"], ["--log-opt=x"], ["--storage-opt=x"],
    ["--isolation=x"], ["--pull=always"], ["--pull", "missing"], ["--use-api-socket"], ["--annotation=x=y"],
    ["--detach-keys=a"], ["--sig-proxy=false"], ["--attach=stdin"], ["--pids-limit=-1"], ["--pids-limit", "-1"],
    ["--memory=-1"], ["--health-cmd=x"], ["--disable-content-trust"], ["--blkio-weight=1"], ["--name=../x"],
    ["--user=$(id)"], ["--platform="], ["--volume=.:/mnt:ro:x"], ["-v", ".:mnt"], ["-v", ".:/m:ro;x"],
]

BUILD = [
    ["--network=host"], ["--network=default"], ["--network", "host"], ["--net=none"],
    ["--network=none", "--network=host"], ["--output=/etc"], ["-o", "."], ["-o."], ["--secret=id=x,src=/etc/shadow"],
    ["--secret", "id=x"], ["--ssh=default"], ["--allow=security.insecure"], ["--add-host=a:1"], ["--iidfile=/etc/x"],
    ["--metadata-file=/etc/x"], ["--build-context=x=/"], ["--builder=x"], ["--cgroup-parent=/"], ["--security-opt=x"],
    ["--isolation=x"], ["--push"], ["--load"], ["--cache-from=x"], ["--cache-to=type=local,dest=/etc"], ["--pull"],
    ["--squash"], ["--ulimit=x"], ["--shm-size=1"], ["-f", "/etc/passwd"], ["-f/etc/passwd"],
    ["--file=../outside/Dockerfile"], ["--file", "link/Dockerfile"], ["-f", "-"], ["-f-"], ["-f", "missing"],
    ["--file=http://localhost/x"], ["-qf", "/etc/passwd"], ["--progress=plain"], ["--compress"], ["--help"],
    ["--tag=../x"], ["-t", ""],
]


@pytest.fixture
def tree(user_box):
    user_box.file("outside/Dockerfile", "FROM scratch\n")
    user_box.file("root/Dockerfile", "FROM scratch\n")
    os.symlink(user_box.outside, user_box.root / "link")
    (user_box.root / "sub").mkdir()
    return {"outside": str(user_box.outside), "root": str(user_box.root)}


def filled(args, tree):
    return [word.format(**tree) if "{" in word else word for word in args]


@pytest.mark.parametrize("args", some(SUBCOMMANDS), ids=lambda args: " ".join(args) or "nothing")
def test_subcommand_is_refused(user_box, args):
    refused(user_box, "docker", *args)


@pytest.mark.parametrize("args", some(BEFORE), ids=" ".join)
def test_option_before_the_subcommand_is_refused(user_box, args):
    refused(user_box, "docker", *args, "version")
    refused(user_box, "docker", *args, "run", *SAFE, "alpine")


@pytest.mark.parametrize("args", some(RUN), ids=" ".join)
def test_run_option_is_refused(user_box, tree, args):
    refused(user_box, "docker", "run", *SAFE, *filled(args, tree), "alpine", "true")
    refused(user_box, "docker", "run", *filled(args, tree), *SAFE, "alpine", "true")


@pytest.mark.parametrize("missing", SAFE)
def test_run_needs_every_protection(user_box, missing):
    kept = [word for word in SAFE if word != missing]
    refused(user_box, "docker", "run", *kept, "alpine", "true", named=missing)
    refused(user_box, "docker", "run", *kept, "alpine", missing,
            named=missing)  # after the image it belongs to the container
    refused(user_box, "docker", "run", *kept, "alpine", "--", missing, named=missing)


def test_gtfobins_shell(user_box):
    refused(user_box, "docker", "run", "-v", "/:/mnt", "--rm", "-it", "alpine", "chroot", "/mnt", "sh")


@pytest.mark.parametrize("image", ["-v", "--privileged", "", "../x", "$(x)", "-", "http://localhost/x;"])
def test_image_is_a_name(user_box, image):
    refused(user_box, "docker", "run", *SAFE, "--", image, "true")


@pytest.mark.parametrize("args", some(BUILD), ids=" ".join)
def test_build_option_is_refused(user_box, tree, args):
    refused(user_box, "docker", "build", "--network=none", *filled(args, tree), ".")
    refused(user_box, "docker", "build", ".", *filled(args, tree), "--network=none")


@pytest.mark.parametrize("context", ["/", "..", "../outside", "link", "-", "https://localhost/x.git",
                                     "git@localhost:x.git", "missing",
                                     "github.com/x/y", "{outside}", "."])
def test_context_is_beneath_the_root(user_box, tree, context):
    args = [] if context == "." else ["--network=none"]  # "." lacks only that
    refused(user_box, "docker", "build", *args, *filled([context], tree))


@pytest.mark.parametrize("args", [["inspect", "--type=secret", "x"], ["inspect", "../x"], ["inspect", "$x"],
                                   ["ps", "x"], ["version", "x"], ["version", "--kubeconfig=x"], ["images", "--tree"],
                                   ["image", "ls", "-f"],
                                   ["container", "ls", "--size=x"]], ids=" ".join)
def test_reading_is_a_closed_list_too(user_box, args):
    refused(user_box, "docker", *args)
