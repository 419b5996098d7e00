"""`windrow run --every`: the same run again and again, on one Spark session that stays warm."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from pyspark.sql import SparkSession
from rich.text import Text

from windrow.cli.call import Problem, RunCall
from windrow.cli.timetable import Timetable
from windrow.engine.steps import Step
from windrow.errors import ConfigError, RefusedError, SparkStartError, UsageError
from windrow.operations.several_packages import PackageRuns
from windrow.report.rounds import Round, heading, next_sentence, round_document
from windrow.report.text import runs_text
from windrow.tables.refusals import unreadable_files

RunOnce = Callable[[], Mapping[str, PackageRuns]]
"""Loads the project as it is by now and runs it."""

_NOT_HEALED_BY_WAITING = (ConfigError, UsageError, SparkStartError, RefusedError)
"""Whoever starts the command should see these at once. Later on, someone may be editing files."""

_LOST = Problem(
    "SparkLost",
    "Spark is gone, and with it what this command keeps warm. Start it again; what a run left "
    "half done is taken back then. Spark's log is in .windrow/logs.",
    1,
)

_LONGEST_NAP_SECONDS = 60.0
_BREATH_SECONDS = 0.3
"""Between rounds, also late ones: a signal that had to wait is heard before the next begins."""


def run_every(call: RunCall, timetable: Timetable, run_once: RunOnce) -> int:
    """Run now and then on schedule until somebody stops it; gives the exit code of the command.

    A signal during a round passes: the run that it meets is undone, as any run is.
    """
    zero = time.monotonic()

    def elapsed() -> timedelta:
        return timedelta(seconds=time.monotonic() - zero)

    number = failures = 0
    while True:
        number += 1
        began = elapsed()
        this = _attempt(call, number, run_once)
        try:
            if _is_hopeless(this):
                _report(call, this, None)
                return this.exit_code
            if this.exit_code and _is_lost(call.session):
                _report(call, this, None)
                return call.complain(_LOST)
            failures = failures + 1 if this.is_in_vain else 0
            ended = elapsed()
            due = timetable.next_begin(began, ended, failures)
            next_at = datetime.now(UTC) + (due - ended)
            _report(call, this, next_at)
            _tell(call, next_sentence(next_at, failures, is_late=due == ended))
            _let_go(call, this)
            _wait_until(due, elapsed)
        except KeyboardInterrupt:
            _tell(call, "Stopped between two rounds.")
            return 0


# --- one round -----------------------------------------------------------------------------------


def _attempt(call: RunCall, number: int, run_once: RunOnce) -> Round:
    """One round, whatever comes of it; what waiting cannot heal stops the first."""
    wall_clock, began = datetime.now(UTC), time.monotonic()
    _tell(call, ("\n" if number > 1 else "") + heading(number, wall_clock))
    packages: Mapping[str, PackageRuns] = {}
    problem: Problem | None = None
    try:
        with unreadable_files():
            packages = run_once()
    except BrokenPipeError:
        # Nobody reads what we print any more.
        raise
    except Exception as error:
        if number == 1 and isinstance(error, _NOT_HEALED_BY_WAITING):
            raise
        problem = call.problem(error)
    exit_codes = [runs.exit_code for runs in packages.values()]
    return Round(
        number=number,
        began=wall_clock,
        seconds=time.monotonic() - began,
        exit_code=max(exit_codes, default=0) if problem is None else problem.exit_code,
        packages=packages,
        error=None if problem is None else problem.document,
    )


def _is_hopeless(this: Round) -> bool:
    """True when the first round stopped for all packages at something that waiting cannot heal."""
    errors = [runs.error for runs in this.packages.values()]
    is_first = this.number == 1 and bool(errors)
    return is_first and all(isinstance(error, _NOT_HEALED_BY_WAITING) for error in errors)


def _is_lost(spark: SparkSession | None) -> bool:
    """True when there was a Spark and it does not even count to one by now."""
    try:
        return spark is not None and spark.range(1).count() != 1
    except Exception:
        return True


# --- after a round -------------------------------------------------------------------------------


def _report(call: RunCall, this: Round, next_at: datetime | None) -> None:
    """Print what came of a round as `windrow run` would."""
    if call.json or this.packages:
        call.report(round_document(this, next_at), runs_text(this.packages))
    call.say_errors(this.packages)
    if this.error is not None:
        call.say_error(this.error["error"]["message"])
    call.tell_of_log()


def _let_go(call: RunCall, this: Round) -> None:
    """Keep nothing of a round: what each leaves behind would fill the memory in the end."""
    call.progress.rest()
    # Errors and frames hold each other in circles, and with them what Spark's JVM has of them.
    gc.collect()
    if this.exit_code and call.spark is None and call.warm is not None:
        # A run lets go of what it has cached, unless it was stopped while it did so. In a session
        # that was handed to us, others may have something cached too.
        call.warm.catalog.clearCache()


def _wait_until(due: timedelta, elapsed: Callable[[], timedelta]) -> None:
    """Sleep in naps: a signal ends one at once."""
    time.sleep(_BREATH_SECONDS)
    while (left := (due - elapsed()).total_seconds()) > 0:
        time.sleep(min(left, _LONGEST_NAP_SECONDS))


def _tell(call: RunCall, line: str) -> None:
    """A line between rounds; among the progress where the results are for a program."""
    if call.json:
        call.progress(Step("round", "info", detail=line.strip()))
    else:
        call.console.print(Text(line, style="bold"), soft_wrap=True)
