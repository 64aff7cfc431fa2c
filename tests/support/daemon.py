"""A docker daemon for one session: private socket, private data, no network."""
import contextlib
import json
import os
import pathlib
import shutil
import socketserver
import subprocess
import tempfile
import threading
import time

from feature import skip

STARTUP_S = 120
ARCHITECTURES = {"x86_64": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
                 "aarch64": ["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"]}.get(os.uname().machine, [])


def ready(socket: pathlib.Path) -> bool:
    env = {**os.environ, "DOCKER_HOST": f"unix://{socket}"}
    return subprocess.run(["docker", "version"], env=env, capture_output=True, check=False).returncode == 0


class Asked(socketserver.ThreadingTCPServer):
    """The only way from the daemon to another machine. It answers no request and records each."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Refusal)
        self.lines = []

    @property
    def env(self):
        address = "http://127.0.0.1:%d" % self.server_address[1]
        return {"HTTP_PROXY": address, "HTTPS_PROXY": address, "NO_PROXY": ""}

    def take(self):
        lines, self.lines = self.lines, []
        return lines


class Refusal(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.lines.append(self.rfile.readline(4096).decode(errors="replace").strip())
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@contextlib.contextmanager
def asked():
    with Asked() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def running(env):
    """Yields the path of the daemon's socket."""
    program = shutil.which("dockerd", path="/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin")
    if os.geteuid() != 0:
        skip("docker", "a daemon can be started by root only")
    if program is None:
        skip("docker", "dockerd is missing")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="choke-docker-", dir=os.environ.get("CHOKE_TEST_STAGE")))
    socket = directory / "docker.sock"
    # The seccomp filter of the daemon is off: a refusal in a container comes from the code under
    # test.
    (directory / "profile").write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "architectures": ARCHITECTURES}),
                                   encoding="utf-8")
    args = [program, "--iptables=false", "--ip6tables=false", "--bridge=none", f"--host=unix://{socket}",
             f"--seccomp-profile={directory}/profile",
             f"--data-root={directory}/data", f"--exec-root={directory}/exec", f"--pidfile={directory}/pid", "--storage-driver=vfs"]
    with open(directory / "log", "w+b") as log, subprocess.Popen(args, stdout=log, stderr=log,
                                                             env={**os.environ, **env},
                                                             stdin=subprocess.DEVNULL) as daemon:
        try:
            deadline = time.monotonic() + STARTUP_S
            while not ready(socket):
                if daemon.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    skip("docker", f"dockerd does not start: {log.read()[-1000:].decode(errors='replace')}")
                time.sleep(0.05)
            yield socket
        finally:
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(20)
            daemon.kill()
    shutil.rmtree(directory, ignore_errors=True)
