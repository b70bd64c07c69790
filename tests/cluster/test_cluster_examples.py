"""The examples for clusters: the launcher's file is one by Ray's own schema, and those of KubeRay agree."""

import os
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")


def example(root: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((root / "examples" / "cluster" / name).read_text())
    return content


@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
def test_launcher_is_valid(root: Path) -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = prepare_config(example(root, "launcher.yaml"))
    validate_config(config)
    assert config["max_workers"] == 2
    assert "--dashboard-host=127.0.0.1" in config["head_start_ray_commands"][1]


def test_the_job_has_the_cluster_of_the_other_file(root: Path) -> None:
    cluster, job = example(root, "raycluster.yaml"), example(root, "rayjob.yaml")
    assert (cluster["kind"], job["kind"]) == ("RayCluster", "RayJob")
    assert cluster["apiVersion"] == job["apiVersion"] == "ray.io/v1"
    assert cluster["spec"]["authOptions"] == {"mode": "token"}
    assert cluster["spec"]["workerGroupSpecs"] == job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    mounts = {mount["name"] for mount in head["containers"][0]["volumeMounts"]}
    assert mounts == {volume["name"] for volume in head["volumes"]}


def test_versions_are_those_of_the_package(root: Path) -> None:
    from hauteur import __version__

    extra = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]["ray"]
    assert extra == ["ray>=2.52"]
    image = (root / "examples" / "cluster" / "Dockerfile").read_text()
    ray = example(root, "raycluster.yaml")["spec"]["rayVersion"]
    assert f"rayproject/ray:{ray}-py311" in image
    assert f"=={__version__}'" in image


def test_submit_is_a_shell_script(root: Path) -> None:
    script = root / "examples" / "cluster" / "submit.sh"
    subprocess.run(["sh", "-n", os.fspath(script)], check=True)
