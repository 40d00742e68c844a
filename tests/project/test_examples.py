"""The examples for clusters, as far as they can be tried without one: against stand-ins, and field by field."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest

from tests import DATA, ROOT
from tests.ways import until

EXAMPLES = ROOT / "examples"
SLURM = EXAMPLES / "slurm.sh"
STAND_IN = """#!/bin/bash
printf '%s\\n' "$(basename "$0") $*" >>"$RECORD"
{body}
"""
BODIES = {
    "scontrol": '[ "$1" = show ] && printf "a%d\\n" 1 2 3; exit 0',
    "srun": 'while [[ "$1" == --* ]]; do shift; done; exec "$@"',
    "hostname": 'echo "fe80::1 192.0.2.7 192.0.2.8"',
    # Ray says where its token is, and stays
    "ray": 'printf "%s %s\\n" "$RAY_AUTH_MODE" "$(cat "$RAY_AUTH_TOKEN_PATH")" >>"$RECORD.tokens"; '
    'case " $* " in *" --block "*) exec sleep 600;; esac',
    "kill": "exit 127",  # a minimal node has no such program: the script takes the shell's own
    # it ends when both starts and the status between them have said where the token is
    "solver": 'until [ "$(cat "$RECORD.tokens" | wc -l)" -ge 3 ]; do sleep 0.02; done',
}


@pytest.fixture
def job(tmp_path):
    """Starts the script as SLURM would, with stand-ins for all commands, some of them others than usual."""
    folder = tmp_path / "bin"
    folder.mkdir()
    running = []

    def start(*arguments, **bodies):
        for name, body in {**BODIES, **bodies}.items():
            (folder / name).write_text(STAND_IN.format(body=body))
            (folder / name).chmod(0o755)
        environment = {
            "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path), "RECORD": str(tmp_path / "record"),
            "SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "a[1-3]", "SLURM_JOB_NUM_NODES": "3",
            "SLURM_CPUS_PER_TASK": "8",
        }  # fmt: skip
        arguments = arguments or ("connect-four:6,6", "/shared/store", "/shared/book.lmdb")
        options = {"env": environment, "start_new_session": True, "stderr": subprocess.PIPE, "text": True}
        running.append(subprocess.Popen(["bash", SLURM, *arguments], **options))
        return running[-1]

    start.calls = lambda: (tmp_path / "record").read_text("utf-8").splitlines()
    start.tokens = lambda: (tmp_path / "record.tokens").read_text("utf-8").splitlines()
    start.solving = (tmp_path / "record.solving").exists
    start.left = lambda: list((tmp_path / ".ray").iterdir())
    yield start
    for process in running:
        with process:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_the_script_hears_of_its_time_limit_and_directives_come_before_commands():
    text = SLURM.read_text("utf-8")
    assert "#SBATCH --signal=B:TERM" in text
    assert text.index("set -e") > text.rindex("#SBATCH")  # sbatch stops reading at the first command


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="there is no shellcheck here")
def test_shellcheck_finds_nothing():
    assert subprocess.run(["shellcheck", SLURM], capture_output=True, text=True).stdout == ""


@pytest.mark.posix("a shell")
def test_a_job_starts_ray_on_all_its_nodes_and_solves(job):
    """And every start has a token that does not stay."""
    process = job()
    assert process.wait(300) == 0, process.stderr.read()
    calls = job.calls()
    starts = [call for call in calls if call.startswith("srun") and "ray start" in call]
    first, others = sorted(starts, key=lambda call: " --head " not in call)  # started at once: they record in any order
    head = "--nodes=1 --ntasks=1 --overlap --nodelist=a1 ray start --head --node-ip-address=192.0.2.7 --port=24711"
    rest = "--nodes=2 --ntasks=2 --ntasks-per-node=1 --overlap --exclude=a1 ray start --address=192.0.2.7:24711"
    assert first.startswith(f"srun {head} --num-cpus=7 ") and others.startswith(f"srun {rest} --num-cpus=8 ")
    assert all("--disable-usage-stats" in call and call.endswith("--block") for call in starts)
    solve = "solver solve connect-four:6,6 --cluster 192.0.2.7:24711 --store /shared/store -o /shared/book.lmdb"
    assert solve in calls and not any("requeue" in call for call in calls)
    assert job().wait(300) == 0
    tokens = set(job.tokens())
    assert len(tokens) == 2 and all(re.fullmatch("token [0-9a-f]{64}", token) for token in tokens)
    assert job.left() == []


@pytest.mark.posix("a shell")
def test_a_job_that_fails_or_lacks_its_arguments_is_not_queued_again(job):
    assert job(solver="exit 6").wait(300) == 6
    assert not any("requeue" in call for call in job.calls())
    process = job("connect-four")
    assert process.wait(300) == 2 and "usage: sbatch" in process.stderr.read()


@pytest.mark.posix("a shell")
def test_a_time_limit_ends_the_solve_and_queues_the_job_again(job):
    process = job(solver='trap "exit 143" TERM; touch "$RECORD.solving"; while :; do sleep 0.1; done')
    until(job.solving)
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 143
    assert "scontrol requeue 4711" in job.calls()
    assert job.left() == []


def test_the_command_lines_of_the_examples_are_solves():
    from solver.cli import main

    options = {name for parameter in main.get_command(None, "solve").params for name in parameter.opts}
    text = re.sub(r"\s+", " ", (EXAMPLES / "kuberay.yaml").read_text("utf-8") + SLURM.read_text("utf-8"))
    for command in re.findall(r"solver solve [^#&\n]*?-o \S+", text):
        assert {word for word in shlex.split(command) if word.startswith("-")} <= options, command


def test_the_ray_job_has_the_fields_of_kuberays_reference_and_no_secret():
    yaml = pytest.importorskip("yaml")
    jsonschema = pytest.importorskip("jsonschema", exc_type=ImportError)
    ray_job = yaml.safe_load((EXAMPLES / "kuberay.yaml").read_text("utf-8"))
    jsonschema.validate(ray_job, json.loads((DATA / "rayjob.schema.json").read_text("utf-8")))
    cluster = ray_job["spec"]["rayClusterSpec"]
    head, (worker,) = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    for group in (head, worker):
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
        assert container["resources"]["requests"] == container["resources"]["limits"]
    assert worker["minReplicas"] <= worker["replicas"] <= worker["maxReplicas"]
    assert worker["rayStartParams"]["num-cpus"] == container["resources"]["limits"]["cpu"]
    # The book is written where it stays, by the head, which runs no tasks
    (book,) = re.findall(r"-o (\S+)", ray_job["spec"]["entrypoint"])
    (mount,) = head["template"]["spec"]["containers"][0]["volumeMounts"]
    assert book.startswith(mount["mountPath"]) and head["rayStartParams"]["num-cpus"] == "0"
