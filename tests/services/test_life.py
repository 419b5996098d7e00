"""One project's whole life on a cluster and on a Spark Connect server, as on this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.projects import (
    SMALL,
    TO_THE_THIRD_DAY,
    UNTIL_THE_END,
    ask,
    change,
    live,
    run_beside,
)
from services.servers import QUICK, Cluster, connect_server, executors, kill, standalone_cluster
from services.submitting import hand_over, submit

pytestmark = pytest.mark.services

ROOM = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": QUICK,
    # Else a task waits up to 3 s for the executor that holds its rows.
    "spark.locality.wait": "0",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


def add_target(shop: Path, name: str, spark: dict[str, object], format: str = "delta") -> None:
    target = {"warehouse": f"./warehouse-{name}", "format": format, "spark": spark}
    change(shop, targets={name: target})


def test_a_life_on_a_standalone_cluster(shop: Path, cluster: Cluster) -> None:
    add_target(shop, "cluster", {"master": cluster.master, "conf": SMALL | ROOM})
    live("whole", shop, "cluster")


def test_a_life_through_a_connect_server(shop: Path, remote: str) -> None:
    add_target(shop, "connect", {"remote": remote, "conf": {}})
    live("whole", shop, "connect")


def test_iceberg_on_a_standalone_cluster(shop: Path, cluster: Cluster) -> None:
    add_target(shop, "ice", {"master": cluster.master, "conf": SMALL | ROOM}, "iceberg")
    ask("run", *TO_THE_THIRD_DAY, "--target", "ice", "--project-dir", str(shop))
    live("short", shop, "ice")


def test_iceberg_through_a_connect_server(shop: Path, remote: str) -> None:
    add_target(shop, "ice", {"remote": remote, "conf": {}}, "iceberg")
    ask("run", *TO_THE_THIRD_DAY, "--target", "ice", "--project-dir", str(shop))
    live("short", shop, "ice")


def test_a_job_that_is_submitted_to_a_standalone_cluster(
    shop: Path, tmp_path: Path, cluster: Cluster
) -> None:
    change(shop, events={"path": str(shop / "events")})
    here = {"master": "local[2]", "conf": SMALL}
    change(shop, targets={"prod": {"warehouse": str(tmp_path / "lake"), "spark": here}})
    hand_over(shop, tmp_path)

    code, said = submit(tmp_path, cluster.master, SMALL | ROOM, "--deploy-mode", "cluster")
    assert code == 1, said
    assert "not supported for python applications on standalone clusters" in said

    code, said = submit(tmp_path, cluster.master, SMALL | ROOM)
    assert code == 0, said
    live("compare", shop, "prod")

    # The job's exit code is windrow's.
    job = tmp_path / "job.py"
    job.write_text(job.read_text().replace('"prod"', '"nowhere"'))
    code, said = submit(tmp_path, cluster.master, SMALL | ROOM)
    assert code == 2, said


def test_a_run_whose_settled_rows_lie_in_a_folder_goes_on_without_its_executors(
    shop: Path, tmp_path: Path, cluster: Cluster
) -> None:
    folder = {"spark.checkpoint.dir": str(tmp_path / "settled")}
    add_target(shop, "sure", {"master": cluster.master, "conf": SMALL | ROOM | folder})
    lost = []

    def lose_all_executors() -> None:
        lost.extend(pid for worker in cluster.workers for pid in executors(worker))
        for executor in lost:
            os.kill(executor, signal.SIGKILL)

    code, told = run_beside(shop, "sure", lose_all_executors, until=UNTIL_THE_END)
    assert code == 0, told
    assert lost
    live("compare", shop, "sure")


def test_executors_that_die_in_the_middle_of_a_run(shop: Path, cluster: Cluster) -> None:
    add_target(shop, "hurt", {"master": cluster.master, "conf": SMALL | ROOM})

    def lose_all_executors() -> None:
        for worker in cluster.workers:
            for executor in executors(worker):
                os.kill(executor, signal.SIGKILL)

    # All copies of what was settled are lost: the run fails, and leaves nothing in the next's way.
    code, told = run_beside(shop, "hurt", lose_all_executors, until=UNTIL_THE_END)
    assert code == 1, told

    # One worker is lost, and one of two copies: the run goes on with the other. Nothing after this
    # may need two workers.
    code, told = run_beside(shop, "hurt", lambda: kill(cluster.workers[0]), until=UNTIL_THE_END)
    assert code == 0, told
    live("compare", shop, "hurt")
