"""The models of a run, side by side: each after those it reads."""

from __future__ import annotations

import graphlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from windrow.engine.model_run import ModelRun
from windrow.engine.steps import Listener, Step
from windrow.errors import LockedError, RefusedError, SourceError, in_one_line
from windrow.models.model import Model
from windrow.state.runs import ModelFate, ModelOutcome
from windrow.state.undo import undo
from windrow.tables.refusals import unreadable_files

_log = logging.getLogger("windrow")

Beside = TypeVar("Beside")

AT_ONCE = 3
"""A model spends much of its time planning and committing: one alone would leave Spark idle."""


def run_models(
    models: ModelRun,
    chosen: Sequence[Model],
    run_id: str,
    listener: Listener,
    *,
    beside: Callable[[], Beside],
) -> tuple[list[ModelOutcome], Beside]:
    """Run the models, and `beside` them what else the run has to do; gives what both came to.

    What reads a failed model is skipped, the others go on. The listener is called from this thread
    only.
    """
    models.inputs.remember_versions(chosen)
    by_name = {member.name: member for member in chosen}
    reads = {member.name: member.parents & set(by_name) for member in chosen}
    order = graphlib.TopologicalSorter(reads)
    order.prepare()
    outcomes: dict[str, ModelOutcome] = {}
    running: dict[Future[ModelOutcome], str] = {}

    with _pool() as pool:
        aside = pool.submit(beside)
        while order.is_active():
            for name in order.get_ready():
                failed = sorted(
                    n for n in reads[name] if outcomes[n].outcome is not ModelFate.SUCCEEDED
                )
                if failed:
                    reason = f"reads {', '.join(failed)}, which failed"
                    outcomes[name] = ModelOutcome(
                        by_name[name].full_name, ModelFate.SKIPPED, error=reason
                    )
                    listener(Step(name, "skipped", detail=reason, kind="model"))
                    order.done(name)
                else:
                    listener(Step(name, "started", kind="model"))
                    running[pool.submit(_attempt, models, by_name[name])] = name
            if not running:
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                outcomes[name] = future.result()
                listener(_ended(name, outcomes[name]))
                order.done(name)
        done_beside = aside.result()

    # Only now: while others still commit, nothing may change the id that commits carry.
    broken = [member for member in chosen if outcomes[member.name].outcome is ModelFate.FAILED]
    undo(models.ws.tables, run_id, [models.ws.table(member) for member in broken])
    return [outcomes[member.name] for member in chosen], done_beside


@contextmanager
def _pool() -> Iterator[ThreadPoolExecutor]:
    """Threads for models; what has not begun when the block is stopped does not begin any more."""
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _attempt(models: ModelRun, member: Model) -> ModelOutcome:
    began = time.monotonic()
    try:
        with unreadable_files():
            rows = models.run(member)
    except (SourceError, RefusedError, LockedError):
        # Not the model is to blame: the events, a table's state, a lost lease. The run stops.
        raise
    except Exception as error:
        seconds = time.monotonic() - began
        _log.error("Model %s failed", member.full_name, exc_info=error)
        reason = in_one_line(error)
        return ModelOutcome(member.full_name, ModelFate.FAILED, None, seconds, reason)
    return ModelOutcome(member.full_name, ModelFate.SUCCEEDED, rows, time.monotonic() - began)


def _ended(name: str, outcome: ModelOutcome) -> Step:
    status = "done" if outcome.outcome is ModelFate.SUCCEEDED else "failed"
    return Step(name, status, outcome.rows, outcome.seconds, outcome.error or "", kind="model")
