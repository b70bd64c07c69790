"""The files of deploy/: what can be checked of them without a scheduler, a container engine or a cluster."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hauteur.learning.run_folder import RunFolder
from hauteur.networks.files import tensors_digest
from hauteur.networks.registry import load

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script of bash")

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
JOB = DEPLOY / "slurm" / "hauteur.sbatch"
RECIPE = """
game = "tictactoe"
[network]
filters = 4
blocks = 1
value_hidden = 8
[selfplay]
games = 40
visits = 8
shard_games = 20
[train]
batch_size = 32
window_games = 80
[gate]
games = 4
visits = 4
[run]
generations = 4
threads = 1
solved_positions = 0
"""
"""A run of seconds."""


# -- the files ---------------------------------------------------------------------------------------------------------


def test_the_job_is_bash() -> None:
    subprocess.run(["bash", "-n", str(JOB)], check=True)


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Instruction and words of each line of a Dockerfile, continued ones joined."""
    text = re.sub(r"^\s*#.*\n", "", dockerfile, flags=re.MULTILINE).replace("\\\n", " ")
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return [(line[0], line[1]) for line in lines]


def test_the_dockerfile_installs_the_wheel() -> None:
    found = instructions((DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    names = [name for name, _ in found]
    assert set(names) <= {"ARG", "FROM", "RUN", "COPY", "USER", "WORKDIR", "EXPOSE", "ENTRYPOINT", "CMD"}
    for name, words in found:
        if name == "RUN":
            subprocess.run(["bash", "-n", "-c", words], check=True)
        if name in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(words), list)
    used = {word for _, words in found for word in re.findall(r"\$\{(\w+)\}", words)}
    assert used == {words.partition("=")[0] for name, words in found if name == "ARG"}
    (copied,) = [words for name, words in found if name == "COPY"]
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert f"!{copied.split()[0]}" in ignored


def test_the_development_container_is_that_image() -> None:
    folder = ROOT / ".devcontainer"
    build = json.loads((folder / "devcontainer.json").read_text(encoding="utf-8"))["build"]
    assert (folder / build["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    assert (folder / build["context"]).resolve() == ROOT


def documents(name: str) -> list[dict[str, Any]]:
    """The documents of a YAML file of the folder."""
    return list(yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")))


def test_the_cluster_of_ray_fits_its_schema() -> None:
    (cluster,) = documents("ray/cluster.yaml")
    jsonschema = pytest.importorskip("jsonschema")
    found = find_spec("ray")
    if found is None:
        pytest.skip("the schema comes with Ray")
    schema = Path(str(found.submodule_search_locations[0])) / "autoscaler" / "ray-schema.json"  # type: ignore[index]
    jsonschema.validate(cluster, json.loads(schema.read_text(encoding="utf-8")))


def test_packages_have_the_version_and_what_the_wheel_needs() -> None:
    """The recipes of conda and Homebrew."""
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert version is not None
    (recipe,) = documents("conda/recipe.yaml")
    assert recipe["context"]["version"] == version[1]
    assert {word.replace(" ", "") for word in recipe["requirements"]["run"]} == {
        f"python{project['project']['requires-python']}",
        *project["project"]["dependencies"],
    }
    assert f"{project['build-system']['requires'][0]}" in {
        word.replace(" ", "") for word in recipe["requirements"]["host"]
    }
    formula = (DEPLOY / "homebrew" / "hauteur.rb").read_text(encoding="utf-8")
    assert f'version "{version[1]}"' in formula
    assert f"hauteur-{version[1]}.tar.gz" in formula


def test_the_workflow_of_the_page_publishes_what_make_page_writes() -> None:
    text = (ROOT / ".github" / "workflows" / "page.yml").read_text(encoding="utf-8")
    build, publish = yaml.safe_load(text)["jobs"].values()
    assert {"run": "make page"} in build["steps"]
    assert build["steps"][-1]["with"]["path"] == "dist/page"
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert all(
        re.search(r"@[0-9a-f]{40}", step["uses"]) for step in build["steps"] + publish["steps"] if "uses" in step
    )


def test_jobs_can_be_submitted_to_the_image() -> None:
    """A RayJob, and KubeRay's probes, speak to a server that Ray alone has not; it is open to those with a token."""
    (install,) = [words for name, words in dockerfile_lines() if name == "RUN" and "ray" in words.split("==")[0]]
    assert '"ray[default]==${RAY}"' in install
    _, job = documents("kuberay/rayjob.yaml")
    assert job["spec"]["rayClusterSpec"]["authOptions"] == {"mode": "token"}
    assert job["spec"]["backoffLimit"] > 0


def test_one_version_of_ray_and_of_the_image() -> None:
    args = dict(words.partition("=")[::2] for name, words in dockerfile_lines() if name == "ARG" and "=" in words)
    claim, job = documents("kuberay/rayjob.yaml")
    (cluster,) = documents("ray/cluster.yaml")
    spec = job["spec"]["rayClusterSpec"]
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    containers = [one for group in groups for one in group["template"]["spec"]["containers"]]
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert {one["image"] for one in containers} == {f"hauteur:{version[1]}"}
    assert args["RAY"] == spec["rayVersion"]
    assert any(f"=={args['RAY']}" in command for command in cluster["setup_commands"])
    (volume,) = spec["headGroupSpec"]["template"]["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]


def dockerfile_lines() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile."""
    return instructions((DEPLOY / "Dockerfile").read_text(encoding="utf-8"))


# -- the job -----------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "scontrol": 'echo "scontrol $*" >> "$CALLS"; [ "$1" = show ] && printf "node1\\nnode2\\n"; exit 0',
    "srun": (
        'echo "srun $*" >> "$CALLS"\n'
        'if [ "$1" = --overlap ]; then while [ "$1" != kill ]; do shift; done; exec "$@"; fi\n'
        'while [ "$1" != ray ]; do shift; done\n'
        '"$@" & child=$!; trap "kill -TERM $child" TERM; wait $child; status=$?; wait $child || status=$?; exit $status'
    ),
    "ray": (
        'case "$*" in *--help) exit 0;; get-auth-token*) exit 0;; esac\n'
        'echo "ray $*" >> "$CALLS"; trap "echo stopped >> $CALLS; exit 143" TERM\n'
        'while [ "$1" != -- ]; do shift; done; shift; "$@"; exit $?'
    ),
}
"""Programs of SLURM and Ray that note how they are called."""
DRIVER = (
    'trap "echo the driver has ended >> $CALLS; exit 130" TERM\ntouch "$CALLS.running"; while true; do sleep 0.05; done'
)
"""A hauteur that ends in order."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables of a job of one node, with such programs and this interpreter's hauteur in PATH."""
    programs = {**PROGRAMS, "hauteur": f"exec '{sys.executable}' -m hauteur.cli \"$@\""}
    (tmp_path / "bin").mkdir()
    for name, text in programs.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    slurm = {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "2", "SLURM_JOB_NODELIST": "node[1-2]"}
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **slurm, "PATH": path, "CALLS": str(tmp_path / "calls"), "HAUTEUR_VENV": "none"}


def started(folder: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    """The job, as SLURM starts it."""
    return subprocess.Popen(
        ["bash", str(JOB), *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def calls(folder: Path) -> list[str]:
    """What the programs have noted."""
    path = folder / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def waited_for(path: Path, job: subprocess.Popen[str]) -> None:
    """Wait until a file is there; fail where the job ends before."""
    while not path.exists():
        try:
            job.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        if not path.exists():
            assert job.stdout is not None
            pytest.fail(f"the job has ended: {job.stdout.read()}")


@pytest.mark.slow  # three runs of a recipe
def test_a_job_that_is_stopped_goes_on_to_the_same_net(tmp_path: Path, environment: dict[str, str]) -> None:
    job = started(tmp_path, environment, "recipe.toml")
    run = RunFolder(tmp_path / "runs" / "slurm-7")
    waited_for(run.path / "metrics.jsonl", job)
    job.send_signal(signal.SIGTERM)
    said, _ = job.communicate()
    assert "stopping; the same command resumes the run" in said
    assert job.returncode == 130
    assert calls(tmp_path) == ["scontrol requeue 7"]
    again = started(tmp_path, environment, "recipe.toml")
    said, _ = again.communicate()
    assert again.returncode == 0, said
    undisturbed = started(tmp_path, environment | {"HAUTEUR_RUN": "whole"}, "recipe.toml")
    undisturbed.communicate()
    nets = [load(RunFolder(path).best()) for path in (run.path, tmp_path / "whole")]
    assert len({tensors_digest(net.tensors) for net in nets}) == 1
    assert calls(tmp_path) == ["scontrol requeue 7"]


def test_several_nodes_are_a_cluster(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "bin" / "hauteur").write_text(f"#!/bin/bash\n{DRIVER}\n", encoding="utf-8")
    job = started(tmp_path, environment | {"SLURM_JOB_NUM_NODES": "2"}, "connect4", "run.seed=3")
    waited_for(tmp_path / "calls.running", job)
    job.send_signal(signal.SIGTERM)
    job.communicate()
    hosts, srun, ray, signalled, stopped, requeued = calls(tmp_path)
    assert hosts == "scontrol show hostnames node[1-2]"
    assert srun.startswith(
        "srun --nodes=2 --ntasks=2 --cpus-per-task=2 --wait=30 ray symmetric-run --address node1:6379 --min-nodes 2 "
    )
    assert ray.startswith("ray symmetric-run --address node1:6379 --min-nodes 2 --num-cpus 2 --disable-usage-stats -- ")
    assert ray.endswith("hauteur train connect4 run.seed=3 --run runs/slurm-7 --cluster auto")
    assert signalled.startswith("srun --overlap --nodes=1 --ntasks=1 --nodelist=node1 kill -TERM ")
    assert (stopped, requeued) == ("the driver has ended", "scontrol requeue 7")
    assert not (tmp_path / "hauteur-7.pid").exists()


def test_the_status_of_a_job_of_several_nodes_is_that_of_the_run(tmp_path: Path, environment: dict[str, str]) -> None:
    """Nodes whose Ray has lost the first one fail, and srun with them, also where the run is complete."""
    (tmp_path / "bin" / "hauteur").write_text("#!/bin/bash\nexit $ENDS\n", encoding="utf-8")
    failing = PROGRAMS["srun"].replace("exit $status", "exit 1")
    (tmp_path / "bin" / "srun").write_text(f"#!/bin/bash\n{failing}\n", encoding="utf-8")
    for status in (0, 2):
        variables = environment | {"SLURM_JOB_NUM_NODES": "2", "ENDS": str(status)}
        job = started(tmp_path, variables, "connect4")
        job.communicate()
        assert job.returncode == status
        assert not list(tmp_path.glob("hauteur-7.*"))


def test_a_job_without_a_recipe_or_ray_says_so(tmp_path: Path, environment: dict[str, str]) -> None:
    job = started(tmp_path, environment)
    assert "name a recipe" in job.communicate()[0]
    assert job.returncode == 2
    (tmp_path / "bin" / "ray").write_text("#!/bin/bash\nexit 2\n", encoding="utf-8")
    job = started(tmp_path, environment | {"SLURM_JOB_NUM_NODES": "2"}, "connect4")
    assert "2 nodes need a Ray with symmetric-run" in job.communicate()[0]
    assert job.returncode == 2
    assert calls(tmp_path) == []


def test_a_job_that_is_stopped_before_it_begins_is_requeued(tmp_path: Path, environment: dict[str, str]) -> None:
    """Ray is asked for seconds before there is a process to stop."""
    ray = tmp_path / "bin" / "ray"
    ray.write_text(f'#!/bin/bash\ncase "$*" in *--help) touch "$CALLS.asked"; sleep 0.5;; esac\n{PROGRAMS["ray"]}\n')
    job = started(tmp_path, environment | {"SLURM_JOB_NUM_NODES": "2"}, "connect4")
    waited_for(tmp_path / "calls.asked", job)
    job.send_signal(signal.SIGTERM)
    said, _ = job.communicate()
    assert "requeued to go on" in said
    assert calls(tmp_path)[-1] == "scontrol requeue 7"


def test_a_job_that_slurm_does_not_requeue_says_how_to_go_on(tmp_path: Path, environment: dict[str, str]) -> None:
    """Clusters may forbid it; the log said that it was requeued."""
    scontrol = tmp_path / "bin" / "scontrol"
    scontrol.write_text(f'#!/bin/bash\n[ "$1" != requeue ] || exit 1\n{PROGRAMS["scontrol"]}\n', encoding="utf-8")
    ray = tmp_path / "bin" / "ray"
    ray.write_text(f'#!/bin/bash\ncase "$*" in *--help) touch "$CALLS.asked"; sleep 0.5;; esac\n{PROGRAMS["ray"]}\n')
    job = started(tmp_path, environment | {"SLURM_JOB_NUM_NODES": "2"}, "connect4")
    waited_for(tmp_path / "calls.asked", job)
    job.send_signal(signal.SIGTERM)
    said, _ = job.communicate()
    assert "hauteur.sbatch: not requeued; submit it with HAUTEUR_RUN=runs/slurm-7" in said


def test_a_job_whose_driver_was_killed_ends(tmp_path: Path, environment: dict[str, str]) -> None:
    """Whoever kills it, as a node does without memory, leaves the file with its number."""
    driver = f'{DRIVER.partition("touch")[0]}kill -KILL $PPID; touch "$CALLS.running"; sleep 1; exit 137'
    (tmp_path / "bin" / "hauteur").write_text(f"#!/bin/bash\n{driver}\n", encoding="utf-8")
    job = started(tmp_path, environment | {"SLURM_JOB_NUM_NODES": "2"}, "connect4")
    # On a busy machine the job may end before the file is there, as what it waits for is killed first.
    while not (tmp_path / "calls.running").exists() and job.poll() is None:
        time.sleep(0.02)
    job.send_signal(signal.SIGTERM)
    job.communicate(timeout=30)
    assert job.returncode >= 128


def test_an_environment_that_is_not_there_is_named(tmp_path: Path, environment: dict[str, str]) -> None:
    job = started(tmp_path, environment | {"HAUTEUR_VENV": "no-such-folder"}, "connect4")
    assert "HAUTEUR_VENV=no-such-folder is no environment" in job.communicate()[0]
    assert job.returncode == 2
    (tmp_path / "bin" / "hauteur").unlink()
    job = started(tmp_path, environment | {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}, "connect4")
    assert "there is no hauteur in PATH" in job.communicate()[0]
    assert job.returncode == 2


def test_a_job_that_fails_is_not_requeued(tmp_path: Path, environment: dict[str, str]) -> None:
    job = started(tmp_path, environment, "no-such-recipe")
    job.communicate()
    assert job.returncode == 2
    assert calls(tmp_path) == []
