"""A cluster of Slurm on this machine: munge, a controller and nodes, each with ports and files of its own.

The nodes are slurmd -N on different ports; their tasks are processes of this machine, which belong to root. Everything is
ended by the pids that its own files have."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess

from feature import skip
from processes import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={top}/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool-%n
SlurmctldPidFile={top}/slurmctld.pid
SlurmdPidFile={top}/slurmd-%n.pid
SlurmctldLogFile={top}/slurmctld.log
SlurmdLogFile={top}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
SlurmdTimeout=5
MessageTimeout=10
InactiveLimit=0
MinJobAge=300
KillWait=1
ReturnToService=2
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
MaxArraySize={array}
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"""


def free_ports(count):
    """Ports that nothing uses: outside of those that the kernel gives to others."""
    found = []
    while len(found) < count:
        port = random.randrange(20000, 30000)
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
                found.append(port)
            except OSError:
                pass
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Cluster:
    def __init__(self, top, nodes=4, array=1001):
        self.top, self.nodes = pathlib.Path(top), [f"n{number}" for number in range(nodes)]
        ports = free_ports(nodes + 1)
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(host=host, port=ports[0], top=top, array=array)
        for node, port in zip(self.nodes, ports[1:]):
            text += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=1000\n"
            (self.top / f"spool-{node}").mkdir()
        text += f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        self.configuration = self.top / "slurm.conf"
        self.configuration.write_text(text, encoding="utf-8")
        (self.top / "state").mkdir()
        key = self.top / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": str(self.configuration)}

    def call(self, *command, check=True):
        done = subprocess.run(list(map(str, command)), env=self.environment, stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert not check or done.returncode == 0, (command, done.stdout.decode(errors="replace"))
        return done.stdout.decode(errors="replace")

    def start(self):
        self.call("/usr/sbin/munged", "--force", f"--key-file={self.top}/munge.key", f"--socket={self.top}/munge.sock",
                  f"--pid-file={self.top}/munged.pid", f"--log-file={self.top}/munged.log", f"--seed-file={self.top}/munge.seed")
        self.start_controller("-c")
        for node in self.nodes:
            self.start_node(node)
        wait_until(lambda: self.call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N", check=False).split() == self.nodes,
                   "all nodes are idle")

    def start_controller(self, *options):
        self.call("/usr/sbin/slurmctld", *options)

    def start_node(self, node):
        self.call("/usr/sbin/slurmd", "-N", node)

    def pid(self, name):
        return int((self.top / f"{name}.pid").read_text(encoding="utf-8"))

    def end(self, name, number=signal.SIGKILL):
        pid = self.pid(name)
        os.kill(pid, number)
        wait_until(lambda: not alive(pid), f"{name} has ended")

    def steps(self, node):
        """The processes of the tasks on a node have its name in their environment, or a file of it open: slurmstepd."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                name = pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                if name == "slurmstepd":
                    opened = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")]
                    ours = any(link.startswith((f"{self.top}/spool-{node}", f"{self.top}/slurmd-{node}")) for link in opened)
                else:
                    ours = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.configuration}".encode()} <= set(environment)
                if ours:
                    found.append(int(pid))
        return found

    def kill_steps(self, node):
        for pid in self.steps(node):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def lose(self, node):
        """The node dies, with everything on it: nobody is informed."""
        self.end(f"slurmd-{node}")
        self.kill_steps(node)

    def close(self):
        for job in self.call("squeue", "-h", "-o", "%A", check=False).split():
            if job.isdigit():
                self.call("scancel", job, check=False)
        for node in self.nodes:
            with contextlib.suppress(OSError, ValueError, AssertionError):
                self.end(f"slurmd-{node}")
            self.kill_steps(node)
        for name in ("slurmctld", "munged"):
            with contextlib.suppress(OSError, ValueError, AssertionError):
                self.end(name)


def need_programs():
    missing = [name for name in PROGRAMS if not shutil.which(name, path="/usr/sbin:/usr/bin")]
    if missing:
        skip("slurm", f"{', '.join(missing)} is missing")


@contextlib.contextmanager
def running(top, **settings):
    need_programs()
    cluster = Cluster(top, **settings)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()
