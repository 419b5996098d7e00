"""The operator, run by a real Airflow."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)

from neighbours.shops import example, make_shop, windrow
from windrow.neighbours.airflow import WindrowRunOperator

pytestmark = pytest.mark.neighbours

COMMAND = """
import json, pathlib, signal, sys, time
code = int(sys.argv[1])
if code == 143:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pathlib.Path(sys.argv[-1]).touch()
    time.sleep(60)
print(json.dumps({"error": {"type": "E", "message": "because [of it]", "exit_code": code}}))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def database() -> None:
    subprocess.run(
        [Path(sys.executable).with_name("airflow"), "db", "migrate"],
        check=True,
        capture_output=True,
    )


def ending_with(code: int, **options: Any) -> WindrowRunOperator:
    """A task whose command ends with this code; how windrow comes to it is tested elsewhere."""
    command = [sys.executable, "-c", COMMAND, str(code)]
    return WindrowRunOperator(task_id="web", project_dir="x", command=command, **options)


def test_the_example_of_the_page_runs_and_hands_its_document_on(database: None, tmp_path: Path):
    shop = make_shop(tmp_path / "shop")
    text = example("WindrowRunOperator", shop)
    assert 'command="/srv/venv/bin/windrow"' in text
    file = Path(os.environ["AIRFLOW_HOME"]) / "dags" / "shop.py"
    file.parent.mkdir()
    file.write_text(text.replace('"/srv/venv/bin/windrow"', repr(windrow())))
    run = runpy.run_path(str(file))["dag"].test()
    assert run.state == "success"
    (task,) = run.get_task_instances()
    (package,) = task.xcom_pull(task_ids="web")["packages"]
    (made,) = package["runs"]
    assert made["outcome"] == "succeeded"
    assert {it["name"]: it["rows"] for it in made["models"]}["snowplow_web_page_views"] == 3


def test_a_project_that_is_not_there_fails_for_good(tmp_path: Path):
    task = WindrowRunOperator(task_id="web", project_dir=str(tmp_path), command=windrow())
    with pytest.raises(AirflowFailException, match=r"ended with 2\..*windrow\.yml"):
        task.execute({})


@pytest.mark.parametrize(
    ("code", "options", "raised"),
    [
        (1, {}, AirflowException),
        (2, {}, AirflowFailException),
        (3, {}, AirflowException),
        (3, {"when_locked": "skip"}, AirflowSkipException),
        (4, {}, AirflowFailException),
        (137, {}, AirflowException),
    ],
)
def test_an_exit_code_says_whether_a_retry_can_help(
    code: int, options: dict[str, Any], raised: type[Exception]
):
    with pytest.raises(AirflowException, match=rf"ended with {code}\. because \[of it\]") as found:
        ending_with(code, **options).execute({})
    assert type(found.value) is raised


def test_a_task_that_is_killed_has_its_run_stop_by_itself(tmp_path: Path):
    began = tmp_path / "began"
    task = ending_with(143, package=str(began))

    def kill() -> None:
        while not began.exists():
            time.sleep(0.05)
        task.on_kill()

    stopper = threading.Thread(target=kill)
    stopper.start()
    with pytest.raises(AirflowException, match=r"ended with 143"):
        task.execute({})
    stopper.join()
