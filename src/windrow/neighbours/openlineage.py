"""Runs as OpenLineage has them: START, then COMPLETE, FAIL or ABORT, with what was read and made.

    from windrow.neighbours.openlineage import OpenLineage

    project = project.watched_by(OpenLineage(project))

Where the events go is the library's own matter: OPENLINEAGE_URL, OPENLINEAGE_CONFIG and the others.
One job is one package on one target; its runs have ids that follow from those in the ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

import pyspark

from windrow.columns.rules import rule_of
from windrow.engine.watching import Begun
from windrow.errors import in_one_line
from windrow.models.model import UNDECLARED
from windrow.neighbours.dataset_names import DatasetName, dataset_names
from windrow.neighbours.missing import needing
from windrow.project import Project
from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord

with needing("openlineage"):
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import (
        InputDataset,
        Job,
        OutputDataset,
        Run,
        RunEvent,
        RunState,
    )
    from openlineage.client.facet_v2 import (
        BaseFacet,
        DatasetFacet,
        InputDatasetFacet,
        OutputDatasetFacet,
        RunFacet,
        dataset_version_dataset,
        error_message_run,
        input_statistics_input_dataset,
        job_type_job,
        nominal_time_run,
        output_statistics_output_dataset,
        parent_run,
        processing_engine_run,
        schema_dataset,
    )

NAMESPACE = "windrow"
"""Of jobs, unless OPENLINEAGE_NAMESPACE names another."""
_SECONDS_TO_SEND = 10.0


class OpenLineage:
    """A watcher that tells OpenLineage of a project's runs."""

    def __init__(
        self, project: Project, client: Callable[[], OpenLineageClient] = OpenLineageClient
    ) -> None:
        self._project, self._client = project, client
        self._names = dataset_names(project.config, project.target)

    def began(self, run: Begun) -> None:
        outputs = [OutputDataset(*self._named(run, name)) for name in run.stored]
        self._emit(RunState.START, run, outputs=outputs)

    def ended(self, run: Begun, record: RunRecord) -> None:
        is_good = record.outcome is Outcome.SUCCEEDED
        made = [it for it in record.models if it.outcome is ModelFate.SUCCEEDED]
        kept = [it for it in made if record.outcome.is_kept and it.name in run.stored]
        self._emit(
            RunState.COMPLETE if is_good else RunState.FAIL,
            run,
            at=record.finished_at,
            outputs=[self._output(run, it, record) for it in kept],
            events=record.counts.get("window_events"),
            error=None if is_good else _why(record),
        )

    def broke_off(self, run: Begun, error: BaseException) -> None:
        is_error = isinstance(error, Exception)
        state = RunState.FAIL if is_error else RunState.ABORT
        self._emit(state, run, error=in_one_line(error) if is_error else None)

    def _emit(
        self,
        state: RunState,
        run: Begun,
        *,
        at: datetime | None = None,
        outputs: Iterable[OutputDataset] = (),
        events: int | None = None,
        error: str | None = None,
    ) -> None:
        name = ".".join([self._project.config.name, self._project.target.name, run.package])
        event = RunEvent(
            eventType=state,
            eventTime=_instant(at or datetime.now(UTC)),
            run=Run(run_uuid(name, run.run_id), facets=_run_facets(run, error)),
            job=Job(
                os.environ.get("OPENLINEAGE_NAMESPACE") or NAMESPACE,
                name,
                facets={"jobType": job_type_job.JobTypeJobFacet("BATCH", "WINDROW", "PACKAGE")},
            ),
            inputs=self._inputs(run, events),
            outputs=list(outputs),
            producer=_producer(),
        )
        _sign(event)
        client = self._client()
        client.emit(event)
        # Transports that send in the background send now, or the process may be over.
        client.close(_SECONDS_TO_SEND)

    def _inputs(self, run: Begun, events: int | None) -> list[InputDataset]:
        """The events, and tables that models read without being made in the same run."""
        counted: dict[str, InputDatasetFacet] = {}
        if events is not None:
            facet = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=events)
            counted["inputStatistics"] = facet
        package = run.package.partition("+")[0]
        found = [InputDataset(*self._names.of_events(package), inputFacets=counted)]
        every = {it.name: it for it in self._project.models(run.package)}
        read = {name for it in run.models for name in it.parents} - {it.name for it in run.models}
        schemas = self._project.config.schemas
        for name in sorted(read & set(every)):
            if every[name].kind != "this_run":
                schema = schemas.manifest if every[name].is_state else schemas.derived
                found.append(InputDataset(*self._names.of_table(schema, every[name].full_name)))
        return found

    def _output(self, run: Begun, made: ModelOutcome, record: RunRecord) -> OutputDataset:
        table = run.stored[made.name]
        facets: dict[str, DatasetFacet] = {"schema": self._schema(run, made.name)}
        if version := record.table_versions.get(str(table)):
            facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(version)
        statistics: dict[str, OutputDatasetFacet] = {}
        if made.rows is not None:
            facet = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(made.rows)
            statistics["outputStatistics"] = facet
        name = self._named(run, made.name)
        return OutputDataset(*name, facets=facets, outputFacets=statistics)

    def _schema(self, run: Begun, name: str) -> schema_dataset.SchemaDatasetFacet:
        member = next(it for it in run.models if it.full_name == name)
        declared = member.columns_for(self._project.config.packages[member.package]) or {}
        columns = run.tables.columns(run.stored[name])
        return schema_dataset.SchemaDatasetFacet(
            [
                schema_dataset.SchemaDatasetFacetFields(
                    column,
                    type=kind,
                    description=rule_of(declared.get(column, UNDECLARED)) or None,
                    ordinal_position=position,
                )
                for position, (column, kind) in enumerate(columns.items(), start=1)
            ]
        )

    def _named(self, run: Begun, name: str) -> DatasetName:
        return self._names.of_table(run.stored[name].schema, name)


def run_uuid(job: str, run_id: str) -> str:
    """A run's id as OpenLineage wants it: the same whenever it is asked for."""
    return str(uuid5(NAMESPACE_URL, f"windrow:{job}/{run_id}"))


def _run_facets(run: Begun, error: str | None) -> dict[str, RunFacet]:
    facets: dict[str, RunFacet] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            pyspark.__version__, "spark"
        ),
        "nominalTime": nominal_time_run.NominalTimeRunFacet(
            _instant(run.lower_limit), _instant(run.upper_limit)
        ),
    }
    if error is not None:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(error, "PYTHON")
    # As other tools have it: namespace/job/run of whoever started us.
    namespace, _, rest = os.environ.get("OPENLINEAGE_PARENT_ID", "").partition("/")
    job, _, parent = rest.rpartition("/")
    if namespace and job and parent:
        facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(parent), job=parent_run.Job(namespace, job)
        )
    return facets


def _why(record: RunRecord) -> str:
    failed = [f"{it.name}: {it.error}" for it in record.models if it.outcome is ModelFate.FAILED]
    return record.error or "; ".join(failed)


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def _sign(event: RunEvent) -> None:
    """Say of every facet that it is ours; the library's own name is on those it adds itself."""
    given: list[Mapping[str, BaseFacet] | None] = [event.run.facets, event.job.facets]
    for source in event.inputs or ():
        given += [source.facets, source.inputFacets]
    for made in event.outputs or ():
        given += [made.facets, made.outputFacets]
    for facets in given:
        for facet in (facets or {}).values():
            facet._producer = event.producer


def _producer() -> str:
    from windrow import __version__

    return f"urn:windrow:{__version__}"
