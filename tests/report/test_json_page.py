"""The examples of docs/json.md have the keys of the documents that commands print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from report.overviews import a_run, an_overview
from report.test_explaining import LISTED, TOLD
from report.values import (
    MODELS,
    a_diff,
    a_lease,
    a_plan,
    a_rerun,
    a_result,
    a_rollback,
    a_run_that_begins,
    a_status,
    an_adoption,
    an_upkeep,
    at,
    ran,
    some_checks,
    some_volumes,
)
from windrow.columns.rules import column
from windrow.engine.checking import CheckReport
from windrow.engine.steps import Step
from windrow.operations.doctor import Check
from windrow.operations.explain import Kind
from windrow.operations.freshness import Freshness, Pauses
from windrow.operations.metrics import LAG, Sample
from windrow.operations.quarantine import Added, Released
from windrow.operations.refresh_manifests import RefreshedManifest, RefreshedManifests
from windrow.packages.normalize.suggestion import EventType, Suggestion
from windrow.report import documents
from windrow.report.adoptions import adoptions_document
from windrow.report.checks import reports_document
from windrow.report.differences import diff_document
from windrow.report.explaining import explanations_document
from windrow.report.normalizing import suggestion_document, tables_document
from windrow.report.page.health import health_document, health_of
from windrow.report.quarantining import added_document, quarantines_document, released_document
from windrow.report.refreshing import refreshed_document
from windrow.report.rounds import Round, round_document
from windrow.report.step_documents import step_document
from windrow.report.tally import Tally
from windrow.tables import FileSizes, TableName

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"

OPEN = {
    *("counts", "left_out", "reasons", "manifest", "model_age_seconds", "samples", "labels"),
    *("unbounded", "looks_back", "adds", "contexts", "sample", "configuration"),
}
"""Below these, keys are names of models, columns or reasons: as many as there happen to be."""


def _status() -> Any:
    fresh = Freshness(at(7), timedelta(hours=6), at(6, 15), {}, (), Pauses(14, 0, timedelta(2)))
    return replace(a_status(), lease=a_lease(), freshness=fresh)


def _steps() -> Iterator[Any]:
    tally = Tally()
    begins = Step("run", "started", kind="run", run=a_run_that_begins())
    tally.take(begins)
    yield step_document(Step("users", "done", rows=3, kind="model"), "web", at(7), tally)
    yield step_document(begins, "web", at(7), tally)["run"]


def _health() -> Any:
    found = health_document(health_of(an_overview(a_run(0), a_run(2))))
    return {"path": "report.html", "bytes": 1, **found}


def printed() -> dict[str, list[Any]]:
    """Heading -> what is printed where it has an example; None: the command makes it up itself."""
    plan = replace(a_plan(), reads=FileSizes(3, 100), volumes=some_volumes())
    lifecycle = RefreshedManifest("lifecycle", TableName("manifest", "lifecycle"), 3, 3)
    labels = {"project": "shop"}
    link = EventType("link_click", 120, "iglu:x/y/jsonschema/1-0-0", {}, ("app_id",))
    return {
        "When a command stops": [documents.error_document("UsageError", "No.", 2)],
        "windrow run": [documents.runs_document(ran(a_result()))],
        "windrow run --refresh-manifests --select MANIFEST": [
            refreshed_document(RefreshedManifests("web", "dev", "r1", at(1), (lifecycle,)))
        ],
        "windrow run --every": [round_document(Round(2, at(7), 9.4, 0, ran(a_result())), at(8))],
        "windrow plan": [documents.plans_document([plan])],
        "windrow status": [documents.statuses_document([_status()])],
        "windrow explain": [explanations_document(Kind.SESSION, "s [1]", [TOLD])],
        "windrow quarantine": [
            quarantines_document([LISTED]),
            added_document(Added("web", "dev", "r2", ("s2",), ())),
            released_document(Released("web", "dev", ("s3",), (), (), ())),
        ],
        "windrow report": [_health()],
        "windrow metrics": [documents.metrics_document([Sample(LAG, 1.0, labels)])],
        "windrow rerun": [documents.rerun_document([a_rerun()], {"web": [a_result()]})],
        "windrow rollback and unlock": [
            documents.rollback_document(a_rollback(), is_done=False),
            documents.unlocks_document({"web": "r1"}),
        ],
        "windrow adopt": [adoptions_document([an_adoption()])],
        "windrow test": [reports_document([CheckReport("web", "dev", "r1", some_checks())])],
        "windrow ls": [documents.models_document({"web": MODELS})],
        "windrow diff": [diff_document(a_diff())],
        "windrow normalize": [
            tables_document({"x_1": (MODELS[0], {"event_id": column("string", "Id.")})}),
            suggestion_document(Suggestion((link,), {})),
        ],
        "windrow doctor": [documents.checks_document([Check("Java", True, "17")])],
        "windrow maintain": [documents.upkeeps_document([an_upkeep()])],
        "windrow init, generate and demo": [None, None],
        "Progress": [*_steps()],
    }


def examples() -> dict[str, list[Any]]:
    """Heading -> the examples of the page under it."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    blocks = {
        heading: re.findall(r"```json\n(.*?)```", text, re.DOTALL)
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }
    return {name: [json.loads(it) for it in found] for name, found in blocks.items() if found}


def test_every_example_has_what_is_printed_there():
    made = printed()
    assert {name: len(found) for name, found in examples().items()} == {
        name: len(found) for name, found in made.items()
    }


@pytest.mark.parametrize("heading", examples())
def test_an_example_has_the_keys_that_are_printed(heading: str):
    for example, document in zip(examples()[heading], printed()[heading], strict=True):
        if document is not None:
            assert [*differences(example, document, "document")] == []


def differences(example: Any, document: Any, path: str) -> Iterator[str]:
    """Where an example has other keys than what is printed."""
    match example, document:
        case dict(), dict():
            for name in sorted(example.keys() ^ document.keys()):
                yield f"{path}.{name} is {'not printed' if name in example else 'not on the page'}"
            for name in example.keys() & document.keys() - OPEN:
                yield from differences(example[name], document[name], f"{path}.{name}")
        case list(), list() if document:
            for it in example:
                yield from differences(it, document[0], f"{path}[]")


def test_differences_are_found():
    page, told = {"a": [{"b": 1, "c": 2}], "counts": {"x": 1}}, {"a": [{"b": 3, "d": 4}]}
    assert [*differences(page, told, "it")] == [
        "it.counts is not printed",
        "it.a[].c is not printed",
        "it.a[].d is not on the page",
    ]
