"""The commands of Slurm in the catalogue (docs/adr/0131): their ordinary work on a cluster, and what is refused."""
import tempfile

import pytest

from catalog import taking
from cluster import running
from processes import wait_until

TOOLS = ("sbatch", "scancel", "scontrol", "squeue")

# Another program, another's jobs, another cluster, a change of the configuration, a file outside.
REFUSED = [
    "sbatch --parsable --wrap=id", "sbatch --wrap id", "sbatch --task-prolog=x job.sh", "sbatch --bb=x job.sh", "sbatch --uid=0 job.sh",
    "sbatch --output=/etc/x job.sh", "sbatch --output=../x job.sh", "sbatch --chdir=/ job.sh", "sbatch --export=ALL job.sh",
    "sbatch --export=ALL,LD_PRELOAD=x job.sh", "sbatch ../outside.sh", "sbatch /bin/true", "sbatch -D / job.sh", "sbatch --mail-user=a job.sh",
    "sbatch --cont=x job.sh", "sbatch --get-user-env job.sh", "sbatch --clusters=x job.sh",
    "squeue --iterate=1", "squeue -M x", "scancel --user=root", "scancel -u root", "scancel --signal=9 1", "scancel --partition=all",
    "scontrol shutdown", "scontrol update JobId=1 Priority=1", "scontrol reconfigure", "scontrol show hostnames x", "scontrol",
    "scontrol show config extra", "scontrol requeue 1",
]


@pytest.fixture
def taken(user_box):
    user_box.file("root/job.sh", "#!/bin/sh\nexec sleep 60\n", 0o755)
    return taking(user_box, *TOOLS)


def test_arguments_are_a_closed_list(user_box, taken):
    for line in REFUSED:
        answer = user_box.run(*line.split(), policy=taken)
        assert answer.outcome == "disallowed", (line, answer.document)


def test_only_the_configuration_is_passed_on(user_box, taken):
    answer = user_box.run("squeue", policy=taken, options=("--env", "SLURM_JOB_NAME=x"))
    assert answer.outcome == "env_forbidden", answer.document


def test_ordinary_work(root_box):
    policy = taking(root_box, *TOOLS)
    root_box.file("root/job.sh", "#!/bin/sh\necho \"$SLURM_ARRAY_TASK_ID\"\nexec sleep 60\n", 0o755)
    with tempfile.TemporaryDirectory(prefix="cluster-") as top, running(top, nodes=2) as cluster:
        def run(line):
            answer = root_box.run(*line.split("|"), policy=policy, options=("--env", f"SLURM_CONF={cluster.configuration}"))
            assert (answer.outcome, answer.status) == ("exited", 0), answer.document
            return answer.stream("stdout").decode()
        assert "MaxArraySize            = 1001" in run("scontrol|show|config")
        job = run("sbatch|--parsable|--requeue|--array=0-1|--job-name=x|--time=5|--mem=10M|--cpus-per-task=1|--output=%a.log|"
                  "--open-mode=append|--export=HOME,PATH|job.sh").strip()
        assert job.isdigit()
        wait_until(lambda: (root_box.root / "1.log").exists(), "both tasks work")
        assert sorted(run("squeue|--me|--noheader|--array|--format=%F %K %j").split("\n"))[1:] == [f"{job} 0 x", f"{job} 1 x"]
        run(f"scancel|--quiet|{job}_0|{job}_1")
        wait_until(lambda: run("squeue|--me|--noheader") == "", "they have ended")
